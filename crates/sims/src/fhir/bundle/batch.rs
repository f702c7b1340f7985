//! batch: every entry for itself, in its order.

use serde_json::Value;

use super::entry::Entry;
use super::{answered, refused, reply};
use crate::fhir::call::Call;
use crate::fhir::integrity::{self, Referrers};
use crate::fhir::outcome::Refusal;
use crate::fhir::reply::Reply;
use crate::fhir::stored_parameters;

pub(super) fn process(call: &Call<'_>, entries: &[Value]) -> Reply {
    let mut staged = call.world.clone();
    let mut referrers = Referrers::default();
    let mut changes = Vec::new();
    let mut answers = Vec::with_capacity(entries.len());
    for entry in entries {
        answers.push(match one(call, &staged, entry, &mut referrers) {
            Ok((done, is_write)) => {
                for change in &done.changes {
                    staged.apply(call.world.seq + 1, change);
                }
                changes.extend(done.changes.iter().cloned());
                answered(call, done, is_write)
            }
            Err(refusal) => refused(&refusal),
        });
    }
    reply("batch-response", answers, changes)
}

fn one(
    call: &Call<'_>,
    staged: &world::World,
    entry: &Value,
    referrers: &mut Referrers,
) -> Result<(Reply, bool), Refusal> {
    let entry = Entry::read(entry, call.own_addresses())?;
    let sandbox = staged.sandboxes.get(&call.sandbox.id).unwrap_or(call.sandbox);
    let inner = Call { context: call.context, ..entry.call(call, staged, sandbox) };
    let done = inner.perform(&entry.action, entry.body.as_ref())?;
    stored_parameters::check(&inner, &done.changes)?;
    integrity::check_with(&inner, &done.changes, referrers)?;
    Ok((done, entry.action.is_write()))
}
