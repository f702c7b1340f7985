//! How this crate's tests put an assertion and say which faults they expect.

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

/// The specification of the named check: known when no faults are given, else exactly these, each as its path and a
/// part of its message.
#[track_caller]
pub(crate) fn check(name: &str, mut specification: Value, faults: &[(&str, &str)]) {
    specification["assert"] = json!(name);
    check_assertion(&specification, faults);
}

#[track_caller]
pub(crate) fn check_assertion(assertion: &Value, faults: &[(&str, &str)]) {
    match parse(assertion) {
        Ok(Parsed::Known(_)) if faults.is_empty() => {}
        Ok(parsed) => panic!("{assertion}: {parsed:?}, not {faults:?}"),
        Err(errors) => {
            let mut found: Vec<&str> = errors.iter().map(|(path, _)| path).collect();
            let mut expected: Vec<&str> = faults.iter().map(|(path, _)| *path).collect();
            found.sort_unstable();
            expected.sort_unstable();
            assert_eq!(found, expected, "{assertion}: {errors}");
            for (path, said) in faults {
                let is_said = errors.iter().any(|(found, messages)| found == *path && messages.concat().contains(said));
                assert!(is_said, "{assertion}: {path} does not say {said:?}: {errors}");
            }
        }
    }
}

/// What is read and written is read again as the same.
#[track_caller]
pub(crate) fn round_trip<T: Notation + Display + Debug + PartialEq>(text: &str) {
    if let Ok(value) = T::read(text) {
        let written = value.to_string();
        assert_eq!(T::read(&written), Ok(value), "{text:?} written as {written:?}");
    }
}

#[track_caller]
pub(crate) fn faulty_notation<T: Notation + Debug>(text: &str, said: &str) {
    let fault = T::read(text).expect_err(text);
    assert!(fault.contains(said), "{text:?}: {fault}");
}

pub(crate) fn nested(levels: usize) -> Value {
    (0..levels).fold(json!(1), |inner, _| json!([inner]))
}

/// A playground with a sandbox of every kind. FHIR resources lie in a layer; the rest was written by the agent.
#[derive(Debug)]
pub(crate) struct Playground {
    pub(crate) world: World,
    pub(crate) events: Vec<Event>,
    pub(crate) contents: crate::Contents,
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
        Self { world, events: Vec::new(), contents: crate::Contents::new(), entity: Value::Null, task: Value::Null }
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

    /// An event at the place of the last write.
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

    /// As it is; nothing was settled, and no effects.
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

/// What a criterion scores: the score as a fraction, and exactly this evidence.
#[track_caller]
pub(crate) fn scores(playground: &Playground, assertion: &Value, score: &str, evidence: &Value) {
    let outcome = playground.evaluate(assertion);
    assert_eq!(outcome.evidence, *evidence, "{assertion}: {}", outcome.details);
    assert_eq!(outcome.score.to_string(), score, "{assertion}: {}", outcome.details);
    assert_eq!(outcome.passed, score == "1/1", "{assertion}: {}", outcome.details);
}

/// What a criterion scores, and a part of its details.
#[track_caller]
pub(crate) fn says(playground: &Playground, assertion: &Value, score: &str, said: &str) {
    let outcome = playground.evaluate(assertion);
    assert_eq!(outcome.score.to_string(), score, "{assertion}: {outcome:?}");
    assert_eq!(outcome.passed, score == "1/1", "{assertion}: {outcome:?}");
    assert!(outcome.details.contains(said), "{assertion}: {:?}", outcome.details);
}
