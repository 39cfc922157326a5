//! Who may do what: access control lists in memory, and the one question that the APIs ask of them.
//!
//! Every client is `User:ANONYMOUS` from `127.0.0.1`, as a client of a plaintext listener is. Without an authorizer
//! everything is allowed, and the APIs about the lists answer 54 (SECURITY_DISABLED).
//!
//! Java: `kafka.security.authorizer.AclAuthorizer` (formerly `SimpleAclAuthorizer`),
//! `org.apache.kafka.metadata.authorizer.StandardAuthorizer`; KIP-11, KIP-290.

use kmirror_proto::messages::{AclEntry, AclFilter, AclPattern};

use crate::Release;
use crate::cluster::{Call, Cluster};
use crate::configs::BrokerSettings;

/// Who every client is.
const PRINCIPAL: &str = "User:ANONYMOUS";

/// Where every client is.
const HOST: &str = "127.0.0.1";

/// The name of the resource of kind cluster.
pub(crate) const CLUSTER_NAME: &str = "kafka-cluster";

/// What is to be done; the numbers are the wire's (`AclOperation`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Read = 3,
    Write = 4,
    Create = 5,
    Delete = 6,
    Alter = 7,
    Describe = 8,
    ClusterAction = 9,
    DescribeConfigs = 10,
    AlterConfigs = 11,
    IdempotentWrite = 12,
}

/// To what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Resource<'a> {
    Topic(&'a str),
    Group(&'a str),
    Cluster,
    TransactionalId(&'a str),
}

/// The lists of an authorizer.
#[derive(Debug)]
pub(crate) struct Acls {
    /// `super.users` has the principal of all clients.
    is_super: bool,
    /// `allow.everyone.if.no.acl.found`.
    open: bool,
    entries: Vec<(AclPattern, AclEntry)>,
}

/// Whether a client may do this: always, where there is no authorizer.
pub(crate) fn authorized(cluster: &Cluster, _: &Call, operation: Operation, resource: Resource<'_>) -> bool {
    cluster.acls.as_ref().is_none_or(|acls| acls.allow(operation, resource))
}

/// Whether a client may do this to any topic (KIP-679: idempotent producers from 2.8 on).
pub(crate) fn authorized_for_some_topic(cluster: &Cluster, _: &Call, operation: Operation) -> bool {
    cluster.acls.as_ref().is_none_or(|acls| acls.allow_some_topic(operation))
}

/// What a client may do to a resource, as a set of bits (KIP-430).
pub(crate) fn authorized_operations(cluster: &Cluster, call: &Call, resource: Resource<'_>) -> i32 {
    use Operation::{
        Alter, AlterConfigs, ClusterAction, Create, Delete, Describe, DescribeConfigs, IdempotentWrite, Read, Write,
    };
    let possible: &[Operation] = match resource {
        Resource::Topic(_) => &[Read, Write, Create, Delete, Alter, Describe, DescribeConfigs, AlterConfigs],
        Resource::Group(_) if cluster.release >= Release::V4_4 => {
            &[Read, Delete, Describe, DescribeConfigs, AlterConfigs]
        }
        Resource::Group(_) => &[Read, Delete, Describe],
        Resource::Cluster => &[Create, Alter, Describe, ClusterAction, DescribeConfigs, AlterConfigs, IdempotentWrite],
        Resource::TransactionalId(_) => &[Write, Describe],
    };
    let allowed = possible.iter().filter(|operation| authorized(cluster, call, **operation, resource));
    allowed.fold(0, |bits, operation| bits | (1 << *operation as i32))
}

impl Acls {
    /// Those of the authorizer that the settings name, none if they name none.
    pub(crate) fn of(settings: &BrokerSettings) -> Option<Self> {
        settings.value("authorizer.class.name").filter(|class| !class.is_empty())?;
        let super_users = settings.value("super.users").unwrap_or_default();
        Some(Self {
            is_super: super_users.split(';').any(|user| user.trim() == PRINCIPAL),
            open: settings.is("allow.everyone.if.no.acl.found"),
            entries: Vec::new(),
        })
    }

    /// Adds an entry, once.
    pub(crate) fn add(&mut self, pattern: AclPattern, entry: AclEntry) {
        let new = (pattern, entry);
        if !self.entries.contains(&new) {
            self.entries.push(new);
        }
    }

    /// The entries that a filter means.
    pub(crate) fn matching(&self, filter: &AclFilter) -> impl Iterator<Item = &(AclPattern, AclEntry)> {
        self.entries.iter().filter(move |(pattern, entry)| matches(filter, pattern, entry))
    }

    /// Removes the entries that a filter means.
    pub(crate) fn remove(&mut self, filter: &AclFilter) -> Vec<(AclPattern, AclEntry)> {
        let (gone, kept) =
            std::mem::take(&mut self.entries).into_iter().partition(|(pattern, entry)| matches(filter, pattern, entry));
        self.entries = kept;
        gone
    }

    fn allow(&self, operation: Operation, resource: Resource<'_>) -> bool {
        if self.is_super {
            return true;
        }
        let of_resource =
            || self.entries.iter().filter(|(pattern, _)| covers(pattern, resource)).map(|(_, entry)| entry);
        if of_resource().next().is_none() {
            return self.open;
        }
        let says =
            |permission, operations: &[Operation]| of_resource().any(|entry| says(entry, permission, operations));
        !says(DENY, &[operation]) && says(ALLOW, operation.implied_by())
    }

    /// `authorizeByResourceType`: unless it is denied for all topics, for any that it is allowed for.
    fn allow_some_topic(&self, operation: Operation) -> bool {
        let topics = || self.entries.iter().filter(|(pattern, _)| pattern.resource_type == TOPIC);
        let mut of_all = topics().filter(|(pattern, _)| pattern.resource_name == "*").map(|(_, entry)| entry);
        let denied = of_all.any(|entry| says(entry, DENY, &[operation]));
        let mut names = topics().map(|(pattern, _)| pattern.resource_name.as_str());
        self.is_super || (!denied && (self.open || names.any(|name| self.allow(operation, Resource::Topic(name)))))
    }
}

impl Operation {
    /// Who may do one of these may do it.
    const fn implied_by(self) -> &'static [Self] {
        match self {
            Self::Describe => &[Self::Describe, Self::Read, Self::Write, Self::Delete, Self::Alter],
            Self::DescribeConfigs => &[Self::DescribeConfigs, Self::AlterConfigs],
            Self::Read => &[Self::Read],
            Self::Write => &[Self::Write],
            Self::Create => &[Self::Create],
            Self::Delete => &[Self::Delete],
            Self::Alter => &[Self::Alter],
            Self::ClusterAction => &[Self::ClusterAction],
            Self::AlterConfigs => &[Self::AlterConfigs],
            Self::IdempotentWrite => &[Self::IdempotentWrite],
        }
    }
}

const TOPIC: i8 = 2;
const ANY: i8 = 1;
const ALL: i8 = 2;
const DENY: i8 = 2;
const ALLOW: i8 = 3;

/// Whether an entry denies or allows one of these to the one principal that there is.
fn says(entry: &AclEntry, permission: i8, operations: &[Operation]) -> bool {
    entry.permission_type == permission
        && (entry.principal == PRINCIPAL || entry.principal == "User:*")
        && (entry.host == HOST || entry.host == "*")
        && (entry.operation == ALL || operations.iter().any(|op| *op as i8 == entry.operation))
}

fn covers(pattern: &AclPattern, resource: Resource<'_>) -> bool {
    let (kind, name) = match resource {
        Resource::Topic(name) => (TOPIC, name),
        Resource::Group(name) => (3, name),
        Resource::Cluster => (4, CLUSTER_NAME),
        Resource::TransactionalId(name) => (5, name),
    };
    pattern.resource_type == kind && names(pattern, name)
}

/// Whether a pattern is about a name.
fn names(pattern: &AclPattern, name: &str) -> bool {
    if pattern.pattern_type == AclPattern::PREFIXED {
        name.starts_with(&pattern.resource_name)
    } else {
        pattern.resource_name == "*" || pattern.resource_name == name
    }
}

fn matches(filter: &AclFilter, pattern: &AclPattern, entry: &AclEntry) -> bool {
    let same = |wanted: &Option<String>, is: &str| wanted.as_deref().is_none_or(|wanted| wanted == is);
    let kind = |wanted: i8, is: i8| wanted == ANY || wanted == is;
    let named = match filter.pattern_type {
        AclPattern::ANY => same(&filter.resource_name, &pattern.resource_name),
        AclPattern::MATCH => filter.resource_name.as_deref().is_none_or(|name| names(pattern, name)),
        exact => exact == pattern.pattern_type && same(&filter.resource_name, &pattern.resource_name),
    };
    named
        && kind(filter.resource_type, pattern.resource_type)
        && same(&filter.principal, &entry.principal)
        && same(&filter.host, &entry.host)
        && kind(filter.operation, entry.operation)
        && kind(filter.permission_type, entry.permission_type)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn acls(open: bool, entries: &[(i8, &str, i8, i8, i8)]) -> Acls {
        let mut acls = Acls { is_super: false, open, entries: Vec::new() };
        for (resource_type, name, pattern_type, operation, permission_type) in entries {
            let (resource_name, pattern_type) = ((*name).to_owned(), *pattern_type);
            let pattern = AclPattern { resource_type: *resource_type, resource_name, pattern_type };
            let (principal, host) = (PRINCIPAL.to_owned(), "*".to_owned());
            acls.add(pattern, AclEntry { principal, host, operation: *operation, permission_type: *permission_type });
        }
        acls
    }

    const LITERAL: i8 = AclPattern::LITERAL;

    #[test]
    fn what_nothing_is_said_about() {
        let orders = Resource::Topic("orders");
        assert!(!acls(false, &[]).allow(Operation::Read, orders));
        assert!(acls(true, &[]).allow(Operation::Read, orders));
        // One entry about it, and what it does not allow is not allowed.
        assert!(!acls(true, &[(TOPIC, "orders", LITERAL, 4, ALLOW)]).allow(Operation::Read, orders));
    }

    #[test]
    fn who_may_read_or_write_may_describe() {
        let acls = acls(false, &[(TOPIC, "orders", LITERAL, 3, ALLOW)]);
        let may = |operation| acls.allow(operation, Resource::Topic("orders"));
        assert!(may(Operation::Read) && may(Operation::Describe));
        assert!(!may(Operation::Write) && !may(Operation::DescribeConfigs));
    }

    #[test]
    fn denying_comes_first() {
        let all = (TOPIC, "*", LITERAL, ALL, ALLOW);
        let acls = acls(false, &[all, (TOPIC, "secret", AclPattern::PREFIXED, 3, DENY)]);
        assert!(acls.allow(Operation::Read, Resource::Topic("orders")));
        assert!(!acls.allow(Operation::Read, Resource::Topic("secret-orders")));
        assert!(acls.allow(Operation::Write, Resource::Topic("secret-orders")));
        assert!(!acls.allow(Operation::Read, Resource::Group("orders")));
    }

    #[test]
    fn entries_are_found_by_what_they_cover() {
        let acls = acls(false, &[(TOPIC, "ord", AclPattern::PREFIXED, 3, ALLOW), (TOPIC, "orders", LITERAL, 3, ALLOW)]);
        let found = |pattern_type, name: Option<&str>| {
            let resource_name = name.map(str::to_owned);
            let (operation, permission_type) = (ANY, ANY);
            let filter = AclFilter {
                resource_type: TOPIC,
                resource_name,
                pattern_type,
                operation,
                permission_type,
                ..AclFilter::default()
            };
            acls.matching(&filter).count()
        };
        assert_eq!(found(AclPattern::MATCH, Some("orders")), 2);
        assert_eq!(found(AclPattern::ANY, Some("orders")), 1);
        assert_eq!(found(AclPattern::PREFIXED, None), 1);
        assert_eq!(found(AclPattern::ANY, None), 2);
    }
}
