//! How calls to a number end: by the config, in so many seconds, and again if nobody answers.

use model::Timestamp;
use model::phone;
use serde_json::Value;

use super::config::{FaxConfig, OutcomeStatus, Retries};

/// What becomes of the calls to one number.
pub(super) struct Line {
    outcome: OutcomeStatus,
    reason: String,
    delay_milliseconds: i64,
    /// So many calls fail before one gets through.
    failing: i64,
    retries: i64,
    pause_milliseconds: i64,
}

const USUAL_REASON: &str = "no_answer";
const USUAL_PAUSE_SECONDS: i64 = 60;

/// The end of one call.
pub(super) struct Attempt {
    pub(super) number: i64,
    pub(super) at: Timestamp,
    /// Why it did not get through.
    pub(super) failure: Option<String>,
    /// When the next one ends, if there is one.
    pub(super) next: Option<Timestamp>,
}

impl Line {
    pub(super) fn to(config: &FaxConfig, number: &str) -> Self {
        let own = config.outcomes.iter().find(|outcome| phone::same(&outcome.number) == phone::same(number));
        let own = own.map(|own| (own.status, &own.reason, own.delay_seconds, own.failing_attempts));
        let usual = config.default_outcome.as_ref();
        let usual = usual.map(|usual| (usual.status, &usual.reason, usual.delay_seconds, usual.failing_attempts));
        let (outcome, reason, delay, failing) = own.or(usual).unwrap_or((OutcomeStatus::Sent, &None, None, None));
        let retries = config.retries.clone().unwrap_or(Retries { count: 0, after_seconds: None });
        Self {
            outcome,
            reason: reason.clone().unwrap_or_else(|| USUAL_REASON.to_owned()),
            delay_milliseconds: delay.unwrap_or(0).saturating_mul(1000),
            failing: failing.unwrap_or(0),
            retries: retries.count,
            pause_milliseconds: retries.after_seconds.unwrap_or(USUAL_PAUSE_SECONDS).saturating_mul(1000),
        }
    }

    /// When the first call ends.
    pub(super) fn first(&self, now: Timestamp) -> Timestamp {
        now.plus_milliseconds(self.delay_milliseconds)
    }

    /// The calls that have ended by now, the first of which ends at `due`.
    pub(super) fn attempts(&self, done: i64, due: Timestamp, now: Timestamp) -> Vec<Attempt> {
        let mut attempts: Vec<Attempt> = Vec::new();
        let mut next = Some(due);
        while let Some(at) = next.filter(|at| *at <= now) {
            let number = done + i64::try_from(attempts.len()).unwrap_or(i64::MAX) + 1;
            let attempt = self.attempt(number, at);
            next = attempt.next;
            attempts.push(attempt);
        }
        attempts
    }

    fn attempt(&self, number: i64, at: Timestamp) -> Attempt {
        let fails = self.outcome == OutcomeStatus::Failed || number <= self.failing;
        let again = at.plus_milliseconds(self.pause_milliseconds.saturating_add(self.delay_milliseconds));
        Attempt {
            number,
            at,
            failure: fails.then(|| self.reason.clone()),
            next: (fails && number <= self.retries).then_some(again),
        }
    }
}

impl Attempt {
    pub(super) fn status(&self) -> &'static str {
        match (&self.failure, self.next) {
            (None, _) => "sent",
            (Some(_), Some(_)) => "queued",
            (Some(_), None) => "failed",
        }
    }

    pub(super) fn note(&self, row: &mut Value) {
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
    fn a_busy_line_is_called_again() {
        let config = json!({"outcomes": [
            {"number": "+15550100199", "status": "failed", "reason": "busy", "delay_seconds": 5},
            {"number": "+15550100198", "status": "sent", "failing_attempts": 1, "delay_seconds": 5}],
            "retries": {"count": 2, "after_seconds": 10}});
        let config: FaxConfig = crate::authored::read(&config).unwrap();
        let start: Timestamp = serde_json::from_value(json!("2026-04-01T12:00:00.000Z")).unwrap();
        let told = |number: &str, seconds: i64| {
            let line = Line::to(&config, number);
            let attempts = line.attempts(0, line.first(start), start.plus_milliseconds(seconds * 1000));
            attempts.iter().map(|attempt| (attempt.number, attempt.status())).collect::<Vec<_>>()
        };
        assert_eq!(told("555 010 0199", 4), []);
        assert_eq!(told("555 010 0199", 5), [(1, "queued")]);
        assert_eq!(told("555 010 0199", 35), [(1, "queued"), (2, "queued"), (3, "failed")]);
        assert_eq!(told("(555) 010-0198", 3600), [(1, "queued"), (2, "sent")]);
        assert_eq!(told("+15550100100", 0), [(1, "sent")]);
    }
}
