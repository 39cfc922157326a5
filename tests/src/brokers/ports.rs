//! Loopback ports that stay ours while a broker is down.

use std::path::PathBuf;

use crate::cache::Lock;
use crate::{Failure, Result};

/// Below the ports that the kernel gives to outgoing connections (from 32768): none of those can take a broker's port
/// between its stop and its restart.
const RANGE: std::ops::Range<u16> = 20_000..32_000;

/// A port, reserved among all test processes of this machine until it is dropped.
#[derive(Debug)]
pub(super) struct Port {
    number: u16,
    _lock: Lock,
}

impl Port {
    /// A port that nobody listens on and no other test has.
    pub(super) fn reserve() -> Result<Port> {
        let mut random = fastrand::Rng::new();
        for _ in 0..1000 {
            let number = random.u16(RANGE);
            if let Some(lock) = Lock::try_take(&lock_file(number))?
                && free(number)
            {
                return Ok(Port { number, _lock: lock });
            }
        }
        Err(Failure::new(format!("no free port in {RANGE:?} on 127.0.0.1")))
    }

    /// Its number.
    pub(super) fn number(&self) -> u16 {
        self.number
    }
}

#[expect(clippy::disallowed_types, reason = "asks the system whether a port is free")]
fn free(number: u16) -> bool {
    std::net::TcpListener::bind(("127.0.0.1", number)).is_ok()
}

fn lock_file(number: u16) -> PathBuf {
    std::env::temp_dir().join("kmirror-ports").join(number.to_string())
}
