//! The live table as lines of text: pure, so that it can be looked at in tests.
//!
//! ```text
//! orders-mirror: 3 topics, 90 of 96 links caught up, 2 min 05 s
//! topic                 copied      of   rec/s    MB/s     lag    left  state
//! orders                 1.20M   2.40M  52,301    12.3   1.20M     23s  running
//! all 3 topics           …
//!    12s ago  source broker 1 (a:9092): cannot be talked to: refused
//! ```
//! `of` is what is known to be there: copied and lag together; where some topic's lag is unknown the sum is `>` what is
//! known. From [`WIDE`] columns on numbers are written out. Where
//! the width does not do, columns go in this order: MB/s, of, left, rec/s, copied. Topic, lag and state stay. A reason
//! stands in a column of its own where there is room for it, else below its topic. The height is never exceeded: the
//! rows that need somebody, or are furthest behind, are shown.
//!
//! Only rows that fit are made into text: a look at 3,000 topics takes 1.5 ms from the status to the last byte, twice a
//! second.

use std::time::Duration;

use kmirror_core::observe::{TopicState, TopicStatus};

use super::rows::{Pace, Row, urgency};
use super::words::{cell, clip, left, megabytes, short, shorten, whole};
use crate::table::{grouped, lag};

/// From this width on numbers are written out.
const WIDE: usize = 120;

/// The narrowest column of names.
const TOPIC_MIN: usize = 12;

/// The widest column of names, where something else can use the room.
const TOPIC_MAX: usize = 48;

/// The widest column of mirrors' names.
const MIRROR_MAX: usize = 12;

/// The narrowest column of reasons.
const REASON_MIN: usize = 40;

/// `preparing`.
const STATE: usize = 9;

/// Columns between two columns.
const GAP: usize = 2;

/// Lines for what happened lately, and for mirrors that have ended.
const RECENT_MAX: usize = 3;
const ENDED_MAX: usize = 3;

/// How a piece of a line looks, where there are colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    /// As it is.
    Plain,
    /// What names the rest.
    Bold,
    /// What matters less.
    Dim,
    /// All is well.
    Good,
    /// Worth a look.
    Warn,
    /// Needs somebody.
    Bad,
}

/// One line, without its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Line(pub(crate) Vec<(Tone, String)>);

/// Something that happened.
#[derive(Clone, Debug)]
pub(crate) struct Recent {
    /// So long ago.
    pub(crate) age: Duration,
    /// How much it matters.
    pub(crate) tone: Tone,
    /// What.
    pub(crate) text: String,
}

/// Everything that the table shows.
#[derive(Clone, Debug)]
pub(crate) struct Picture<'a> {
    /// What is said above it.
    pub(crate) title: String,
    /// All topics, in any order.
    pub(crate) rows: Vec<Row<'a>>,
    /// All topics together; the lag is that of those whose lag is known.
    pub(crate) total: TopicStatus,
    /// Whether there are others.
    pub(crate) lag_unknown: bool,
    /// How fast they go together.
    pub(crate) pace: Pace,
    /// Mirrors that have ended, each with the reason.
    pub(crate) ended: Vec<(Tone, String)>,
    /// What happened lately, the latest last.
    pub(crate) recent: Vec<Recent>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Copied,
    Known,
    Records,
    Bytes,
    Lag,
    Left,
}

/// The line of all topics.
#[derive(Clone, Copy)]
struct Sum<'a> {
    row: &'a Row<'a>,
    /// Whether the lag is more than that.
    at_least: bool,
}

/// How the width is shared.
#[derive(Debug)]
struct Layout {
    wide: bool,
    mirror: Option<usize>,
    topic: usize,
    numbers: Vec<(Column, usize)>,
    /// Zero where reasons stand below their topics.
    reason: usize,
}

/// The lines, at most `height` of at most `width` columns.
pub(crate) fn frame(picture: &mut Picture<'_>, width: usize, height: usize) -> Vec<Line> {
    let mut head = vec![Line::of(Tone::Bold, clip(&picture.title, width))];
    let ended = picture.ended.len();
    for (tone, text) in picture.ended.iter().take(ENDED_MAX) {
        head.push(Line::of(*tone, clip(text, width)));
    }
    if ended > ENDED_MAX {
        head.push(Line::of(Tone::Dim, format!("… {} more mirrors have ended", ended - ENDED_MAX)));
    }
    // Half of a low terminal is for topics.
    let recent_max = RECENT_MAX.min(height / 4);
    let skipped = picture.recent.len().saturating_sub(recent_max);
    let tail: Vec<Line> = picture.recent.iter().skip(skipped).map(|recent| recent_line(recent, width)).collect();
    let room = height.saturating_sub(head.len() + tail.len());
    let body = if picture.rows.is_empty() { Vec::new() } else { body(picture, width, room) };
    let mut lines = head;
    lines.extend(body);
    lines.extend(tail);
    lines.truncate(height);
    lines
}

/// The column heads, the rows that fit, and the sum.
fn body(picture: &mut Picture<'_>, width: usize, room: usize) -> Vec<Line> {
    let topics = picture.rows.len();
    // Heads, and the sum where there are several.
    let room = room.saturating_sub(if topics > 1 { 2 } else { 1 });
    let rows = &mut picture.rows;
    if room == 0 {
        return Vec::new();
    }
    if rows.len() > room {
        rows.select_nth_unstable_by(room, urgency);
        rows.truncate(room);
    }
    rows.sort_unstable_by(urgency);
    let all = format!("all {} topics", grouped(u64::try_from(topics).unwrap_or(u64::MAX)));
    let total = Row { mirror: None, topic: &all, status: &picture.total, pace: picture.pace };
    let sum = (topics > 1).then_some(Sum { row: &total, at_least: picture.lag_unknown });
    let layout = Layout::of(rows, sum, width);
    let mut lines = vec![layout.heads(width)];
    let mut shown = 0;
    for row in rows.iter() {
        let own = layout.row(row, width);
        // One line is kept for "more", unless this is the last row and fits.
        let last = shown + 1 == topics;
        if lines.len() - 1 + own.len() > if last { room } else { room.saturating_sub(1) } {
            break;
        }
        lines.extend(own);
        shown += 1;
    }
    if shown < topics {
        let more = grouped(u64::try_from(topics - shown).unwrap_or(u64::MAX));
        lines.push(Line::of(Tone::Dim, clip(&format!("… {more} more topics"), width)));
    }
    lines.extend(sum.map(|sum| layout.sum(sum, width)));
    lines
}

impl Layout {
    fn of(rows: &[Row<'_>], sum: Option<Sum<'_>>, width: usize) -> Self {
        use Column::{Bytes, Copied, Known, Lag, Left, Records};
        /// What goes first where there is no room.
        const LEAST: [Column; 5] = [Bytes, Known, Left, Records, Copied];
        let wide = width >= WIDE;
        let mirrors = rows.iter().filter_map(|row| row.mirror).map(|name| name.chars().count().min(MIRROR_MAX));
        let mirror = mirrors.max().map(|width| width.max("mirror".len()));
        let widest = |column: Column| {
            let cells = rows.iter().map(|row| column.text(row, wide));
            let cells = cells.chain(sum.map(|sum| column.sum(sum, wide))).map(|cell| cell.chars().count());
            (column, cells.max().unwrap_or(0).max(column.least(wide)))
        };
        let mut numbers: Vec<(Column, usize)> =
            [Copied, Known, Records, Bytes, Lag, Left].into_iter().map(widest).collect();
        let rest = |numbers: &[(Column, usize)]| {
            let taken: usize = numbers.iter().map(|(_, width)| GAP + width).sum();
            width.saturating_sub(taken + GAP + STATE + mirror.map_or(0, |width| width + GAP))
        };
        for least in LEAST {
            if rest(&numbers) < TOPIC_MIN {
                numbers.retain(|(column, _)| *column != least);
            }
        }
        let rest = rest(&numbers);
        let longest = rows.iter().chain(sum.map(|sum| sum.row)).map(|row| name(row).chars().count()).max().unwrap_or(0);
        let topic = longest.clamp("topic".len(), TOPIC_MAX).min(rest);
        let reason = rest.saturating_sub(topic + GAP);
        let reasons = rows.iter().any(|row| row.status.reason.is_some());
        if wide && reasons && reason >= REASON_MIN {
            Self { wide, mirror, topic, numbers, reason }
        } else {
            // Numbers that stand far from their names are hard to read: what is not needed stays free.
            Self { wide, mirror, topic: rest.min(longest.max(TOPIC_MAX / 2)), numbers, reason: 0 }
        }
    }

    fn heads(&self, width: usize) -> Line {
        let mut text = String::new();
        if let Some(mirror) = self.mirror {
            text.push_str(&format!("{:mirror$}  ", "mirror"));
        }
        text.push_str(&format!("{:1$}", "topic", self.topic));
        for (column, width) in &self.numbers {
            text.push_str(&format!("  {:>width$}", column.head(self.wide)));
        }
        text.push_str("  state");
        if self.reason > 0 {
            text.push_str("      reason");
        }
        Line::of(Tone::Bold, clip(&text, width))
    }

    /// A topic's line, and the one with its reason where that has no column.
    fn row(&self, row: &Row<'_>, width: usize) -> Vec<Line> {
        let name = name_in(row, self.topic);
        let numbers = self.numbers(row, &name, |column| column.text(row, self.wide));
        let mut line = Line(vec![(Tone::Plain, numbers)]);
        let (tone, state) = state(row.status.state);
        let reason = row.status.reason.as_deref().map(cell);
        match &reason {
            Some(reason) if self.reason > 0 => {
                line.0.push((tone, format!("{state:STATE$}  {}", clip(reason, self.reason))));
            }
            Some(_) | None => line.0.push((tone, state.to_owned())),
        }
        let mut lines = vec![line];
        if let (Some(reason), 0) = (&reason, self.reason) {
            lines.push(Line::of(tone, clip(&format!("  └ {reason}"), width)));
        }
        lines
    }

    /// The line of all topics; how many stand how is in the title.
    fn sum(&self, sum: Sum<'_>, width: usize) -> Line {
        let name = shorten(sum.row.topic, self.topic);
        let text = self.numbers(sum.row, &name, |column| column.sum(sum, self.wide));
        Line::of(Tone::Bold, clip(text.trim_end(), width))
    }

    /// Everything left of the state.
    fn numbers(&self, row: &Row<'_>, name: &str, number: impl Fn(Column) -> String) -> String {
        let mut text = String::new();
        if let Some(width) = self.mirror {
            let mirror = row.mirror.map(|name| shorten(&cell(name), width)).unwrap_or_default();
            text.push_str(&format!("{mirror:width$}  "));
        }
        text.push_str(&format!("{name:0$}", self.topic));
        for (column, width) in &self.numbers {
            text.push_str(&format!("  {:>width$}", number(*column)));
        }
        text.push_str("  ");
        text
    }
}

impl Column {
    const fn head(self, wide: bool) -> &'static str {
        match self {
            Self::Copied => "copied",
            Self::Known => "of",
            Self::Records if wide => "records/s",
            Self::Records => "rec/s",
            Self::Bytes => "MB/s",
            Self::Lag => "lag",
            Self::Left => "left",
        }
    }

    /// So that columns do not jump while numbers grow.
    const fn least(self, wide: bool) -> usize {
        match self {
            Self::Copied | Self::Known | Self::Lag if wide => 13,
            Self::Records if wide => 9,
            Self::Copied | Self::Known | Self::Records | Self::Bytes | Self::Lag | Self::Left => 6,
        }
    }

    fn text(self, row: &Row<'_>, wide: bool) -> String {
        let number = if wide { grouped } else { short };
        let copied = row.status.counters.records;
        let behind = row.status.lag.map(|lag| lag.max(0).unsigned_abs());
        match self {
            Self::Copied => number(copied),
            Self::Known => behind.map_or_else(|| lag(None), |behind| number(copied.saturating_add(behind))),
            Self::Records => number(whole(row.pace.records)),
            Self::Bytes => megabytes(row.pace.bytes),
            Self::Lag => behind.map_or_else(|| lag(None), number),
            Self::Left => left(row.pace.left),
        }
    }

    /// In the line of all topics.
    fn sum(self, sum: Sum<'_>, wide: bool) -> String {
        let text = self.text(sum.row, wide);
        match self {
            Self::Known | Self::Lag if sum.at_least => format!(">{text}"),
            Self::Left if sum.at_least => left(None),
            Self::Copied | Self::Known | Self::Records | Self::Bytes | Self::Lag | Self::Left => text,
        }
    }
}

impl Line {
    /// A line in one tone.
    pub(crate) fn of(tone: Tone, text: String) -> Self {
        Self(vec![(tone, text)])
    }

    /// How many columns it takes.
    pub(crate) fn width(&self) -> usize {
        self.0.iter().map(|(_, text)| text.chars().count()).sum()
    }
}

fn recent_line(recent: &Recent, width: usize) -> Line {
    let age = format!("{:>6} ago  ", left(Some(recent.age)));
    let text = clip(&cell(&recent.text), width.saturating_sub(age.chars().count()));
    Line(vec![(Tone::Dim, age), (recent.tone, text)])
}

/// The state's word, and how it looks.
fn state(state: TopicState) -> (Tone, &'static str) {
    match state {
        TopicState::Gone => (Tone::Dim, "gone"),
        TopicState::Preparing => (Tone::Dim, "preparing"),
        TopicState::Running => (Tone::Good, "running"),
        TopicState::Blocked => (Tone::Warn, "blocked"),
        TopicState::Stopped => (Tone::Bad, "stopped"),
    }
}

/// The target's name, where it is another one.
fn renamed<'a>(row: &Row<'a>) -> Option<&'a str> {
    let target = row.status.target.as_str();
    (!target.is_empty() && target != row.topic).then_some(target)
}

fn name(row: &Row<'_>) -> String {
    match renamed(row) {
        None => cell(row.topic),
        Some(target) => format!("{} → {}", cell(row.topic), cell(target)),
    }
}

/// The name in this width; of two names each keeps half.
fn name_in(row: &Row<'_>, width: usize) -> String {
    let whole = name(row);
    match renamed(row) {
        Some(target) if whole.chars().count() > width && width > 8 => {
            let (source, target) = (cell(row.topic), cell(target));
            let room = width - 3;
            let (left, right) = (source.chars().count(), target.chars().count());
            // What the shorter one does not need, the longer one gets.
            let left = left.min((room / 2).max(room.saturating_sub(right)));
            format!("{} → {}", shorten(&source, left), shorten(&target, room - left))
        }
        Some(_) | None => shorten(&whole, width),
    }
}

#[cfg(test)]
mod tests;
