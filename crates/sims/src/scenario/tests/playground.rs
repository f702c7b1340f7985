//! A playground with a sandbox of every type. Outcomes are recorded like the store does it.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

use ::fhir::layer::Layer;
use model::event::EventType;
use model::simulator::SimulatorType;
use model::{FieldErrors, Id, SandboxId, Timestamp, Ulid};
use serde_json::{Value, json};
use world::{Change, Context, NewEvent, Outcome, Records, Sandbox, World, Write};

use crate::scenario::{
    DatasetFile, PreparedStep, ScenarioContext, ScenarioSandbox, begin, catch_up, next_due, prepare,
};

pub(super) const START: Timestamp = Timestamp(1_776_945_600_000);

pub(super) struct Playground {
    pub(super) world: World,
    pub(super) entity: Value,
    pub(super) files: BTreeMap<String, DatasetFile>,
    /// All events with their sequence numbers.
    pub(super) events: Vec<(i64, NewEvent)>,
    pub(super) changes: Vec<(i64, Change)>,
    pub(super) now: Timestamp,
    ids: Cell<u64>,
}

pub(super) fn sandbox_id(kind: SimulatorType) -> SandboxId {
    SandboxId::from_ulid(Ulid(kind as u128 + 1))
}

impl Playground {
    /// A playground with these FHIR resources.
    pub(super) fn new(resources: &[Value]) -> Self {
        let lines: Vec<String> = resources.iter().map(Value::to_string).collect();
        let layer = Arc::new(Layer::build(vec![lines.join("\n")], 1).unwrap());
        let sandbox = |kind: SimulatorType| {
            let layers = if kind == SimulatorType::Fhir { vec![Arc::clone(&layer)] } else { Vec::new() };
            let (id, records) = (sandbox_id(kind), Records::new(layers, START));
            // A scenario can only fire hooks at services that the agent implements.
            let agent_services = json!({"agent_services": crate::info(kind).example_config()["agent_services"]});
            let config = Arc::new(if kind == SimulatorType::CdsHooks { agent_services } else { json!({}) });
            (id.clone(), Sandbox { id, kind, config, created_at: START, is_active: true, records })
        };
        let sandboxes = SimulatorType::ALL.into_iter().map(sandbox).collect();
        let entity = json!({"name": "Ada Stone", "ref": "Patient/p1", "data": {"id": "p1", "name": "Ada Stone",
            "number": 7, "mrn": "A|1", "birth_date": "1980-02-03", "low": 6.10, "evil": "{{task.name}}"}});
        Self {
            world: World { seq: 0, oldest: 0, sandboxes },
            entity,
            files: BTreeMap::new(),
            events: Vec::new(),
            changes: Vec::new(),
            now: START,
            ids: Cell::new(0),
        }
    }

    pub(super) fn prepared(&self, steps: &Value) -> Result<Vec<PreparedStep>, FieldErrors> {
        let ids: Vec<(SandboxId, SimulatorType)> =
            SimulatorType::ALL.into_iter().map(|kind| (sandbox_id(kind), kind)).collect();
        let sandboxes: Vec<ScenarioSandbox<'_>> =
            ids.iter().map(|(id, kind)| ScenarioSandbox { id, kind: *kind, name: kind.name() }).collect();
        let task = json!({"id": "task_1", "name": "Move it", "task_item": {"day": "Friday"}});
        let context = ScenarioContext {
            sandboxes: &sandboxes,
            entity: Some(&self.entity),
            task: &task,
            dataset_files: &self.files,
        };
        prepare(&json!({ "steps": steps }), &context)
    }

    /// Starts the task.
    #[track_caller]
    pub(super) fn begin(mut self, steps: &Value) -> Self {
        self.try_begin(steps).unwrap();
        self
    }

    /// The error when the task is started with an invalid scenario.
    #[track_caller]
    pub(super) fn begin_error(&mut self, steps: &Value) -> String {
        self.try_begin(steps).unwrap_err().to_string()
    }

    pub(super) fn try_begin(&mut self, steps: &Value) -> Result<(), FieldErrors> {
        let prepared = self.prepared(steps)?;
        let outcome = self.with_context(|context| begin(&self.world, context, &prepared))?;
        self.record(outcome);
        Ok(())
    }

    /// Executes the steps that are due the given number of seconds after the start, and returns the number of events.
    pub(super) fn catch_up_after(&mut self, seconds: i64) -> usize {
        self.now = START.plus_milliseconds(1000 * seconds);
        let outcome = self.with_context(|context| catch_up(&self.world, context));
        let count = outcome.events.len();
        self.record(outcome);
        count
    }

    /// In seconds after the start.
    pub(super) fn next_due(&self) -> Option<i64> {
        next_due(&self.world).map(|due| (due.milliseconds() - START.milliseconds()) / 1000)
    }

    fn with_context<T>(&self, run: impl FnOnce(&Context<'_>) -> T) -> T {
        let new_id = || {
            self.ids.set(self.ids.get() + 1);
            format!("{:026}", self.ids.get())
        };
        run(&Context { now: self.now, new_id: &new_id })
    }

    fn record(&mut self, outcome: Outcome<()>) {
        let seq = self.world.seq + 1;
        assert!(outcome.changes.is_empty() || outcome.events[0].r#type == EventType::ScenarioStep);
        for change in outcome.changes {
            self.world.apply(seq, &change);
            self.changes.push((seq, change));
        }
        self.events.extend((seq..).zip(outcome.events));
        self.world.seq = self.events.last().map_or(0, |(seq, _)| *seq);
    }

    pub(super) fn row(&self, kind: SimulatorType, collection: &str, key: &str) -> Option<Value> {
        let records = &self.world.sandboxes[&sandbox_id(kind)].records;
        records.get(collection, key).live().map(|record| Value::clone(&record.json()))
    }

    pub(super) fn rows(&self, kind: SimulatorType, collection: &str) -> Vec<Value> {
        let records = &self.world.sandboxes[&sandbox_id(kind)].records;
        records.own(collection).map(|record| Value::clone(&record.json())).collect()
    }

    /// All events, as `do outcome` for steps and the event type for the rest.
    pub(super) fn event_names(&self) -> Vec<String> {
        let name = |event: &NewEvent| match event.r#type {
            EventType::ScenarioStep => {
                let word = |name: &str| event.payload.json()[name].as_str().unwrap_or_default().to_owned();
                format!("{} {}", word("do"), word("outcome"))
            }
            other => other.name().to_owned(),
        };
        self.events.iter().map(|(_, event)| name(event)).collect()
    }

    /// All changes, as `write collection/key version`.
    pub(super) fn written(&self) -> Vec<String> {
        let name = |change: &Change| {
            let Change { write, collection, key, version, text, .. } = change;
            assert_eq!(text.is_none(), *write == Write::Delete);
            format!("{} {collection}/{key} {version}", write.name())
        };
        self.changes.iter().map(|(_, change)| name(change)).collect()
    }
}
