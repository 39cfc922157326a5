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
