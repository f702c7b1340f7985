//! Health care claim status request and response, 276/277 (TR3 005010X212), and the claim acknowledgment 277CA
//! (TR3 005010X214).

use super::{Guide, Node, entity, header, level, part};

pub(super) static REQUEST: Guide = Guide {
    set: "276",
    version: "005010X212",
    title: "Claim Status Request",
    root: header("BHT SE", &[level("2000A", "20", "", REQUEST_PAYER)]),
};

const REQUEST_PAYER: &[Node] = &[entity("2100A", "PR", ""), level("2000B", "21", "", REQUEST_RECEIVER)];
const REQUEST_RECEIVER: &[Node] = &[entity("2100B", "41", ""), level("2000C", "19", "", REQUEST_PROVIDER)];
const REQUEST_PROVIDER: &[Node] = &[entity("2100C", "1P", ""), level("2000D", "22", "DMG", REQUEST_SUBSCRIBER)];

const REQUEST_SUBSCRIBER: &[Node] = &[
    entity("2100D", "IL", ""),
    part("2200D", "TRN", "REF AMT DTP", &[part("2210D", "SVC", "REF DTP", &[])]),
    level("2000E", "23", "DMG", REQUEST_DEPENDENT),
];

const REQUEST_DEPENDENT: &[Node] =
    &[entity("2100E", "QC", ""), part("2200E", "TRN", "REF AMT DTP", &[part("2210E", "SVC", "REF DTP", &[])])];

pub(super) static RESPONSE: Guide = Guide {
    set: "277",
    version: "005010X212",
    title: "Claim Status Response",
    root: header("BHT SE", &[level("2000A", "20", "", RESPONSE_PAYER)]),
};

const RESPONSE_PAYER: &[Node] = &[entity("2100A", "PR", "PER"), level("2000B", "21", "", RESPONSE_RECEIVER)];

const RESPONSE_RECEIVER: &[Node] =
    &[entity("2100B", "41", ""), part("2200B", "TRN", "STC", &[]), level("2000C", "19", "", RESPONSE_PROVIDER)];

const RESPONSE_PROVIDER: &[Node] =
    &[entity("2100C", "1P", ""), part("2200C", "TRN", "STC", &[]), level("2000D", "22", "", RESPONSE_SUBSCRIBER)];

const RESPONSE_SUBSCRIBER: &[Node] = &[
    entity("2100D", "IL", ""),
    part("2200D", "TRN", "STC REF DTP", &[part("2220D", "SVC", "STC REF DTP", &[])]),
    level("2000E", "23", "", RESPONSE_DEPENDENT),
];

const RESPONSE_DEPENDENT: &[Node] =
    &[entity("2100E", "QC", ""), part("2200E", "TRN", "STC REF DTP", &[part("2220E", "SVC", "STC REF DTP", &[])])];

pub(super) static CLAIM_ACKNOWLEDGMENT: Guide = Guide {
    set: "277",
    version: "005010X214",
    title: "Claim Acknowledgment",
    root: header("BHT SE", &[level("2000A", "20", "", ACKNOWLEDGMENT_SOURCE)]),
};

const ACKNOWLEDGMENT_SOURCE: &[Node] = &[
    entity("2100A", "AY PR", ""),
    part("2200A", "TRN", "DTP", &[]),
    level("2000B", "21", "", ACKNOWLEDGMENT_RECEIVER),
];

const ACKNOWLEDGMENT_RECEIVER: &[Node] = &[
    entity("2100B", "41", ""),
    part("2200B", "TRN", "STC QTY AMT", &[]),
    level("2000C", "19", "", ACKNOWLEDGMENT_PROVIDER),
];

const ACKNOWLEDGMENT_PROVIDER: &[Node] = &[
    entity("2100C", "85", ""),
    part("2200C", "TRN", "STC REF QTY AMT", &[]),
    level("2000D", "PT", "", ACKNOWLEDGMENT_PATIENT),
];

const ACKNOWLEDGMENT_PATIENT: &[Node] =
    &[entity("2100D", "QC", ""), part("2200D", "TRN", "STC REF DTP", &[part("2220D", "SVC", "STC REF DTP", &[])])];
