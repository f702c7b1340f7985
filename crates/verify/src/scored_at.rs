//! `at`, a parameter of every assertion: which state of the playground is scored.

use model::FieldErrors;
use model::reading::described;
use serde_json::Value;

use crate::evidence::Evidence;

/// The name of the parameter.
const AT: &str = "at";

/// Which state is scored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScoredAt {
    /// The state after settling: everything that the agent started has finished. For example, faxes were delivered or failed.
    #[default]
    Settled,
    /// The state when the task was completed.
    Completion,
}

impl ScoredAt {
    fn read(value: &Value) -> Result<Self, String> {
        match value.as_str() {
            Some("settled") => Ok(Self::Settled),
            Some("completion") => Ok(Self::Completion),
            Some(_) => Err("must be `settled` or `completion`".to_owned()),
            None => Err(format!("must be `settled` or `completion`, is {}", described(value))),
        }
    }

    /// Removes the parameter from an assertion, so that checks do not need to know it.
    pub(crate) fn take(specification: &mut Value) -> Result<Self, FieldErrors> {
        let member = specification.as_object_mut().and_then(|members| members.shift_remove(AT));
        let read = member.map_or(Ok(Self::default()), |value| Self::read(&value));
        read.map_err(|rule| FieldErrors::one(AT, rule))
    }

    /// The parameter of a valid assertion.
    fn of(assertion: &Value) -> Self {
        assertion.get(AT).and_then(|value| Self::read(value).ok()).unwrap_or_default()
    }
}

/// Calls `work` with the state that the assertion asks for. Results of versions that did not settle have one state only.
pub(crate) fn with_state<T>(assertion: &Value, evidence: &Evidence<'_>, work: impl FnOnce(&Evidence<'_>) -> T) -> T {
    match (ScoredAt::of(assertion), evidence.completed_seq) {
        (ScoredAt::Completion, Some(position)) if position < evidence.world.seq => {
            let world = evidence.world.at(position);
            let count = evidence.events.partition_point(|event| event.seq <= position);
            let effects = evidence.effects.partition_point(|effect| effect.seq <= position);
            let (events, effects) = (&evidence.events[..count], &evidence.effects[..effects]);
            work(&Evidence { world: &world, events, effects, ..*evidence })
        }
        _ => work(evidence),
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{Playground, check_assertion};
    use crate::{Evidence, evaluate};
    use model::simulator::SimulatorType;
    use serde_json::json;

    #[test]
    fn every_check_has_the_parameter() {
        for info in crate::catalog() {
            let example: serde_json::Value = serde_json::from_str(info.example).unwrap();
            for (at, expected_errors) in [
                (json!("settled"), &[][..]),
                (json!("completion"), &[]),
                (json!("later"), &[("at", "must be `settled` or `completion`")]),
                (json!("{{task.at}}"), &[("at", "must be `settled` or `completion`")]),
                (json!(1), &[("at", "is 1")]),
                (json!(null), &[("at", "is null")]),
            ] {
                let mut assertion = example.clone();
                assertion["at"] = at;
                check_assertion(&assertion, expected_errors);
            }
        }
    }

    #[test]
    fn the_state_at_completion_excludes_settling() {
        let fax =
            |status: &str| json!({"direction": "outbound", "status": status, "to_number": "+15550100199", "text": "x"});
        let playground = Playground::new(&[])
            .write(SimulatorType::Fax, "faxes", "a", &fax("queued"))
            .write(SimulatorType::Fax, "faxes", "a", &fax("sent"))
            .write(SimulatorType::Fax, "faxes", "b", &fax("sent"));
        let score = |assertion: &serde_json::Value, completed_seq: Option<i64>| {
            let evidence = Evidence { completed_seq, ..playground.evidence() };
            evaluate(assertion, &evidence).score.to_string()
        };
        let sent = json!({"assert": "fax-document", "count": 2});
        let not_yet = json!({"assert": "fax-document", "count": 0, "at": "completion"});
        assert_eq!(score(&sent, Some(1)), "1/1");
        assert_eq!(score(&not_yet, Some(1)), "1/1");
        assert_eq!(score(&not_yet, Some(3)), "0/1", "nothing was settled");
        assert_eq!(score(&not_yet, None), "0/1", "a result of a version that did not settle");
    }
}
