//! Validates a message against the structure of its type (HL7 v2.8, chapter 2.13): segments, their order and number,
//! and important fields. Z segments are allowed anywhere.

mod automaton;
mod data_types;
mod fields;
mod structures;

use std::collections::BTreeMap;

use automaton::Deviation;
use data_types::DataType;
use structures::{UnknownStructure, structure_of};
pub use structures::{is_known_segment, known_segments};

use crate::fault::{ErrorCode, Fault, Location};
use crate::path::{Number, Position};
use crate::{Message, Segment, Version};

/// Further errors are left out, to keep the acknowledgement readable.
const MAX_FAULTS: usize = 50;

/// Validates a message. Returns its errors in message order; header errors come first.
pub fn validate(message: &Message) -> Vec<Fault> {
    let mut faults = Vec::new();
    let version = check_version(message, &mut faults);
    check_processing_id(message, &mut faults);
    let structure = check_type(message, &mut faults);
    let segments = numbered_segments(message);
    if let Some(automaton) = structure.and_then(|structure| structures::automaton(structure, version)) {
        let ordered: Vec<NumberedSegment<'_>> =
            segments.iter().filter(|numbered| !is_allowed_anywhere(numbered.segment)).copied().collect();
        let names: Vec<&str> = ordered.iter().map(|numbered| numbered.segment.name()).collect();
        faults.extend(deviation_faults(&automaton.compare(&names), &ordered));
    }
    for segment in &segments {
        check_fields(*segment, version, &mut faults);
        if faults.len() >= MAX_FAULTS {
            break;
        }
    }
    faults.truncate(MAX_FAULTS);
    faults
}

/// Whether a segment is allowed anywhere: Z segments, and the segment group markers of 2.8.2.
fn is_allowed_anywhere(segment: Segment<'_>) -> bool {
    segment.is_local() || matches!(segment.name(), "SGH" | "SGT")
}

/// The structure of a message by its type and trigger event, such as `ADT_A01`.
pub fn structure(message: &Message) -> Option<&'static str> {
    structure_of(&message.message_type(), &message.trigger_event()).ok()
}

/// A segment with its number among the segments of the same name, from 1.
#[derive(Clone, Copy)]
struct NumberedSegment<'m> {
    segment: Segment<'m>,
    sequence: usize,
}

fn numbered_segments(message: &Message) -> Vec<NumberedSegment<'_>> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut numbered = Vec::new();
    for segment in message.segments() {
        let sequence = counts.entry(segment.name()).or_default();
        *sequence += 1;
        numbered.push(NumberedSegment { segment, sequence: *sequence });
    }
    numbered
}

fn check_version(message: &Message, faults: &mut Vec<Fault>) -> Version {
    let named = message.header().component(12, 1);
    message.version().unwrap_or_else(|| {
        if !named.is_empty() {
            let text = format!("`{named}` is not a version from 2.1 to 2.8");
            faults.push(Fault::new(ErrorCode::UnsupportedVersionId, text).at(Location::field("MSH", 1, 12)));
        }
        Version::V2_5_1
    })
}

/// Checks that the processing id is in table 0103: debugging, production, training.
fn check_processing_id(message: &Message, faults: &mut Vec<Fault>) {
    let id = message.processing_id();
    if !matches!(id.as_ref(), "" | "D" | "P" | "T") {
        let text = format!("`{id}` is not a processing id: must be D, P or T");
        faults.push(Fault::new(ErrorCode::UnsupportedProcessingId, text).at(Location::field("MSH", 1, 11)));
    }
}

fn check_type(message: &Message, faults: &mut Vec<Fault>) -> Option<&'static str> {
    let (message_type, event) = (message.message_type(), message.trigger_event());
    if message_type.is_empty() {
        // A missing MSH-9 is reported with the other required fields.
        return None;
    }
    let structure = match structure_of(&message_type, &event) {
        Ok(structure) => structure,
        Err(unknown) => {
            let (code, text, component) = match unknown {
                UnknownStructure::MessageType => (
                    ErrorCode::UnsupportedMessageType,
                    format!("messages of type `{message_type}` are not supported"),
                    1,
                ),
                UnknownStructure::Event => {
                    (ErrorCode::UnsupportedEventCode, format!("{message_type} has no event `{event}`"), 2)
                }
            };
            faults.push(Fault::new(code, text).at(msh_component(9, component)));
            return None;
        }
    };
    let named = message.header().component(9, 3);
    if !named.is_empty() && named != structure {
        let text = format!("{message_type}^{event} has the structure {structure}, not `{named}`");
        faults.push(Fault::new(ErrorCode::TableValueNotFound, text).at(msh_component(9, 3)));
    }
    Some(structure)
}

fn msh_component(field: u16, component: u16) -> Location {
    let mut location = Location::field("MSH", 1, field);
    if let Some(position) = &mut location.position {
        position.component = Number::new(component);
    }
    location
}

/// Reports the deviations from the structure. A segment that is missing in one place and unexpected in another is
/// reported once, as out of order.
fn deviation_faults(deviations: &[Deviation], segments: &[NumberedSegment<'_>]) -> Vec<Fault> {
    let is_unexpected = |name: &str| {
        let is_same =
            |other: &Deviation| matches!(other, Deviation::Unexpected { at } if name_at(segments, *at) == name);
        deviations.iter().any(is_same)
    };
    let is_missing = |name: &str| {
        deviations.iter().any(|other| matches!(other, Deviation::Missing { name: missing, .. } if *missing == name))
    };
    let fault = |deviation: &Deviation| {
        let before = &segments[..deviation.at().min(segments.len())];
        let (name, sequence, text) = match *deviation {
            Deviation::Missing { name, .. } if is_unexpected(name) => return None,
            Deviation::Missing { name, .. } => {
                let sequence = before.iter().filter(|numbered| numbered.segment.name() == name).count() + 1;
                let after = before.last().map_or("MSH", |numbered| numbered.segment.name());
                (name, sequence, format!("{name} is missing after {after}"))
            }
            Deviation::Unexpected { at } => {
                let numbered = segments.get(at)?;
                let name = numbered.segment.name();
                let after = before.last().map_or("the start", |numbered| numbered.segment.name());
                let problem = if is_missing(name) { "is out of order" } else { "is not expected" };
                (name, numbered.sequence, format!("{name} {problem} after {after}"))
            }
        };
        Some(Fault::new(ErrorCode::SegmentSequenceError, text).at(Location::segment(name, sequence)))
    };
    deviations.iter().filter_map(fault).collect()
}

fn name_at<'m>(segments: &[NumberedSegment<'m>], at: usize) -> &'m str {
    segments.get(at).map_or("", |numbered| numbered.segment.name())
}

fn check_fields(numbered: NumberedSegment<'_>, version: Version, faults: &mut Vec<Fault>) {
    let name = numbered.segment.name();
    for rule in fields::rules(name) {
        let field = numbered.segment.field(usize::from(rule.number));
        let is_valued = field.is_some_and(|field| field.parts().any(|repetition| repetition.is_valued()));
        if !is_valued && rule.required_since.is_some_and(|since| since <= version) {
            let text = format!("{name}-{} is required", rule.number);
            let location = Location::field(name, numbered.sequence, rule.number);
            faults.push(Fault::new(ErrorCode::RequiredFieldMissing, text).at(location));
        }
        if let Some(data_type) = rule.data_type {
            check_format(numbered, rule.number, data_type, faults);
        }
    }
    match name {
        "OBX" => check_observation(numbered, faults),
        "MSA" => check_code(numbered, 1, |code| matches!(code, "AA" | "AE" | "AR" | "CA" | "CE" | "CR"), faults),
        _ => {}
    }
}

/// Checks that every repetition of a field has the format of its data type.
fn check_format(numbered: NumberedSegment<'_>, field: u16, data_type: DataType, faults: &mut Vec<Fault>) {
    let name = numbered.segment.name();
    let Some(element) = numbered.segment.field(usize::from(field)) else { return };
    for (repetition, count) in element.parts().zip(1..=u16::MAX) {
        if faults.len() >= MAX_FAULTS {
            return;
        }
        let components = repetition.parts().take(data_type.components()).zip(1..=u16::MAX);
        for (component, number) in components {
            let value = component.text();
            if !component.is_valued() || data_type.accepts(&value) {
                continue;
            }
            let excerpt: String = value.chars().take(40).collect();
            let text = format!("{name}-{field} must be {}, is `{excerpt}`", data_type.description());
            let mut location = Location::field(name, numbered.sequence, field);
            if let Some(position) = &mut location.position {
                *position = Position { repetition: Number::new(count), component: Number::new(number), ..*position };
            }
            faults.push(Fault::new(ErrorCode::DataTypeError, text).at(location));
        }
    }
}

/// Checks OBX-5 against the data type given by OBX-2.
fn check_observation(numbered: NumberedSegment<'_>, faults: &mut Vec<Fault>) {
    let has_value = numbered.segment.field(5).is_some_and(|field| field.is_valued());
    let value_type = numbered.segment.component(2, 1);
    if has_value && value_type.is_empty() {
        let text = "OBX-2 is required when OBX-5 has a value";
        let location = Location::field("OBX", numbered.sequence, 2);
        faults.push(Fault::new(ErrorCode::RequiredFieldMissing, text).at(location));
    }
    check_code(numbered, 2, fields::is_value_type, faults);
    if let Some(data_type) = DataType::read(&value_type) {
        check_format(numbered, 5, data_type, faults);
    }
}

fn check_code(numbered: NumberedSegment<'_>, field: u16, is_known: impl Fn(&str) -> bool, faults: &mut Vec<Fault>) {
    let code = numbered.segment.component(usize::from(field), 1);
    if !code.is_empty() && code != "\"\"" && !is_known(&code) {
        let excerpt: String = code.chars().take(40).collect();
        let name = numbered.segment.name();
        let text = format!("`{excerpt}` is not in the table of {name}-{field}");
        let location = Location::field(name, numbered.sequence, field);
        faults.push(Fault::new(ErrorCode::TableValueNotFound, text).at(location));
    }
}
