//! kafka-python: a client in Python alone.

use kmirror_tests::Result;

use super::client::Abilities;
use super::program::Program;
use super::python;
use super::story::on_each;

fn client() -> Result<Program> {
    // It refuses a header without a value.
    let abilities = |release| Abilities { null_headers: false, ..Abilities::all_of(release) };
    Ok(Program { name: "kafka-python", command: python::script("kafka_python.py")?, abilities })
}

on_each! { client() }
