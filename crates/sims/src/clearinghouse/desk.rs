//! What answering one body may know, and what it leaves beside its answers.

use model::Timestamp;
use model::canonical::sha256_hex;
use serde_json::{Value, json};
use world::{Context, Sandbox, World};

use super::chart::Chart;
use super::config::{ClearinghouseConfig, Rule};
use super::text::date_and_time;

pub(super) struct Desk<'a> {
    pub(super) chart: Chart<'a>,
    pub(super) config: ClearinghouseConfig,
    pub(super) sandbox: &'a Sandbox,
    pub(super) now: Timestamp,
    /// `CCYYMMDD` and `HHMM` of now.
    pub(super) today: String,
    pub(super) time: String,
    /// Rows to keep: collection, key and value.
    pub(super) rows: Vec<(&'static str, String, Value)>,
    /// When the transaction that is being answered can be answered in full, if not at once.
    pub(super) due: Option<Timestamp>,
}

/// Claims that came in: `{patient_control_number, member, payer, charge, …}` by the payer's claim number.
pub(super) const CLAIMS: &str = "claims";
/// When what somebody asked for is decided: `{due_at}` by a hash of what was asked.
const DELAYS: &str = "delays";

/// Whether what takes time is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    Now,
    /// As it will be when every delay is over.
    Later,
}

impl<'a> Desk<'a> {
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

    pub(super) fn keep(&mut self, collection: &'static str, key: String, row: Value) {
        self.rows.retain(|(kept, name, _)| *kept != collection || *name != key);
        self.rows.push((collection, key, row));
    }

    pub(super) fn row(&self, collection: &'static str, key: &str) -> Option<Value> {
        let own = self.rows.iter().find(|(kept, name, _)| *kept == collection && name == key);
        let stored = || self.sandbox.records.get(collection, key).live().map(|record| Value::clone(&record.json()));
        own.map(|(_, _, row)| row.clone()).or_else(stored)
    }

    /// A number that the payer gives: always the same one for the same thing.
    pub(super) fn number(&self, prefix: &str, parts: &[&str]) -> String {
        let hash = self.hash(parts);
        format!("{prefix}{}", hash.get(..10).unwrap_or_default().to_uppercase())
    }

    fn hash(&self, parts: &[&str]) -> String {
        sha256_hex(json!([self.sandbox.id.to_string(), parts]).to_string().as_bytes())
    }

    /// Whether the rule's delay is not over. It runs from when the same thing was first asked for.
    pub(super) fn must_wait(&mut self, when: When, rule: Option<(usize, &Rule)>, what: &[&str]) -> bool {
        let Some((number, seconds)) = rule.and_then(|(number, rule)| Some((number, rule.delay_seconds?))) else {
            return false;
        };
        if when == When::Later || seconds == 0 {
            return false;
        }
        let number = number.to_string();
        let key = self.hash(&[&[number.as_str()], what].concat());
        let known = self.row(DELAYS, &key).and_then(|row| serde_json::from_value(row.get("due_at")?.clone()).ok());
        let due: Timestamp = known.unwrap_or_else(|| {
            let due = self.now.plus_milliseconds(seconds.saturating_mul(1000));
            self.keep(DELAYS, key, json!({ "due_at": due }));
            due
        });
        let waits = due > self.now;
        if waits {
            self.due = self.due.max(Some(due));
        }
        waits
    }
}
