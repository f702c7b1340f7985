//! Finds the parts of an assertion that can never match: elements, search parameters and effects that FHIR does not define,
//! unknown kinds of portal rows, and segments or loops that no message has.

mod elements;

use fhir::definitions::SearchParameter;
use fhir::{ResourceType, nearest};
use model::template::{Bindings, is_template};
use serde_json::Value;

use crate::authored::{Authored, Notation};
use crate::checks::fhir_resource_state::FhirResourceState;
use crate::checks::hl7_structural::Hl7Structural;
use crate::checks::no_side_effects::{EffectPattern, NoSideEffects};
use crate::checks::portal_state_match::PortalStateMatch;
use crate::checks::x12_response::X12Response;
use crate::field::FieldAssertion;
use crate::glob::{Segment, Token};
use crate::path::hl7::Hl7Key;
use crate::path::x12::X12Path;
use crate::{Parsed, parse};

/// A part of an assertion that cannot match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnmatchablePart {
    /// Its dotted path in the assertion.
    pub path: String,
    pub message: String,
    /// Whether it is certain. Sites may define segments of their own.
    pub is_certain: bool,
}

/// All parts of an assertion that can never match. Skips templates that have no value in `bindings`.
pub fn unmatchable_parts(assertion: &Value, bindings: &Bindings<'_>) -> Vec<UnmatchablePart> {
    let Ok(Parsed::Known(known)) = parse(assertion) else { return Vec::new() };
    known.unmatchable_parts(assertion, bindings)
}

/// Errors, each with the dotted path that it is about.
type PathErrors = Vec<(String, String)>;

fn certain(errors: PathErrors) -> Vec<UnmatchablePart> {
    errors.into_iter().map(|(path, message)| UnmatchablePart { path, message, is_certain: true }).collect()
}

fn likely(errors: PathErrors) -> Vec<UnmatchablePart> {
    errors.into_iter().map(|(path, message)| UnmatchablePart { path, message, is_certain: false }).collect()
}

/// Search parameters and elements that the resource type does not have.
pub(crate) fn fhir_parts(
    check: &FhirResourceState,
    assertion: &Value,
    bindings: &Bindings<'_>,
) -> Vec<UnmatchablePart> {
    let mut errors = unsupported_searches(check, bindings);
    errors.extend(
        searched_type(check, bindings).map(|kind| elements::unknown_paths(assertion, kind)).unwrap_or_default(),
    );
    certain(errors)
}

/// Search parameters that are not supported. Such a search always fails the check.
fn unsupported_searches(check: &FhirResourceState, bindings: &Bindings<'_>) -> PathErrors {
    let Some(resource_type) = searched_type(check, bindings) else { return PathErrors::new() };
    let mut errors = PathErrors::new();
    for (name, values) in &check.search {
        // Templates without a value are reported elsewhere.
        let filled =
            values.0.iter().filter_map(|value| bindings.fill(value, |_, text| fhir::search::escape(text)).ok());
        let unsupported = filled.filter_map(|value| check_supported(resource_type, name, value).err());
        errors.extend(unsupported.map(|error| (format!("search.{name}"), error)));
    }
    errors
}

fn searched_type(check: &FhirResourceState, bindings: &Bindings<'_>) -> Option<ResourceType> {
    match &check.resource_type {
        Authored::Ready(resource_type) => Some(*resource_type),
        Authored::Template(text) => ResourceType::named(&bindings.text(text).ok()?),
    }
}

fn check_supported(resource_type: ResourceType, name: &str, value: String) -> Result<(), String> {
    let query = fhir::search::parse(resource_type, "", &[(name.to_owned(), value)]).map_err(|error| error.reason)?;
    let Some((_, reason)) = query.ignored.into_iter().next() else { return Ok(()) };
    let code = name.split([':', '.']).next().unwrap_or(name);
    let names = SearchParameter::of(resource_type).map(SearchParameter::code);
    match nearest(code, names).filter(|meant| *meant != code) {
        Some(meant) => Err(format!("{reason}: did you mean `{meant}`?")),
        None => Err(reason),
    }
}

/// Resource types in effect patterns that FHIR does not define. Such a pattern matches no effect.
pub(crate) fn effect_types(check: &NoSideEffects) -> Vec<UnmatchablePart> {
    let mut errors = PathErrors::new();
    for (member, globs) in [("allow", &check.allow), ("require", &check.require)] {
        for (index, glob) in globs.iter().enumerate() {
            if let Authored::Ready(glob) = glob {
                errors.extend(unknown_type(glob).map(|error| (format!("{member}.{index}"), error)));
            }
        }
    }
    for text in check.at_most.keys() {
        let error = EffectPattern::read(text).ok().and_then(|glob| unknown_type(&glob));
        errors.extend(error.map(|error| (format!("at_most.{text}"), error)));
    }
    certain(errors)
}

fn unknown_type(glob: &EffectPattern) -> Option<String> {
    let Some(Segment::Name(tokens)) = glob.glob.segments.first().filter(|_| glob.channel == "fhir") else {
        return None;
    };
    let names: Vec<&str> = match tokens.as_slice() {
        [Token::Alternatives(alternatives)] => alternatives.iter().filter_map(|one| whole_text(one)).collect(),
        tokens => whole_text(tokens).into_iter().collect(),
    };
    let unknown = names.into_iter().find_map(|name| name.parse::<ResourceType>().err());
    unknown.map(|unknown| unknown.to_string())
}

/// The text, if it has no wildcards.
fn whole_text(tokens: &[Token]) -> Option<&str> {
    match tokens {
        [Token::Text(text)] => Some(text),
        _ => None,
    }
}

/// Kinds of rows that the portal does not have.
pub(crate) fn portal_rows(check: &PortalStateMatch) -> Vec<UnmatchablePart> {
    let resource = check.correlate_by.resource.as_str();
    let known = sims::payer::rows::RESOURCES;
    if is_template(resource) || known.contains(&resource) {
        return Vec::new();
    }
    let hint = suggestion(resource, known.into_iter());
    let message = format!("the payer portal has no rows of kind `{resource}`{hint}");
    certain(vec![("correlate_by.resource".to_owned(), message)])
}

/// Segments that no HL7 message structure has. Sites may define their own, so this is not certain.
pub(crate) fn hl7_segments(check: &Hl7Structural) -> Vec<UnmatchablePart> {
    let correlated = check.correlate_by.keys().filter_map(|key| match key {
        Hl7Key::Path(path) => Some((format!("correlate_by.{path}"), path.segment.as_str())),
        _ => None,
    });
    let fields = ready_paths(&check.fields).map(|(parameter, path)| (parameter, path.segment.as_str()));
    let unknown = correlated.chain(fields).filter(|(_, segment)| !hl7v2::is_known_segment(segment));
    let message = |segment: &str| {
        let hint = suggestion(segment, hl7v2::known_segments());
        format!("no HL7 message structure known here has a segment `{segment}`{hint}")
    };
    likely(unknown.map(|(parameter, segment)| (parameter, message(segment))).collect())
}

/// Segments of the envelope around every transaction.
const ENVELOPE: [&str; 6] = ["ISA", "IEA", "GS", "GE", "ST", "SE"];

/// Loops and segments that the implementation guide of the transaction does not have.
pub(crate) fn x12_parts(check: &X12Response, assertion: &Value) -> Vec<UnmatchablePart> {
    let set = assertion["transaction"].as_str().unwrap_or_default();
    // 277CA is a 277 of another guide.
    let guides: Vec<_> = x12::guide::Guide::all().filter(|guide| guide.set == set.trim_end_matches("CA")).collect();
    if guides.is_empty() {
        return Vec::new();
    }
    let correlated = check.correlate_by.keys().map(|key| (format!("correlate_by.{}", key.0), &key.0));
    let unknown_part = |path: &X12Path| {
        let loops: Vec<&str> = guides.iter().flat_map(|guide| guide.loops()).collect();
        if let Some(within) = path.within.as_deref().filter(|within| !loops.contains(within)) {
            return Some(format!("a {set} has no loop `{within}`{}", suggestion(within, loops.into_iter())));
        }
        let segment = path.segment.as_str();
        let is_known = ENVELOPE.contains(&segment) || guides.iter().any(|guide| guide.knows(segment));
        (!is_known).then(|| format!("a {set} has no segment `{segment}`"))
    };
    let paths = correlated.chain(ready_paths(&check.fields));
    likely(paths.filter_map(|(parameter, path)| Some((parameter, unknown_part(path)?))).collect())
}

fn ready_paths<P>(fields: &[FieldAssertion<P>]) -> impl Iterator<Item = (String, &P)> {
    fields.iter().enumerate().filter_map(|(index, field)| match &field.path {
        Authored::Ready(path) => Some((format!("fields.{index}.path"), path)),
        Authored::Template(_) => None,
    })
}

fn suggestion<'a>(name: &str, known: impl Iterator<Item = &'a str> + Clone) -> String {
    match nearest(name, known.clone()) {
        Some(meant) => format!(": did you mean `{meant}`?"),
        None => {
            let names: Vec<&str> = known.collect();
            if names.len() > 20 { String::new() } else { format!("; there are {}", names.join(", ")) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn parts_that_can_never_match_are_found() {
        for (assertion, path, message) in [
            (
                json!({"assert": "portal-state-match", "correlate_by": {"resource": "prior_auths", "key": "a"}}),
                "correlate_by.resource",
                "no rows of kind `prior_auths`",
            ),
            (
                json!({"assert": "hl7-structural", "fields": [{"path": "OXB.5", "expected": "1"}]}),
                "fields.0.path",
                "a segment `OXB`",
            ),
            (
                json!({"assert": "hl7-structural", "correlate_by": {"PDI.3": "1"}}),
                "correlate_by.PDI.3",
                "a segment `PDI`",
            ),
            (
                json!({"assert": "x12-response", "transaction": "271", "fields": [{"path": "2110X.EB.1", "expected": "1"}]}),
                "fields.0.path",
                "a 271 has no loop `2110X`",
            ),
            (
                json!({"assert": "x12-response", "transaction": "271", "correlate_by": {"CLM.1": "1"}}),
                "correlate_by.CLM.1",
                "a 271 has no segment `CLM`",
            ),
            (
                json!({"assert": "fhir-resource-state", "resource_type": "Task", "search": {"pateint": "1"}}),
                "search.pateint",
                "did you mean `patient`?",
            ),
            (json!({"assert": "no-side-effects", "require": ["fhir/Tusk"]}), "require.0", "unknown resource type"),
        ] {
            let found = unmatchable_parts(&assertion, &Bindings { entity: None, task: None });
            assert!(
                matches!(found.as_slice(), [one] if one.path == path && one.message.contains(message)),
                "{assertion}: {found:?}"
            );
        }
        for info in crate::catalog() {
            let example: Value = serde_json::from_str(info.example).unwrap();
            assert_eq!(unmatchable_parts(&example, &Bindings { entity: None, task: None }), [], "{}", info.name);
        }
        let site = json!({"assert": "hl7-structural", "fields": [{"path": "ZPI.5", "expected": "1"}]});
        assert_eq!(unmatchable_parts(&site, &Bindings { entity: None, task: None }), []);
    }
}
