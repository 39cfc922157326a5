//! One broker of a cluster: where it is reached, and whether it runs.

use crate::api::fetch::Sessions;

/// A broker.
#[derive(Debug)]
pub(crate) struct Broker {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) rack: Option<String>,
    pub(crate) running: bool,
    /// Stopped as by SIGSTOP: it does nothing, and its connections stay.
    pub(crate) frozen: bool,
    /// How it ended last: with time to write down what it knows.
    pub(crate) clean: bool,
    /// Fetch sessions; a broker that ends forgets them.
    pub(crate) sessions: Sessions,
}

impl Broker {
    /// A running one that nobody can reach yet.
    pub(crate) fn new() -> Self {
        Self {
            host: "127.0.0.1".to_owned(),
            port: 0,
            rack: None,
            running: true,
            frozen: false,
            clean: true,
            sessions: Sessions::default(),
        }
    }
}
