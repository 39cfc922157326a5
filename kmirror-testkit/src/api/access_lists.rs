//! DescribeAcls, CreateAcls and DeleteAcls: who may do what (KIP-11, KIP-140, KIP-290).
//!
//! Without an authorizer all three answer 54. Codes and messages as measured on 0.11 to 4.4, with and without one. What
//! a broker says of a client that may not do this names objects of its own; here it is "Cluster authorization failed.".
//!
//! Java: `kafka.server.AclApis`, `kafka.server.KafkaApis.handleCreateAcls`.

use kmirror_proto::ErrorCode;
use kmirror_proto::messages::{
    AclCreation, AclCreationResult, AclFilter, AclFilterResult, AclPattern, CreateAclsRequest, CreateAclsResponse,
    DeleteAclsRequest, DeleteAclsResponse, DeletedAcl, DescribeAclsRequest, DescribeAclsResponse, DescribedAcls,
};

use super::error::ApiError;
use crate::Release;
use crate::acls::{CLUSTER_NAME, Operation, Resource, authorized};
use crate::cluster::{Call, Cluster, Reply};

/// Entries by what they are about.
pub(crate) fn describe(cluster: &Cluster, call: &Call, request: &DescribeAclsRequest) -> Reply {
    let release = cluster.release;
    if has_unknown(&request.filter) && release >= Release::V2_8 {
        return Reply::Close;
    }
    let Some(acls) = &cluster.acls else {
        let error = ApiError::new(ErrorCode::SECURITY_DISABLED, "No Authorizer is configured on the broker");
        return Reply::from(refused(error));
    };
    if !authorized(cluster, call, Operation::Describe, Resource::Cluster) {
        return Reply::from(refused(forbidden()));
    }
    let mut resources: Vec<DescribedAcls> = Vec::new();
    for (pattern, entry) in acls.matching(&request.filter) {
        match resources.iter_mut().find(|resource| resource.pattern == *pattern) {
            Some(resource) => resource.acls.push(entry.clone()),
            None => resources.push(DescribedAcls { pattern: pattern.clone(), acls: vec![entry.clone()] }),
        }
    }
    let error_message = (release >= Release::V2_8).then(String::new);
    Reply::from(DescribeAclsResponse { error_message, resources, ..DescribeAclsResponse::default() })
}

/// Adds entry by entry.
pub(crate) fn create(cluster: &mut Cluster, call: &Call, request: &CreateAclsRequest) -> Reply {
    let release = cluster.release;
    let unknown = |creation: &AclCreation| {
        let kinds = [creation.pattern.resource_type, creation.pattern.pattern_type];
        [kinds, [creation.entry.operation, creation.entry.permission_type]].concat().contains(&0)
    };
    if request.creations.iter().any(unknown) && release >= Release::V2_8 {
        return Reply::Close;
    }
    let allowed = authorized(cluster, call, Operation::Alter, Resource::Cluster);
    // What an entry cannot be about was not thought of before 2.8: the broker throws, and the connection is gone.
    let thrown = request.creations.iter().any(is_of_any);
    if cluster.acls.is_some() && allowed && thrown && release <= Release::V2_4 {
        return Reply::Close;
    }
    let results = request.creations.iter().map(|creation| {
        let outcome = match &mut cluster.acls {
            None => Err(disabled(release)),
            Some(_) if !allowed => Err(forbidden()),
            Some(acls) => check(release, creation).map(|()| acls.add(creation.pattern.clone(), creation.entry.clone())),
        };
        let fine = (release >= Release::V2_8).then(String::new);
        let (error_code, error_message) = outcome.map_or_else(|e| (e.code, e.message), |()| (ErrorCode::NONE, fine));
        AclCreationResult { error_code, error_message }
    });
    Reply::from(CreateAclsResponse { results: results.collect(), ..CreateAclsResponse::default() })
}

/// Removes what each filter means.
pub(crate) fn delete(cluster: &mut Cluster, call: &Call, request: &DeleteAclsRequest) -> Reply {
    let release = cluster.release;
    if request.filters.iter().any(has_unknown) && release >= Release::V2_8 {
        return Reply::Close;
    }
    let allowed = authorized(cluster, call, Operation::Alter, Resource::Cluster);
    let filter_results = request.filters.iter().map(|filter| {
        let error = match &mut cluster.acls {
            None => disabled(release),
            Some(_) if !allowed => forbidden(),
            Some(acls) => {
                let gone = acls.remove(filter).into_iter();
                let gone = gone.map(|(pattern, entry)| DeletedAcl { pattern, entry, ..DeletedAcl::default() });
                return AclFilterResult { matching_acls: gone.collect(), ..AclFilterResult::default() };
            }
        };
        AclFilterResult { error_code: error.code, error_message: error.message, ..AclFilterResult::default() }
    });
    Reply::from(DeleteAclsResponse { filter_results: filter_results.collect(), ..DeleteAclsResponse::default() })
}

fn refused(error: ApiError) -> DescribeAclsResponse {
    DescribeAclsResponse { error_code: error.code, error_message: error.message, ..DescribeAclsResponse::default() }
}

fn disabled(release: Release) -> ApiError {
    let where_from = if release >= Release::V3_0 { "" } else { " on the broker" };
    ApiError::new(ErrorCode::SECURITY_DISABLED, format!("No Authorizer is configured{where_from}."))
}

fn forbidden() -> ApiError {
    ApiError::new(ErrorCode::CLUSTER_AUTHORIZATION_FAILED, "Cluster authorization failed.")
}

/// 0 is what a client writes that knows less than the broker.
fn has_unknown(filter: &AclFilter) -> bool {
    [filter.resource_type, filter.pattern_type, filter.operation, filter.permission_type].contains(&0)
}

/// Entries are about something; "any" is for filters.
fn is_of_any(creation: &AclCreation) -> bool {
    let (pattern, entry) = (&creation.pattern, &creation.entry);
    let exact = matches!(pattern.pattern_type, AclPattern::LITERAL | AclPattern::PREFIXED);
    pattern.resource_type == 1 || !exact || entry.operation == 1 || entry.permission_type == 1
}

/// What is wrong with an entry.
fn check(release: Release, creation: &AclCreation) -> Result<(), ApiError> {
    let (pattern, entry) = (&creation.pattern, &creation.entry);
    let invalid = |message: String| Err(ApiError::new(ErrorCode::INVALID_REQUEST, message));
    if pattern.resource_type == 4 && pattern.resource_name != CLUSTER_NAME {
        return invalid(format!("The only valid name for the CLUSTER resource is {CLUSTER_NAME}"));
    }
    if pattern.resource_name.is_empty() {
        return invalid("Invalid empty resource name".to_owned());
    }
    if is_of_any(creation) {
        return Err(ApiError::bare(ErrorCode::UNKNOWN_SERVER_ERROR));
    }
    let principal = &entry.principal;
    if !principal.contains(':') {
        let old = format!("expected a string in format principalType:principalName but got {principal}");
        return Err(if release >= Release::V4_4 {
            let why = "no colon is present separating the principal type from the principal name";
            ApiError::new(ErrorCode::INVALID_REQUEST, format!("Could not parse principal from `{principal}` ({why})"))
        } else if release >= Release::V2_8 {
            ApiError::bare(ErrorCode::UNKNOWN_SERVER_ERROR)
        } else if release == Release::V2_4 {
            let thrown = format!("java.lang.IllegalArgumentException: {old}");
            ApiError::new(ErrorCode::UNKNOWN_SERVER_ERROR, thrown)
        } else {
            ApiError::new(ErrorCode::INVALID_REQUEST, old)
        });
    }
    if entry.host.is_empty() && release >= Release::V4_4 {
        return invalid("Host pattern cannot be null or empty".to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use kmirror_proto::messages::AclEntry;

    use super::*;
    use crate::NodeId;
    use crate::asking::{Asking, Came};

    fn secured(release: Release) -> Asking {
        Asking::to(Cluster::builder(release).authorizer().build().unwrap(), NodeId(0))
    }

    fn creation(resource_type: i8, name: &str, operation: i8, permission_type: i8) -> AclCreation {
        let pattern = AclPattern { resource_type, resource_name: name.to_owned(), ..AclPattern::default() };
        let (principal, host) = ("User:ANONYMOUS".to_owned(), "*".to_owned());
        AclCreation { pattern, entry: AclEntry { principal, host, operation, permission_type } }
    }

    fn create(client: &mut Asking, creation: AclCreation) -> (i16, String) {
        let answer: CreateAclsResponse = client.ask(1, CreateAclsRequest { creations: vec![creation] });
        let result = answer.results[0].clone();
        (result.error_code.0, result.error_message.unwrap_or_else(|| "null".to_owned()))
    }

    fn any() -> AclFilter {
        let pattern_type = AclPattern::ANY;
        AclFilter { resource_type: 1, pattern_type, operation: 1, permission_type: 1, ..AclFilter::default() }
    }

    fn releases() -> impl Iterator<Item = Release> {
        Release::ALL.into_iter().filter(|release| *release >= Release::V2_0)
    }

    #[test]
    fn without_an_authorizer() {
        for release in releases() {
            let mut client = Asking::of(release);
            let answer: DescribeAclsResponse = client.ask(1, DescribeAclsRequest { filter: any() });
            let message = "No Authorizer is configured on the broker";
            assert_eq!((answer.error_code.0, answer.error_message.as_deref()), (54, Some(message)), "{release}");
            let on = if release >= Release::V3_0 { "" } else { " on the broker" };
            let said = create(&mut client, creation(2, "t", 3, 3));
            assert_eq!(said, (54, format!("No Authorizer is configured{on}.")), "{release}");
        }
    }

    #[test]
    fn entries_are_kept_found_and_removed() {
        for release in releases() {
            let mut client = secured(release);
            let fine = (0, if release >= Release::V2_8 { "" } else { "null" }.to_owned());
            for operation in [3, 4, 3] {
                assert_eq!(create(&mut client, creation(2, "t", operation, 3)), fine, "{release}");
            }
            let answer: DescribeAclsResponse = client.ask(1, DescribeAclsRequest { filter: any() });
            assert_eq!((answer.resources.len(), answer.resources[0].acls.len()), (1, 2), "{release}");
            let filters = vec![AclFilter { operation: 4, ..any() }, AclFilter { resource_type: 3, ..any() }];
            let answer: DeleteAclsResponse = client.ask(1, DeleteAclsRequest { filters });
            let counts: Vec<usize> = answer.filter_results.iter().map(|result| result.matching_acls.len()).collect();
            assert_eq!(counts, [1, 0], "{release}");
        }
    }

    #[test]
    fn entries_that_are_none() {
        let said = |release, creation| create(&mut secured(release), creation);
        for release in releases() {
            let cluster = (42, "The only valid name for the CLUSTER resource is kafka-cluster".to_owned());
            assert_eq!(said(release, creation(4, "foo", 3, 3)), cluster, "{release}");
            assert_eq!(
                said(release, creation(2, "", 3, 3)),
                (42, "Invalid empty resource name".to_owned()),
                "{release}"
            );
        }
        let mut nobody = creation(2, "t", 3, 3);
        nobody.entry.principal = "alice".to_owned();
        let old = "expected a string in format principalType:principalName but got alice";
        assert_eq!(said(Release::V2_0, nobody.clone()), (42, old.to_owned()));
        assert_eq!(said(Release::V2_4, nobody.clone()).0, -1);
        assert_eq!(said(Release::V3_9, nobody.clone()), (-1, "null".to_owned()));
        assert!(said(Release::V4_4, nobody).1.starts_with("Could not parse principal from `alice`"));
        let of_any = CreateAclsRequest { creations: vec![creation(2, "t", 1, 3)] };
        assert_eq!(secured(Release::V2_0).send(1, of_any), Came::Closed);
        assert_eq!(said(Release::V3_9, creation(2, "t", 1, 3)), (-1, "null".to_owned()));
        let unknown = CreateAclsRequest { creations: vec![creation(2, "t", 0, 3)] };
        assert_eq!(Asking::of(Release::V2_8).send(1, unknown), Came::Closed);
    }

    #[test]
    fn who_may_not_alter_the_cluster() {
        let mut client = secured(Release::V3_9);
        create(&mut client, creation(4, "kafka-cluster", 7, 2));
        assert_eq!(create(&mut client, creation(2, "t", 3, 3)).0, 31);
    }
}
