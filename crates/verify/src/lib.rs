//! Parses the assertions of criteria from authored JSON, and scores them against the state and events of a finished run.
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
mod limits;
pub mod manual;
pub mod matching;
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
mod scoring;
mod searchable_text;
#[cfg(test)]
mod testing;
mod unmatchable;
mod wording;
mod x12_refusals;

use model::FieldErrors;
use model::reading;
use model::template::{self, Bindings, Root};
use serde_json::Value;

pub use checks::{Assertion, Check, CheckInfo, ReadSimulators, catalog};
pub use content::{FileContents, NO_FILE_CONTENTS, WantedFiles};
pub use evidence::{Evidence, Outcome};
pub use scored_at::ScoredAt;
pub use unmatchable::{UnmatchablePart, unmatchable_parts};

use evidence::{EvaluationContext, object};

/// Allows every clinical document, and keeps recursion over an assertion within the stack.
const MAX_DEPTH: usize = 64;

#[derive(Clone, Debug, PartialEq)]
pub enum Parsed {
    Known(Box<Assertion>),
    /// No check has this name. The assertion is stored, and fails as unsupported when it is scored.
    Unknown {
        name: String,
    },
}

/// Parses an author's assertion. Collects all errors, each with its dotted path, so that one save reports them together.
pub fn parse(assertion: &Value) -> Result<Parsed, FieldErrors> {
    if is_deeper(assertion, MAX_DEPTH) {
        return Err(FieldErrors::one("", format!("must not be nested deeper than {MAX_DEPTH} levels")));
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
    errors.merge(sandbox.err().unwrap_or_default());
    template::check(assertion, &[Root::Entity, Root::Task], &mut errors);
    match read {
        Ok(assertion) => errors.into_result().map(|()| Parsed::Known(Box::new(assertion))),
        Err(field_errors) => {
            errors.merge(field_errors);
            Err(errors)
        }
    }
}

/// Scores one assertion. An assertion that cannot be evaluated completely fails, with the reason in `details`.
pub fn evaluate(assertion: &Value, evidence: &Evidence<'_>) -> Outcome {
    let is_deep = is_deeper(assertion, MAX_DEPTH);
    // Sorts the members, so that the first of several errors does not depend on their order.
    let assertion = if is_deep { assertion.clone() } else { bounds::sorted(assertion) };
    let evaluated = bind_and_parse(&assertion, evidence).and_then(|(bound, check)| {
        scored_at::with_state(&assertion, evidence, |evidence| {
            sandbox_scope::within(&bound, evidence, |context| check.evaluate(context))
        })
    });
    evaluated.unwrap_or_else(|reason| Outcome::failed(bounds::short(&reason), object([])))
}

/// Fills in the templates of an assertion. Returns it unchanged if a template has no value.
pub fn fill_templates(assertion: &Value, bindings: &Bindings<'_>) -> Value {
    if is_deeper(assertion, MAX_DEPTH) {
        return assertion.clone();
    }
    let parameters = parse_known(assertion).map_or(&[][..], |check| check.info().parameters);
    bind::bind(assertion, parameters, bindings).unwrap_or_else(|_| assertion.clone())
}

/// The rows of the files whose bytes an assertion reads and that are not stored in their rows, by hash. The caller of
/// [`evaluate`] provides these bytes as [`Evidence::contents`]. Files beyond the size limit are left out, and fail the
/// assertions that read them.
pub fn wanted_files(assertion: &Value, evidence: &Evidence<'_>) -> WantedFiles {
    if is_deeper(assertion, MAX_DEPTH) {
        return WantedFiles::new();
    }
    let Ok((bound, check)) = bind_and_parse(&bounds::sorted(assertion), evidence) else { return WantedFiles::new() };
    let wanted = |context: &EvaluationContext<'_>| check.wanted_files(context);
    let found = scored_at::with_state(assertion, evidence, |evidence| sandbox_scope::within(&bound, evidence, wanted));
    found.unwrap_or_default()
}

/// The check that reads the sandboxes of an effect channel, such as `fhir`.
pub fn check_of_channel(channel: &str) -> Option<&'static CheckInfo> {
    let simulator = sims::catalog().iter().find(|info| info.effects.channel == channel)?.kind;
    catalog().iter().find(|check| check.reads == ReadSimulators::Type(simulator))
}

/// Whether an agent that does nothing passes an assertion: forbidden phrases, absence, no side effects, budgets. An
/// assertion that no check can read always fails, so it is not a guard.
pub fn is_guard(assertion: &Value) -> bool {
    !is_deeper(assertion, MAX_DEPTH) && parse_known(assertion).is_ok_and(|assertion| assertion.is_guard())
}

/// The documents that could not be read because the server has no OCR, if their text decides the outcome. A task with such a
/// criterion cannot be scored, because a score must not depend on the programs that are installed on the server.
pub fn undecided_documents(assertion: &Value, evidence: &Evidence<'_>) -> Vec<String> {
    if is_deeper(assertion, MAX_DEPTH) {
        return Vec::new();
    }
    let Ok((bound, check)) = bind_and_parse(&bounds::sorted(assertion), evidence) else { return Vec::new() };
    sandbox_scope::within(&bound, evidence, |context| check.undecided_documents(context)).unwrap_or_default()
}

/// Fills in the templates of an assertion, and parses the result.
fn bind_and_parse(assertion: &Value, evidence: &Evidence<'_>) -> Result<(Value, Assertion), String> {
    let read = |assertion: &Value| parse_known(assertion).map_err(|error| format!("unsupported assertion: {error}"));
    let bindings = Bindings { entity: evidence.entity, task: evidence.task };
    let bound = bind::bind(assertion, read(assertion)?.info().parameters, &bindings)?;
    let check = read(&bound)?;
    Ok((bound, check))
}

fn parse_known(assertion: &Value) -> Result<Assertion, String> {
    match parse(assertion) {
        Ok(Parsed::Known(assertion)) => Ok(*assertion),
        Ok(Parsed::Unknown { name }) => Err(format!("there is no check `{}`", bounds::short(&name))),
        Err(errors) => Err(reading::shortened(&errors.to_string(), 1_000)),
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
    fn assert_names_the_check() {
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
    fn every_example_parses_as_its_check() {
        for info in catalog() {
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
        assert_eq!(check_of_channel("unknown"), None);
    }

    #[test]
    fn assertions_that_an_idle_agent_passes_are_guards() {
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

    /// Misspelled names and values of a wrong type are errors.
    #[test]
    fn hostile_variations_of_every_example_are_rejected() {
        let hostile = [json!(-1), json!(1e300), json!(""), json!([[]]), json!({"x": {}}), json!("{{x}}"), nested(100)];
        for info in catalog() {
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
    fn templates_are_checked_at_every_depth() {
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
    fn errors_at_different_paths_are_reported_together() {
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
                ("fields.5.path", "start at 1"),
                ("fields.6.expected", "use null"),
                ("match", "one of `first`"),
            ],
        );
    }

    #[test]
    fn errors_about_long_input_stay_short() {
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
