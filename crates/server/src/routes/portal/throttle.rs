//! How often one address may fail to log in to one account: ten times a minute, whether or not there is the account.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use model::canonical::sha256_hex;
use model::{SandboxId, Timestamp};

use crate::envelope::ApiError;

const MOST_FAILURES: usize = 10;
const WINDOW_MILLISECONDS: i64 = 60_000;
/// More than so many accounts and addresses at once: what is old is dropped.
const MOST_KNOWN: usize = 10_000;

/// Failures by account and address, counted on each node by itself.
#[derive(Default)]
pub(crate) struct Failures(Mutex<HashMap<String, Vec<Timestamp>>>);

/// An account as somebody named it, from an address.
pub(crate) struct Attempt(String);

impl Attempt {
    pub(crate) fn new(sandbox: &SandboxId, username: &str, address: IpAddr) -> Self {
        Self(format!("{sandbox} {address} {}", sha256_hex(username.as_bytes())))
    }
}

impl Failures {
    /// Whether the address may try again now.
    pub(crate) fn check(&self, attempt: &Attempt, now: Timestamp) -> Result<(), ApiError> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(failures) = known.get_mut(&attempt.0) else { return Ok(()) };
        failures.retain(|at| is_recent(*at, now));
        match failures.first() {
            Some(first) if failures.len() >= MOST_FAILURES => {
                let left = first.plus_milliseconds(WINDOW_MILLISECONDS).milliseconds() - now.milliseconds();
                Err(ApiError::rate_limited(u64::try_from(left / 1000).unwrap_or(0) + 1))
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn note(&self, attempt: Attempt, now: Timestamp) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST_KNOWN {
            known.retain(|_, failures| failures.last().is_some_and(|at| is_recent(*at, now)));
        }
        let failures = known.entry(attempt.0).or_default();
        if failures.len() < MOST_FAILURES {
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
    fn ten_failures_a_minute_and_no_more() {
        let failures = Failures::default();
        let sandbox: SandboxId = "sbx_01K9Z3T5Q8W7N4M2R6V0XBHCDE".parse().unwrap();
        let attempt = |name: &str, last: u8| Attempt::new(&sandbox, name, [127, 0, 0, last].into());
        for second in 0..10 {
            let now = Timestamp(second * 1000);
            assert!(failures.check(&attempt("a", 1), now).is_ok());
            failures.note(attempt("a", 1), now);
        }
        assert!(failures.check(&attempt("a", 1), Timestamp(10_000)).is_err());
        assert!(failures.check(&attempt("b", 1), Timestamp(10_000)).is_ok());
        assert!(failures.check(&attempt("a", 2), Timestamp(10_000)).is_ok());
        assert!(failures.check(&attempt("a", 1), Timestamp(60_000)).is_ok());
    }
}
