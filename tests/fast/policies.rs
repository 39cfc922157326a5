//! What a target cannot take, by policy: stories of `it`, on embedded clusters of more releases.

use kmirror_testkit::Release::{self, V0_10_0, V0_10_1, V0_11, V1_0, V2_0, V2_8, V3_9, V4_4};
use kmirror_tests::stories::policies::losses::{
    HEADERS, KEYLESS, KEYLESS_ANSWERED, Loss, TIMESTAMP, TOO_LARGE, TOO_LARGE_ANSWERED,
};
use kmirror_tests::stories::policies::{modulo, partitions, sizes};

use crate::plays;

const TO_0_10: &[(Release, Release)] = &[(V4_4, V0_10_1), (V0_10_1, V0_10_0)];
const TO_OTHERS: &[(Release, Release)] = &[(V0_10_1, V4_4), (V4_4, V0_11), (V2_0, V2_8)];

/// Every loss, between releases where it is one. They are played in [`crate::after_a_wait`].
pub(crate) const LOSSES: [(&Loss, &[(Release, Release)]); 6] = [
    (&TOO_LARGE_ANSWERED, TO_0_10),
    (&KEYLESS_ANSWERED, TO_0_10),
    (&HEADERS, &[(V4_4, V0_10_1), (V0_11, V0_10_0)]),
    (&TOO_LARGE, TO_OTHERS),
    (&KEYLESS, TO_OTHERS),
    (&TIMESTAMP, &[(V2_0, V3_9), (V0_10_1, V4_4)]),
];

plays! {
    stop_stands_still: partitions::stop_stands_still_until_the_target_has_them,
        [(V4_4, V0_10_1), (V0_10_1, V4_4), (V2_0, V2_8)];
    grow_adds_partitions: partitions::grow_adds_them, [(V4_4, V1_0), (V0_10_1, V4_4), (V2_0, V2_8)];
    grow_says_where_it_cannot: partitions::grow_says_where_it_cannot,
        [(V2_0, V0_10_0), (V4_4, V0_10_1), (V0_10_1, V0_11)];
    modulo_is_refused_on_0_10: partitions::modulo_is_refused_on_0_10, [(V4_4, V0_10_1)];
    modulo_shares_partitions: modulo::partitions_are_shared, [(V4_4, V0_11), (V0_10_1, V4_4), (V2_0, V2_8)];
    a_batch_that_is_too_large_is_split: sizes::all_of_it_arrives,
        [(V4_4, V0_10_1), (V0_10_1, V4_4), (V2_0, V0_10_0), (V0_11, V2_8)];
}
