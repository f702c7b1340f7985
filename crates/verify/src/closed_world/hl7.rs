//! `only: true` for HL7 version 2 messages: finds segments, fields and repetitions that are not asserted.

use hl7v2::{Element, Message, Segment};
use serde_json::Value;

use crate::authored::Authored;
use crate::bounds::MOST_LISTED;
use crate::budget::Budget;
use crate::compare::{Typing, satisfies};
use crate::field::FieldAssertion;
use crate::path::hl7::Hl7Path;
use crate::quantifier::Quantifier;
use crate::scoring::FieldResult;

/// Segments about the message itself, which may always be there.
const ENVELOPE: [&str; 4] = ["MSH", "SFT", "UAC", "EVN"];
/// Segments whose first field is a set ID.
const COUNTED: [&str; 24] = [
    "PID", "NK1", "PV1", "OBR", "OBX", "NTE", "DG1", "AL1", "IAM", "IN1", "GT1", "FT1", "PR1", "SPM", "TQ1", "RGS",
    "AIS", "AIG", "AIL", "AIP", "SAC", "ROL", "TXA", "PRT",
];

/// The asserted parts of a message, as byte ranges of its text.
pub(crate) struct Hl7Coverage<'m> {
    message: &'m Message,
    ranges: Vec<(usize, usize)>,
}

impl<'m> Hl7Coverage<'m> {
    pub(crate) fn new(message: &'m Message) -> Self {
        Self { message, ranges: Vec::new() }
    }

    /// Covers everything that a path selects, and the values that its selector compares.
    pub(crate) fn cover_path(&mut self, path: &Hl7Path) {
        self.ranges.extend(path.ranges(self.message));
        self.ranges.extend(path.selector_ranges(self.message));
    }

    /// Covers the values that a field compares: the first one, or with another quantifier those that the field accepts.
    fn cover_field(&mut self, field: &FieldAssertion<Hl7Path>, path: &Hl7Path, budget: &Budget) -> Result<(), String> {
        let quantifier = field.quantifier.unwrap_or(Quantifier::First);
        let comparison = field.comparison().map_err(|errors| errors.to_string())?;
        self.ranges.extend(path.selector_ranges(self.message));
        let (found, ranges) = (path.find(self.message), path.ranges(self.message));
        for (text, range) in found.into_iter().zip(ranges) {
            let is_accepted = || satisfies(&comparison, &Value::from(text), Typing::Untyped, budget);
            if quantifier != Quantifier::Any || is_accepted()? {
                self.ranges.push(range);
            }
            if quantifier == Quantifier::First {
                break;
            }
        }
        Ok(())
    }

    fn covers(&self, element: &Element<'_>) -> bool {
        let (start, end) = range(self.message, element.raw());
        self.ranges.iter().any(|(from, to)| *from <= start && end <= *to)
    }

    /// The paths and texts that are not covered, in the order of the message.
    fn uncovered(&self) -> Vec<(String, String)> {
        let mut uncovered = Vec::new();
        let mut numbers: std::collections::HashMap<&str, usize> = std::collections::HashMap::new();
        for segment in self.message.segments() {
            let number = numbers.entry(segment.name()).or_default();
            *number += 1;
            if !ENVELOPE.contains(&segment.name()) && uncovered.len() < MOST_LISTED {
                self.add_segment(segment, *number, &mut uncovered);
            }
        }
        uncovered.truncate(MOST_LISTED);
        uncovered
    }

    /// Reports a segment as a whole if nothing in it is covered.
    fn add_segment(&self, segment: Segment<'_>, number: usize, uncovered: &mut Vec<(String, String)>) {
        let name = format!("{}[{number}]", segment.name());
        let start = uncovered.len();
        let mut is_known = false;
        for (field, at) in segment.fields().zip(1..) {
            if at == 1 && COUNTED.contains(&segment.name()) && field.raw().bytes().all(|byte| byte.is_ascii_digit()) {
                continue;
            }
            for (repetition, nth) in field.parts().zip(1..) {
                let mut parts = Vec::new();
                self.add_leaves(&repetition, &format!("{name}.{at}[{nth}]"), 0, &mut parts);
                let is_whole = parts.len() == leaves(&repetition, 0);
                is_known |= !is_whole || (parts.is_empty() && repetition.is_valued());
                match parts.is_empty() {
                    false if is_whole => {
                        uncovered.push((format!("{name}.{at}[{nth}]"), repetition.text().into_owned()))
                    }
                    _ => uncovered.extend(parts),
                }
            }
        }
        if !is_known && uncovered.len() > start {
            uncovered.truncate(start);
            uncovered.push((name, segment.text().to_owned()));
        }
    }

    /// Adds the valued leaves of a repetition that are not covered.
    fn add_leaves(&self, element: &Element<'_>, path: &str, depth: usize, uncovered: &mut Vec<(String, String)>) {
        // `""` deletes a value, so it counts like a value.
        if element.is_empty() || self.covers(element) {
            return;
        }
        if depth == 2 {
            uncovered.push((path.to_owned(), element.text().into_owned()));
            return;
        }
        let count = element.parts().count();
        for (part, at) in element.parts().zip(1..) {
            let path = if count == 1 { path.to_owned() } else { format!("{path}.{at}") };
            self.add_leaves(&part, &path, depth + 1, uncovered);
        }
    }
}

fn leaves(element: &Element<'_>, depth: usize) -> usize {
    match (element.is_empty(), depth) {
        (true, _) => 0,
        (false, 2) => 1,
        _ => element.parts().map(|part| leaves(&part, depth + 1)).sum(),
    }
}

/// The byte range of a part of the message's text.
pub(crate) fn range(message: &Message, part: &str) -> (usize, usize) {
    let start = (part.as_ptr() as usize).saturating_sub(message.text().as_ptr() as usize);
    (start, start + part.len())
}

/// The parts of a message that are not covered by the fields, the correlation paths, and `ignore`.
pub(crate) fn violations<'p>(
    message: &Message,
    correlated: impl Iterator<Item = &'p Hl7Path>,
    fields: &[FieldAssertion<Hl7Path>],
    ignore: &[Authored<Hl7Path>],
    budget: &Budget,
) -> Result<Vec<FieldResult>, String> {
    budget.spend(message.text().len() * (2 + ignore.len()))?;
    let mut coverage = Hl7Coverage::new(message);
    correlated.for_each(|path| coverage.cover_path(path));
    for path in ignore {
        coverage.cover_path(path.ready()?);
    }
    for field in fields {
        coverage.cover_field(field, field.path.ready()?, budget)?;
    }
    let violation = |(path, text): (String, String)| {
        let reason = "is not asserted, and `only` allows nothing else".to_owned();
        FieldResult::violation(path, Value::Null, &Value::from(text), reason)
    };
    Ok(coverage.uncovered().into_iter().map(violation).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use hl7v2::Limits;
    use serde::Deserialize;
    use serde_json::json;

    const ORM: &str = "MSH|^~\\&|A|B|C|D|20260401||ORM^O01|7|P|2.5\rPID|1||123^^^MRN~9||Smith^Ann\rORC|NW|5\r\
                       OBR|1|5||718-7^Hb^LN\rORC|CA|6\rNTE|1||stop";

    fn uncovered(fields: &Value, ignore: &[&str]) -> Vec<String> {
        let message = Message::parse_text(ORM, &Limits::default()).expect("a message");
        let fields = Vec::<FieldAssertion<Hl7Path>>::deserialize(fields).expect("fields");
        let ignore: Vec<Authored<Hl7Path>> = ignore.iter().map(|path| Authored::read(path).expect("a path")).collect();
        let violations =
            super::violations(&message, std::iter::empty(), &fields, &ignore, &Budget::new()).expect("violations");
        violations.iter().map(|violation| violation.path().to_owned()).collect()
    }

    #[test]
    fn unasserted_segments_and_repetitions_are_reported() {
        assert_eq!(uncovered(&json!([]), &[]), ["PID[1]", "ORC[1]", "OBR[1]", "ORC[2]", "NTE[1]"]);
        let fields = json!([{"path": "PID.3.1", "expected": "123"}, {"path": "PID.5", "expected": "Smith^Ann"},
            {"path": "ORC.1", "expected": "NW"}, {"path": "ORC.2", "op": "exists"},
            {"path": "OBR[4.1=718-7].2", "expected": "5"}]);
        let found = uncovered(&fields, &[]);
        assert_eq!(found, ["PID[1].3[1].4", "PID[1].3[2]", "OBR[1].4[1].2", "OBR[1].4[1].3", "ORC[2]", "NTE[1]"]);
        assert_eq!(uncovered(&fields, &["PID", "OBR.4", "NTE", "ORC[2]"]), [""; 0]);
        let all = json!([{"path": "ORC.1", "op": "one_of", "expected": ["NW", "CA"], "quantifier": "all"}]);
        assert_eq!(uncovered(&all, &["PID", "OBR", "NTE", "ORC.2"]), [""; 0]);
    }
}
