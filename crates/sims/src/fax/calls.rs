//! Simulated fax calls to one number: how and when each call ends, and when it is repeated.

use clinical::is_same_phone_number;
use model::Timestamp;
use serde_json::Value;

use super::config::{FaxConfig, OutcomeStatus, Retries};

/// The configured outcome of the calls to one number.
pub(super) struct CallPlan {
    outcome: OutcomeStatus,
    reason: String,
    delay_milliseconds: i64,
    /// How many calls fail before one succeeds.
    failing_attempts: i64,
    retries: i64,
    pause_milliseconds: i64,
}

const DEFAULT_REASON: &str = "no_answer";
const DEFAULT_PAUSE_SECONDS: i64 = 60;

/// A call that has ended.
pub(super) struct CallAttempt {
    pub(super) number: i64,
    pub(super) at: Timestamp,
    /// Why the call failed. None if it succeeded.
    pub(super) failure: Option<String>,
    /// When the next call ends, if there is one.
    pub(super) next: Option<Timestamp>,
}

impl CallPlan {
    pub(super) fn new(config: &FaxConfig, number: &str) -> Self {
        let own = config.outcomes.iter().find(|outcome| is_same_phone_number(&outcome.number, number));
        let own = own.map(|own| (own.status, &own.reason, own.delay_seconds, own.failing_attempts));
        let default = config.default_outcome.as_ref();
        let default =
            default.map(|default| (default.status, &default.reason, default.delay_seconds, default.failing_attempts));
        let (outcome, reason, delay, failing_attempts) =
            own.or(default).unwrap_or((OutcomeStatus::Sent, &None, None, None));
        let retries = config.retries.clone().unwrap_or(Retries { count: 0, after_seconds: None });
        Self {
            outcome,
            reason: reason.clone().unwrap_or_else(|| DEFAULT_REASON.to_owned()),
            delay_milliseconds: delay.unwrap_or(0).saturating_mul(1000),
            failing_attempts: failing_attempts.unwrap_or(0),
            retries: retries.count,
            pause_milliseconds: retries.after_seconds.unwrap_or(DEFAULT_PAUSE_SECONDS).saturating_mul(1000),
        }
    }

    /// When the first call ends.
    pub(super) fn first_end(&self, now: Timestamp) -> Timestamp {
        now.plus_milliseconds(self.delay_milliseconds)
    }

    /// The calls that end from `due` to `now`, after `completed` earlier calls.
    pub(super) fn attempts(&self, completed: i64, due: Timestamp, now: Timestamp) -> Vec<CallAttempt> {
        let mut attempts: Vec<CallAttempt> = Vec::new();
        let mut next = Some(due);
        while let Some(at) = next.filter(|at| *at <= now) {
            let number = completed + i64::try_from(attempts.len()).unwrap_or(i64::MAX) + 1;
            let attempt = self.attempt(number, at);
            next = attempt.next;
            attempts.push(attempt);
        }
        attempts
    }

    fn attempt(&self, number: i64, at: Timestamp) -> CallAttempt {
        let fails = self.outcome == OutcomeStatus::Failed || number <= self.failing_attempts;
        let next_end = at.plus_milliseconds(self.pause_milliseconds.saturating_add(self.delay_milliseconds));
        CallAttempt {
            number,
            at,
            failure: fails.then(|| self.reason.clone()),
            next: (fails && number <= self.retries).then_some(next_end),
        }
    }
}

impl CallAttempt {
    pub(super) fn status(&self) -> &'static str {
        match (&self.failure, self.next) {
            (None, _) => "sent",
            (Some(_), Some(_)) => "queued",
            (Some(_), None) => "failed",
        }
    }

    /// Updates the row of the fax.
    pub(super) fn apply_to(&self, row: &mut Value) {
        row["status"] = self.status().into();
        row["attempts"] = self.number.into();
        row["reason"] = self.failure.clone().into();
        row["next_attempt_at"] = self.next.map(|next| next.to_string()).into();
        match self.status() {
            "sent" => row["sent_at"] = self.at.to_string().into(),
            "failed" => row["failed_at"] = self.at.to_string().into(),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn failed_calls_are_repeated() {
        let config = json!({"outcomes": [
            {"number": "+15550100199", "status": "failed", "reason": "busy", "delay_seconds": 5},
            {"number": "+15550100198", "status": "sent", "failing_attempts": 1, "delay_seconds": 5}],
            "retries": {"count": 2, "after_seconds": 10}});
        let config: FaxConfig = crate::authored::read(&config).unwrap();
        let start: Timestamp = serde_json::from_value(json!("2026-04-01T12:00:00.000Z")).unwrap();
        let attempts = |number: &str, seconds: i64| {
            let plan = CallPlan::new(&config, number);
            let attempts = plan.attempts(0, plan.first_end(start), start.plus_milliseconds(seconds * 1000));
            attempts.iter().map(|attempt| (attempt.number, attempt.status())).collect::<Vec<_>>()
        };
        assert_eq!(attempts("555 010 0199", 4), []);
        assert_eq!(attempts("555 010 0199", 5), [(1, "queued")]);
        assert_eq!(attempts("555 010 0199", 35), [(1, "queued"), (2, "queued"), (3, "failed")]);
        assert_eq!(attempts("(555) 010-0198", 3600), [(1, "queued"), (2, "sent")]);
        assert_eq!(attempts("+15550100100", 0), [(1, "sent")]);
    }
}
