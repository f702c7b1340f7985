//! Limits failed logins to ten a minute per address and account, whether or not the account exists.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use model::canonical::sha256_hex;
use model::{SandboxId, Timestamp};

use crate::api_error::ApiError;

const MAX_FAILURES: usize = 10;
const WINDOW_MILLISECONDS: i64 = 60_000;
/// With more entries than this, old ones are dropped.
const MAX_ENTRIES: usize = 10_000;

/// Failed logins by account and address. Each node counts for itself.
#[derive(Default)]
pub(crate) struct LoginFailures(Mutex<HashMap<String, Vec<Timestamp>>>);

/// A login attempt: a user name and the client's address.
pub(crate) struct LoginAttempt(String);

impl LoginAttempt {
    pub(crate) fn new(sandbox: &SandboxId, username: &str, address: IpAddr) -> Self {
        Self(format!("{sandbox} {address} {}", sha256_hex(username.as_bytes())))
    }
}

impl LoginFailures {
    /// An error if the account has had too many failed logins from this address.
    pub(crate) fn check(&self, attempt: &LoginAttempt, now: Timestamp) -> Result<(), ApiError> {
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(failures) = entries.get_mut(&attempt.0) else { return Ok(()) };
        failures.retain(|at| is_recent(*at, now));
        match failures.first() {
            Some(first) if failures.len() >= MAX_FAILURES => {
                let left = first.plus_milliseconds(WINDOW_MILLISECONDS).milliseconds() - now.milliseconds();
                Err(ApiError::rate_limited(u64::try_from(left / 1000).unwrap_or(0) + 1))
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn record(&self, attempt: LoginAttempt, now: Timestamp) {
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if entries.len() >= MAX_ENTRIES {
            entries.retain(|_, failures| failures.last().is_some_and(|at| is_recent(*at, now)));
        }
        let failures = entries.entry(attempt.0).or_default();
        if failures.len() < MAX_FAILURES {
            failures.push(now);
        }
    }
}

fn is_recent(at: Timestamp, now: Timestamp) -> bool {
    at.plus_milliseconds(WINDOW_MILLISECONDS) > now
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_eleventh_attempt_within_a_minute_is_rejected() {
        let failures = LoginFailures::default();
        let sandbox: SandboxId = "sbx_01K9Z3T5Q8W7N4M2R6V0XBHCDE".parse().unwrap();
        let attempt = |name: &str, last: u8| LoginAttempt::new(&sandbox, name, [127, 0, 0, last].into());
        for second in 0..10 {
            let now = Timestamp(second * 1000);
            assert!(failures.check(&attempt("a", 1), now).is_ok());
            failures.record(attempt("a", 1), now);
        }
        assert!(failures.check(&attempt("a", 1), Timestamp(10_000)).is_err());
        assert!(failures.check(&attempt("b", 1), Timestamp(10_000)).is_ok());
        assert!(failures.check(&attempt("a", 2), Timestamp(10_000)).is_ok());
        assert!(failures.check(&attempt("a", 1), Timestamp(60_000)).is_ok());
    }
}
