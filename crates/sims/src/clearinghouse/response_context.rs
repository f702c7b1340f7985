//! The data that the responses to one body are made from, and the rows that they store.

use model::Timestamp;
use model::canonical::sha256_hex;
use serde_json::{Value, json};
use world::{Context, Sandbox, World};

use super::chart::Chart;
use super::config::{ClearinghouseConfig, Rule};
use super::text::date_and_time;

pub(super) struct ResponseContext<'a> {
    pub(super) chart: Chart<'a>,
    pub(super) config: ClearinghouseConfig,
    pub(super) sandbox: &'a Sandbox,
    pub(super) now: Timestamp,
    /// `CCYYMMDD` and `HHMM` of now.
    pub(super) today: String,
    pub(super) time: String,
    /// Rows to store: collection, key and value.
    pub(super) rows: Vec<(&'static str, String, Value)>,
    /// When the final response to the current transaction is due, if it is deferred.
    pub(super) due: Option<Timestamp>,
}

/// Accepted claims: `{patient_control_number, member, payer, charge, …}` by the payer's claim number.
pub(super) const CLAIMS: &str = "claims";
/// When delayed requests are decided: `{due_at}` by a hash of the request.
const DELAYS: &str = "delays";

/// Which of the responses to a delayed request is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResponsePhase {
    /// As of now: delayed decisions are pending.
    Immediate,
    /// As of when all delays are over.
    Deferred,
}

impl<'a> ResponseContext<'a> {
    pub(super) fn new(world: &'a World, sandbox: &'a Sandbox, context: &Context<'_>) -> Self {
        let (today, time) = date_and_time(context.now);
        Self {
            chart: Chart::of(world),
            config: ClearinghouseConfig::of(&sandbox.config),
            sandbox,
            now: context.now,
            today,
            time,
            rows: Vec::new(),
            due: None,
        }
    }

    pub(super) fn store(&mut self, collection: &'static str, key: String, row: Value) {
        self.rows.retain(|(other, name, _)| *other != collection || *name != key);
        self.rows.push((collection, key, row));
    }

    /// A row of the sandbox, including those that this body stores.
    pub(super) fn row(&self, collection: &'static str, key: &str) -> Option<Value> {
        let pending = self.rows.iter().find(|(other, name, _)| *other == collection && name == key);
        let stored = || self.sandbox.records.get(collection, key).live().map(|record| Value::clone(&record.json()));
        pending.map(|(_, _, row)| row.clone()).or_else(stored)
    }

    /// A payer's number, such as a claim number. The same parts always have the same number.
    pub(super) fn payer_number(&self, prefix: &str, parts: &[&str]) -> String {
        let hash = self.hash(parts);
        format!("{prefix}{}", hash.get(..10).unwrap_or_default().to_uppercase())
    }

    fn hash(&self, parts: &[&str]) -> String {
        sha256_hex(json!([self.sandbox.id.to_string(), parts]).to_string().as_bytes())
    }

    /// Whether the rule's delay is not over yet. The delay starts with the first request with this `subject`.
    pub(super) fn is_delayed(&mut self, phase: ResponsePhase, rule: Option<(usize, &Rule)>, subject: &[&str]) -> bool {
        let Some((number, seconds)) = rule.and_then(|(number, rule)| Some((number, rule.delay_seconds?))) else {
            return false;
        };
        if phase == ResponsePhase::Deferred || seconds == 0 {
            return false;
        }
        let number = number.to_string();
        let key = self.hash(&[&[number.as_str()], subject].concat());
        let stored = self.row(DELAYS, &key).and_then(|row| serde_json::from_value(row.get("due_at")?.clone()).ok());
        let due: Timestamp = stored.unwrap_or_else(|| {
            let due = self.now.plus_milliseconds(seconds.saturating_mul(1000));
            self.store(DELAYS, key, json!({ "due_at": due }));
            due
        });
        let is_delayed = due > self.now;
        if is_delayed {
            self.due = self.due.max(Some(due));
        }
        is_delayed
    }
}
