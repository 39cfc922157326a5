//! The JVM at the other end of two pipes: `tests/judge/records/*.java` with the 3.9.1 client.
//!
//! ```text
//! asked     [i32 questions] then each [i32 length][u8 kind][...]
//! answered  [i32 answers] then each [i32 length][u8 status][...]
//! ```
//!
//! All questions of one frame are read there before the first answer is written: neither side ever waits for the other
//! with a full pipe. The JVM ends with its input, so also when this process is killed.

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use bytes::{Buf as _, Bytes};

use crate::brokers::distribution;
use crate::failure::{Context as _, ensure};
use crate::sha256::Sha256;
use crate::{Failure, Result, cache, process};

/// A running JVM.
#[derive(Debug)]
pub(super) struct Jvm {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: ChildStdout,
}

/// One answer: what was asked for, or why there is none.
pub(super) type Answer = std::result::Result<Bytes, String>;

impl Jvm {
    /// Starts it; the classes are compiled once per machine.
    pub(super) fn start() -> Result<Jvm> {
        let class_path = format!("{}:{}", classes()?.display(), distribution(RELEASE)?.class_path());
        let mut java = Command::new("java");
        java.args(["-XX:+UseSerialGC", "-Xmx768m", "-cp", &class_path, "RecordsJudge"]);
        java.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = java.spawn().context(|| format!("starting the judge of records: {java:?}"))?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let stdout = stdout.ok_or_else(|| Failure::new("the judge of records has no stdout"))?;
        Ok(Jvm { child, stdin, stdout })
    }

    /// Asks all questions at once; the answers in their order.
    pub(super) fn ask(&mut self, questions: &[Vec<u8>]) -> Result<Vec<Answer>> {
        let mut frame = Vec::new();
        put_length(&mut frame, questions.len());
        for question in questions {
            put_length(&mut frame, question.len());
            frame.extend_from_slice(question);
        }
        let stdin = self.stdin.as_mut().ok_or_else(|| Failure::new("the judge of records has no stdin"))?;
        stdin.write_all(&frame).context(|| "asking the judge of records".to_owned())?;
        stdin.flush().context(|| "asking the judge of records".to_owned())?;
        let answers = self.read_i32()?;
        ensure(answers == questions.len(), || format!("{answers} answers to {} questions", questions.len()))?;
        (0..answers).map(|_| self.answer()).collect()
    }

    fn answer(&mut self) -> Result<Answer> {
        let mut answer = vec![0; self.read_i32()?];
        self.stdout.read_exact(&mut answer).context(|| "listening to the judge of records".to_owned())?;
        let mut answer = Bytes::from(answer);
        let status = answer.try_get_u8().map_err(|_| Failure::new("an answer without a status"))?;
        Ok(if status == 0 { Ok(answer) } else { Err(String::from_utf8_lossy(&answer).into_owned()) })
    }

    fn read_i32(&mut self) -> Result<usize> {
        let mut length = [0; 4];
        self.stdout.read_exact(&mut length).context(|| "waiting for the judge of records".to_owned())?;
        usize::try_from(i32::from_be_bytes(length)).map_err(|_| Failure::new("the judge of records counts below zero"))
    }
}

impl Drop for Jvm {
    fn drop(&mut self) {
        // Its input ends, and it with it.
        drop(self.stdin.take());
        let _ = self.child.wait();
    }
}

fn put_length(frame: &mut Vec<u8>, length: usize) {
    frame.extend_from_slice(&i32::try_from(length).unwrap_or(i32::MAX).to_be_bytes());
}

/// Whose record classes judge.
const RELEASE: &str = "3.9.1";

/// The program's files.
const SOURCES: [(&str, &str); 5] = [
    ("RecordsJudge.java", include_str!("../../judge/records/RecordsJudge.java")),
    ("Reading.java", include_str!("../../judge/records/Reading.java")),
    ("Spec.java", include_str!("../../judge/records/Spec.java")),
    ("Writing.java", include_str!("../../judge/records/Writing.java")),
    ("Frames.java", include_str!("../../judge/records/Frames.java")),
];

/// The folder of the compiled classes, named after the program's text.
fn classes() -> Result<PathBuf> {
    let mut text = Sha256::default();
    SOURCES.iter().for_each(|(_, source)| text.update(source.as_bytes()));
    let hash = text.finish().to_string();
    let class_path = distribution(RELEASE)?.class_path();
    cache::filled(&format!("judge/records-{}", &hash[..16]), |folder| compile(&class_path, folder))
}

fn compile(class_path: &str, folder: &Path) -> Result {
    let mut javac = Command::new("javac");
    javac.args(["-nowarn", "-cp", class_path, "-d"]).arg(folder);
    for (name, source) in SOURCES {
        let file = folder.join(name);
        std::fs::write(&file, source).context(|| format!("writing {}", file.display()))?;
        javac.arg(&file);
    }
    process::run("compiling the judge of records", &mut javac).map(drop)
}
