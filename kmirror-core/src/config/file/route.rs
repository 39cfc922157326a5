//! What holds on the routes of a mirror, or on those of some topics.

use std::collections::BTreeMap;
use std::sync::Arc;

use toml::de::DeValue;

use super::document::Item;
use super::section::Reader;
use crate::config::built_in::condition;
use crate::config::error::ConfigError;
use crate::config::routing::{
    Coalesce, DamagePolicy, LossPolicy, PartitionPolicy, Policies, Rename, RouteConfig, RouteRule, TopicCreation,
};
use crate::config::topics::TopicPattern;
use crate::filter::{ConditionFilter, Conditions, Filters, RecordFilter};

const POLICIES: &[(&str, LossPolicy)] = &[("refuse", LossPolicy::Refuse), ("drop", LossPolicy::Drop)];

const PARTITIONS: &[(&str, PartitionPolicy)] =
    &[("grow", PartitionPolicy::Grow), ("stop", PartitionPolicy::Stop), ("modulo", PartitionPolicy::Modulo)];

const DAMAGE: &[(&str, DamagePolicy)] = &[("stop", DamagePolicy::Stop), ("skip", DamagePolicy::Skip)];

const COALESCE: &[(&str, Coalesce)] = &[("auto", Coalesce::Auto), ("off", Coalesce::Off)];

/// One `[[mirror.….route]]`: what it does not say is as `base`, the mirror's own, has it.
pub(super) fn rule(reader: &mut Reader<'_, '_>, base: &RouteConfig) -> Option<RouteRule> {
    if !reader.section.has("topics") {
        reader.fault("topics is missing: it says for which topics the route is");
    }
    let topics = reader.read("topics", patterns);
    let (rename, config) = route(reader, base);
    Some(RouteRule { topics: topics?, rename, config: Arc::new(config) })
}

/// The settings of a route.
pub(super) fn route(reader: &mut Reader<'_, '_>, base: &RouteConfig) -> (Option<Rename>, RouteConfig) {
    let rename = reader.read("rename", rename);
    let filters = reader.read("filters", filters).unwrap_or_else(|| base.filters.clone());
    let partitions = reader.one_of("partitions", PARTITIONS).unwrap_or(base.partitions);
    let mut policy = |key, base| reader.one_of(key, POLICIES).unwrap_or(base);
    let policies = Policies {
        headers: policy("on_headers", base.policies.headers),
        too_large: policy("on_too_large", base.policies.too_large),
        timestamps: policy("on_timestamp", base.policies.timestamps),
        keyless: policy("on_keyless", base.policies.keyless),
        refused: policy("on_refused", base.policies.refused),
    };
    let damage = reader.one_of("on_damage", DAMAGE).unwrap_or(base.damage);
    let coalesce = reader.one_of("coalesce", COALESCE).unwrap_or(base.coalesce);
    let create = reader.boolean("create").unwrap_or(base.creation.create);
    let factor = reader.read("replication_factor", replication_factor).unwrap_or(base.creation.replication_factor);
    let mut settings: BTreeMap<String, String> = base.creation.settings.clone();
    settings.extend(reader.table("settings"));
    let creation = TopicCreation { create, replication_factor: factor, settings };
    (rename, RouteConfig { policies, partitions, creation, filters, damage, coalesce })
}

/// One expression, or a list of them.
pub(super) fn patterns(item: &Item<'_>) -> Result<TopicPattern, ConfigError> {
    let texts = item.texts()?;
    TopicPattern::any(texts.iter().map(String::as_str)).map_err(|error| item.fault(error.to_string()))
}

fn replication_factor(item: &Item<'_>) -> Result<Option<i16>, ConfigError> {
    if item.value.get_ref().as_str() == Some("source") {
        return Ok(None);
    }
    let factor = item.whole().and_then(|factor| i16::try_from(factor).ok()).filter(|factor| *factor >= 1);
    factor.map(Some).ok_or_else(|| item.wrong("how many replicas, from 1 to 32767, or \"source\""))
}

/// `{ prefix = "eu." }` or `{ from = 'REGEX', to = '$1' }`.
fn rename(item: &Item<'_>) -> Result<Rename, ConfigError> {
    let mut section = item.section()?;
    let (prefix, from, to) = (section.take("prefix"), section.take("from"), section.take("to"));
    let mut unknown = Vec::new();
    section.finish(&mut unknown);
    if let Some(error) = unknown.into_iter().next() {
        return Err(error);
    }
    match (prefix, from, to) {
        (Some(prefix), None, None) => prefix.text().map(Rename::Prefix),
        (None, Some(from), Some(to)) => {
            // Verbatim: its ${name} are groups, not variables.
            let rename = Rename::pattern(&from.text()?, to.verbatim()?);
            rename.map_err(|error| item.fault(error.to_string()))
        }
        _ => Err(item.fault("a rule is { prefix = \"eu.\" } or { from = 'REGEX', to = '$1' }")),
    }
}

/// `[ { drop = { key = '^tmp' } }, { keep = { since = "2026-01-01" } } ]`.
fn filters(item: &Item<'_>) -> Result<Filters, ConfigError> {
    let list = item.items().ok_or_else(|| item.wrong("a list of { keep = { … } } and { drop = { … } }"))?;
    let filters = list.iter().map(filter).collect::<Result<Vec<_>, _>>()?;
    Ok(Filters::new(filters))
}

fn filter(item: &Item<'_>) -> Result<Arc<dyn RecordFilter>, ConfigError> {
    let mut section = item.section()?;
    let (keep, drop) = (section.take("keep"), section.take("drop"));
    let mut unknown = Vec::new();
    section.finish(&mut unknown);
    if let Some(error) = unknown.into_iter().next() {
        return Err(error);
    }
    match (keep, drop) {
        (Some(keep), None) => Ok(Arc::new(ConditionFilter::keep(conditions(&keep)?))),
        (None, Some(drop)) => Ok(Arc::new(ConditionFilter::drop(conditions(&drop)?))),
        _ => Err(item.fault("a filter is { keep = { … } } or { drop = { … } }, one of them")),
    }
}

fn conditions(item: &Item<'_>) -> Result<Conditions, ConfigError> {
    let mut conditions = Conditions::default();
    for (name, item) in item.section()?.take_all() {
        let values = match item.value.get_ref() {
            DeValue::String(_) | DeValue::Array(_) => item.texts()?,
            DeValue::Integer(_) | DeValue::Boolean(_) => vec![item.property()?],
            DeValue::Datetime(time) => vec![time.to_string()],
            DeValue::Float(_) | DeValue::Table(_) => return Err(item.wrong("a text in quotes")),
        };
        if values.len() != 1 && name != "header" {
            return Err(item.wrong("one value"));
        }
        for value in values {
            conditions = condition(conditions, name, &value).map_err(|fault| item.fault(fault))?;
        }
    }
    if conditions.is_empty() {
        return Err(item.fault("it has no condition: key, header, since, until or tombstone"));
    }
    Ok(conditions)
}
