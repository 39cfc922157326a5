//! What every machine can be told and asked, whoever drives it: the runtime, a test, a simulator.
//!
//! Feed one of the `handle_*` methods with what happened, then poll network actions and reports until there are none, then
//! come back at the time of [`Machine::poll_timeout`] or with the next event.

use crate::client::{NetAction, NetEvent};
use crate::clock::{Now, Tick};
use crate::config::Side;

/// A machine: it is told what happened and when, and asked what it wants. It never waits and never does anything.
pub trait Machine {
    /// What its owner may say to it.
    type Command;
    /// What it has to tell its owner.
    type Report;

    /// A socket has news.
    fn handle_net(&mut self, now: Now, side: Side, event: NetEvent);
    /// The owner has said something.
    fn handle_command(&mut self, now: Now, command: Self::Command);
    /// The time that it asked for has come. Too early must be harmless.
    fn handle_timeout(&mut self, now: Now);
    /// What the sockets are to do next.
    fn poll_net(&mut self) -> Option<(Side, NetAction)>;
    /// What it has to tell next.
    fn poll_report(&mut self) -> Option<Self::Report>;
    /// When it wants to be woken.
    fn poll_timeout(&self) -> Option<Tick>;
    /// It is done: what its last actions wrote is still brought out, then it is handed back.
    fn is_finished(&self) -> bool;
}
