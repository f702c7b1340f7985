//! Tests of the interface through its public functions.

mod acknowledged;
mod inbox;
mod rejected;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

use model::simulator::SimulatorType;
use model::{SandboxId, Timestamp, Ulid};
use serde_json::{Value, json};
use world::{Context, NewEvent, Outcome, Records, Sandbox, World};

use super::receive::{Body, Delivery, Receipt, Transport, receive};
use super::reply::Reply;

/// 2026-04-23T12:00:00Z
const START: Timestamp = Timestamp(1_776_945_600_000);

struct Interface {
    world: World,
    sandbox: SandboxId,
    now: Timestamp,
    events: Vec<NewEvent>,
    ids: Cell<u128>,
}

impl Interface {
    fn new(config: Value) -> Self {
        let sandbox: SandboxId = "sbx_01J00000000000000000000000".parse().unwrap();
        let interface = Sandbox {
            id: sandbox.clone(),
            kind: SimulatorType::Hl7,
            config: Arc::new(config),
            created_at: START,
            is_active: true,
            records: Records::new(vec![], START),
        };
        let world = World { seq: 0, oldest: 0, sandboxes: BTreeMap::from([(sandbox.clone(), interface)]) };
        Self { world, sandbox, now: START, events: Vec::new(), ids: Cell::new(0) }
    }

    /// Runs a message and applies its changes.
    fn run<T>(&mut self, message: impl FnOnce(&World, &SandboxId, &Context<'_>) -> Outcome<T>) -> (T, usize) {
        let new_id = || {
            self.ids.set(self.ids.get() + 1);
            Ulid(self.ids.get()).to_string()
        };
        let outcome = message(&self.world, &self.sandbox, &Context { now: self.now, new_id: &new_id });
        let seq = self.world.seq + 1;
        outcome.changes.iter().for_each(|change| self.world.apply(seq, change));
        self.world.seq += outcome.events.len() as i64;
        self.events.extend(outcome.events);
        (outcome.answer, outcome.changes.len())
    }

    fn deliver(&mut self, deliveries: &[Delivery]) -> (Vec<Receipt>, usize) {
        self.run(|world, sandbox, context| receive(world, sandbox, deliveries, context))
    }

    fn send_body(&mut self, body: Body) -> (Receipt, usize) {
        let delivery = Delivery { body, transport: Transport::Mllp, actor: "agent".to_owned() };
        let (mut receipts, changes) = self.deliver(&[delivery]);
        (receipts.remove(0), changes)
    }

    fn send(&mut self, text: &str) -> Reply {
        self.send_body(Body::Bytes(text.as_bytes().to_vec())).0.unwrap()
    }

    /// The acknowledgment code, and the segments after MSH.
    fn answer(&mut self, text: &str) -> (String, String) {
        let reply = self.send(text);
        let ack = reply.text().unwrap_or_default();
        let code = reply.code().unwrap_or_default().to_owned();
        (code, ack.split('\r').skip(1).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n"))
    }

    fn last_event(&self) -> Value {
        self.events.last().unwrap().payload.json()
    }
}

/// An ADT^A08 with this control id.
fn update(id: &str) -> String {
    format!(
        "MSH|^~\\&|EHR|CLINIC|LAB|HOSP|20260401120000||ADT^A08|{id}|P|2.5.1\rEVN||20260401120000\r\
         PID|1||77^^^MRN||Doe^Ann\rPV1|1|O\r"
    )
}

/// An interface that rejects structural faults.
fn strict() -> Interface {
    Interface::new(json!({"strict": true}))
}
