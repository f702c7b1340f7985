//! Candidates of `portal-state-match`: rows with other values, and the agent's rows of other kinds.

use model::simulator::SimulatorType;
use serde_json::Value;
use sims::payer::rows::{DOCUMENTS, DRAFTS, REQUESTS};

use super::{Candidate, MOST_EXAMINED};
use crate::baseline::Baselines;
use crate::checks::portal_state_match::{PortalStateMatch, RowCorrelation};
use crate::evidence::{EvaluationContext, text};
use crate::scoring::to_json;

/// Kinds of rows that an agent writes. Other collections are internal to the portal.
const WRITTEN: [&str; 3] = [REQUESTS, DRAFTS, DOCUMENTS];

pub(crate) fn of(check: &PortalStateMatch, context: &EvaluationContext<'_>) -> Result<Vec<Candidate>, String> {
    let resource = check.correlate_by.resource.as_str();
    let baselines = Baselines::new(context)?;
    let mut candidates = Vec::new();
    for sandbox in context.sandboxes(SimulatorType::Payer)? {
        for kind in [resource].into_iter().chain(WRITTEN.into_iter().filter(|kind| *kind != resource)) {
            let rows = sandbox.records.live(kind, world::Seq::MAX);
            let is_changed = |key: &str| baselines.is_changed(&sandbox.records, kind, key);
            let rows = rows.map(|row| (is_changed(row.key), row)).filter(|(is_own, _)| *is_own || kind == resource);
            for (is_own, row) in rows.take(MOST_EXAMINED) {
                context.budget.spend(row.text().len())?;
                candidates.push(candidate(check, kind, row.key, &row.json(), context)?.given(!is_own));
            }
        }
    }
    Ok(candidates)
}

fn candidate(
    check: &PortalStateMatch,
    kind: &str,
    key: &str,
    row: &Value,
    context: &EvaluationContext<'_>,
) -> Result<Candidate, String> {
    let RowCorrelation { resource, key: path, value } = &check.correlate_by;
    let status = text(row, "status").map_or_else(String::new, |status| format!(" with status {status}"));
    let mut candidate = Candidate::new(key, format!("{kind} {key}{status}"));
    if kind != resource {
        candidate.differs("correlate_by.resource", resource.as_str(), kind.into());
    }
    let found = path.ready()?.find(row, &context.budget)?;
    if !check.correlate_by.matches(&found) {
        let actual = to_json(found.into_iter().cloned().collect());
        match value {
            Some(value) => candidate.differs("correlate_by.value", value.clone(), actual),
            None => {
                candidate.differs_because("correlate_by.key", path.to_string(), actual, "the row has no such value")
            }
        }
    } else if check.withdrawn(row, context)?.is_some() {
        candidate.differs_because(
            "status",
            "a status that is in force",
            "withdrawn".into(),
            "the request was withdrawn",
        );
    }
    Ok(candidate)
}
