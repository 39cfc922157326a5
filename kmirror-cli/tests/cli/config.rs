//! `kmirror.toml`, as `run` and `config check` meet it.

use std::path::Path;

use crate::broker::dead_address;
use crate::{Done, Files, done, kmirror};

const FILE: &str = "[cluster.old]\nbootstrap.servers = \"a:9092\"\nsession.timeout.ms = 6000\n\
                    [cluster.new]\nbootstrap.servers = \"${NEW_KAFKA}\"\n\
                    [mirror.orders]\nsource = \"old\"\ntarget = \"new\"\ntopics = [\"orders.*\", \"payments\"]\n";

fn with_env(folder: &Path, args: &[&str], env: &[(&str, &str)]) -> Done {
    let mut command = kmirror();
    command.current_dir(folder).args(args).env_remove("NEW_KAFKA").envs(env.iter().copied());
    done(command.output().unwrap())
}

fn check(text: &str) -> Done {
    let files = Files::new(&[("kmirror.toml", text), ("topicmapping.properties", "orders.a eu.a\n")]);
    with_env(files.folder.path(), &["config", "check", "-c", "kmirror.toml"], &[("NEW_KAFKA", "b:9092")])
}

#[test]
fn what_is_in_force_is_shown_with_its_place_and_kafkas_default() {
    let second =
        "[mirror.more]\nsource = \"old\"\ntarget = \"new\"\ntopics = \"more\"\nsettings.some.password = \"x1y2\"\n";
    let done =
        check(&format!("{FILE}refresh_interval = \"5s\"\ntopic_mappings = \"topicmapping.properties\"\n{second}"));
    assert_eq!((done.code, done.err.as_str()), (Some(0), ""), "{done:?}");
    let line = |start: &str| {
        let line = done.out.lines().find(|line| line.starts_with(start)).unwrap_or_default();
        line.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(line("setting"), "setting value from Kafka's default");
    assert_eq!(
        line("refresh_interval"),
        "refresh_interval 5s kmirror.toml:10 5min (MirrorMaker), 10min (MirrorMaker 2)"
    );
    assert_eq!(line("commit_interval"), "commit_interval 1min default 1min (MirrorMaker)");
    assert_eq!(line("target.bootstrap.servers"), "target.bootstrap.servers b:9092 kmirror.toml:5");
    assert_eq!(line("topic_mappings"), "topic_mappings orders.a → eu.a kmirror.toml:11");
    assert!(done.out.contains("\nmirror more\n") && done.out.starts_with("mirror orders\n"), "{}", done.out);
    assert!(
        line("settings.some.password").contains("*** kmirror.toml:16") && !done.out.contains("x1y2"),
        "{}",
        done.out
    );
    let warning =
        "warning: kmirror.toml:3: cluster.old.session.timeout.ms: ignored: kmirror does not join the source's group";
    assert_eq!(line("warning"), warning);
    assert!(!done.out.lines().any(|line| line.ends_with(' ')), "no blanks at the ends");
}

#[test]
fn everything_that_is_wrong_is_said_at_once() {
    let done = check(&format!("{FILE}partitons = \"grow\"\nmemory = 8\n"));
    assert_eq!((done.code, done.out.as_str()), (Some(1), ""), "{done:?}");
    let lines: Vec<&str> = done.err.lines().collect();
    assert_eq!(lines[0], "kmirror.toml:10: mirror.orders.partitons: unknown setting; did you mean partitions?");
    assert!(
        lines[1].starts_with("kmirror.toml:11: mirror.orders.memory: \"8\" is not a value of this key: a size"),
        "{lines:?}"
    );
    assert_eq!(lines.len(), 2);
}

#[test]
fn a_variable_that_is_not_there_is_named_with_its_place() {
    let files = Files::new(&[("kmirror.toml", FILE)]);
    for command in [&["run", "-c", "kmirror.toml"][..], &["config", "check", "-c", "kmirror.toml"]] {
        let done = with_env(files.folder.path(), command, &[]);
        let words = "kmirror.toml:5: cluster.new.bootstrap.servers: the environment has no NEW_KAFKA; set it, or write \
                     ${NEW_KAFKA:-otherwise}";
        assert!(done.err.starts_with(words), "{done:?}");
        assert_eq!(done.code, Some(if command[0] == "run" { 2 } else { 1 }));
    }
}

#[test]
fn a_file_and_mirrormakers_flags_exclude_each_other() {
    let files = Files::new(&[("kmirror.toml", FILE)]);
    let done = with_env(files.folder.path(), &["run", "-c", "kmirror.toml", "--num.streams", "2"], &[]);
    assert_eq!(done.code, Some(2));
    assert!(done.err.contains("'--config <FILE>' cannot be used with '--num.streams <N>'"), "{}", done.err);
    let absent = with_env(files.folder.path(), &["run", "-c", "absent.toml"], &[]);
    assert!(absent.code == Some(2) && absent.err.starts_with("--config absent.toml: cannot be read: "), "{absent:?}");
}

/// The mapping's file is looked for beside the configuration, wherever the command is started.
#[test]
fn files_that_the_file_names_lie_beside_it() {
    let text = format!("{FILE}topic_mappings = \"topicmapping.properties\"\n");
    let files = Files::new(&[("kmirror.toml", &text), ("topicmapping.properties", "orders.a eu.a\n")]);
    let path = files.path("kmirror.toml");
    let args = ["config", "check", "-c", path.to_str().unwrap()];
    let done = with_env(Path::new("/"), &args, &[("NEW_KAFKA", "b:9092")]);
    assert!(done.code == Some(0) && done.out.contains("orders.a → eu.a"), "{done:?}");
}

#[test]
fn a_mirror_of_a_file_starts() {
    let text = FILE.replace("a:9092", &dead_address()).replace("${NEW_KAFKA}", &dead_address());
    let fast = "consumer.request.timeout.ms = 500\nconsumer.socket.connection.setup.timeout.ms = 500\n\
                producer.request.timeout.ms = 500\nproducer.socket.connection.setup.timeout.ms = 500\n";
    let files = Files::new(&[("kmirror.toml", &format!("{text}{fast}"))]);
    let done = with_env(files.folder.path(), &["run", "-c", "kmirror.toml"], &[]);
    assert_eq!(done.code, Some(1), "{done:?}");
    assert!(done.err.contains("session.timeout.ms: ignored"), "{}", done.err);
    assert!(done.err.contains("no broker answers"), "{}", done.err);
}
