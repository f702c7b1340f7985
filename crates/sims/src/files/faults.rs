//! Injected faults: uploads that are cut short, and an account that is locked after wrong passwords.

use model::Timestamp;
use model::event::EventType;
use serde::Deserialize;
use serde_json::{Map, Value};
use world::{Change, Outcome, Records, Sandbox};

use super::call::{Call, Protocol};
use super::config::FilesConfig;
use crate::scenario::step::object;

/// The collection with the state of the faults, by their names.
pub(crate) const FAULTS: &str = "faults";
const SHORT_WRITE: &str = "short_write";
const LOCKED_ACCOUNT: &str = "locked_account";

/// After how many bytes the next SFTP upload fails, if it does.
pub fn upload_limit(sandbox: &Sandbox) -> Option<u64> {
    let fault = FilesConfig::of(&sandbox.config).faults?.short_write?;
    let count = number(&sandbox.records, SHORT_WRITE, "count");
    (count < fault.times.unwrap_or(1)).then_some(fault.after_bytes)
}

pub(super) fn count_short_write(call: &Call<'_>, records: &Records) -> Change {
    let count = number(records, SHORT_WRITE, "count") + 1;
    call.put(records, FAULTS, SHORT_WRITE, object([("count", count.into())]))
}

/// Whether the account is locked now.
pub fn is_locked(sandbox: &Sandbox, now: Timestamp) -> bool {
    FilesConfig::of(&sandbox.config).locked_account().is_some()
        && locked_until(&sandbox.records).is_some_and(|end| now < end)
}

/// Records a wrong password. Without the configured fault nothing is recorded, because anyone could fill the log.
pub fn record_wrong_password(call: &Call<'_>) -> Outcome<()> {
    let unchanged = Outcome { answer: (), changes: Vec::new(), events: Vec::new() };
    let Some(sandbox) = call.sandbox() else { return unchanged };
    let Some(fault) = FilesConfig::of(&sandbox.config).locked_account() else { return unchanged };
    if is_locked(sandbox, call.context.now) {
        return unchanged;
    }
    // After a lock, counting starts again.
    let before =
        if locked_until(&sandbox.records).is_some() { 0 } else { number(&sandbox.records, LOCKED_ACCOUNT, "failures") };
    let failures = before + 1;
    let mut row = object([("failures", failures.into())]);
    let mut summary = format!("wrong password, {failures} in a row");
    if failures >= fault.after_failures {
        let until = call.context.now.plus_milliseconds(fault.for_seconds.saturating_mul(1000));
        row.insert("locked_until".to_owned(), until.to_string().into());
        summary = format!("{summary}; the account is locked until {until}");
    }
    let event = call.event(EventType::AuthToken, &summary, login_payload(row.clone(), "refused"));
    Outcome { answer: (), changes: vec![call.put(&sandbox.records, FAULTS, LOCKED_ACCOUNT, row)], events: vec![event] }
}

/// Records a login with the correct password.
pub fn record_login(call: &Call<'_>) -> Outcome<()> {
    let mut changes = Vec::new();
    if let Some(sandbox) = call.sandbox().filter(|sandbox| number(&sandbox.records, LOCKED_ACCOUNT, "failures") > 0) {
        changes.push(call.remove(&sandbox.records, FAULTS, LOCKED_ACCOUNT));
    }
    let event = call.event(EventType::AuthToken, "login by SFTP", login_payload(Map::new(), "granted"));
    Outcome { answer: (), changes, events: vec![event] }
}

/// Whether wrong passwords are recorded, which a login resets.
pub fn has_failed_logins(sandbox: &Sandbox) -> bool {
    number(&sandbox.records, LOCKED_ACCOUNT, "failures") > 0
}

fn login_payload(mut details: Map<String, Value>, outcome: &str) -> Map<String, Value> {
    let mut payload =
        object([("operation", "login".into()), ("via", Protocol::Sftp.name().into()), ("outcome", outcome.into())]);
    payload.append(&mut details);
    payload
}

fn locked_until(records: &Records) -> Option<Timestamp> {
    let record = records.get(FAULTS, LOCKED_ACCOUNT).live()?;
    Timestamp::deserialize(record.json().get("locked_until")?).ok()
}

fn number(records: &Records, key: &str, member: &str) -> u64 {
    let row = records.get(FAULTS, key).live().map(|record| record.json());
    row.and_then(|row| row.get(member)?.as_u64()).unwrap_or_default()
}
