//! How the text of a setting is read, and what a broker says about one that it does not take.
//!
//! A value that is taken is written as brokers describe it: ` 1048576 ` is `1048576`, `TRUE` is `true`, a list has no
//! spaces. The complaints are Kafka's own wording, for they are in the answers of CreateTopics and AlterConfigs.
//! Java: `org.apache.kafka.common.config.ConfigDef.parseType`, its validators.

use super::format::format_magic;
use super::table::Setting;
use super::{SettingError, format};
use crate::Release;

/// What a setting's value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Boolean,
    String,
    Int,
    Short,
    Long,
    Double,
    List,
    Class,
    Password,
}

/// Which values of its kind it takes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Valid {
    Any,
    /// At least, at most.
    Range(Option<f64>, Option<f64>),
    /// Between, or that one (`compression.gzip.level`: 1 to 9 or -1).
    RangeOr(f64, f64, f64),
    OneOf(Vec<&'static str>),
    /// Whatever the case.
    OneOfAnyCase(Vec<&'static str>),
    NotEmpty,
    /// A release's name, from 2.1 on.
    Version,
    /// `*`, or `partition:broker` pairs.
    Replicas,
}

impl Kind {
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "boolean" => Self::Boolean,
            "string" => Self::String,
            "int" => Self::Int,
            "short" => Self::Short,
            "long" => Self::Long,
            "double" => Self::Double,
            "list" => Self::List,
            "class" => Self::Class,
            "password" => Self::Password,
            _ => return None,
        })
    }

    /// As DescribeConfigs v3 and newer numbers it (`DescribeConfigsResponse.ConfigType`).
    pub(crate) const fn number(self) -> i8 {
        match self {
            Self::Boolean => 1,
            Self::String => 2,
            Self::Int => 3,
            Self::Short => 4,
            Self::Long => 5,
            Self::Double => 6,
            Self::List => 7,
            Self::Class => 8,
            Self::Password => 9,
        }
    }
}

impl Valid {
    /// From Kafka's own notation.
    pub(super) fn parse(text: &'static str) -> Option<Self> {
        let number = |text: &str| text.parse::<f64>().ok();
        Some(match text {
            // The non-empty lists are empty by default: only their parts may not be.
            "" | "non-null string" | "non-empty list" => Self::Any,
            "version" => Self::Version,
            "replicas" => Self::Replicas,
            "non-empty string" => Self::NotEmpty,
            _ => {
                if let Some((range, other)) = text.split_once(" or ") {
                    let (least, most) = range.strip_prefix('[')?.strip_suffix(']')?.split_once(",...,")?;
                    return Some(Self::RangeOr(number(least)?, number(most)?, number(other)?));
                }
                if let Some(values) = text.strip_prefix("(case insensitive) [") {
                    return Some(Self::OneOfAnyCase(values.strip_suffix(']')?.split(", ").collect()));
                }
                let inside = text.strip_prefix('[')?.strip_suffix(']')?;
                match inside.split_once(",...") {
                    Some((least, "")) => Self::Range(Some(number(least)?), None),
                    Some((least, most)) => Self::Range(Some(number(least)?), Some(number(most.strip_prefix(',')?)?)),
                    None => Self::OneOf(inside.split(", ").collect()),
                }
            }
        })
    }
}

impl Setting {
    /// A value as brokers write it, if it is one.
    pub(crate) fn read(&self, release: Release, text: &str) -> Result<String, SettingError> {
        let invalid = |value: &str, why: String| SettingError::Invalid {
            name: self.name.to_owned(),
            value: value.to_owned(),
            why,
        };
        let value = self.canonical(text).map_err(|why| invalid(text, why))?;
        match self.complaint(release, &value) {
            None => Ok(value),
            Some((about, why)) => Err(invalid(&about, why)),
        }
    }

    /// A line about it, for those who ask DescribeConfigs for documentation.
    pub(crate) fn documentation(&self) -> String {
        let kind = format!("{:?}", self.kind).to_uppercase();
        let default = self.default.map_or("none".to_owned(), |default| format!("{default:?}"));
        format!("{}: {kind}, default {default}.", self.name)
    }

    /// The text as a value of its kind.
    fn canonical(&self, text: &str) -> Result<String, String> {
        let trimmed = text.trim();
        let number = |kind: &str| format!("Not a number of type {kind}");
        Ok(match self.kind {
            Kind::Boolean => match trimmed.to_ascii_lowercase() {
                value if value == "true" || value == "false" => value,
                _ => return Err("Expected value to be either true or false".to_owned()),
            },
            Kind::Int => trimmed.parse::<i32>().map_err(|_| number("INT"))?.to_string(),
            Kind::Short => trimmed.parse::<i16>().map_err(|_| number("SHORT"))?.to_string(),
            Kind::Long => trimmed.parse::<i64>().map_err(|_| number("LONG"))?.to_string(),
            // Debug: 1.0 stays 1.0, as in Java.
            Kind::Double => {
                let value = trimmed.parse::<f64>().map_err(|_| number("DOUBLE"))?;
                format!("{value:?}").replace('e', "E")
            }
            Kind::List => trimmed.split(',').map(str::trim).collect::<Vec<_>>().join(","),
            Kind::String | Kind::Class | Kind::Password => trimmed.to_owned(),
        })
    }

    /// What is wrong with a value of its kind: which part of it, and why.
    fn complaint(&self, release: Release, value: &str) -> Option<(String, String)> {
        let whole = |why: String| Some((value.to_owned(), why));
        let number = value.parse::<f64>().unwrap_or(0.0);
        match &self.valid {
            Valid::Any => None,
            Valid::Range(Some(least), _) if number < *least => whole(format!("Value must be at least {least}")),
            Valid::Range(_, Some(most)) if number > *most => whole(format!("Value must be no more than {most}")),
            Valid::Range(..) => None,
            Valid::RangeOr(least, most, other) => {
                let taken = (*least..=*most).contains(&number) || (number - other).abs() < f64::EPSILON;
                if taken {
                    None
                } else {
                    whole(format!("Value must be between {least} and {most} or equal to {other}"))
                }
            }
            Valid::OneOf(values) => {
                let parts = self.parts(value);
                let wrong = parts.iter().find(|part| !values.contains(part))?;
                Some(((*wrong).to_owned(), format!("String must be one of: {}", values.join(", "))))
            }
            Valid::OneOfAnyCase(values) if values.iter().any(|known| known.eq_ignore_ascii_case(value)) => None,
            Valid::OneOfAnyCase(values) => {
                whole(format!("String must be one of (case insensitive): {}", values.join(", ")))
            }
            Valid::NotEmpty if value.is_empty() => whole("String must be non-empty".to_owned()),
            Valid::NotEmpty => None,
            Valid::Version if release < Release::V2_1 || format_magic(release, value).is_some() => None,
            Valid::Version => whole(format::complaint(release, value)),
            Valid::Replicas => {
                let right = value.is_empty() || value == "*" || self.parts(value).iter().all(|part| is_replica(part));
                if right {
                    None
                } else {
                    Some((format!("[{}]", value.replace(',', ", ")), self.replicas_complaint(release)))
                }
            }
        }
    }

    /// The values of a list; a plain value is one.
    fn parts<'a>(&self, value: &'a str) -> Vec<&'a str> {
        match self.kind {
            Kind::List if value.is_empty() => Vec::new(),
            Kind::List => value.split(',').collect(),
            Kind::Boolean
            | Kind::String
            | Kind::Int
            | Kind::Short
            | Kind::Long
            | Kind::Double
            | Kind::Class
            | Kind::Password => vec![value],
        }
    }

    fn replicas_complaint(&self, release: Release) -> String {
        let (name, old) = (self.name, "[partitionId],[brokerId]:[partitionId],[brokerId]");
        if release <= Release::V0_10_2 {
            return format!("{name}  must match for format {old}:[partitionId],[brokerId] etc");
        }
        let format = if release <= Release::V2_1 {
            format!("{old}:...")
        } else {
            "[partitionId]:[brokerId],[partitionId]:[brokerId],...".to_owned()
        };
        format!("{name} must be the literal '*' or a list of replicas in the following format: {format}")
    }
}

/// `0:101`.
fn is_replica(text: &str) -> bool {
    text.split_once(':').is_some_and(|(partition, broker)| {
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        digits(partition) && digits(broker)
    })
}

#[cfg(test)]
mod tests {
    use super::super::table::topic_setting;
    use super::*;

    fn said(release: Release, name: &str, text: &str) -> String {
        match topic_setting(release, name).unwrap().read(release, text) {
            Ok(value) => value,
            Err(error) => error.in_answers(release),
        }
    }

    /// All of it measured with CreateTopics on 2.0.0, the last ones on 3.9.1.
    #[test]
    fn complaints_are_worded_as_by_brokers() {
        let of = |name, text| said(Release::V2_0, name, text);
        let begins = |name: &str, value: &str| format!("Invalid value {value} for configuration {name}: ");
        assert_eq!(of("retention.ms", "abc"), begins("retention.ms", "abc") + "Not a number of type LONG");
        assert_eq!(
            of("segment.bytes", "99999999999"),
            begins("segment.bytes", "99999999999") + "Not a number of type INT"
        );
        assert_eq!(of("segment.bytes", "13"), begins("segment.bytes", "13") + "Value must be at least 14");
        let ratio = "min.cleanable.dirty.ratio";
        assert_eq!(of(ratio, "1.5"), begins(ratio, "1.5") + "Value must be no more than 1");
        assert_eq!(of(ratio, "-1"), begins(ratio, "-1.0") + "Value must be at least 0");
        assert_eq!(
            of("preallocate", "yes"),
            begins("preallocate", "yes") + "Expected value to be either true or false"
        );
        let policies = "String must be one of: compact, delete";
        assert_eq!(of("cleanup.policy", "delete,foo"), begins("cleanup.policy", "foo") + policies);
        let codecs = "String must be one of: uncompressed, snappy, lz4, gzip, producer";
        assert_eq!(of("compression.type", "zstd"), begins("compression.type", "zstd") + codecs);
        let level = "compression.gzip.level";
        assert_eq!(
            said(Release::V3_9, level, "0"),
            begins(level, "0") + "Value must be between 1 and 9 or equal to -1"
        );
        assert_eq!(said(Release::V3_9, level, "-1"), "-1");
    }

    #[test]
    fn values_are_written_as_brokers_write_them() {
        let of = |name, text| said(Release::V2_0, name, text);
        assert_eq!(of("segment.bytes", " 1048576 "), "1048576");
        assert_eq!(of("preallocate", "TRUE"), "true");
        assert_eq!(of("cleanup.policy", "compact, delete"), "compact,delete");
        assert_eq!(of("cleanup.policy", ""), "");
        assert_eq!(of("min.cleanable.dirty.ratio", "1"), "1.0");
        assert_eq!(of("leader.replication.throttled.replicas", "0:1,1:0"), "0:1,1:0");
    }

    /// Up to 2.0 any name of a format was taken (measured), and up to 1.1 any kind of timestamp.
    #[test]
    fn what_older_releases_do_not_check() {
        assert_eq!(said(Release::V2_0, "message.format.version", "foo"), "foo");
        let refused = said(Release::V2_1, "message.format.version", "foo");
        assert!(refused.ends_with("configuration message.format.version: Version `foo` is not a valid version"));
        let refused = said(Release::V3_9, "message.format.version", "foo");
        assert!(refused.ends_with("configuration message.format.version: Version foo is not a valid version"));
        assert_eq!(said(Release::V1_1, "message.timestamp.type", "foo"), "foo");
        assert_eq!(said(Release::V2_1, "retention.ms", "-2"), "-2");
        assert!(said(Release::V2_4, "retention.ms", "-2").ends_with("Value must be at least -1"));
    }
}
