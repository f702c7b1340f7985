//! batch: entries are independent and processed in order.

use serde_json::Value;

use super::entry::Entry;
use super::{error_entry, reply, response_entry};
use crate::fhir::integrity::{self, Referrers};
use crate::fhir::interaction_context::InteractionContext;
use crate::fhir::outcome::FhirError;
use crate::fhir::reply::Reply;
use crate::fhir::stored_parameters;

pub(super) fn process(context: &InteractionContext<'_>, entries: &[Value]) -> Reply {
    let mut staged = context.world.clone();
    let mut referrers = Referrers::default();
    let mut changes = Vec::new();
    let mut responses = Vec::with_capacity(entries.len());
    for entry in entries {
        responses.push(match process_entry(context, &staged, entry, &mut referrers) {
            Ok((reply, is_write)) => {
                for change in &reply.changes {
                    staged.apply(context.world.seq + 1, change);
                }
                changes.extend(reply.changes.iter().cloned());
                response_entry(context, reply, is_write)
            }
            Err(error) => error_entry(&error),
        });
    }
    reply("batch-response", responses, changes)
}

fn process_entry(
    context: &InteractionContext<'_>,
    staged: &world::World,
    entry: &Value,
    referrers: &mut Referrers,
) -> Result<(Reply, bool), FhirError> {
    let entry = Entry::read(entry, context.own_addresses())?;
    let sandbox = staged.sandboxes.get(&context.sandbox.id).unwrap_or(context.sandbox);
    let inner = InteractionContext { world_context: context.world_context, ..entry.context(context, staged, sandbox) };
    let reply = inner.perform(&entry.interaction, entry.body.as_ref())?;
    stored_parameters::check(&inner, &reply.changes)?;
    integrity::check_with(&inner, &reply.changes, referrers)?;
    Ok((reply, entry.interaction.is_write()))
}
