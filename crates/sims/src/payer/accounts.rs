//! The portal's one account: logins, the lock after failures, and faults that happen once.

use model::event::EventType;
use serde::Deserialize;
use serde_json::{Value, json};
use world::Outcome;

use super::call::{Call, Done, Refusal, refused};
use super::event::Told;
use super::faults::Page;
use super::rows::{BOOKKEEPING, object, text};

const ACCOUNT: &str = "account";

/// What came of an attempt to log in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Login {
    /// The id of the login.
    In(String),
    WrongPassword,
    Locked,
}

/// Somebody gave the account's name and a password, which was right or wrong.
pub fn login(call: &Call<'_>, is_right: bool) -> Done<Login> {
    let (mut changes, answer) = (Vec::new(), attempt(call, is_right));
    let row = match &answer {
        Login::Locked => None,
        Login::In(_) => Some(json!({"failures": 0})),
        Login::WrongPassword => Some(failed(call)),
    };
    changes.extend(row.map(|row| call.put(BOOKKEEPING, ACCOUNT, &row)));
    if let Login::In(id) = &answer {
        changes.push(call.put(BOOKKEEPING, &login_key(id), &json!({"started_at": call.now()})));
    }
    let result = match answer {
        Login::In(_) => "logged in",
        Login::WrongPassword => "wrong password",
        Login::Locked => "locked",
    };
    let told = Told { r#type: EventType::PortalLogin, action: "login", asked: json!({}) };
    let event = told.event(call, result, object([("result", result.into())]));
    Outcome { answer: Ok(answer), changes, events: vec![event] }
}

fn attempt(call: &Call<'_>, is_right: bool) -> Login {
    if is_locked(call) {
        Login::Locked
    } else if is_right {
        Login::In((call.context.new_id)())
    } else {
        Login::WrongPassword
    }
}

fn login_key(id: &str) -> String {
    format!("login_{id}")
}

fn is_locked(call: &Call<'_>) -> bool {
    let account = call.row(BOOKKEEPING, ACCOUNT).unwrap_or_default();
    let until = account.get("locked_until").and_then(|until| model::Timestamp::deserialize(until).ok());
    match until {
        Some(until) => call.context.now < until,
        None => account.get("is_locked").is_some_and(|locked| *locked == Value::Bool(true)),
    }
}

/// One more failure, which may be the one that locks.
fn failed(call: &Call<'_>) -> Value {
    let account = call.row(BOOKKEEPING, ACCOUNT).unwrap_or_default();
    // A lock that has ended starts the count again.
    let was_locked = account.get("is_locked").is_some();
    let failures = account.get("failures").and_then(Value::as_i64).filter(|_| !was_locked).unwrap_or(0) + 1;
    match call.config.faults.lock_after_failures {
        Some(most) if failures >= most => {
            let until =
                call.config.faults.lock_seconds.map(|seconds| call.context.now.plus_milliseconds(seconds * 1000));
            json!({"failures": failures, "is_locked": true, "locked_until": until})
        }
        _ => json!({"failures": failures}),
    }
}

/// Whether the login still is one: it was not ended, and the playground was not put back.
pub fn is_in(call: &Call<'_>, id: &str) -> bool {
    call.row(BOOKKEEPING, &login_key(id)).is_some_and(|row| text(&row, "ended_at").is_none())
}

pub fn logout(call: &Call<'_>, id: &str) -> Done<()> {
    let told = Told { r#type: EventType::PortalLogin, action: "logout", asked: json!({}) };
    match call.row(BOOKKEEPING, &login_key(id)) {
        Some(mut row) => {
            row["ended_at"] = call.now();
            let event = told.event(call, "logged out", object([("result", "logged out".into())]));
            Outcome { answer: Ok(()), changes: vec![call.put(BOOKKEEPING, &login_key(id), &row)], events: vec![event] }
        }
        None => refused(Refusal::NotFound("login"), Vec::new()),
    }
}

/// What goes wrong on a page this time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mishap {
    SessionExpired,
    Unavailable,
}

impl Mishap {
    fn key(self) -> &'static str {
        match self {
            Mishap::SessionExpired => "fault_session_expired",
            Mishap::Unavailable => "fault_unavailable",
        }
    }
}

/// The fault that waits for whoever asks for the page next.
pub fn waiting(call: &Call<'_>, page: Page) -> Option<Mishap> {
    let faults = &call.config.faults;
    let waits = |at: Option<Page>, mishap: Mishap| {
        (at == Some(page) && call.row(BOOKKEEPING, mishap.key()).is_none()).then_some(mishap)
    };
    waits(faults.unavailable_at, Mishap::Unavailable)
        .or_else(|| waits(faults.session_expires_at, Mishap::SessionExpired))
}

/// Lets it happen, once.
pub fn suffer(call: &Call<'_>, page: Page) -> Done<Option<Mishap>> {
    let Some(mishap) = waiting(call, page) else {
        return Outcome { answer: Ok(None), changes: Vec::new(), events: Vec::new() };
    };
    let told = Told { r#type: EventType::PortalView, action: "fault", asked: json!({"page": page.name()}) };
    let event = told.event(call, &format!("{} at {}", mishap.key(), page.name()), object([]));
    let change = call.put(BOOKKEEPING, mishap.key(), &json!({"at": call.now()}));
    Outcome { answer: Ok(Some(mishap)), changes: vec![change], events: vec![event] }
}
