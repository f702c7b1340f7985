//! The payer's determinations: the first rule that matches applies, at once or after its delay.

use serde_json::{Value, json};
use world::Change;

use super::config::{Determination, DeterminationStatus, Match, PayerConfig, Rule};
use super::context::PortalContext;
use super::deferred_determinations;
use super::rows::text;

/// The request member that counts how often information was added after `need_more_info`.
pub(super) const ROUNDS: &str = "information_rounds";

/// The determination that applies to a request now. None leaves it pending.
fn applicable_determination(config: &PayerConfig, request: &Value) -> Option<Determination> {
    let rule = config.determinations.iter().find(|rule| rule.condition().matches(request));
    let first = rule.and_then(Rule::determination).or_else(|| config.default_determination.clone())?;
    let rounds = request.get(ROUNDS).and_then(Value::as_u64).unwrap_or(0);
    (0..rounds).try_fold(first, |current, _| match current.status {
        DeterminationStatus::NeedMoreInfo => current.then.map(|then| *then),
        _ => Some(current),
    })
}

impl Match {
    fn matches(&self, request: &Value) -> bool {
        let matches = |condition: &Option<String>, member: &str, is_same: fn(&str, &str) -> bool| match condition {
            None => true,
            Some(expected) => text(request, member).is_some_and(|value| is_same(value, expected)),
        };
        matches(&self.procedure_code, "procedure_code", str::eq_ignore_ascii_case)
            && matches(&self.patient_member_id, "patient_member_id", |value, expected| value == expected)
            && matches(&self.diagnosis, "diagnosis_code", is_same_diagnosis)
            && matches(&self.drug, "drug", |value, expected| value.to_lowercase() == expected.to_lowercase())
    }
}

/// Compares diagnosis codes ignoring case and dots: `g43909` equals `G43.909`.
fn is_same_diagnosis(left: &str, right: &str) -> bool {
    let normalized = |code: &str| code.replace('.', "").to_ascii_uppercase();
    normalized(left) == normalized(right)
}

/// Sets the request's determination, or defers it until it is due. Returns additional record changes.
pub(super) fn apply_determination(portal: &PortalContext<'_>, key: &str, request: &mut Value) -> Vec<Change> {
    match applicable_determination(&portal.config, request) {
        Some(determination) => match determination.delay_seconds.unwrap_or(0) {
            ..=0 => {
                request["determination"] = determination_json(&determination, &portal.now());
                Vec::new()
            }
            seconds => {
                request["determination"] = pending();
                let due_at = portal.context.now.plus_milliseconds(seconds.saturating_mul(1000));
                vec![deferred_determinations::defer(portal, key, due_at, &determination)]
            }
        },
        None => {
            request["determination"] = pending();
            Vec::new()
        }
    }
}

fn pending() -> Value {
    json!({"status": "pending", "reason": null, "decided_at": null})
}

pub(super) fn determination_json(determination: &Determination, now: &Value) -> Value {
    let is_open = determination.status == DeterminationStatus::Pending;
    let decided_at = if is_open { Value::Null } else { now.clone() };
    json!({"status": determination.status, "reason": determination.reason, "decided_at": decided_at})
}
