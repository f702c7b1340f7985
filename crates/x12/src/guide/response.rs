//! Health care claim payment/advice, 835 (TR3 005010X221A1), and the implementation acknowledgment, 999 (TR3
//! 005010X231A1).

use super::{Guide, Node, header, part, part_when};

pub(super) static PAYMENT: Guide = Guide {
    set: "835",
    version: "005010X221",
    title: "Health Care Claim Payment/Advice",
    root: header(
        "BPR TRN CUR REF DTM PLB SE",
        &[
            part_when("1000A", "N1", "PR", "N3 N4 REF PER"),
            part_when("1000B", "N1", "PE", "N3 N4 REF RDM"),
            part("2000", "LX", "TS3 TS2", CLAIM),
        ],
    ),
};

const CLAIM: &[Node] = &[part(
    "2100",
    "CLP",
    "CAS NM1 MIA MOA REF DTM PER AMT QTY",
    &[part("2110", "SVC", "DTM CAS REF AMT QTY LQ", &[])],
)];

pub(super) static IMPLEMENTATION_ACKNOWLEDGMENT: Guide = Guide {
    set: "999",
    version: "005010X231",
    title: "Implementation Acknowledgment",
    root: header("AK1 AK9 SE", &[part("2000", "AK2", "IK5", SEGMENT)]),
};

const SEGMENT: &[Node] = &[part("2100", "IK3", "CTX", &[part("2110", "IK4", "CTX", &[])])];
