//! The loop that drives any machine.

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::time::{Sleep, sleep_until};

use super::clock::Clock;
use super::limits::{COMMANDS_PER_TURN, TURNS_BEFORE_YIELD};
use super::net::Net;
use crate::client::NetEvent;
use crate::clock::Tick;
use crate::config::Side;
use crate::machine::Machine;

/// Drives `machine` until it is finished, ends the sockets in order and hands it back.
///
/// Each turn carries out all that the machine wants, waits for news, and feeds it all news that is ready before it is
/// asked again. Both channels are unbounded: commands are an owner's decisions, a few per minute, and reports are made
/// at intervals, not per record. Nobody has to listen to the reports; when nobody can give commands any more the
/// machine goes on without.
pub async fn drive<M: Machine>(
    mut machine: M,
    mut net: Net,
    clock: Clock,
    commands: UnboundedReceiver<M::Command>,
    reports: UnboundedSender<M::Report>,
) -> M {
    let mut commands = Some(commands);
    let mut alarm = Alarm::new(clock);
    let mut events = VecDeque::new();
    let mut heard = Vec::new();
    let mut busy_turns = 0;
    loop {
        while let Some((side, action)) = machine.poll_net() {
            net.apply(side, action);
        }
        while let Some(report) = machine.poll_report() {
            // An owner that has gone away is not told.
            let _ = reports.send(report);
        }
        if machine.is_finished() {
            net.close().await;
            return machine;
        }
        alarm.set(machine.poll_timeout());
        let waited = wait(&mut net, &mut commands, &mut alarm, &mut events, &mut heard).await;
        let now = clock.now();
        for (side, event) in events.drain(..) {
            machine.handle_net(now, side, event);
        }
        for command in heard.drain(..) {
            machine.handle_command(now, command);
        }
        if machine.poll_timeout().is_some_and(|at| at <= now.tick) {
            machine.handle_timeout(now);
        }
        busy_turns = if waited { 0 } else { busy_turns + 1 };
        if busy_turns >= TURNS_BEFORE_YIELD {
            busy_turns = 0;
            tokio::task::yield_now().await;
        }
    }
}

/// Waits for news and takes all that is ready. Returns whether there was any waiting to do.
async fn wait<C>(
    net: &mut Net,
    commands: &mut Option<UnboundedReceiver<C>>,
    alarm: &mut Alarm,
    events: &mut VecDeque<(Side, NetEvent)>,
    heard: &mut Vec<C>,
) -> bool {
    let mut waited = false;
    poll_fn(|cx| {
        let mut any = net.poll_events(cx, events).is_ready();
        any |= poll_commands(commands, cx, heard);
        any |= alarm.poll(cx).is_ready();
        if any {
            return Poll::Ready(());
        }
        waited = true;
        Poll::Pending
    })
    .await;
    waited
}

fn poll_commands<C>(commands: &mut Option<UnboundedReceiver<C>>, cx: &mut Context<'_>, heard: &mut Vec<C>) -> bool {
    let Some(receiver) = commands else { return false };
    match receiver.poll_recv_many(cx, heard, COMMANDS_PER_TURN) {
        Poll::Ready(0) => {
            *commands = None;
            false
        }
        Poll::Ready(_) => true,
        Poll::Pending => false,
    }
}

/// A timer that is moved rarely: a machine's next wake moves with every request, mostly to later, and a timer that
/// rings too early costs less than one that is set thousands of times a second.
struct Alarm {
    clock: Clock,
    wanted: Option<Tick>,
    set_to: Option<Tick>,
    sleep: Pin<Box<Sleep>>,
}

impl Alarm {
    fn new(clock: Clock) -> Self {
        Self { clock, wanted: None, set_to: None, sleep: Box::pin(sleep_until(clock.instant(Tick::ZERO))) }
    }

    fn set(&mut self, wanted: Option<Tick>) {
        self.wanted = wanted;
    }

    /// `Ready` when the wanted time has come.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(wanted) = self.wanted else { return Poll::Pending };
        loop {
            if self.set_to.is_none_or(|set_to| set_to > wanted) {
                self.sleep.as_mut().reset(self.clock.instant(wanted));
                self.set_to = Some(wanted);
            }
            if self.sleep.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
            let rang_for = self.set_to.take();
            if rang_for.is_some_and(|rang_for| rang_for >= wanted) {
                return Poll::Ready(());
            }
        }
    }
}
