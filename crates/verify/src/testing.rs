//! Helpers for the tests of this crate.

use std::collections::BTreeMap;
use std::fmt::{Debug, Display};
use std::sync::Arc;

use fhir::layer::Layer;
use model::event::{Event, EventType};
use model::simulator::SimulatorType;
use model::{EventId, Id, SandboxId, Timestamp, Ulid};
use serde_json::{Value, json};
use world::{Change, Records, Sandbox, World, Write};

use crate::authored::Notation;
use crate::{Evidence, Outcome, Parsed, parse};

/// Checks that the specification of the named check is valid, or has exactly the expected errors, each given as its path and
/// a part of its message.
#[track_caller]
pub(crate) fn check(name: &str, mut specification: Value, expected_errors: &[(&str, &str)]) {
    specification["assert"] = json!(name);
    check_assertion(&specification, expected_errors);
}

#[track_caller]
pub(crate) fn check_assertion(assertion: &Value, expected_errors: &[(&str, &str)]) {
    match parse(assertion) {
        Ok(Parsed::Known(_)) if expected_errors.is_empty() => {}
        Ok(parsed) => panic!("{assertion}: {parsed:?}, not {expected_errors:?}"),
        Err(errors) => {
            let mut found: Vec<&str> = errors.iter().map(|(path, _)| path).collect();
            let mut expected: Vec<&str> = expected_errors.iter().map(|(path, _)| *path).collect();
            found.sort_unstable();
            expected.sort_unstable();
            assert_eq!(found, expected, "{assertion}: {errors}");
            for (path, expected_text) in expected_errors {
                let is_reported =
                    errors.iter().any(|(found, messages)| found == *path && messages.concat().contains(expected_text));
                assert!(is_reported, "{assertion}: {path} does not say {expected_text:?}: {errors}");
            }
        }
    }
}

/// Checks that a value that is parsed and displayed parses as the same value.
#[track_caller]
pub(crate) fn round_trip<T: Notation + Display + Debug + PartialEq>(text: &str) {
    if let Ok(value) = T::read(text) {
        let written = value.to_string();
        assert_eq!(T::read(&written), Ok(value), "{text:?} written as {written:?}");
    }
}

#[track_caller]
pub(crate) fn faulty_notation<T: Notation + Debug>(text: &str, expected_text: &str) {
    let error = T::read(text).expect_err(text);
    assert!(error.contains(expected_text), "{text:?}: {error}");
}

pub(crate) fn nested(levels: usize) -> Value {
    (0..levels).fold(json!(1), |inner, _| json!([inner]))
}

/// A playground with a sandbox of every type. FHIR resources are in a layer; everything else was written by the agent.
#[derive(Debug)]
pub(crate) struct Playground {
    pub(crate) world: World,
    pub(crate) events: Vec<Event>,
    pub(crate) contents: crate::FileContents,
    pub(crate) entity: Value,
    pub(crate) task: Value,
}

const BASELINE: Timestamp = Timestamp(1_774_900_000_000);

pub(crate) fn sandbox_id(kind: SimulatorType) -> SandboxId {
    SandboxId::from_ulid(Ulid(kind as u128 + 1))
}

impl Playground {
    pub(crate) fn empty() -> Self {
        let world = World { seq: 0, oldest: 0, sandboxes: BTreeMap::new() };
        Self { world, events: Vec::new(), contents: crate::FileContents::new(), entity: Value::Null, task: Value::Null }
    }

    pub(crate) fn new(resources: &[Value]) -> Self {
        let lines: Vec<String> = resources.iter().map(Value::to_string).collect();
        let layer = Arc::new(Layer::build(vec![lines.join("\n")], 1).expect("resources"));
        let mut playground = Self::empty();
        for kind in SimulatorType::ALL {
            let layers = if kind == SimulatorType::Fhir { vec![Arc::clone(&layer)] } else { Vec::new() };
            let records = Records::new(layers, BASELINE);
            let (id, config) = (sandbox_id(kind), Arc::new(Value::Null));
            let sandbox = Sandbox { id: id.clone(), kind, config, created_at: BASELINE, is_active: true, records };
            playground.world.sandboxes.insert(id, sandbox);
        }
        playground
    }

    /// Writes a record; null deletes it.
    pub(crate) fn write(mut self, kind: SimulatorType, collection: &str, key: &str, json: &Value) -> Self {
        let seq = self.world.seq + 1;
        let change = Change {
            sandbox: sandbox_id(kind),
            collection: collection.into(),
            key: key.into(),
            version: u64::try_from(seq).unwrap_or_default() + 1,
            at: BASELINE.plus_milliseconds(1_000 * seq),
            write: if json.is_null() { Write::Delete } else { Write::Update },
            text: (!json.is_null()).then(|| json.to_string().into()),
        };
        self.world.apply(seq, &change);
        self
    }

    pub(crate) fn fhir(self, resource: &Value) -> Self {
        let name = |member: &str| resource[member].as_str().unwrap_or_default().to_owned();
        self.write(SimulatorType::Fhir, &name("resourceType"), &name("id"), resource)
    }

    /// Adds an event at the position of the last write.
    pub(crate) fn event(mut self, kind: SimulatorType, r#type: EventType, payload: Value) -> Self {
        let number = self.events.len() as u128 + 1;
        self.events.push(Event {
            id: EventId::from_ulid(Ulid(number)),
            sandbox_id: sandbox_id(kind),
            seq: self.world.seq,
            r#type,
            at: BASELINE.plus_milliseconds(number as i64),
            actor: "agent".to_owned(),
            summary: String::new(),
            payload,
        });
        self
    }

    pub(crate) fn with_entity(mut self, entity: Value) -> Self {
        self.entity = entity;
        self
    }

    pub(crate) fn evaluate(&self, assertion: &Value) -> Outcome {
        let effects = sims::effects::of_agent(&self.world, &self.events);
        crate::evaluate(assertion, &Evidence { effects: &effects, ..self.evidence() })
    }

    /// The evidence without settling and without effects.
    pub(crate) fn evidence(&self) -> Evidence<'_> {
        Evidence {
            world: &self.world,
            names: &crate::sandbox_scope::NO_NAMES,
            events: &self.events,
            effects: &[],
            completed_seq: None,
            contents: &self.contents,
            entity: Some(&self.entity),
            task: Some(&self.task),
        }
    }
}

/// Checks the score of an assertion, as a fraction, and its evidence.
#[track_caller]
pub(crate) fn scores(playground: &Playground, assertion: &Value, score: &str, evidence: &Value) {
    let outcome = playground.evaluate(assertion);
    assert_eq!(outcome.evidence, *evidence, "{assertion}: {}", outcome.details);
    assert_eq!(outcome.score.to_string(), score, "{assertion}: {}", outcome.details);
    assert_eq!(outcome.passed, score == "1/1", "{assertion}: {}", outcome.details);
}

/// Checks the score of an assertion, and a part of its details.
#[track_caller]
pub(crate) fn says(playground: &Playground, assertion: &Value, score: &str, expected_text: &str) {
    let outcome = playground.evaluate(assertion);
    assert_eq!(outcome.score.to_string(), score, "{assertion}: {outcome:?}");
    assert_eq!(outcome.passed, score == "1/1", "{assertion}: {outcome:?}");
    assert!(outcome.details.contains(expected_text), "{assertion}: {:?}", outcome.details);
}
