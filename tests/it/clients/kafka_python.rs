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

on_each! { client();
    on_0_10_0 V0_10_0
    on_0_10_1 V0_10_1
    on_0_11 V0_11
    on_1_1 V1_1
    on_2_0 V2_0
    on_2_8 V2_8
    on_3_9 V3_9
    on_4_4 V4_4
}
