//! The supported message structures (HL7 v2.8, chapters 2 to 10), in the abstract syntax of the standard: `[ ]`
//! optional, `{ }` repeating, `< | >` one of.
//!
//! Each structure is the union of all versions: what one version allows is allowed in all. A later version that
//! requires more has its own row.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use crate::Version;
use crate::validate::automaton::Automaton;

/// Message type, trigger events, structure. A row without trigger events applies to every event.
const TYPES: &[(&str, &str, &str)] = &[
    ("ACK", "", "ACK"),
    ("ADT", "A01 A04 A08 A13", "ADT_A01"),
    ("ADT", "A02", "ADT_A02"),
    ("ADT", "A03", "ADT_A03"),
    ("ADT", "A05 A14 A28 A31", "ADT_A05"),
    ("ADT", "A06 A07", "ADT_A06"),
    ("ADT", "A09 A10 A11", "ADT_A09"),
    ("ADT", "A12", "ADT_A12"),
    ("ADT", "A21 A22 A23 A25 A26 A27 A29 A32 A33", "ADT_A21"),
    ("ADT", "A30 A34 A35 A36 A46 A47 A48 A49", "ADT_A30"),
    ("ADT", "A39 A40 A41 A42", "ADT_A39"),
    ("DFT", "P03", "DFT_P03"),
    ("MDM", "T01 T03 T05 T07 T09 T11", "MDM_T01"),
    ("MDM", "T02 T04 T06 T08 T10", "MDM_T02"),
    ("OML", "O21", "OML_O21"),
    ("ORM", "O01", "ORM_O01"),
    ("ORU", "R01", "ORU_R01"),
    ("RDE", "O11 O25 O01", "RDE_O11"),
    ("SIU", "S12 S13 S14 S15 S16 S17 S18 S19 S20 S21 S22 S23 S24 S26 S27", "SIU_S12"),
    ("VXU", "V04", "VXU_V04"),
];

/// The event of messages without one: before 2.2, MSH-9 had only the message type.
const DEFAULT_EVENTS: &[(&str, &str)] = &[("ORM", "O01"), ("ORU", "R01"), ("RDE", "O01"), ("DFT", "P03")];

/// Segments of envelopes, queries and messages without a structure here.
const OTHER_SEGMENTS: &str = "MSH SFT UAC NTE ERR MSA QAK QPD RCP QRD QRF QID DSP DSC EQU FHS FTS BHS BTS ADD STF PRA ORG \
                              LOC LDP MFI MFE MFA OM1 OM2 OM3 OM4 OM5 OM6 OM7 CDM PRC RXD RXG IAM ABS BPO BPX BTX CM0 CM1 CM2 \
                              CSP CSR CSS GOL PRB PTH VAR IPC ISD INV APR RMI NPU AFF CER EDU LAN PSH PCR PEO PES FAC GP1 GP2 \
                              PYE PSG PSL PSS ADJ IVC PMT IPR BUI CNS DON EQP INR NDS NST NSC NCK PAC PKG PM1 REL SCD SCP SDD SHP SID SLT \
                              STZ TCC URD URS VND CTR DMI DPS DRG IIM ITM ILT LCC LCH LRL MCP OMC OH1 OH2 OH3 OH4 OVR PCE PRD RDF RDT";

static SEGMENTS: LazyLock<BTreeSet<&'static str>> = LazyLock::new(|| {
    let words = STRUCTURES.iter().flat_map(|(_, _, syntax)| syntax.split(|c: char| !c.is_ascii_alphanumeric()));
    words.filter(|word| word.len() == 3).chain(OTHER_SEGMENTS.split_whitespace()).collect()
});

/// The segment names of HL7 version 2.
pub fn known_segments() -> impl Iterator<Item = &'static str> + Clone {
    SEGMENTS.iter().copied()
}

/// Whether a segment name is defined by HL7 version 2 or is a Z segment.
pub fn is_known_segment(name: &str) -> bool {
    name.starts_with('Z') || SEGMENTS.contains(name)
}

/// Structure, first version, syntax. [`HEADER`] is put before each syntax.
const STRUCTURES: &[(&str, Version, &str)] = &[
    ("ACK", Version::V2_1, "MSA [{ERR}]"),
    (
        "ADT_A01",
        Version::V2_1,
        "EVN PID [PD1] [{ARV}] [{ROL}] [{NK1}] PV1 [PV2] [{ARV}] [{ROL}] [{DB1}] [{OBX}] [{AL1}] [{DG1}] [DRG]
         [{PR1 [{ROL}]}] [{GT1}] [{IN1 [IN2] [{IN3}] [{ROL}] [{AUT}] [{RF1}]}] [ACC] [UB1] [UB2] [PDA]",
    ),
    ("ADT_A02", Version::V2_1, "EVN PID [PD1] [{ARV}] [{ROL}] PV1 [PV2] [{ARV}] [{ROL}] [{DB1}] [{OBX}] [PDA]"),
    (
        "ADT_A03",
        Version::V2_1,
        "EVN PID [PD1] [{ARV}] [{ROL}] [{NK1}] PV1 [PV2] [{ARV}] [{ROL}] [{DB1}] [{AL1}] [{DG1}] [DRG]
         [{PR1 [{ROL}]}] [{OBX}] [{GT1}] [{IN1 [IN2] [{IN3}] [{ROL}] [{AUT}] [{RF1}]}] [ACC] [PDA]",
    ),
    (
        "ADT_A05",
        Version::V2_1,
        "EVN PID [PD1] [{ARV}] [{ROL}] [{NK1}] PV1 [PV2] [{ARV}] [{ROL}] [{DB1}] [{OBX}] [{AL1}] [{DG1}] [DRG]
         [{PR1 [{ROL}]}] [{GT1}] [{IN1 [IN2] [{IN3}] [{ROL}] [{AUT}] [{RF1}]}] [ACC] [UB1] [UB2]",
    ),
    (
        "ADT_A06",
        Version::V2_1,
        "EVN PID [PD1] [{ARV}] [{ROL}] [MRG] [{NK1}] PV1 [PV2] [{ARV}] [{ROL}] [{DB1}] [{OBX}] [{AL1}] [{DG1}] [DRG]
         [{PR1 [{ROL}]}] [{GT1}] [{IN1 [IN2] [{IN3}] [{ROL}] [{AUT}] [{RF1}]}] [ACC] [UB1] [UB2]",
    ),
    ("ADT_A09", Version::V2_1, "EVN PID [PD1] PV1 [PV2] [{DB1}] [{OBX}] [{DG1}]"),
    ("ADT_A12", Version::V2_1, "EVN PID [PD1] PV1 [PV2] [{DB1}] [{OBX}] [{DG1}]"),
    ("ADT_A21", Version::V2_1, "EVN PID [PD1] PV1 [PV2] [{DB1}] [{OBX}]"),
    ("ADT_A30", Version::V2_1, "EVN PID [PD1] [{ARV}] MRG"),
    ("ADT_A39", Version::V2_1, "EVN {PID [PD1] [{ARV}] MRG [PV1]}"),
    (
        "DFT_P03",
        Version::V2_1,
        "EVN PID [PD1] [{PRT}] [{ARV}] [{ROL}] [PV1] [PV2] [{PRT}] [{ARV}] [{ROL}] [{DB1}]
         [{[ORC] [{PRT}] [{TQ1 [{TQ2}]}] [OBR [{PRT}] [{NTE}]] [{OBX [{PRT}] [{NTE}]}]}]
         {FT1 [{PRT}] [{ROL}] [{NTE}] [{PR1 [{PRT}] [{ROL}]}]
          [{[ORC] [{PRT}] [{TQ1 [{TQ2}]}] [OBR [{PRT}] [{NTE}]] [{OBX [{PRT}] [{NTE}]}]}]}
         [{DG1}] [DRG] [{GT1}] [{IN1 [IN2] [{IN3}] [{PRT}] [{ROL}]}] [ACC]",
    ),
    ("MDM_T01", Version::V2_1, "EVN PID PV1 [{ORC [{TQ1 [{TQ2}]}] OBR [{NTE}]}] TXA [{CON}]"),
    ("MDM_T02", Version::V2_1, "EVN PID PV1 [{ORC [{TQ1 [{TQ2}]}] OBR [{NTE}]}] TXA [{CON}] {OBX [{PRT}] [{NTE}]}"),
    (
        "OML_O21",
        Version::V2_1,
        "[{NTE}]
         [PID [PD1] [{PRT}] [{NTE}] [{NK1}] [{ARV}] [PV1 [PV2] [{PRT}] [{ARV}]] [{IN1 [IN2] [{IN3}]}] [GT1] [{AL1}]]
         {[{SAC [{OBX}]}] ORC [{NTE}] [{PRT}] [{TQ1 [{TQ2}]}]
          [OBR [{SAC [{[OBX] [TCD] [{NTE}]}]}] [TCD] [{NTE}] [{ROL}] [{PRT}] [CTD] [{DG1}] [{OBX [{PRT}] [TCD] [{NTE}]}]
           [{[SPM [{NTE}] [{OBX [{PRT}]}]] [{SAC [{NTE}] [{[OBX [{PRT}]] [TCD] [{NTE}]}]}]}]
           [{[PID [PD1] [{PRT}] [{ARV}]] [PV1 [PV2] [{PRT}]] [{AL1}]
             {[ORC [{PRT}]] OBR [{NTE}] [{ROL}] [{PRT}] [{TQ1 [{TQ2}]}] {OBX [{PRT}] [{NTE}]}}}]]
          [{FT1}] [{CTI}] [BLG]}",
    ),
    (
        "ORM_O01",
        Version::V2_1,
        "[{NTE}] [PID [PD1] [{NTE}] [PV1 [PV2]] [{IN1 [IN2] [{IN3}]}] [GT1] [{AL1}]]
         {ORC [{NTE}] [{TQ1 [{TQ2}]}]
          [<OBR|RQD|RQ1|RXO|ODS|ODT|ORO|RX1> [{NTE}] [{RXR}] [{RXC [{NTE}]}] [CTD] [{DG1}] [{OBX [{NTE}]}]]
          [{FT1}] [{CTI}] [BLG]}",
    ),
    (
        "ORU_R01",
        Version::V2_1,
        "[{NTE}]
         {[PID [PD1] [{PRT}] [{NTE}] [{NK1}] [{NTE}] [{ARV}] [{OBX [{PRT}]}] [PV1 [PV2] [{PRT}]]]
          {[ORC [{PRT}] [OBX [{PRT}] TXA [{CON}]]] OBR [{NTE}] [{ROL}] [{PRT}] [{TQ1 [{TQ2}]}] [CTD] [{NTE}]
           [{OBX [{PRT}] [{NTE}]}] [{FT1}] [{CTI}] [{SPM [{NTE}] [{OBX [{PRT}]}]}] [{DEV [{OBX [{PRT}]}]}]}
          [{DEV [{OBX [{PRT}]}]}]}
         [DSC]",
    ),
    (
        "RDE_O11",
        Version::V2_1,
        "[{NTE}]
         [PID [PD1] [{PRT}] [{NTE}] [{ARV}] [PV1 [PV2] [{PRT}] [{ARV}]] [{IN1 [IN2] [{IN3}]}] [GT1] [{AL1}]]
         {ORC [{NTE}] [{PRT}] [{TQ1 [{TQ2}]}] [RXO [{PRT}] [{NTE}] [{PRT}] {RXR} [{RXC [{NTE}]}]] [{PRT}]
          RXE [{PRT}] [{NTE}] [{TQ1 [{TQ2}]}] [{RXV [{PRT}] [{NTE}] {TQ1 [{TQ2}]}}] {RXR} [{RXC}] [{CDO}]
          [{OBX [{PRT}] [{NTE}]}] [{FT1}] [BLG] [{CTI}]}",
    ),
    (
        "SIU_S12",
        Version::V2_1,
        "SCH [{TQ1}] [{NTE}] [{PID [PD1] [{PRT}] [PV1] [PV2] [{OBX [{PRT}]}] [{DG1}]}]
         {RGS [{AIS [{NTE}]}] [{AIG [{NTE}]}] [{AIL [{NTE}]}] [{AIP [{NTE}]}]}",
    ),
    (
        "VXU_V04",
        Version::V2_1,
        "PID [PD1] [{NK1}] [{ARV}] [PV1 [PV2] [{ARV}]] [{GT1}] [{IN1 [IN2] [{IN3}]}] [{OBX [{PRT}] [{NTE}]}]
         [{[ORC [{PRT}]] [{TQ1 [{TQ2}]}] RXA [{PRT}] [RXR] [{OBX [{PRT}] [{NTE}]}]}]",
    ),
    (
        "VXU_V04",
        Version::V2_5,
        "PID [PD1] [{NK1}] [{ARV}] [PV1 [PV2] [{ARV}]] [{GT1}] [{IN1 [IN2] [{IN3}]}] [{OBX [{PRT}] [{NTE}]}]
         [{ORC [{PRT}] [{TQ1 [{TQ2}]}] RXA [{PRT}] [RXR] [{OBX [{PRT}] [{NTE}]}]}]",
    ),
];

/// The start of every message: MSH, and the software (since 2.5) and user (since 2.6) segments.
const HEADER: &str = "MSH [{SFT}] [UAC]";

static AUTOMATA: LazyLock<BTreeMap<&str, Vec<(Version, Automaton)>>> = LazyLock::new(|| {
    let mut automata: BTreeMap<&str, Vec<(Version, Automaton)>> = BTreeMap::new();
    for (name, since, syntax) in STRUCTURES {
        let automaton = Automaton::new(&format!("{HEADER} {syntax}"));
        automata.entry(name).or_default().push((*since, automaton));
    }
    automata
});

/// Why there is no structure for a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnknownStructure {
    MessageType,
    Event,
}

/// The structure of a message type and trigger event.
pub(crate) fn structure_of(message_type: &str, event: &str) -> Result<&'static str, UnknownStructure> {
    let default = DEFAULT_EVENTS.iter().find(|(name, _)| event.is_empty() && *name == message_type);
    let event = default.map_or(event, |(_, event)| event);
    let mut of_type = TYPES.iter().filter(|(name, _, _)| *name == message_type).peekable();
    if of_type.peek().is_none() {
        return Err(UnknownStructure::MessageType);
    }
    let has_event = |events: &str| events.is_empty() || events.split(' ').any(|known| known == event);
    of_type.find(|(_, events, _)| has_event(events)).map(|(_, _, structure)| *structure).ok_or(UnknownStructure::Event)
}

pub(crate) fn automaton(structure: &str, version: Version) -> Option<&'static Automaton> {
    let versions = AUTOMATA.get(structure)?;
    versions.iter().rev().find(|(since, _)| *since <= version).map(|(_, automaton)| automaton)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_has_a_well_formed_structure() {
        for (_, _, structure) in TYPES {
            assert!(automaton(structure, Version::V2_1).is_some(), "{structure}");
        }
        for (name, _, syntax) in STRUCTURES {
            for (open, close) in [('[', ']'), ('{', '}'), ('<', '>')] {
                assert_eq!(syntax.matches(open).count(), syntax.matches(close).count(), "{name} {open}{close}");
            }
            assert!(TYPES.iter().any(|(_, _, structure)| structure == name), "{name} belongs to no message type");
        }
    }

    #[test]
    fn unknown_types_and_events_are_distinguished() {
        assert_eq!(structure_of("ADT", "A31"), Ok("ADT_A05"));
        assert_eq!(structure_of("ACK", "A31"), Ok("ACK"));
        assert_eq!(structure_of("ORU", ""), Ok("ORU_R01"));
        assert_eq!(structure_of("ADT", ""), Err(UnknownStructure::Event));
        assert_eq!(structure_of("ADT", "A99"), Err(UnknownStructure::Event));
        assert_eq!(structure_of("ADT", "A0"), Err(UnknownStructure::Event));
        assert_eq!(structure_of("QBP", "Q11"), Err(UnknownStructure::MessageType));
        assert_eq!(structure_of("", ""), Err(UnknownStructure::MessageType));
    }
}
