//! Health care services review, request for review and response, 278 (TR3 005010X217).

use super::{Guide, Node, entity, header, level, part};

pub(super) static REQUEST: Guide = Guide {
    set: "278",
    version: "005010X217",
    title: "Services Review Request",
    root: header("BHT SE", &[level("2000A", "20", "", REQUEST_REVIEWER)]),
};

const REQUEST_REVIEWER: &[Node] = &[entity("2010A", "X3", ""), level("2000B", "21", "", REQUEST_REQUESTER)];

const REQUEST_REQUESTER: &[Node] =
    &[entity("2010B", "1P FA", "REF N3 N4 PER PRV"), level("2000C", "22", "", REQUEST_SUBSCRIBER)];

const REQUEST_SUBSCRIBER: &[Node] = &[
    entity("2010C", "IL", "REF N3 N4 DMG INS"),
    level("2000D", "23", "", &[entity("2010D", "QC", "REF N3 N4 DMG INS"), REQUEST_EVENT]),
    REQUEST_EVENT,
];

/// Entity codes that tell transport locations, other reviewing organizations and contacts from providers.
const TRANSPORT: &str = "45 FS ND PW R3";
const OTHER_REVIEWERS: &str = "CA GG IC OC PR PRP TTP";
const CONTACTS: &str = "2B ABG L5 X3";

const REQUEST_EVENT: Node = level(
    "2000E",
    "EV",
    "TRN UM REF DTP HI HSD CRC CL1 CR1 CR2 CR5 CR6 PWK MSG",
    &[
        entity("2010EB", TRANSPORT, "N3 N4"),
        entity("2010EC", OTHER_REVIEWERS, "REF DTP"),
        part("2010EA", "NM1", "REF N3 N4 PER PRV", &[]),
        level(
            "2000F",
            "SS",
            "TRN UM REF DTP HI SV1 SV2 SV3 TOO HSD PWK MSG",
            &[part("2010F", "NM1", "REF N3 N4 PER PRV", &[])],
        ),
    ],
);

pub(super) static RESPONSE: Guide = Guide {
    set: "278",
    version: "005010X217",
    title: "Services Review Response",
    root: header("BHT SE", &[level("2000A", "20", "AAA", RESPONSE_REVIEWER)]),
};

const RESPONSE_REVIEWER: &[Node] = &[entity("2010A", "X3", "PER AAA"), level("2000B", "21", "", RESPONSE_REQUESTER)];

const RESPONSE_REQUESTER: &[Node] =
    &[entity("2010B", "1P FA", "REF AAA PRV"), level("2000C", "22", "", RESPONSE_SUBSCRIBER)];

const RESPONSE_SUBSCRIBER: &[Node] = &[
    entity("2010C", "IL", "REF N3 N4 AAA DMG INS"),
    level("2000D", "23", "", &[entity("2010D", "QC", "REF N3 N4 AAA DMG INS"), RESPONSE_EVENT]),
    RESPONSE_EVENT,
];

const RESPONSE_EVENT: Node = level(
    "2000E",
    "EV",
    "TRN AAA UM HCR REF DTP HI HSD CL1 CR1 CR2 CR5 CR6 PWK MSG",
    &[
        entity("2010EB", CONTACTS, "N3 N4 PER"),
        entity("2010EC", TRANSPORT, "N3 N4 AAA"),
        entity("2010ED", OTHER_REVIEWERS, "REF DTP"),
        part("2010EA", "NM1", "REF N3 N4 PER AAA PRV", &[]),
        level(
            "2000F",
            "SS",
            "TRN AAA UM HCR REF DTP HI SV1 SV2 SV3 TOO HSD PWK MSG",
            &[entity("2010FB", CONTACTS, "N3 N4 PER"), part("2010FA", "NM1", "REF N3 N4 PER AAA PRV", &[])],
        ),
    ],
);
