//! confluent-kafka for Python: librdkafka, as most languages have it.

use kmirror_tests::Result;

use super::client::Abilities;
use super::program::Program;
use super::python;
use super::story::on_each;

fn client() -> Result<Program> {
    let abilities = Abilities::all_of;
    Ok(Program { name: "confluent-kafka", command: python::script("confluent.py")?, abilities })
}

on_each! { client() }
