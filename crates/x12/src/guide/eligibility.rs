//! Health care eligibility benefit inquiry and response, 270/271 (TR3 005010X279A1).

use super::{Guide, Node, entity, entity_with, header, level, part};

pub(super) static REQUEST: Guide = Guide {
    set: "270",
    version: "005010X279",
    title: "Eligibility Benefit Inquiry",
    root: header("BHT SE", &[level("2000A", "20", "", REQUEST_SOURCE)]),
};

const SOURCES: &str = "2B 36 GP P5 PR";
const RECEIVERS: &str = "1P 2B 36 80 FA GP P5 PR";

const REQUEST_SOURCE: &[Node] = &[entity("2100A", SOURCES, ""), level("2000B", "21", "", REQUEST_RECEIVER)];

const REQUEST_RECEIVER: &[Node] =
    &[entity("2100B", RECEIVERS, "REF N3 N4 PRV"), level("2000C", "22", "TRN", REQUEST_SUBSCRIBER)];

const REQUEST_PERSON: &str = "REF N3 N4 PRV DMG INS HI DTP";
const REQUEST_ITEM: &str = "AMT III REF DTP";

const REQUEST_SUBSCRIBER: &[Node] = &[
    entity_with("2100C", "IL", REQUEST_PERSON, &[part("2110C", "EQ", REQUEST_ITEM, &[])]),
    level(
        "2000D",
        "23",
        "TRN",
        &[entity_with("2100D", "03", REQUEST_PERSON, &[part("2110D", "EQ", REQUEST_ITEM, &[])])],
    ),
];

pub(super) static RESPONSE: Guide = Guide {
    set: "271",
    version: "005010X279",
    title: "Eligibility Benefit Response",
    root: header("BHT SE", &[level("2000A", "20", "AAA", RESPONSE_SOURCE)]),
};

const RESPONSE_SOURCE: &[Node] = &[entity("2100A", SOURCES, "PER AAA"), level("2000B", "21", "", RESPONSE_RECEIVER)];

const RESPONSE_RECEIVER: &[Node] =
    &[entity("2100B", RECEIVERS, "REF N3 N4 AAA PRV"), level("2000C", "22", "TRN", RESPONSE_SUBSCRIBER)];

const RESPONSE_PERSON: &str = "REF N3 N4 AAA PRV DMG INS HI DTP MPI";
/// LS and LE enclose the 2120 loops.
const RESPONSE_BENEFIT: &str = "HSD REF DTP AAA MSG LS LE";
const RESPONSE_RELATED: &str = "N3 N4 PER PRV";

const RESPONSE_SUBSCRIBER: &[Node] = &[
    entity_with(
        "2100C",
        "IL",
        RESPONSE_PERSON,
        &[part(
            "2110C",
            "EB",
            RESPONSE_BENEFIT,
            &[part("2115C", "III", "", &[]), part("2120C", "NM1", RESPONSE_RELATED, &[])],
        )],
    ),
    level("2000D", "23", "TRN", RESPONSE_DEPENDENT),
];

const RESPONSE_DEPENDENT: &[Node] = &[entity_with(
    "2100D",
    "03",
    RESPONSE_PERSON,
    &[part(
        "2110D",
        "EB",
        RESPONSE_BENEFIT,
        &[part("2115D", "III", "", &[]), part("2120D", "NM1", RESPONSE_RELATED, &[])],
    )],
)];
