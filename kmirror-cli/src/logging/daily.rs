//! A log file for each day, as log4j's `DailyRollingFileAppender` has them: `kmirror.log` is today's, and at midnight
//! (UTC, as the times in it) it becomes `kmirror.log.2026-10-01`.
//!
//! Each line is handed to the system before the next one is made: whatever way the process ends, nothing is lost. A
//! process has its folder for itself.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use crate::date::{DAY_MS, date};

/// Today's file.
const NAME: &str = "kmirror.log";

/// How many files of one day are told apart: a clock that is set back ends the same day twice.
const SAME_DAY_MAX: u32 = 1000;
/// The file that is written today.
#[derive(Debug)]
pub(crate) struct DailyFile {
    folder: PathBuf,
    file: File,
    /// Days since 1970.
    day: i64,
    /// Whether the last line was not written to its end.
    torn: bool,
}

impl DailyFile {
    /// Opens today's file, to go on at its end; one of an earlier day is put aside first. The folder is made if it is not
    /// there.
    pub(crate) fn open(folder: &Path, unix_ms: i64) -> Result<Self, String> {
        fs::create_dir_all(folder).map_err(|error| format!("the folder cannot be made: {error}"))?;
        let day = unix_ms.div_euclid(DAY_MS);
        let path = folder.join(NAME);
        if let Some(last) = last_written(&path).filter(|last| *last < day) {
            put_aside(folder, last)?;
        }
        let file = append(&path).map_err(|error| format!("{NAME} cannot be written: {error}"))?;
        Ok(Self { folder: folder.to_owned(), file, day, torn: false })
    }

    /// Writes one line, which ends in a line feed. What goes wrong is said in one sentence; the next line tries again.
    pub(crate) fn write(&mut self, unix_ms: i64, line: &str) -> Result<(), String> {
        let turned = self.turn(unix_ms);
        let torn = self.torn;
        self.torn = true;
        let written = if torn { self.file.write_all(b"\n") } else { Ok(()) };
        written
            .and_then(|()| self.file.write_all(line.as_bytes()))
            .map_err(|error| format!("{NAME} cannot be written: {error}: lines are missing from here on"))?;
        self.torn = false;
        turned
    }

    /// A new file when a new day has begun. Where that fails the old one is written on, until tomorrow.
    fn turn(&mut self, unix_ms: i64) -> Result<(), String> {
        let day = unix_ms.div_euclid(DAY_MS);
        if day <= self.day {
            return Ok(());
        }
        let yesterday = std::mem::replace(&mut self.day, day);
        put_aside(&self.folder, yesterday)?;
        self.file = append(&self.folder.join(NAME)).map_err(|error| format!("{NAME} cannot be made: {error}"))?;
        Ok(())
    }
}

fn append(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).append(true).open(path)
}

/// The day of the last line in a file, if there is such a file.
fn last_written(path: &Path) -> Option<i64> {
    let since = fs::metadata(path).ok()?.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    i64::try_from(since.as_millis()).ok().map(|ms| ms / DAY_MS)
}

/// Gives the file its day's name. One that has it already is kept.
fn put_aside(folder: &Path, day: i64) -> Result<(), String> {
    let name = format!("{NAME}.{}", date(day));
    let again = (1..SAME_DAY_MAX).map(|number| format!("{name}.{number}"));
    let mut names = std::iter::once(name.clone()).chain(again);
    let free = names.find(|name| !folder.join(name).exists()).unwrap_or(name);
    fs::rename(folder.join(NAME), folder.join(&free))
        .map_err(|error| format!("{NAME} cannot be renamed to {free}: {error}: it is written on"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TODAY: i64 = 20_000 * DAY_MS;

    fn text(folder: &Path, name: &str) -> String {
        fs::read_to_string(folder.join(name)).unwrap()
    }

    #[test]
    fn a_day_has_its_date() {
        let dates = [0, 59, 11_016, 11_017, 20_727, 47_540, 47_541].map(date);
        let leap_or_not = ["2000-02-29", "2000-03-01", "2026-10-01", "2100-02-28", "2100-03-01"];
        assert_eq!(dates, ["1970-01-01", "1970-03-01"].into_iter().chain(leap_or_not).collect::<Vec<_>>()[..]);
    }

    #[test]
    fn yesterdays_lines_are_put_aside_at_midnight() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("logs");
        let mut file = DailyFile::open(&path, TODAY).unwrap();
        file.write(TODAY + 1, "one\n").unwrap();
        file.write(TODAY + DAY_MS - 1, "two\n").unwrap();
        file.write(TODAY + DAY_MS, "three\n").unwrap();
        file.write(TODAY + 2 * DAY_MS, "four\n").unwrap();
        assert_eq!(text(&path, "kmirror.log.2024-10-04"), "one\ntwo\n");
        assert_eq!(text(&path, "kmirror.log.2024-10-05"), "three\n");
        assert_eq!(text(&path, "kmirror.log"), "four\n");
    }

    #[test]
    fn a_start_goes_on_at_the_end_of_todays_file() {
        let folder = tempfile::tempdir().unwrap();
        for line in ["one\n", "two\n"] {
            DailyFile::open(folder.path(), TODAY).unwrap().write(TODAY, line).unwrap();
        }
        assert_eq!(text(folder.path(), "kmirror.log"), "one\ntwo\n");
    }

    #[test]
    fn a_start_puts_the_file_of_an_earlier_day_aside() {
        let folder = tempfile::tempdir().unwrap();
        DailyFile::open(folder.path(), TODAY).unwrap().write(TODAY, "old\n").unwrap();
        let file = File::options().append(true).open(folder.path().join(NAME)).unwrap();
        file.set_modified(UNIX_EPOCH + std::time::Duration::from_millis(u64::try_from(TODAY).unwrap())).unwrap();
        let tomorrow = TODAY + DAY_MS;
        DailyFile::open(folder.path(), tomorrow).unwrap().write(tomorrow, "new\n").unwrap();
        assert_eq!(text(folder.path(), "kmirror.log.2024-10-04"), "old\n");
        assert_eq!(text(folder.path(), "kmirror.log"), "new\n");
    }

    /// The clock was set back over midnight and passes it again.
    #[test]
    fn no_day_takes_the_place_of_another() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("kmirror.log.2024-10-04"), "first\n").unwrap();
        let mut file = DailyFile::open(folder.path(), TODAY).unwrap();
        file.write(TODAY, "second\n").unwrap();
        file.write(TODAY + DAY_MS, "third\n").unwrap();
        assert_eq!(text(folder.path(), "kmirror.log.2024-10-04"), "first\n");
        assert_eq!(text(folder.path(), "kmirror.log.2024-10-04.1"), "second\n");
    }

    /// Somebody has taken the file away: the lines go on into the one that is open, and it is said once.
    #[test]
    fn what_cannot_be_renamed_is_written_on() {
        let folder = tempfile::tempdir().unwrap();
        let mut file = DailyFile::open(folder.path(), TODAY).unwrap();
        let taken = folder.path().join("taken");
        fs::rename(folder.path().join(NAME), &taken).unwrap();
        let said = file.write(TODAY + DAY_MS, "line\n").unwrap_err();
        assert!(said.starts_with("kmirror.log cannot be renamed to kmirror.log.2024-10-04: "), "{said}");
        file.write(TODAY + DAY_MS, "next\n").unwrap();
        assert_eq!(fs::read_to_string(taken).unwrap(), "line\nnext\n");
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_said() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("file"), "").unwrap();
        let said = DailyFile::open(&folder.path().join("file"), TODAY).unwrap_err();
        assert!(said.starts_with("the folder cannot be made: "), "{said}");
    }

    /// `/dev/full` is a disk without room.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_said_and_a_torn_line_ends() {
        let folder = tempfile::tempdir().unwrap();
        let mut file = DailyFile::open(folder.path(), TODAY).unwrap();
        file.write(TODAY, "one\n").unwrap();
        let disk = std::mem::replace(&mut file.file, append(Path::new("/dev/full")).unwrap());
        let said = file.write(TODAY, "lost\n").unwrap_err();
        assert!(said.starts_with("kmirror.log cannot be written: No space left"), "{said}");
        file.file = disk;
        file.write(TODAY, "two\n").unwrap();
        assert_eq!(text(folder.path(), "kmirror.log"), "one\n\ntwo\n", "a reader finds whole lines");
    }
}
