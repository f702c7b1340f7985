//! Whether a message has the structure that its type demands (HL7 v2.8, chapter 2.13): segments, their order and number,
//! and the fields that matter. Segments whose name starts with Z may stand anywhere.

mod automaton;
mod data_types;
mod fields;
mod structures;

use std::collections::BTreeMap;

use automaton::Deviation;
use data_types::DataType;
use structures::{Unknown, structure_of};

use crate::fault::{ErrorCode, Fault, Location};
use crate::path::{Number, Position};
use crate::{Message, Segment, Version};

/// More are not told: an answer stays readable.
const MOST_FAULTS: usize = 50;

/// All faults, in the order of the message; what is wrong with the header first.
pub fn validate(message: &Message) -> Vec<Fault> {
    let mut faults = Vec::new();
    let version = check_version(message, &mut faults);
    check_processing_id(message, &mut faults);
    let structure = check_type(message, &mut faults);
    let placed = placed(message);
    if let Some(automaton) = structure.and_then(|structure| structures::automaton(structure, version)) {
        let known: Vec<Placed<'_>> = placed.iter().filter(|placed| !placed.segment.is_local()).copied().collect();
        let names: Vec<&str> = known.iter().map(|placed| placed.segment.name()).collect();
        faults.extend(explained(&automaton.compare(&names), &known));
    }
    for placed in &placed {
        check_fields(*placed, version, &mut faults);
        if faults.len() >= MOST_FAULTS {
            break;
        }
    }
    faults.truncate(MOST_FAULTS);
    faults
}

/// The structure that the message type and trigger event demand, as `ADT_A01`.
pub fn structure(message: &Message) -> Option<&'static str> {
    structure_of(&message.message_type(), &message.trigger_event()).ok()
}

/// A segment, and which of its name it is, counted from 1.
#[derive(Clone, Copy)]
struct Placed<'m> {
    segment: Segment<'m>,
    sequence: usize,
}

fn placed(message: &Message) -> Vec<Placed<'_>> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut placed = Vec::new();
    for segment in message.segments() {
        let sequence = counts.entry(segment.name()).or_default();
        *sequence += 1;
        placed.push(Placed { segment, sequence: *sequence });
    }
    placed
}

fn check_version(message: &Message, faults: &mut Vec<Fault>) -> Version {
    let named = message.header().component(12, 1);
    message.version().unwrap_or_else(|| {
        if !named.is_empty() {
            let text = format!("`{named}` is no version from 2.1 to 2.8");
            faults.push(Fault::new(ErrorCode::UnsupportedVersionId, text).at(Location::field("MSH", 1, 12)));
        }
        Version::V2_5_1
    })
}

/// Table 0103: debugging, production, training.
fn check_processing_id(message: &Message, faults: &mut Vec<Fault>) {
    let id = message.processing_id();
    if !matches!(id.as_ref(), "" | "D" | "P" | "T") {
        let text = format!("`{id}` is no processing id: D, P and T are");
        faults.push(Fault::new(ErrorCode::UnsupportedProcessingId, text).at(Location::field("MSH", 1, 11)));
    }
}

fn check_type(message: &Message, faults: &mut Vec<Fault>) -> Option<&'static str> {
    let (message_type, event) = (message.message_type(), message.trigger_event());
    if message_type.is_empty() {
        // That MSH-9 is required is told with the other fields.
        return None;
    }
    let structure = match structure_of(&message_type, &event) {
        Ok(structure) => structure,
        Err(unknown) => {
            let (code, text, component) = match unknown {
                Unknown::Type => {
                    (ErrorCode::UnsupportedMessageType, format!("messages of type `{message_type}` are not known"), 1)
                }
                Unknown::Event => {
                    (ErrorCode::UnsupportedEventCode, format!("{message_type} has no event `{event}`"), 2)
                }
            };
            faults.push(Fault::new(code, text).at(of_component(9, component)));
            return None;
        }
    };
    let named = message.header().component(9, 3);
    if !named.is_empty() && named != structure {
        let text = format!("{message_type}^{event} has the structure {structure}, not `{named}`");
        faults.push(Fault::new(ErrorCode::TableValueNotFound, text).at(of_component(9, 3)));
    }
    Some(structure)
}

fn of_component(field: u16, component: u16) -> Location {
    let mut location = Location::field("MSH", 1, field);
    if let Some(position) = &mut location.position {
        position.component = Number::new(component);
    }
    location
}

/// A segment that is missing in one place and unexpected in another is only out of order.
fn explained(deviations: &[Deviation], segments: &[Placed<'_>]) -> Vec<Fault> {
    let unexpected = |name: &str| {
        let is_same =
            |other: &Deviation| matches!(other, Deviation::Unexpected { at } if name_at(segments, *at) == name);
        deviations.iter().any(is_same)
    };
    let missing = |name: &str| {
        deviations.iter().any(|other| matches!(other, Deviation::Missing { name: missing, .. } if *missing == name))
    };
    let fault = |deviation: &Deviation| {
        let before = &segments[..deviation.at().min(segments.len())];
        let (name, sequence, text) = match *deviation {
            Deviation::Missing { name, .. } if unexpected(name) => return None,
            Deviation::Missing { name, .. } => {
                let sequence = before.iter().filter(|placed| placed.segment.name() == name).count() + 1;
                let after = before.last().map_or("MSH", |placed| placed.segment.name());
                (name, sequence, format!("{name} is missing after {after}"))
            }
            Deviation::Unexpected { at } => {
                let placed = segments.get(at)?;
                let name = placed.segment.name();
                let after = before.last().map_or("the start", |placed| placed.segment.name());
                let why = if missing(name) { "is out of order" } else { "is not expected" };
                (name, placed.sequence, format!("{name} {why} after {after}"))
            }
        };
        Some(Fault::new(ErrorCode::SegmentSequenceError, text).at(Location::segment(name, sequence)))
    };
    deviations.iter().filter_map(fault).collect()
}

fn name_at<'m>(segments: &[Placed<'m>], at: usize) -> &'m str {
    segments.get(at).map_or("", |placed| placed.segment.name())
}

fn check_fields(placed: Placed<'_>, version: Version, faults: &mut Vec<Fault>) {
    let name = placed.segment.name();
    for rule in fields::rules(name) {
        let field = placed.segment.field(usize::from(rule.number));
        let is_valued = field.is_some_and(|field| field.parts().any(|repetition| repetition.is_valued()));
        if !is_valued && rule.required_since.is_some_and(|since| since <= version) {
            let text = format!("{name}-{} is required", rule.number);
            let location = Location::field(name, placed.sequence, rule.number);
            faults.push(Fault::new(ErrorCode::RequiredFieldMissing, text).at(location));
        }
        if let Some(data_type) = rule.data_type {
            check_form(placed, rule.number, data_type, faults);
        }
    }
    match name {
        "OBX" => check_observation(placed, faults),
        "MSA" => check_code(placed, 1, |code| matches!(code, "AA" | "AE" | "AR" | "CA" | "CE" | "CR"), faults),
        _ => {}
    }
}

/// Every repetition of a field has the form of its type.
fn check_form(placed: Placed<'_>, field: u16, data_type: DataType, faults: &mut Vec<Fault>) {
    let name = placed.segment.name();
    let Some(whole) = placed.segment.field(usize::from(field)) else { return };
    for (repetition, count) in whole.parts().zip(1..=u16::MAX) {
        let components = repetition.parts().take(data_type.components()).zip(1..=u16::MAX);
        for (component, number) in components {
            let value = component.text();
            if !component.is_valued() || data_type.accepts(&value) {
                continue;
            }
            let shown: String = value.chars().take(40).collect();
            let text = format!("{name}-{field} must be {}, is `{shown}`", data_type.described());
            let mut location = Location::field(name, placed.sequence, field);
            if let Some(position) = &mut location.position {
                *position = Position { repetition: Number::new(count), component: Number::new(number), ..*position };
            }
            faults.push(Fault::new(ErrorCode::DataTypeError, text).at(location));
        }
    }
}

/// OBX-2 says what OBX-5 is.
fn check_observation(placed: Placed<'_>, faults: &mut Vec<Fault>) {
    let has_value = placed.segment.field(5).is_some_and(|field| field.is_valued());
    let value_type = placed.segment.component(2, 1);
    if has_value && value_type.is_empty() {
        let text = "OBX-2 is required when OBX-5 has a value";
        let location = Location::field("OBX", placed.sequence, 2);
        faults.push(Fault::new(ErrorCode::RequiredFieldMissing, text).at(location));
    }
    check_code(placed, 2, fields::is_value_type, faults);
    if let Some(data_type) = DataType::read(&value_type) {
        check_form(placed, 5, data_type, faults);
    }
}

fn check_code(placed: Placed<'_>, field: u16, is_known: impl Fn(&str) -> bool, faults: &mut Vec<Fault>) {
    let code = placed.segment.component(usize::from(field), 1);
    if !code.is_empty() && code != "\"\"" && !is_known(&code) {
        let shown: String = code.chars().take(40).collect();
        let name = placed.segment.name();
        let text = format!("`{shown}` is not in the table of {name}-{field}");
        let location = Location::field(name, placed.sequence, field);
        faults.push(Fault::new(ErrorCode::TableValueNotFound, text).at(location));
    }
}
