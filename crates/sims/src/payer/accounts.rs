//! The portal's account: logins, the lock after failures, and injected faults that occur once.

use model::event::EventType;
use serde::Deserialize;
use serde_json::{Value, json};
use world::Outcome;

use super::context::{PortalContext, PortalError, PortalOutcome, failure};
use super::event::PortalAction;
use super::faults::Page;
use super::rows::{BOOKKEEPING, object, text};

const ACCOUNT: &str = "account";

/// The result of a login attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoginResult {
    /// With the id of the login.
    LoggedIn(String),
    WrongPassword,
    Locked,
}

/// Logs in to the account.
pub fn login(portal: &PortalContext<'_>, is_password_correct: bool) -> PortalOutcome<LoginResult> {
    let (mut changes, answer) = (Vec::new(), attempt(portal, is_password_correct));
    let row = match &answer {
        LoginResult::Locked => None,
        LoginResult::LoggedIn(_) => Some(json!({"failures": 0})),
        LoginResult::WrongPassword => Some(with_failure(portal)),
    };
    changes.extend(row.map(|row| portal.put(BOOKKEEPING, ACCOUNT, &row)));
    if let LoginResult::LoggedIn(id) = &answer {
        changes.push(portal.put(BOOKKEEPING, &login_key(id), &json!({"started_at": portal.now()})));
    }
    let result = match answer {
        LoginResult::LoggedIn(_) => "logged in",
        LoginResult::WrongPassword => "wrong password",
        LoginResult::Locked => "locked",
    };
    let action = PortalAction { r#type: EventType::PortalLogin, name: "login", request: json!({}) };
    let event = action.event(portal, result, object([("result", result.into())]));
    Outcome { answer: Ok(answer), changes, events: vec![event] }
}

fn attempt(portal: &PortalContext<'_>, is_password_correct: bool) -> LoginResult {
    if is_locked(portal) {
        LoginResult::Locked
    } else if is_password_correct {
        LoginResult::LoggedIn((portal.context.new_id)())
    } else {
        LoginResult::WrongPassword
    }
}

fn login_key(id: &str) -> String {
    format!("login_{id}")
}

fn is_locked(portal: &PortalContext<'_>) -> bool {
    let account = portal.row(BOOKKEEPING, ACCOUNT).unwrap_or_default();
    let until = account.get("locked_until").and_then(|until| model::Timestamp::deserialize(until).ok());
    match until {
        Some(until) => portal.context.now < until,
        None => account.get("is_locked").is_some_and(|locked| *locked == Value::Bool(true)),
    }
}

/// The account's row after another failure, which may lock it.
fn with_failure(portal: &PortalContext<'_>) -> Value {
    let account = portal.row(BOOKKEEPING, ACCOUNT).unwrap_or_default();
    // After a lock has ended, the count starts again.
    let was_locked = account.get("is_locked").is_some();
    let failures = account.get("failures").and_then(Value::as_i64).filter(|_| !was_locked).unwrap_or(0) + 1;
    match portal.config.faults.lock_after_failures {
        Some(limit) if failures >= limit => {
            let until =
                portal.config.faults.lock_seconds.map(|seconds| portal.context.now.plus_milliseconds(seconds * 1000));
            json!({"failures": failures, "is_locked": true, "locked_until": until})
        }
        _ => json!({"failures": failures}),
    }
}

/// Whether the login is valid. It ends with a logout or a reset of the playground.
pub fn is_logged_in(portal: &PortalContext<'_>, id: &str) -> bool {
    portal.row(BOOKKEEPING, &login_key(id)).is_some_and(|row| text(&row, "ended_at").is_none())
}

pub fn logout(portal: &PortalContext<'_>, id: &str) -> PortalOutcome<()> {
    let action = PortalAction { r#type: EventType::PortalLogin, name: "logout", request: json!({}) };
    match portal.row(BOOKKEEPING, &login_key(id)) {
        Some(mut row) => {
            row["ended_at"] = portal.now();
            let event = action.event(portal, "logged out", object([("result", "logged out".into())]));
            Outcome {
                answer: Ok(()),
                changes: vec![portal.put(BOOKKEEPING, &login_key(id), &row)],
                events: vec![event],
            }
        }
        None => failure(PortalError::NotFound("login"), Vec::new()),
    }
}

/// A fault that is injected once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InjectedFault {
    SessionExpired,
    Unavailable,
}

impl InjectedFault {
    fn key(self) -> &'static str {
        match self {
            InjectedFault::SessionExpired => "fault_session_expired",
            InjectedFault::Unavailable => "fault_unavailable",
        }
    }
}

/// The fault that the next request for the page triggers.
pub fn pending_fault(portal: &PortalContext<'_>, page: Page) -> Option<InjectedFault> {
    let faults = &portal.config.faults;
    let pending = |at: Option<Page>, fault: InjectedFault| {
        (at == Some(page) && portal.row(BOOKKEEPING, fault.key()).is_none()).then_some(fault)
    };
    pending(faults.unavailable_at, InjectedFault::Unavailable)
        .or_else(|| pending(faults.session_expires_at, InjectedFault::SessionExpired))
}

/// Triggers the page's pending fault.
pub fn trigger_fault(portal: &PortalContext<'_>, page: Page) -> PortalOutcome<Option<InjectedFault>> {
    let Some(fault) = pending_fault(portal, page) else {
        return Outcome { answer: Ok(None), changes: Vec::new(), events: Vec::new() };
    };
    let action = PortalAction { r#type: EventType::PortalView, name: "fault", request: json!({"page": page.name()}) };
    let event = action.event(portal, &format!("{} at {}", fault.key(), page.name()), object([]));
    let change = portal.put(BOOKKEEPING, fault.key(), &json!({"at": portal.now()}));
    Outcome { answer: Ok(Some(fault)), changes: vec![change], events: vec![event] }
}
