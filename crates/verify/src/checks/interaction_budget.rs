//! Passes when the agent did its work with no more interactions than budgeted.
//!
//! Reads the events. `max` is one number for all of them, or a number per event type. The example: [`EXAMPLE`].
//! Evidence: `counts`.

use std::collections::BTreeMap;

use model::FieldErrors;
use model::event::{Event, EventType};
use model::reading::{self, Hints};
use model::score::Score;
use serde::Deserialize;
use serde_json::Map;
use serde_json::Value;

use crate::checks::{Check, CheckInfo, Reads};
use crate::count::{counted, whole_number};
use crate::evidence::{Case, Evaluated, Outcome, is_of_scenario, object, text};
use crate::manual::Member;

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
        let mut errors = FieldErrors::new();
        match &self.max {
            Value::Object(members) if members.is_empty() => errors.add("max", "says nothing: name an event type"),
            Value::Object(_) => match reading::read(&self.max, Hints::default()).into_result() {
                Ok(limits) => return Ok(Budget::PerType(limits)),
                Err(faults) => errors.nest("max", faults),
            },
            max => match whole_number(max) {
                Some(max) => return Ok(Budget::InAll(max)),
                None => errors.add("max", "must be a whole number from 0, or an object from event type to number"),
            },
        }
        Err(errors)
    }
}

const NOT_OF_THE_AGENT: [EventType; 6] = [
    EventType::ScenarioStep,
    EventType::Reset,
    EventType::PortalDetermination,
    EventType::MessageInbound,
    EventType::FaxInbound,
    EventType::FaxStatus,
];

impl Check for InteractionBudget {
    const INFO: CheckInfo = CheckInfo {
        name: "interaction-budget",
        summary: "The agent did its work with no more interactions than budgeted.",
        example: EXAMPLE,
        reads: Reads::All,
        is_limit: true,
        members: &[Member::required("max", "one whole number for all events, or an object from event type to number")],
        description: "The event types: {event_types}. What a step of the scenario brought is not counted, and `scenario_step`, `portal_determination`, `message_inbound`, `fax_inbound` and `fax_status` are not in the sum. Of `voice_turn` only the agent's own turns count.",
        evidence: "`counts`",
    };

    fn validate(&self, errors: &mut FieldErrors) {
        if let Err(faults) = self.budget() {
            errors.merge(faults);
        }
    }

    fn is_guard(&self) -> bool {
        true
    }

    /// What the scenario did, what a payer decided later, what people wrote and said, what became of calls, and resets are no
    /// interactions of the agent.
    fn evaluate(&self, case: &Case<'_>) -> Evaluated {
        let budget = self.budget().map_err(|faults| faults.to_string())?;
        if case.evidence.world.sandboxes.is_empty() {
            return Err("the playground has no sandbox".to_owned());
        }
        case.budget.spend(case.evidence.events.len())?;
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        let is_of_others =
            |event: &Event| event.r#type == EventType::VoiceTurn && text(&event.payload, "speaker") != Some("agent");
        let is_counted =
            |event: &&Event| event.r#type == EventType::ScenarioStep || !(is_of_scenario(event) || is_of_others(event));
        // What was settled came after the agent had finished.
        let events = case.evidence.events.iter().filter(|event| !event.is_settled());
        for event in events.filter(is_counted) {
            *counts.entry(event.r#type.name()).or_default() += 1;
        }
        let of = |kind: EventType| counts.get(kind.name()).copied().unwrap_or(0);
        let others = NOT_OF_THE_AGENT.map(EventType::name);
        let is_own = |name: &&str| !others.contains(name);
        let total: u64 = counts.iter().filter(|(name, _)| is_own(name)).map(|(_, count)| count).sum();
        let interactions = counted(usize::try_from(total).unwrap_or(usize::MAX), "interaction");
        let exceeded: Vec<String> = match budget {
            Budget::InAll(max) => {
                (total > max).then(|| format!("{interactions}, at most {max} allowed")).into_iter().collect()
            }
            Budget::PerType(limits) => {
                let over = limits.into_iter().filter(|(kind, max)| of(*kind) > *max);
                over.map(|(kind, max)| format!("{} {}, at most {max} allowed", of(kind), kind.name())).collect()
            }
        };
        let shown: Map<String, Value> =
            counts.iter().map(|(name, count)| ((*name).to_owned(), (*count).into())).collect();
        let passed = exceeded.is_empty();
        let details = if passed { format!("{interactions}, within the budget") } else { exceeded.join("; ") };
        let score = if passed { Score::one() } else { Score::zero() };
        Ok(Outcome { score, passed, details, evidence: object([("counts", Value::Object(shown))]) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Playground, says, scores};
    use model::simulator::SimulatorType;
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
            &[("max.fhir_requests", "one of `fhir_request`"), ("max.voice_turn", "whole"), ("max.file_read", "whole")],
        );
    }

    #[test]
    fn events_are_counted() {
        let request = |playground: Playground, kind: EventType| playground.event(SimulatorType::Fhir, kind, json!({}));
        let playground =
            [EventType::FhirRequest, EventType::ScenarioStep, EventType::FhirRequest, EventType::PortalSubmit]
                .into_iter()
                .fold(Playground::new(&[]), request);
        let assertion = |max: Value| json!({"assert": "interaction-budget", "max": max});
        let counts = json!({"counts": {"fhir_request": 2, "portal_submit": 1, "scenario_step": 1}});
        scores(&playground, &assertion(json!(3)), "1/1", &counts);
        scores(&playground, &assertion(json!(2)), "0/1", &counts);
        scores(&playground, &assertion(json!({"fhir_request": 2})), "1/1", &counts);
        says(&playground, &assertion(json!({"fhir_request": 1})), "0/1", "2 fhir_request, at most 1 allowed");
        says(&Playground::empty(), &assertion(json!(5)), "0/1", "no sandbox");
        let arrived = json!({"channel": "sms", "scenario_step": 0});
        let mut brought = playground.event(SimulatorType::Message, EventType::MessageInbound, arrived);
        brought.events.iter_mut().for_each(|event| "scenario".clone_into(&mut event.actor));
        scores(&brought, &assertion(json!({"message_inbound": 0})), "1/1", &counts);
        scores(&brought, &assertion(json!(3)), "1/1", &counts);
    }
}
