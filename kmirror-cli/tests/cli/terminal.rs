//! The binary on a terminal: the table is drawn below the log lines, and nothing of it is left behind.
#![cfg(target_os = "linux")]

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};

use kmirror_proto::ApiKey;
use kmirror_testkit::fault::{Fault, Requests};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Termios, Winsize, tcgetattr, tcsetwinsize};

use crate::broker::{self, Broker};
use crate::signals::signal;
use crate::{Files, kmirror};

/// The other end of a terminal.
struct Terminal {
    master: File,
    written: String,
}

impl Terminal {
    fn open(columns: u16, rows: u16) -> (Self, OwnedFd) {
        // A mirror that inherited this end would never see it closed.
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        tcsetwinsize(&master, Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
        let path = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
        let slave = File::options().read(true).write(true).open(path).unwrap();
        (Self { master: master.into(), written: String::new() }, slave.into())
    }

    /// Reads until it says this; false if it ends before, or says nothing for a minute.
    fn says(&mut self, words: &str) -> bool {
        while !self.written.contains(words) {
            let mut waits = [PollFd::new(&self.master, PollFlags::IN)];
            if poll(&mut waits, Some(&Timespec { tv_sec: 60, tv_nsec: 0 })).unwrap() == 0 {
                return false;
            }
            let mut bytes = [0; 4096];
            // A terminal whose process is gone ends with an error.
            match self.master.read(&mut bytes) {
                Ok(0) | Err(_) => return false,
                Ok(read) => self.written.push_str(&String::from_utf8_lossy(&bytes[..read])),
            }
        }
        true
    }

    fn rest(mut self) -> String {
        self.says("\u{0}");
        self.written
    }
}

/// A mirror whose clusters take connections and never answer.
fn start(command: &mut Command, slave: &OwnedFd, files: &Files, more: &[&str]) -> Child {
    let end = || Stdio::from(slave.try_clone().unwrap());
    command.args(["run", "--whitelist", "t", "--consumer.config"]).arg(files.path("c"));
    command.arg("--producer.config").arg(files.path("p")).args(more);
    command.stdin(end()).stdout(end()).stderr(end()).spawn().unwrap()
}

fn silent() -> Files {
    let (source, target) = (broker::silent(), broker::silent());
    between(&source.to_string(), &target.to_string())
}

fn between(source: &str, target: &str) -> Files {
    let earliest = "auto.offset.reset=earliest\n";
    let consumer = format!("bootstrap.servers={source}\ngroup.id=g\nsession.timeout.ms=6000\n{earliest}");
    Files::new(&[("c", &consumer), ("p", &format!("bootstrap.servers={target}\n"))])
}

fn in_xterm() -> Command {
    let mut command = kmirror();
    command.env("TERM", "xterm");
    command
}

/// What of a terminal a program can leave behind.
fn modes(terminal: &Termios) -> String {
    format!("{:?}", (terminal.input_modes, terminal.output_modes, terminal.local_modes, terminal.control_modes))
}

#[test]
fn the_table_is_drawn_and_taken_away() {
    let files = silent();
    let (mut terminal, slave) = Terminal::open(80, 24);
    let before = modes(&tcgetattr(&slave).unwrap());
    let mut child = start(&mut in_xterm(), &slave, &files, &[]);
    assert!(terminal.says("waiting for both clusters"), "{}", terminal.written);
    assert!(terminal.written.contains("\u{1b}[1mg, "), "the title is bold: {:?}", terminal.written);
    signal(&child, "TERM");
    assert!(terminal.says("SIGTERM: stopping"), "{}", terminal.written);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(modes(&tcgetattr(&slave).unwrap()), before, "the terminal is as it was");
    drop(slave);
    let written = terminal.rest();
    for code in ["\u{1b}[?", "\u{1b}c", "\u{1b}[6n"] {
        assert!(!written.contains(code), "no mode is set and nothing is asked: {written:?}");
    }
    let table = written.rfind("waiting for both clusters").unwrap();
    let erased = written.rfind("A\r\u{1b}[J").expect("the table is taken away");
    assert!(erased > table, "{written:?}");
    let (coloured, plain) = (written.rfind("\u{1b}[0m"), written.rfind("\u{1b}[1m"));
    assert!(coloured > plain, "colours end: {written:?}");
}

#[test]
fn without_colours_there_is_still_a_table() {
    let files = silent();
    let (mut terminal, slave) = Terminal::open(80, 24);
    let mut child = start(in_xterm().env("NO_COLOR", "1"), &slave, &files, &[]);
    assert!(terminal.says("\u{1b}[Kg, "), "{}", terminal.written);
    signal(&child, "INT");
    assert_eq!(child.wait().unwrap().code(), Some(0));
    drop(slave);
    let written = terminal.rest();
    assert!(
        !written.contains("m\u{1b}") && !written.contains("\u{1b}[1m") && !written.contains("\u{1b}[0m"),
        "{written:?}"
    );
}

/// A terminal that knows no codes, one that is too small, and whoever wants nothing but warnings get log lines.
#[test]
fn there_is_no_table_where_it_makes_no_sense() {
    for (term, columns, more) in [("dumb", 80, &[][..]), ("xterm", 30, &[]), ("xterm", 80, &["--quiet"])] {
        let files = silent();
        let (mut terminal, slave) = Terminal::open(columns, 24);
        let mut command = kmirror();
        command.env("TERM", term).env("NO_COLOR", "1").env("RUST_LOG", "kmirror=info");
        let mut child = start(&mut command, &slave, &files, more);
        // It holds the terminal open.
        drop(command);
        // The session it never had is what the first warning is about.
        assert!(terminal.says("session.timeout.ms: ignored"), "{}", terminal.written);
        signal(&child, "TERM");
        assert!(terminal.says("SIGTERM: stopping"), "{}", terminal.written);
        assert_eq!(child.wait().unwrap().code(), Some(0));
        drop(slave);
        assert!(!terminal.rest().contains('\u{1b}'), "{term} {columns} {more:?}");
    }
}

/// The window is closed: nobody is left to talk to, and the system says so with SIGHUP.
#[test]
fn a_terminal_that_is_closed_stops_the_mirror() {
    let files = silent();
    let (mut terminal, slave) = Terminal::open(80, 24);
    let mut child = start(&mut in_xterm(), &slave, &files, &[]);
    assert!(terminal.says("waiting for both clusters"), "{}", terminal.written);
    signal(&child, "HUP");
    assert!(terminal.says("SIGHUP: the configuration was read again"), "{}", terminal.written);
    drop(slave);
    drop(terminal);
    signal(&child, "HUP");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// A clean stop waits for what is on its way, and the target has not answered yet.
#[test]
fn a_second_signal_ends_at_once() {
    let (source, target) = (Broker::start(&[("t", &[(0, 10)])]), Broker::start(&[("t", &[(0, 0)])]));
    let produce = target.intercept(Requests::of(ApiKey::PRODUCE).about("t"), Fault::Hold);
    let files = between(&source.address(), &target.address());
    let (mut terminal, slave) = Terminal::open(80, 24);
    let mut child = start(&mut in_xterm(), &slave, &files, &[]);
    while target.bitten(produce) == 0 {
        // The table is drawn twice a second for as long as it runs.
        terminal.written.clear();
        assert!(terminal.says("\u{1b}[J"), "{}", terminal.written);
    }
    signal(&child, "TERM");
    assert!(terminal.says("SIGTERM: stopping (once more ends at once)"), "{}", terminal.written);
    signal(&child, "INT");
    assert!(terminal.says("SIGINT again: ending at once"), "{}", terminal.written);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    drop(slave);
    let written = terminal.rest();
    assert!(written.rfind("A\r\u{1b}[J") > written.rfind(" links caught up"), "no table is left: {written:?}");
}

/// Keys of the user show up in the terminal's text, and change nothing.
#[test]
fn keys_are_left_alone() {
    let files = silent();
    let (mut terminal, slave) = Terminal::open(80, 24);
    let mut child = start(&mut in_xterm(), &slave, &files, &[]);
    assert!(terminal.says("waiting for both clusters"), "{}", terminal.written);
    terminal.master.write_all(b"q\x1b[A\r").unwrap();
    terminal.written.clear();
    assert!(terminal.says("waiting for both clusters"), "it goes on: {}", terminal.written);
    signal(&child, "TERM");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
