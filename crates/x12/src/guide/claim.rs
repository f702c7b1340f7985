//! Health care claim: professional, 837P (TR3 005010X222A1), and institutional, 837I (TR3 005010X223A2).

use super::{Guide, Node, entity, header, level, part};

pub(super) static PROFESSIONAL: Guide = Guide {
    set: "837",
    version: "005010X222",
    title: "Health Care Claim: Professional",
    root: header(
        "BHT SE",
        &[entity("1000A", "41", "PER"), entity("1000B", "40", ""), level("2000A", "20", "PRV CUR", PROVIDER)],
    ),
};

pub(super) static INSTITUTIONAL: Guide = Guide {
    set: "837",
    version: "005010X223",
    title: "Health Care Claim: Institutional",
    root: header(
        "BHT SE",
        &[entity("1000A", "41", "PER"), entity("1000B", "40", ""), level("2000A", "20", "PRV CUR", FACILITY)],
    ),
};

const FACILITY: &[Node] = &[
    entity("2010AA", "85", "N3 N4 REF PER"),
    entity("2010AB", "87", "N3 N4"),
    entity("2010AC", "PE", "N3 N4 REF"),
    level("2000B", "22", "SBR", INSURED),
];

const INSURED: &[Node] = &[
    entity("2010BA", "IL", "N3 N4 DMG REF"),
    entity("2010BB", "PR", "N3 N4 REF"),
    STAY,
    level("2000C", "23", "PAT", &[entity("2010CA", "QC", "N3 N4 DMG REF"), STAY]),
];

const STAY: Node = part("2300", "CLM", "DTP CL1 PWK CN1 AMT REF K3 NTE CRC HI HCP", STAY_LOOPS);

/// Attending, operating, other operating, rendering, service facility and referring provider.
const STAY_LOOPS: &[Node] = &[
    entity("2310A", "71", "PRV REF"),
    entity("2310B", "72", "REF"),
    entity("2310C", "ZZ", "REF"),
    entity("2310D", "82", "REF"),
    entity("2310E", "77", "N3 N4 REF"),
    entity("2310F", "DN", "REF"),
    part(
        "2320",
        "SBR",
        "CAS AMT OI MIA MOA",
        &[entity("2330A", "IL", "N3 N4 REF"), entity("2330B", "PR", "N3 N4 DTP REF"), part("2330C", "NM1", "REF", &[])],
    ),
    part("2400", "LX", "SV2 PWK DTP REF AMT NTE HCP", STAY_LINE),
];

const STAY_LINE: &[Node] = &[
    part("2410", "LIN", "CTP REF", &[]),
    entity("2420A", "72", "REF"),
    entity("2420B", "ZZ", "REF"),
    entity("2420C", "82", "REF"),
    entity("2420D", "DN", "REF"),
    part("2430", "SVD", "CAS DTP AMT", &[]),
];

const PROVIDER: &[Node] = &[
    entity("2010AA", "85", "N3 N4 REF PER"),
    entity("2010AB", "87", "N3 N4"),
    entity("2010AC", "PE", "N3 N4 REF"),
    level("2000B", "22", "SBR PAT", SUBSCRIBER),
];

const SUBSCRIBER: &[Node] = &[
    entity("2010BA", "IL", "N3 N4 DMG REF PER"),
    entity("2010BB", "PR", "N3 N4 REF"),
    CLAIM,
    level("2000C", "23", "PAT", &[entity("2010CA", "QC", "N3 N4 DMG REF PER"), CLAIM]),
];

const CLAIM: Node = part("2300", "CLM", "DTP PWK CN1 AMT REF K3 NTE CR1 CR2 CRC HI HCP", CLAIM_LOOPS);

const CLAIM_LOOPS: &[Node] = &[
    entity("2310A", "DN P3", "REF"),
    entity("2310B", "82", "PRV REF"),
    entity("2310C", "77", "N3 N4 REF PER"),
    entity("2310D", "DQ", "REF"),
    entity("2310E", "PW", "N3 N4"),
    entity("2310F", "45", "N3 N4"),
    part("2320", "SBR", "CAS AMT OI MOA", OTHER_SUBSCRIBER),
    part("2400", "LX", "SV1 SV5 PWK CR1 CR3 CRC DTP QTY MEA CN1 REF AMT K3 NTE PS1 HCP", LINE),
];

const OTHER_SUBSCRIBER: &[Node] = &[
    entity("2330A", "IL", "N3 N4 REF"),
    entity("2330B", "PR", "N3 N4 DTP REF"),
    entity("2330C", "DN P3", "REF"),
    entity("2330D", "82", "REF"),
    entity("2330E", "77", "REF"),
    entity("2330F", "DQ", "REF"),
    entity("2330G", "85", "REF"),
];

const LINE: &[Node] = &[
    part("2410", "LIN", "CTP REF", &[]),
    entity("2420A", "82", "PRV REF"),
    entity("2420B", "QB", "REF"),
    entity("2420C", "77", "N3 N4 REF"),
    entity("2420D", "DQ", "REF"),
    entity("2420E", "DK", "N3 N4 REF PER"),
    entity("2420F", "DN P3", "REF"),
    entity("2420G", "PW", "N3 N4"),
    entity("2420H", "45", "N3 N4"),
    part("2430", "SVD", "CAS DTP AMT", &[]),
    part("2440", "LQ", "FRM", &[]),
];
