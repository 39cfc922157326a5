//! Where brokers listen, and what clients are told of it.

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, ToSocketAddrs};
use std::str::FromStr;

/// Where the brokers of a cluster listen: the first on this port, each further one on the next.
///
/// ```
/// use kmirror_testkit::net::ListenOn;
///
/// let listen_on: ListenOn = "127.0.0.1:9092".parse()?;
/// assert_eq!(listen_on, ListenOn { host: "127.0.0.1".to_owned(), port: 9092, advertised_host: None });
/// # Ok::<(), kmirror_testkit::net::BadAddress>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListenOn {
    /// A name or an address of this machine.
    pub host: String,
    /// The first broker's port; 0 for free ports.
    pub port: u16,
    /// What clients are told in place of the host, as `advertised.listeners` does it. `None`: the host itself, or
    /// 127.0.0.1 if that is "all addresses".
    pub advertised_host: Option<String>,
}

/// It is not `host:port`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a host and a port: {text:?}; say it as 127.0.0.1:9092")]
pub struct BadAddress {
    /// What was given.
    pub text: String,
}

impl ListenOn {
    /// One address for each broker, as many as are wanted.
    pub(super) fn resolve(&self) -> io::Result<impl Iterator<Item = SocketAddr> + use<>> {
        let found = (self.host.as_str(), self.port).to_socket_addrs()?.next();
        let first = found.ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "the name has no address"))?;
        let ports: Box<dyn Iterator<Item = u16>> =
            if self.port == 0 { Box::new(std::iter::repeat(0)) } else { Box::new(self.port..=u16::MAX) };
        Ok(ports.map(move |port| SocketAddr::new(first.ip(), port)))
    }

    /// What clients are told of the host of a listener.
    pub(super) fn advertised(&self, address: SocketAddr) -> String {
        match &self.advertised_host {
            Some(host) => host.clone(),
            None if address.ip().is_unspecified() => Ipv4Addr::LOCALHOST.to_string(),
            None => self.host.clone(),
        }
    }
}

impl Default for ListenOn {
    /// Free ports of 127.0.0.1.
    fn default() -> Self {
        Self { host: Ipv4Addr::LOCALHOST.to_string(), port: 0, advertised_host: None }
    }
}

impl FromStr for ListenOn {
    type Err = BadAddress;

    /// `host:port`; an IPv6 address stands in brackets.
    fn from_str(text: &str) -> Result<Self, BadAddress> {
        let bad = || BadAddress { text: text.to_owned() };
        let (host, port) = text.rsplit_once(':').ok_or_else(bad)?;
        let port = port.parse().map_err(|_| bad())?;
        let host = match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
            Some(bracketed) => bracketed.parse::<IpAddr>().map_err(|_| bad())?.to_string(),
            None if host.is_empty() || host.contains([':', '[', ']']) => return Err(bad()),
            None => host.to_owned(),
        };
        Ok(Self { host, port, advertised_host: None })
    }
}

impl fmt::Display for ListenOn {
    /// As it is parsed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (host, port) = (&self.host, self.port);
        if host.contains(':') { write!(f, "[{host}]:{port}") } else { write!(f, "{host}:{port}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_host_and_a_port() {
        for text in ["localhost:0", "0.0.0.0:9092", "[::1]:65535"] {
            assert_eq!(text.parse::<ListenOn>().unwrap().to_string(), text);
        }
        for text in ["", "9092", ":9092", "::1:9092", "host:65536", "[host]:1", "host:"] {
            assert_eq!(text.parse::<ListenOn>(), Err(BadAddress { text: text.to_owned() }));
        }
    }

    #[test]
    fn each_broker_has_the_next_port() {
        let ports = |text: &str| {
            let listen_on: ListenOn = text.parse().unwrap();
            listen_on.resolve().unwrap().take(3).map(|address| address.port()).collect::<Vec<_>>()
        };
        assert_eq!(ports("127.0.0.1:9092"), [9092, 9093, 9094]);
        assert_eq!(ports("127.0.0.1:0"), [0, 0, 0]);
        assert_eq!(ports("127.0.0.1:65535"), [65535]);
    }

    #[test]
    fn nobody_is_told_to_connect_to_all_addresses() {
        let listen_on: ListenOn = "0.0.0.0:9092".parse().unwrap();
        let address: SocketAddr = "0.0.0.0:9092".parse().unwrap();
        assert_eq!(listen_on.advertised(address), "127.0.0.1");
        let named = ListenOn { advertised_host: Some("kafka.test".to_owned()), ..listen_on };
        assert_eq!(named.advertised(address), "kafka.test");
    }
}
