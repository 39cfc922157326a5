//! A thread that drives one machine.

use std::io;
use std::thread::{Builder, JoinHandle};

use tokio::runtime;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::clock::Clock;
use super::driver::drive;
use super::net::Net;
use crate::machine::Machine;

/// A running thread, as its owner sees it.
#[derive(Debug)]
pub struct Thread<M: Machine> {
    /// What the machine is told. Dropped: the machine goes on without commands.
    pub commands: UnboundedSender<M::Command>,
    /// What the machine tells; ends when the machine does.
    pub reports: UnboundedReceiver<M::Report>,
    /// Gives the machine back when it is finished, or says that its thread panicked.
    pub thread: JoinHandle<M>,
}

/// Starts a thread called `name` with a tokio runtime of its own, and drives `machine` in it.
///
/// # Errors
/// If the system gives no thread or no event queue.
pub fn spawn<M>(name: &str, machine: M, net: Net, clock: Clock) -> io::Result<Thread<M>>
where
    M: Machine + Send + 'static,
    M::Command: Send,
    M::Report: Send,
{
    let (commands, commands_heard) = unbounded_channel();
    let (reports_told, reports) = unbounded_channel();
    let runtime = runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
    let thread = Builder::new().name(name.to_owned()).spawn(move || {
        let machine = runtime.block_on(drive(machine, net, clock, commands_heard, reports_told));
        // A name look-up that hangs in the system's resolver must not keep the worker from ending.
        runtime.shutdown_background();
        machine
    })?;
    Ok(Thread { commands, reports, thread })
}
