//! What stands on a terminal after log lines and tables: the bytes go through a small terminal.

use std::sync::{Arc, Mutex};

use super::*;

#[derive(Clone, Default)]
struct Written(Arc<Mutex<String>>);

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().push_str(str::from_utf8(bytes).unwrap());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn screen(colours: bool) -> (Screen, Written) {
    let written = Written::default();
    let out = Box::new(written.clone());
    (Screen { out, terminal: false, colours, table: Vec::new(), drawn: Vec::new(), at: Tick::ZERO }, written)
}

/// The rows of a terminal that knows what the screen uses: line feed, carriage return, up, and erasing to the end of the
/// row or of the screen.
fn rows(written: &Written) -> Vec<String> {
    let (mut rows, mut row, mut column) = (vec![Vec::new()], 0, 0);
    let text = written.0.lock().unwrap().clone();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\n' => {
                (row, column) = (row + 1, 0);
                if row == rows.len() {
                    rows.push(Vec::new());
                }
            }
            '\r' => column = 0,
            '\u{1b}' => {
                let code: String = chars.by_ref().skip(1).take_while_inclusive();
                match code.split_at(code.len() - 1) {
                    (up, "A") => row -= up.parse::<usize>().unwrap(),
                    ("", "K") => rows[row].truncate(column),
                    ("", "J") => {
                        rows.truncate(row + 1);
                        rows[row].truncate(column);
                    }
                    (_, "m") => {}
                    other => panic!("{other:?}"),
                }
            }
            c => {
                rows[row].resize(column, ' ');
                rows[row].push(c);
                column += 1;
            }
        }
    }
    rows.into_iter().map(|row: Vec<char>| row.into_iter().collect()).collect()
}

/// The code up to the letter that ends it.
trait Code {
    fn take_while_inclusive(self) -> String;
}

impl<I: Iterator<Item = char>> Code for I {
    fn take_while_inclusive(self) -> String {
        let mut code = String::new();
        for c in self {
            code.push(c);
            if c.is_ascii_alphabetic() {
                break;
            }
        }
        code
    }
}

fn table(lines: &[&str]) -> Vec<Line> {
    lines.iter().map(|line| Line::of(Tone::Bold, (*line).to_owned())).collect()
}

fn at(ms: u64) -> Tick {
    Tick::ZERO.after(Duration::from_millis(ms))
}

#[test]
fn a_table_takes_the_place_of_the_last_one() {
    let (mut screen, written) = screen(true);
    screen.log(at(0), "starting\n");
    screen.draw(at(500), table(&["title", "a long line", "b"]));
    screen.draw(at(1000), table(&["title", "short"]));
    assert_eq!(rows(&written), ["starting", "title", "short", ""]);
    screen.clear();
    assert_eq!(rows(&written), ["starting", ""]);
}

#[test]
fn log_lines_stand_above_the_table() {
    let (mut screen, written) = screen(true);
    screen.draw(at(500), table(&["title", "row"]));
    screen.log(at(900), "one\n");
    assert_eq!(rows(&written), ["one", "title", "row", ""]);
    screen.log(at(1000), "two\n");
    screen.log(at(1050), "three\n");
    assert_eq!(rows(&written), ["one", "two", "three", ""], "a burst does not draw the table for each line");
    screen.draw(at(1400), table(&["title", "row"]));
    assert_eq!(rows(&written), ["one", "two", "three", "title", "row", ""]);
    screen.clear();
    screen.log(at(2000), "four\n");
    assert_eq!(rows(&written), ["one", "two", "three", "four", ""], "what was taken away stays away");
}

/// Ctrl-Z, and later `fg`: the shell's own lines below the table are left alone.
#[test]
fn after_a_pause_the_table_is_drawn_anew() {
    let (mut screen, written) = screen(true);
    screen.draw(at(500), table(&["title"]));
    written.clone().write_all(b"[1]+ Stopped\n").unwrap();
    screen.draw(at(60_000), table(&["title"]));
    assert_eq!(rows(&written), ["title", "[1]+ Stopped", "title", ""]);
}

#[test]
fn a_narrower_terminal_has_broken_the_lines() {
    let (mut screen, _) = screen(true);
    screen.draw(at(500), table(&["0123456789", "01234", ""]));
    let in_width = |width, height| screen.rows(Some(Size { width, height }));
    assert_eq!([in_width(10, 24), in_width(9, 24), in_width(4, 24)], [3, 4, 6]);
    assert_eq!(in_width(4, 6), 5, "what has left the screen stays where it is");
}

#[test]
fn colours_only_where_they_are_wanted() {
    let draw = |colours| {
        let (mut screen, written) = screen(colours);
        screen.draw(at(0), vec![Line(vec![(Tone::Plain, "a ".to_owned()), (Tone::Bad, "b".to_owned())])]);
        written.0.lock().unwrap().clone()
    };
    assert_eq!(draw(true), "\r\x1b[Ka \x1b[31mb\x1b[0m\n\x1b[J");
    assert_eq!(draw(false), "\r\x1b[Ka b\n\x1b[J");
}

#[test]
fn without_a_table_a_line_is_a_line() {
    let (mut screen, written) = screen(false);
    screen.log(at(0), "one\n");
    screen.log(at(10_000), "two\n");
    screen.clear();
    assert_eq!(*written.0.lock().unwrap(), "one\ntwo\n");
}
