//! The command line of a JVM that runs Kafka's own classes.

use std::ffi::OsString;

use super::fetch::Distribution;
use super::release::Mode;
use crate::process::words;

/// How a broker's JVM is tuned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JvmProfile {
    /// Up soon and small: for tests.
    QuickStart,
    /// As in production: for measurements.
    Server,
}

/// What the old releases reach into on Java 17.
const OPENED: [&str; 4] = [
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/java.lang=ALL-UNNAMED",
    "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED",
];

/// `java` with the jars of a distribution and `main`, heap in MiB; the program's own arguments follow.
pub(super) fn java(
    distribution: &Distribution,
    profile: JvmProfile,
    heap_mib: u32,
    log_config: &str,
    main: &[&str],
) -> Vec<OsString> {
    let mut command = words(["java"]);
    command.extend(words(OPENED));
    command.push(format!("-Xmx{heap_mib}m").into());
    if profile == JvmProfile::QuickStart {
        command.extend(words(["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"]));
    }
    command.extend(words(["-Djava.net.preferIPv4Stack=true", "-Dzookeeper.admin.enableServer=false"]));
    // 3.5 and newer answer only `srvr` otherwise; a restart after a kill asks for `dump`.
    command.extend(words(["-Dzookeeper.4lw.commands.whitelist=*"]));
    command.push(match distribution.release.mode {
        Mode::ZooKeeper => format!("-Dlog4j.configuration=file:{log_config}").into(),
        Mode::KRaft => "-Dorg.apache.logging.log4j.level=INFO".into(),
    });
    command.push("-cp".into());
    command.push(distribution.class_path().into());
    command.extend(words(main));
    command
}

/// Log4j 1's configuration: everything to stdout, which the guard keeps in one file.
pub(super) const LOG4J: &str = "\
log4j.rootLogger=INFO, out
log4j.appender.out=org.apache.log4j.ConsoleAppender
log4j.appender.out.layout=org.apache.log4j.PatternLayout
log4j.appender.out.layout.ConversionPattern=[%d] %p %m (%c)%n
";
