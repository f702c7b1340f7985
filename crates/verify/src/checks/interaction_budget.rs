//! Passes if the agent did its work within a budget of interactions.
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

use crate::checks::{Check, CheckInfo, ReadSimulators};
use crate::count::{counted, whole_number};
use crate::evidence::{EvaluationContext, EvaluationResult, Outcome, is_of_scenario, object, text};
use crate::manual::Parameter;

pub const EXAMPLE: &str = r#"{
  "assert": "interaction-budget",
  "max": {"fhir_request": 40, "portal_submit": 1, "voice_turn": 30}
}"#;

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InteractionBudget {
    /// As the author wrote it. See [`InteractionBudget::limits`].
    pub max: Value,
}

/// The limits on the number of events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InteractionLimits {
    Total(u64),
    /// Other types have no limit.
    PerType(BTreeMap<EventType, u64>),
}

impl InteractionBudget {
    /// Parses `max`. Errors are under `max`.
    pub fn limits(&self) -> Result<InteractionLimits, FieldErrors> {
        let mut errors = FieldErrors::new();
        match &self.max {
            Value::Object(members) if members.is_empty() => {
                errors.add("max", "asserts nothing: give at least one event type")
            }
            Value::Object(_) => match reading::read(&self.max, Hints::default()).into_result() {
                Ok(limits) => return Ok(InteractionLimits::PerType(limits)),
                Err(field_errors) => errors.nest("max", field_errors),
            },
            max => match whole_number(max) {
                Some(max) => return Ok(InteractionLimits::Total(max)),
                None => errors.add("max", "must be a whole number from 0, or an object from event type to number"),
            },
        }
        Err(errors)
    }
}

/// Events that the agent did not cause.
const NOT_BY_AGENT: [EventType; 6] = [
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
        reads: ReadSimulators::All,
        is_limit: true,
        parameters: &[Parameter::required(
            "max",
            "one whole number for all events, or an object from event type to number",
        )],
        description: "The event types: {event_types}. Events of scenario steps are not counted, and `scenario_step`, `portal_determination`, `message_inbound`, `fax_inbound` and `fax_status` do not count toward the total. Of `voice_turn`, only the agent's own turns count.",
        evidence: "`counts`",
    };

    fn validate(&self, errors: &mut FieldErrors) {
        if let Err(field_errors) = self.limits() {
            errors.merge(field_errors);
        }
    }

    fn is_guard(&self) -> bool {
        true
    }

    fn evaluate(&self, context: &EvaluationContext<'_>) -> EvaluationResult {
        let limits = self.limits().map_err(|errors| errors.to_string())?;
        if context.evidence.world.sandboxes.is_empty() {
            return Err("the playground has no sandbox".to_owned());
        }
        context.budget.spend(context.evidence.events.len())?;
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        let is_by_others =
            |event: &Event| event.r#type == EventType::VoiceTurn && text(&event.payload, "speaker") != Some("agent");
        let is_counted =
            |event: &&Event| event.r#type == EventType::ScenarioStep || !(is_of_scenario(event) || is_by_others(event));
        // Events of settling come after the agent has finished.
        let events = context.evidence.events.iter().filter(|event| !event.is_settled());
        for event in events.filter(is_counted) {
            *counts.entry(event.r#type.name()).or_default() += 1;
        }
        let count_of = |kind: EventType| counts.get(kind.name()).copied().unwrap_or(0);
        let others = NOT_BY_AGENT.map(EventType::name);
        let is_own = |name: &&str| !others.contains(name);
        let total: u64 = counts.iter().filter(|(name, _)| is_own(name)).map(|(_, count)| count).sum();
        let interactions = counted(usize::try_from(total).unwrap_or(usize::MAX), "interaction");
        let exceeded: Vec<String> = match limits {
            InteractionLimits::Total(max) => {
                (total > max).then(|| format!("{interactions}, at most {max} allowed")).into_iter().collect()
            }
            InteractionLimits::PerType(limits) => {
                let exceeded = limits.into_iter().filter(|(kind, max)| count_of(*kind) > *max);
                exceeded
                    .map(|(kind, max)| format!("{} {}, at most {max} allowed", count_of(kind), kind.name()))
                    .collect()
            }
        };
        let counts: Map<String, Value> =
            counts.iter().map(|(name, count)| ((*name).to_owned(), (*count).into())).collect();
        let passed = exceeded.is_empty();
        let details = if passed { format!("{interactions}, within the budget") } else { exceeded.join("; ") };
        let score = if passed { Score::one() } else { Score::zero() };
        Ok(Outcome { score, passed, details, evidence: object([("counts", Value::Object(counts))]) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Playground, says, scores};
    use model::simulator::SimulatorType;
    use serde_json::json;

    fn check(specification: Value, expected_errors: &[(&str, &str)]) {
        crate::testing::check("interaction-budget", specification, expected_errors);
    }

    #[test]
    fn valid_specifications() {
        check(json!({"max": 0}), &[]);
        check(json!({"max": {"fhir_request": 5, "scenario_step": 0, "x12_request": 1, "hl7_outbound": 2}}), &[]);
        let limits = InteractionBudget { max: json!({"file_write": 2}) }.limits();
        assert_eq!(limits, Ok(InteractionLimits::PerType(BTreeMap::from([(EventType::FileWrite, 2)]))));
    }

    #[test]
    fn invalid_specifications() {
        check(json!({}), &[("max", "required")]);
        check(json!({"max": null}), &[("max", "whole number")]);
        check(json!({"max": 1.5}), &[("max", "whole number")]);
        check(json!({"max": {}}), &[("max", "asserts nothing")]);
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
        let mut given_bytes = playground.event(SimulatorType::Message, EventType::MessageInbound, arrived);
        given_bytes.events.iter_mut().for_each(|event| "scenario".clone_into(&mut event.actor));
        scores(&given_bytes, &assertion(json!({"message_inbound": 0})), "1/1", &counts);
        scores(&given_bytes, &assertion(json!(3)), "1/1", &counts);
    }
}
