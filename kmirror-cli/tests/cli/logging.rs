//! What goes where: `--log-dir`, `--log-format`, `--json`.

use std::fs;
use std::path::Path;

use crate::broker::Broker;
use crate::{Done, Files, done, kmirror};

/// Runs from a cluster to itself, which is refused.
fn run(more: &[&str]) -> (Files, Done) {
    let broker = Broker::start(&[("t", &[(0, 10)])]);
    let address = broker.address();
    let consumer = format!("bootstrap.servers={address}\ngroup.id=g\nsession.timeout.ms=6000\n");
    let producer = format!("bootstrap.servers={address}\n");
    let files = Files::new(&[("c", &consumer), ("p", &producer), ("file", "")]);
    let mut command = kmirror();
    command.current_dir(files.path("")).args(["run", "--consumer.config=c", "--producer.config=p", "--whitelist=t"]);
    let done = done(command.args(more).output().unwrap());
    assert_eq!(done.code, Some(1), "{done:?}");
    (files, done)
}

fn log(folder: &Path) -> String {
    fs::read_to_string(folder.join("kmirror.log")).unwrap()
}

#[test]
fn log_lines_go_to_the_file_of_the_day() {
    let (files, done) = run(&["--log-dir", "logs/mirror"]);
    let log = log(&files.path("logs/mirror"));
    assert!(log.contains("WARN c:3: session.timeout.ms: ignored"), "{log}");
    assert!(log.lines().next_back().unwrap().contains("are the same cluster"), "the end is there too: {log}");
    assert!(log.lines().all(|line| line.contains('Z')), "each line has its time: {log}");
    let errors: Vec<&str> = done.err.lines().filter(|line| !line.contains("INFO")).collect();
    assert_eq!(errors.len(), 1, "only the reason is said on standard error: {}", done.err);
    assert!(errors[0].contains("are the same cluster"), "{}", done.err);
}

#[test]
fn a_file_can_have_json() {
    let (files, _) = run(&["--log-dir", "logs", "--log-format", "json"]);
    let log = log(&files.path("logs"));
    let lines: Vec<serde_json::Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines.iter().all(|line| line["time"].is_string() && line["message"].is_string()), "{log}");
    assert_eq!(lines[0]["level"], "WARN");
    assert!(lines[0].get("mirror").is_none(), "one mirror needs no name: {log}");
}

#[test]
fn a_folder_that_cannot_be_written_is_one_sentence() {
    let (_, done) = run(&["--log-dir", "file/logs"]);
    assert!(done.err.starts_with("--log-dir file/logs: the folder cannot be made: "), "{}", done.err);
    assert_eq!(done.err.lines().count(), 1, "{}", done.err);
}

#[test]
fn tools_read_json_and_nothing_else() {
    let (_, done) = run(&["--json"]);
    for line in done.err.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(line["level"].is_string(), "{line}");
    }
    assert!(done.err.lines().next_back().unwrap().contains("are the same cluster"), "{}", done.err);
    let report: serde_json::Value = serde_json::from_str(done.out.lines().next_back().unwrap()).unwrap();
    let mirror = &report["mirrors"][0];
    assert!(mirror["mirror"] == "g" && mirror["outcome"] == "failed", "{report}");
    assert!(mirror["reason"].as_str().unwrap().contains("are the same cluster"), "{report}");
}

/// Two mirrors of one file: each line names the one it is about, and the end names those that failed.
#[test]
fn several_mirrors_are_told_apart() {
    let broker = Broker::start(&[("t", &[(0, 10)])]);
    let address = broker.address();
    let cluster = |name: &str, address: &str| format!("[cluster.{name}]\nbootstrap.servers = \"{address}\"\n");
    let mirror = |name: &str| format!("[mirror.{name}]\nsource = \"a\"\ntarget = \"b\"\ntopics = \"t\"\n");
    // Only at a second look are both of them one cluster.
    let clusters = cluster("a", &address) + &cluster("b", &address.replace("127.0.0.1", "localhost"));
    let text = clusters + &mirror("east") + &mirror("west");
    let files = Files::new(&[("kmirror.toml", &text)]);
    let run = |more: &[&str]| {
        done(kmirror().arg("run").arg("-c").arg(files.path("kmirror.toml")).args(more).output().unwrap())
    };
    let text = run(&[]);
    for name in ["east", "west"] {
        let failed: Vec<&str> =
            text.err.lines().filter(|line| line.contains(&format!("ERROR {name}: failed: "))).collect();
        assert_eq!(failed.len(), 1, "{}", text.err);
    }
    let last = text.err.lines().next_back().unwrap();
    assert!(last.starts_with("2 of 2 mirrors failed: east: source and target "), "{last}");
    assert!(last.contains("; west: source and target "), "{last}");
    assert_eq!(text.code, Some(1));

    let json = run(&["--json"]);
    let lines: Vec<serde_json::Value> = json.err.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines.iter().any(|line| line["mirror"] == "east" && line["level"] == "ERROR"), "{}", json.err);
    let report: serde_json::Value = serde_json::from_str(json.out.lines().next_back().unwrap()).unwrap();
    let names: Vec<&str> =
        report["mirrors"].as_array().unwrap().iter().map(|one| one["mirror"].as_str().unwrap()).collect();
    assert_eq!(names, ["east", "west"]);
}
