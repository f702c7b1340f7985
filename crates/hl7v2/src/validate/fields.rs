//! The checked fields of each segment: required fields, and fields with a checkable format (HL7 v2.8, chapters 2 to
//! 10).

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::Version;
use crate::validate::data_types::DataType;

/// One line per segment with its fields: the field number, `R` if required (`R2.5`: since that version), and the data
/// type.
const FIELDS: &str = "
MSH 7:R2.5,TS 9:R 10:R 11:R 12:R 13:NM
EVN 2:R,TS 3:TS 6:TS
PID 1:SI 3:R 5:R 7:TS 29:TS 33:TS
PV1 1:SI 2:R 44:TS 45:TS
MRG 1:R
NK1 1:R,SI
NTE 1:SI
AL1 1:R 3:R
DG1 1:R,SI 5:TS 6:R2.3
PR1 1:R,SI 3:R2.3 5:R,TS
GT1 1:R,SI 3:R 8:TS
IN1 1:R,SI 2:R2.3 3:R 12:DT 13:DT
ACC 1:TS
ORC 1:R 9:TS 15:TS
OBR 1:SI 4:R 7:TS 8:TS 14:TS 22:TS
OBX 1:SI 3:R 11:R2.3 14:TS 19:TS
TQ1 1:SI 7:TS 8:TS
SPM 1:SI 4:R 17:DR 18:TS
FT1 1:SI 4:R,DR 5:TS 6:R 7:R 10:NM
SCH 6:R 9:NM
RGS 1:R,SI
AIS 1:R,SI 3:R 4:TS
AIG 1:R,SI
AIL 1:R,SI
AIP 1:R,SI
TXA 1:R,SI 2:R 4:TS 6:TS 7:TS 12:R 17:R
RXE 2:R 3:R,NM 5:R 10:NM
RXR 1:R
RXC 1:R 2:R 3:R,NM
RXA 1:R,NM 2:R,NM 3:R,TS 4:TS 5:R 6:R,NM
MSA 1:R 2:R
";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FieldRule {
    pub(crate) number: u16,
    pub(crate) required_since: Option<Version>,
    pub(crate) data_type: Option<DataType>,
}

static RULES: LazyLock<BTreeMap<&str, Vec<FieldRule>>> = LazyLock::new(|| {
    let lines = FIELDS.lines().filter_map(|line| line.split_once(' '));
    lines.map(|(segment, fields)| (segment, fields.split(' ').filter_map(parse_rule).collect())).collect()
});

pub(crate) fn rules(segment: &str) -> &'static [FieldRule] {
    RULES.get(segment).map_or(&[], Vec::as_slice)
}

fn parse_rule(field: &str) -> Option<FieldRule> {
    let (number, rest) = field.split_once(':')?;
    let mut rule = FieldRule { number: number.parse().ok()?, required_since: None, data_type: None };
    for word in rest.split(',') {
        match word.strip_prefix('R') {
            Some("") => rule.required_since = Some(Version::V2_1),
            Some(since) => rule.required_since = Some(Version::read(since)?),
            None => rule.data_type = Some(DataType::read(word)?),
        }
    }
    Some(rule)
}

/// The data types that OBX-5 can have (table 0125).
const VALUE_TYPES: &str = "AD CE CF CK CN CNE CP CQ CWE CX DR DT DTM ED EI FT GTS HD ID IS MA MO NA NM PL PN PPN RP SI SN \
                           SNM ST TM TN TS TX XAD XCN XON XPN XTN";

pub(crate) fn is_value_type(name: &str) -> bool {
    VALUE_TYPES.split_whitespace().any(|known| known == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_table_parses() {
        let written = FIELDS.split_whitespace().filter(|word| word.contains(':')).count();
        assert_eq!(RULES.values().map(Vec::len).sum::<usize>(), written);
        assert!(RULES.values().all(|rules| rules.is_sorted_by(|one, other| one.number < other.number)));
        let time = FieldRule { number: 2, required_since: Some(Version::V2_1), data_type: Some(DataType::Timestamp) };
        assert!(rules("EVN").contains(&time));
        assert_eq!(rules("ZZZ"), []);
    }
}
