//! What the payer decides: the first rule that matches, at once or after its delay.

use serde_json::{Value, json};
use world::Change;

use super::call::Call;
use super::config::{Determination, DeterminationStatus, Match, PayerConfig, Rule};
use super::due;
use super::rows::text;

/// How often information that was asked for has been given. Kept with the request.
pub(super) const ROUNDS: &str = "information_rounds";

/// What is decided about a request now; none leaves it pending.
fn decided(config: &PayerConfig, request: &Value) -> Option<Determination> {
    let rule = config.determinations.iter().find(|rule| rule.condition().holds(request));
    let first = rule.and_then(Rule::determination).or_else(|| config.default_determination.clone())?;
    let rounds = request.get(ROUNDS).and_then(Value::as_u64).unwrap_or(0);
    (0..rounds).try_fold(first, |decided, _| match decided.status {
        DeterminationStatus::NeedMoreInfo => decided.then.map(|then| *then),
        _ => Some(decided),
    })
}

impl Match {
    fn holds(&self, request: &Value) -> bool {
        let is = |wanted: &Option<String>, member: &str, same: fn(&str, &str) -> bool| match wanted {
            None => true,
            Some(wanted) => text(request, member).is_some_and(|found| same(found, wanted)),
        };
        is(&self.procedure_code, "procedure_code", str::eq_ignore_ascii_case)
            && is(&self.patient_member_id, "patient_member_id", |found, wanted| found == wanted)
            && is(&self.diagnosis, "diagnosis_code", is_same_diagnosis)
            && is(&self.drug, "drug", |found, wanted| found.to_lowercase() == wanted.to_lowercase())
    }
}

/// `g43909` is `G43.909`.
fn is_same_diagnosis(left: &str, right: &str) -> bool {
    let bare = |code: &str| code.replace('.', "").to_ascii_uppercase();
    bare(left) == bare(right)
}

/// Writes the decision into the request, or puts it by until it is due. The changes are those beside the request.
pub(super) fn decide(call: &Call<'_>, key: &str, request: &mut Value) -> Vec<Change> {
    match decided(&call.config, request) {
        Some(determination) => match determination.delay_seconds.unwrap_or(0) {
            ..=0 => {
                request["determination"] = shown(&determination, &call.now());
                Vec::new()
            }
            seconds => {
                request["determination"] = pending();
                let due_at = call.context.now.plus_milliseconds(seconds.saturating_mul(1000));
                vec![due::put_by(call, key, due_at, &determination)]
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

pub(super) fn shown(determination: &Determination, at: &Value) -> Value {
    let is_open = determination.status == DeterminationStatus::Pending;
    let decided_at = if is_open { Value::Null } else { at.clone() };
    json!({"status": determination.status, "reason": determination.reason, "decided_at": decided_at})
}
