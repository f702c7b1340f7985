//! Passes when the agent did its work with no more interactions than budgeted.
//!
//! Reads the events. `max` is one number for all of them, or a number per event type. The example: [`EXAMPLE`].
//! Evidence: `counts`.

use std::collections::BTreeMap;

use model::FieldErrors;
use serde::Deserialize;
use serde_json::Value;

use crate::checks::{Check, CheckInfo};
use crate::count::whole_number;
use crate::event::EventType;

pub const EXAMPLE: &str = r#"{
  "assert": "interaction-budget",
  "max": {"fhir_request": 40, "portal_submit": 1, "voice_turn": 30}
}"#;

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InteractionBudget {
    /// As written: see [`InteractionBudget::budget`].
    pub max: Value,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Budget {
    InAll(u64),
    /// Types that are not named have no limit.
    PerType(BTreeMap<EventType, u64>),
}

impl InteractionBudget {
    /// Faults are under `max`.
    pub fn budget(&self) -> Result<Budget, FieldErrors> {
        let Value::Object(members) = &self.max else {
            return whole_number(&self.max).map(Budget::InAll).ok_or_else(|| {
                FieldErrors::one("max", "must be a whole number from 0, or an object from event type to number")
            });
        };
        let mut errors = FieldErrors::new();
        let mut limits = BTreeMap::new();
        if members.is_empty() {
            errors.add("max", "says nothing: name an event type");
        }
        for (name, limit) in members {
            let place = || format!("max.{}", name.chars().take(100).collect::<String>());
            match (EventType::deserialize(&Value::from(name.as_str())), whole_number(limit)) {
                (Err(fault), _) => errors.add(place(), fault.to_string().chars().take(500).collect::<String>()),
                (Ok(_), None) => errors.add(place(), "must be a whole number from 0"),
                (Ok(event_type), Some(limit)) => {
                    limits.insert(event_type, limit);
                }
            }
        }
        errors.into_result().map(|()| Budget::PerType(limits))
    }
}

impl Check for InteractionBudget {
    const INFO: CheckInfo = CheckInfo {
        name: "interaction-budget",
        summary: "The agent did its work with no more interactions than budgeted.",
        example: EXAMPLE,
    };

    fn validate(&self, errors: &mut FieldErrors) {
        if let Err(faults) = self.budget() {
            crate::shape::merge(errors, &faults);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(specification: Value, faults: &[(&str, &str)]) {
        crate::testing::check("interaction-budget", specification, faults);
    }

    #[test]
    fn sound_specifications() {
        check(json!({"max": 0}), &[]);
        check(json!({"max": {"fhir_request": 5, "scenario_step": 0, "x12_request": 1, "hl7_outbound": 2}}), &[]);
        let budget = InteractionBudget { max: json!({"file_write": 2}) }.budget();
        assert_eq!(budget, Ok(Budget::PerType(BTreeMap::from([(EventType::FileWrite, 2)]))));
    }

    #[test]
    fn faulty_specifications() {
        check(json!({}), &[("max", "required")]);
        check(json!({"max": null}), &[("max", "whole number")]);
        check(json!({"max": 1.5}), &[("max", "whole number")]);
        check(json!({"max": {}}), &[("max", "says nothing")]);
        check(
            json!({"max": {"fhir_requests": 1, "voice_turn": -1, "file_read": "3"}}),
            &[("max.fhir_requests", "unknown variant"), ("max.voice_turn", "whole"), ("max.file_read", "whole")],
        );
    }
}
