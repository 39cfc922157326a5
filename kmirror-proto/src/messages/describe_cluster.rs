//! DescribeCluster (60), versions 0-2: the brokers, or the controllers, of a cluster.
//!
//! ```text
//! request   v0  include operations     v1  + endpoint type     v2  + include fenced brokers        compact
//! response  v0  throttle, error, nullable message, cluster, controller, [node, host, port, rack], operations
//!           v1  + endpoint type before the cluster             v2  + is fenced behind the rack     compact
//! ```
//!
//! 2.8 and newer. Java: `DescribeClusterRequest`, `DescribeClusterResponse`; KIP-700, controllers: KIP-919, fenced
//! brokers: KIP-1073.

use std::ops::RangeInclusive;

use super::{Message, Request, refuse_left_out};
use crate::api::ApiKey;
use crate::error::{DecodeError, EncodeError};
use crate::error_code::ErrorCode;
use crate::wire::{Form, Reader, Writer};

/// Asks for the nodes of a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DescribeClusterRequest {
    /// Ask for the operations that this client may do on the cluster.
    pub include_cluster_authorized_operations: bool,
    /// Which nodes to ask for, [`BROKERS`](Self::BROKERS) or [`CONTROLLERS`](Self::CONTROLLERS) (v1+).
    pub endpoint_type: i8,
    /// Ask also for brokers that are fenced (v2).
    pub include_fenced_brokers: bool,
}

impl DescribeClusterRequest {
    /// The brokers.
    pub const BROKERS: i8 = 1;
    /// The controllers.
    pub const CONTROLLERS: i8 = 2;
}

/// The nodes of a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DescribeClusterResponse {
    /// How long this client is throttled.
    pub throttle_time_ms: i32,
    /// What is wrong.
    pub error_code: ErrorCode,
    /// What the broker has to say about that.
    pub error_message: Option<String>,
    /// Which nodes these are (v1+).
    pub endpoint_type: i8,
    /// The id of the cluster.
    pub cluster_id: String,
    /// The controller, -1 when unknown.
    pub controller_id: i32,
    /// The nodes.
    pub brokers: Vec<DescribedBroker>,
    /// Bits of what this client may do on the cluster, `i32::MIN` when not asked for.
    pub cluster_authorized_operations: i32,
}

/// One node.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DescribedBroker {
    /// Its id.
    pub broker_id: i32,
    /// The host that it advertises.
    pub host: String,
    /// The port that it advertises, as sent: not checked to be one.
    pub port: i32,
    /// Its rack.
    pub rack: Option<String>,
    /// Is it kept from serving (v2)?
    pub is_fenced: bool,
}

impl Default for DescribeClusterRequest {
    fn default() -> Self {
        Self { include_cluster_authorized_operations: false, endpoint_type: 1, include_fenced_brokers: false }
    }
}

impl Default for DescribeClusterResponse {
    fn default() -> Self {
        Self {
            throttle_time_ms: 0,
            error_code: ErrorCode::NONE,
            error_message: None,
            endpoint_type: 1,
            cluster_id: String::new(),
            controller_id: -1,
            brokers: Vec::new(),
            cluster_authorized_operations: i32::MIN,
        }
    }
}

impl Request for DescribeClusterRequest {
    const KEY: ApiKey = ApiKey::DESCRIBE_CLUSTER;
    const VERSIONS: RangeInclusive<i16> = 0..=2;
    const FLEXIBLE_FROM: i16 = 0;
    type Response = DescribeClusterResponse;
}

impl Message for DescribeClusterRequest {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_bool(self.include_cluster_authorized_operations);
        if version >= 1 {
            w.put_i8(self.endpoint_type);
        } else {
            refuse_left_out(self.endpoint_type != 1, "controllers of the cluster", version)?;
        }
        if version >= 2 {
            w.put_bool(self.include_fenced_brokers);
        } else {
            refuse_left_out(self.include_fenced_brokers, "fenced brokers", version)?;
        }
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let mut request = Self {
            include_cluster_authorized_operations: r.bool("include cluster authorized operations")?,
            ..Self::default()
        };
        if version >= 1 {
            request.endpoint_type = r.i8("endpoint type")?;
        }
        if version >= 2 {
            request.include_fenced_brokers = r.bool("include fenced brokers")?;
        }
        r.skip_tagged_fields(form, "describe cluster request")?;
        Ok(request)
    }
}

impl Message for DescribeClusterResponse {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_i32(self.throttle_time_ms);
        w.put_i16(self.error_code.0);
        w.put_nullable_string(form, self.error_message.as_deref(), "error message")?;
        if version >= 1 {
            w.put_i8(self.endpoint_type);
        } else {
            refuse_left_out(self.endpoint_type != 1, "controllers of the cluster", version)?;
        }
        w.put_string(form, &self.cluster_id, "cluster id")?;
        w.put_i32(self.controller_id);
        w.put_items(form, &self.brokers, "brokers", |w, broker| broker.encode(version, w))?;
        w.put_i32(self.cluster_authorized_operations);
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let mut response = Self {
            throttle_time_ms: r.i32("throttle time")?,
            error_code: ErrorCode(r.i16("describe cluster error code")?),
            error_message: r.nullable_string(form, "error message")?,
            ..Self::default()
        };
        if version >= 1 {
            response.endpoint_type = r.i8("endpoint type")?;
        }
        response.cluster_id = r.string(form, "cluster id")?;
        response.controller_id = r.i32("controller id")?;
        response.brokers = r.items(form, 11, "brokers", |r| DescribedBroker::decode(version, r))?;
        response.cluster_authorized_operations = r.i32("cluster authorized operations")?;
        r.skip_tagged_fields(form, "describe cluster response")?;
        Ok(response)
    }
}

impl DescribedBroker {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_i32(self.broker_id);
        w.put_string(form, &self.host, "broker host")?;
        w.put_i32(self.port);
        w.put_nullable_string(form, self.rack.as_deref(), "broker rack")?;
        if version >= 2 {
            w.put_bool(self.is_fenced);
        } else {
            refuse_left_out(self.is_fenced, "fenced broker", version)?;
        }
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let mut broker = Self {
            broker_id: r.i32("broker id")?,
            host: r.string(form, "broker host")?,
            port: r.i32("broker port")?,
            rack: r.nullable_string(form, "broker rack")?,
            ..Self::default()
        };
        if version >= 2 {
            broker.is_fenced = r.bool("is fenced")?;
        }
        r.skip_tagged_fields(form, "described broker")?;
        Ok(broker)
    }
}

const fn form(version: i16) -> Form {
    Form::at(version, DescribeClusterRequest::FLEXIBLE_FROM)
}
