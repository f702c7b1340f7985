//! What a criterion asserts: authored JSON becomes a typed assertion here, or a list of what is wrong with it; and what
//! it scores against the state and events that a run left.
//! Pure: no I/O, no clock, no randomness.

pub mod authored;
mod baseline;
mod bind;
mod bounds;
mod budget;
mod candidates;
pub mod checks;
mod closed_world;
mod common_words;
mod compare;
pub mod comparison;
mod content;
pub mod count;
mod csv;
pub mod disclosure;
mod document;
pub mod evidence;
mod fhir_rules;
pub mod field;
pub mod glob;
mod impossible;
mod judge;
mod limits;
pub mod manual;
pub mod matching;
mod moment;
mod number;
pub mod path;
mod pdf;
pub mod phrase;
#[cfg(test)]
mod properties;
pub mod quantifier;
pub mod recipient;
pub mod sandbox_scope;
pub mod schema;
mod scored_at;
mod spoken;
#[cfg(test)]
mod testing;
mod wording;
mod x12_refusals;

use model::FieldErrors;
use model::reading;
use model::template::{self, Bindings, Root};
use serde_json::Value;

pub use checks::{Assertion, Check, CheckInfo, Reads, catalogue};
pub use content::{Contents, NO_CONTENTS, Wanted};
pub use evidence::{Evidence, Outcome};
pub use impossible::{Impossible, impossible};
pub use scored_at::ScoredAt;

use evidence::{Case, object};

/// Deeper than any clinical document, shallow enough for every recursion over the assertion.
const DEEPEST: usize = 64;

#[derive(Clone, Debug, PartialEq)]
pub enum Parsed {
    Known(Box<Assertion>),
    /// Stored all the same; fails as unsupported when it is scored.
    Unknown {
        name: String,
    },
}

/// Reads an author's assertion. Faults are named by dotted path and collected, so that one save shows them all.
pub fn parse(assertion: &Value) -> Result<Parsed, FieldErrors> {
    if is_deeper(assertion, DEEPEST) {
        return Err(FieldErrors::one("", format!("must not be nested deeper than {DEEPEST} levels")));
    }
    let (name, mut specification) = reading::split_tag(assertion, "assert")?;
    if name.trim().is_empty() {
        return Err(FieldErrors::one("assert", "must not be blank"));
    }
    let scored_at = ScoredAt::take(&mut specification);
    let sandbox = sandbox_scope::take(&mut specification);
    let Some(read) = Assertion::read(&name, &specification) else {
        return Ok(Parsed::Unknown { name });
    };

    let mut errors = scored_at.err().unwrap_or_default();
    sandbox.err().into_iter().for_each(|faults| errors.merge(faults));
    template::check(assertion, &[Root::Entity, Root::Task], &mut errors);
    match read {
        Ok(assertion) => errors.into_result().map(|()| Parsed::Known(Box::new(assertion))),
        Err(faults) => {
            errors.merge(faults);
            Err(errors)
        }
    }
}

/// Scores one assertion. Whatever keeps it from being evaluated to its end fails it, with the reason in `details`.
pub fn evaluate(assertion: &Value, evidence: &Evidence<'_>) -> Outcome {
    let is_deep = is_deeper(assertion, DEEPEST);
    // Which of several faults comes first must not depend on the order of members.
    let assertion = if is_deep { assertion.clone() } else { bounds::sorted(assertion) };
    let evaluated = bound(&assertion, evidence).and_then(|(bound, check)| {
        scored_at::with_state(&assertion, evidence, |evidence| {
            sandbox_scope::within(&bound, evidence, |case| check.evaluate(case))
        })
    });
    evaluated.unwrap_or_else(|reason| Outcome::failed(bounds::short(&reason), object([])))
}

/// The assertion with its templates filled in; as it is, where that is impossible.
pub fn filled(assertion: &Value, bindings: &Bindings<'_>) -> Value {
    if is_deeper(assertion, DEEPEST) {
        return assertion.clone();
    }
    let members = known(assertion).map_or(&[][..], |check| check.info().members);
    bind::bind(assertion, members, bindings).unwrap_or_else(|_| assertion.clone())
}

/// The rows of the files whose bytes an assertion reads and that the rows do not have, by hash: whoever evaluates it must
/// bring these as the evidence's contents. What is left out is too large, and fails what asks for it.
pub fn wanted_files(assertion: &Value, evidence: &Evidence<'_>) -> Wanted {
    if is_deeper(assertion, DEEPEST) {
        return Wanted::new();
    }
    let Ok((bound, check)) = bound(&bounds::sorted(assertion), evidence) else { return Wanted::new() };
    let wanted = |case: &Case<'_>| check.wanted_files(case);
    let found = scored_at::with_state(assertion, evidence, |evidence| sandbox_scope::within(&bound, evidence, wanted));
    found.unwrap_or_default()
}

/// The check that reads the sandboxes of a channel of effects, such as `fhir`.
pub fn check_of_channel(channel: &str) -> Option<&'static CheckInfo> {
    let simulator = sims::catalog().iter().find(|info| info.effects.channel == channel)?.kind;
    catalogue().iter().find(|check| check.reads == Reads::Type(simulator))
}

/// Whether an agent that does nothing passes an assertion: forbidden phrases, absence, no side effects, budgets. What no
/// check takes is failed by everyone, and so is no guard.
pub fn is_guard(assertion: &Value) -> bool {
    !is_deeper(assertion, DEEPEST) && known(assertion).is_ok_and(|assertion| assertion.is_guard())
}

/// The documents that could not be read because the server has no OCR, if their text decides the outcome. A task with such a
/// criterion cannot be scored: a missing program on the server must not decide a score.
pub fn undecided_documents(assertion: &Value, evidence: &Evidence<'_>) -> Vec<String> {
    if is_deeper(assertion, DEEPEST) {
        return Vec::new();
    }
    let Ok((bound, check)) = bound(&bounds::sorted(assertion), evidence) else { return Vec::new() };
    sandbox_scope::within(&bound, evidence, |case| check.undecided_documents(case)).unwrap_or_default()
}

/// The assertion with its templates filled in, and its check.
fn bound(assertion: &Value, evidence: &Evidence<'_>) -> Result<(Value, Assertion), String> {
    let read = |assertion: &Value| known(assertion).map_err(|error| format!("unsupported assertion: {error}"));
    let bindings = Bindings { entity: evidence.entity, task: evidence.task };
    let bound = bind::bind(assertion, read(assertion)?.info().members, &bindings)?;
    let check = read(&bound)?;
    Ok((bound, check))
}

fn known(assertion: &Value) -> Result<Assertion, String> {
    match parse(assertion) {
        Ok(Parsed::Known(assertion)) => Ok(*assertion),
        Ok(Parsed::Unknown { name }) => Err(format!("there is no check `{}`", bounds::short(&name))),
        Err(faults) => Err(model::reading::shortened(&faults.to_string(), 1_000)),
    }
}

fn is_deeper(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(items) => levels == 0 || items.iter().any(|item| is_deeper(item, levels - 1)),
        Value::Object(members) => levels == 0 || members.values().any(|member| is_deeper(member, levels - 1)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{check_assertion, nested};
    use serde_json::json;

    #[test]
    fn the_check_is_chosen_by_name() {
        for (assertion, key) in [
            (json!(null), ""),
            (json!("fhir-resource-state"), ""),
            (json!([]), ""),
            (json!({}), "assert"),
            (json!({"assert": 5}), "assert"),
            (json!({"assert": null}), "assert"),
            (json!({"assert": " "}), "assert"),
            (json!({"assert": ["voice-transcript"]}), "assert"),
        ] {
            check_assertion(&assertion, &[(key, "")]);
        }
        let unknown = parse(&json!({"assert": "mind-reading", "anything": 1}));
        assert_eq!(unknown, Ok(Parsed::Unknown { name: "mind-reading".to_owned() }));
        let other_case = parse(&json!({"assert": "Voice-Transcript"}));
        assert_eq!(other_case, Ok(Parsed::Unknown { name: "Voice-Transcript".to_owned() }));
    }

    #[test]
    fn every_example_of_the_catalogue_is_a_known_assertion_of_its_name() {
        for info in catalogue() {
            let example: Value = serde_json::from_str(info.example).expect(info.name);
            let Ok(Parsed::Known(assertion)) = parse(&example) else { panic!("{}: {:?}", info.name, parse(&example)) };
            assert_eq!(assertion.info(), *info);
            assert!(!info.summary.is_empty());
        }
    }

    #[test]
    fn every_channel_has_a_check() {
        for info in sims::catalog() {
            assert!(check_of_channel(info.effects.channel).is_some(), "{}", info.effects.channel);
        }
        assert_eq!(check_of_channel("fhir").map(|check| check.name), Some("fhir-resource-state"));
        assert_eq!(check_of_channel("telepathy"), None);
    }

    #[test]
    fn guards_are_what_an_idle_agent_passes() {
        let fields = json!([{"path": "status", "expected": "booked"}]);
        for (assertion, is_guard) in [
            (json!({"assert": "no-side-effects"}), true),
            (json!({"assert": "no-side-effects", "allow": ["fhir/Task"]}), true),
            (json!({"assert": "no-side-effects", "require": ["fhir/Task"]}), false),
            (json!({"assert": "interaction-budget", "max": 20}), true),
            (json!({"assert": "voice-transcript", "not_contains": ["diagnosis"]}), true),
            (json!({"assert": "voice-transcript", "contains": ["hello"], "not_contains": ["diagnosis"]}), false),
            (json!({"assert": "message-transcript", "not_contains": ["diagnosis"]}), true),
            (json!({"assert": "message-transcript", "not_contains": ["diagnosis"], "count": {"min": 1}}), false),
            (json!({"assert": "message-transcript", "contains": ["diagnosis"], "count": 0}), true),
            (json!({"assert": "message-transcript", "contains": ["visit"]}), false),
            (json!({"assert": "fax-document", "contains": ["x"], "count": {"max": 0}}), true),
            (json!({"assert": "fax-document", "not_contains": ["x"]}), false),
            (json!({"assert": "fhir-resource-state", "resource_type": "Task", "count": 0}), true),
            (json!({"assert": "fhir-resource-state", "resource_type": "Task", "fields": fields}), false),
            (json!({"assert": "fhir-resource-state", "resource_type": "Task", "count": {"min": 1}}), false),
            (json!({"assert": "hl7-structural", "count": 0}), true),
            (json!({"assert": "x12-response", "transaction": "271", "count": 0}), true),
            (json!({"assert": "cds-response", "count": 0}), true),
            (json!({"assert": "sftp-file-present", "path": "outbox/*", "count": 0}), true),
            (
                json!({"assert": "portal-state-match", "correlate_by": {"resource": "claims", "key": "id"}, "count": 0}),
                true,
            ),
            (json!({"assert": "mind-reading"}), false),
            (json!({"assert": "no-side-effects", "tpyo": 1}), false),
            (nested(100), false),
        ] {
            assert_eq!(super::is_guard(&assertion), is_guard, "{assertion}");
        }
    }

    /// A typo never passes silently, and no value of a wrong type is taken for a right one.
    #[test]
    fn hostile_variations_of_every_example_are_faults() {
        let hostile = [json!(-1), json!(1e300), json!(""), json!([[]]), json!({"x": {}}), json!("{{x}}"), nested(100)];
        for info in catalogue() {
            let example: Value = serde_json::from_str(info.example).expect(info.name);
            for key in example.as_object().expect(info.name).keys() {
                for value in &hostile {
                    let mut assertion = example.clone();
                    assertion[key] = value.clone();
                    let parsed = parse(&assertion);
                    let is_named = matches!(&parsed, Ok(Parsed::Unknown { .. })) && key == "assert";
                    assert!(parsed.is_err() || is_named, "{}.{key} = {value}", info.name);
                }
            }
            let mut assertion = example.clone();
            assertion["tpyo"] = json!(1);
            check_assertion(&assertion, &[("tpyo", "not a known field")]);
        }
    }

    #[test]
    fn templates_are_checked_wherever_they_stand() {
        let assertion = json!({
            "assert": "fhir-resource-state",
            "resource_type": "Appointment",
            "search": {"patient": "Patient/{{entity.id}}", "status": "{{entitty.status}}"},
            "fields": [{"path": "{{task.path}}", "expected": {"deep": ["{{entity.id"]}}],
        });
        check_assertion(
            &assertion,
            &[("search.status", "must start with"), ("fields.0.expected.deep.0", "without `}}`")],
        );
    }

    #[test]
    fn faults_of_different_places_are_shown_together() {
        let assertion = json!({
            "assert": "hl7-structural",
            "extra": true,
            "fields": [
                {"path": "pid.3", "expected": "1"},
                {"path": "PID.3", "op": "eqals", "expected": "1"},
                {"path": "PID.5", "op": "between", "expected": [1]},
                {"expected": "1"},
                "PID.3",
                {"path": "PID.0", "expected": "1"},
                {"path": "PID.7"},
            ],
            "match": "some",
        });
        check_assertion(
            &assertion,
            &[
                ("extra", "not a known field"),
                ("fields.0.path", "segment name"),
                ("fields.1.op", "one of `equals`"),
                ("fields.2.expected", "[low, high]"),
                ("fields.3.path", "is required"),
                ("fields.4", "must be an object"),
                ("fields.5.path", "from 1"),
                ("fields.6.expected", "use null"),
                ("match", "one of `first`"),
            ],
        );
    }

    #[test]
    fn faults_stay_readable_whatever_the_author_sends() {
        let long = "k".repeat(100_000);
        let mut members = serde_json::Map::new();
        members.insert("assert".to_owned(), json!("no-side-effects"));
        for index in 0..500 {
            members.insert(format!("{long}{index}"), json!(1));
        }
        let Err(errors) = parse(&Value::Object(members)) else { panic!("must not parse") };
        assert!(errors.to_string().len() < 100_000, "{}", errors.to_string().len());
    }
}
