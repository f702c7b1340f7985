//! Faults that an author switches on: uploads that end short, and an account that is locked after wrong passwords.

use model::Timestamp;
use model::event::EventType;
use serde::Deserialize;
use serde_json::{Map, Value};
use world::{Change, Outcome, Records, Sandbox};

use super::call::{Call, Via};
use super::config::FilesConfig;
use crate::scenario::step::object;

/// What faults have done so far, by their names.
pub(crate) const FAULTS: &str = "faults";
const SHORT_WRITE: &str = "short_write";
const LOCKED_ACCOUNT: &str = "locked_account";

/// After how many bytes the next upload by SFTP ends, if it does.
pub fn short_after(sandbox: &Sandbox) -> Option<u64> {
    let fault = FilesConfig::of(&sandbox.config).faults?.short_write?;
    let happened = number(&sandbox.records, SHORT_WRITE, "count");
    (happened < fault.times.unwrap_or(1)).then_some(fault.after_bytes)
}

pub(super) fn note_short_write(call: &Call<'_>, records: &Records) -> Change {
    let count = number(records, SHORT_WRITE, "count") + 1;
    call.put(records, FAULTS, SHORT_WRITE, object([("count", count.into())]))
}

/// Whether the account takes no password now.
pub fn is_locked(sandbox: &Sandbox, now: Timestamp) -> bool {
    FilesConfig::of(&sandbox.config).locked_account().is_some()
        && until(&sandbox.records).is_some_and(|until| now < until)
}

/// A wrong password. Without the fault nothing remembers it: anyone could fill the log.
pub fn note_wrong_password(call: &Call<'_>) -> Outcome<()> {
    let nothing = Outcome { answer: (), changes: Vec::new(), events: Vec::new() };
    let Some(sandbox) = call.sandbox() else { return nothing };
    let Some(fault) = FilesConfig::of(&sandbox.config).locked_account() else { return nothing };
    if is_locked(sandbox, call.context.now) {
        return nothing;
    }
    // A lock that has ended starts a new count.
    let before =
        if until(&sandbox.records).is_some() { 0 } else { number(&sandbox.records, LOCKED_ACCOUNT, "failures") };
    let failures = before + 1;
    let mut row = object([("failures", failures.into())]);
    let mut summary = format!("wrong password, {failures} in a row");
    if failures >= fault.after_failures {
        let until = call.context.now.plus_milliseconds(fault.for_seconds.saturating_mul(1000));
        row.insert("locked_until".to_owned(), until.to_string().into());
        summary = format!("{summary}; the account is locked until {until}");
    }
    let event = call.event(EventType::AuthToken, &summary, login(row.clone(), "refused"));
    Outcome { answer: (), changes: vec![call.put(&sandbox.records, FAULTS, LOCKED_ACCOUNT, row)], events: vec![event] }
}

/// A right password of an account that is not locked.
pub fn note_login(call: &Call<'_>) -> Outcome<()> {
    let mut changes = Vec::new();
    if let Some(sandbox) = call.sandbox().filter(|sandbox| number(&sandbox.records, LOCKED_ACCOUNT, "failures") > 0) {
        changes.push(call.remove(&sandbox.records, FAULTS, LOCKED_ACCOUNT));
    }
    let event = call.event(EventType::AuthToken, "login by SFTP", login(Map::new(), "granted"));
    Outcome { answer: (), changes, events: vec![event] }
}

/// Whether a login changes what is remembered of wrong passwords.
pub fn login_changes(sandbox: &Sandbox) -> bool {
    number(&sandbox.records, LOCKED_ACCOUNT, "failures") > 0
}

fn login(mut more: Map<String, Value>, outcome: &str) -> Map<String, Value> {
    let mut payload =
        object([("operation", "login".into()), ("via", Via::Sftp.name().into()), ("outcome", outcome.into())]);
    payload.append(&mut more);
    payload
}

fn until(records: &Records) -> Option<Timestamp> {
    let record = records.get(FAULTS, LOCKED_ACCOUNT).live()?;
    Timestamp::deserialize(record.json().get("locked_until")?).ok()
}

fn number(records: &Records, key: &str, member: &str) -> u64 {
    let row = records.get(FAULTS, key).live().map(|record| record.json());
    row.and_then(|row| row.get(member)?.as_u64()).unwrap_or_default()
}
