//! transaction: all entries succeed or none, independent of their order.

use std::collections::{BTreeSet, HashSet};

use fhir::ResourceType;
use serde_json::Value;
use world::{Change, World};

use super::entry::Entry;
use super::references::{self, ReferenceMap};
use super::{reply, response_entry};
use crate::fhir::conditional::{self, CriteriaMatch};
use crate::fhir::config::WriteRules;
use crate::fhir::interaction::Interaction;
use crate::fhir::interaction_context::InteractionContext;
use crate::fhir::outcome::{FhirError, excerpt};
use crate::fhir::reply::Reply;
use crate::fhir::{create, delete};

/// An entry after its conditions were evaluated.
#[derive(Debug)]
struct PlannedEntry {
    entry: Entry,
    action: EntryAction,
}

#[derive(Debug)]
enum EntryAction {
    /// A new resource. Its id is chosen beforehand, so that other entries can refer to it.
    Create(ResourceType, String),
    /// The existing resource that a conditional create matches.
    Existing(ResourceType, String),
    /// The resources that a conditional delete matches.
    Delete(ResourceType, Vec<String>),
    Perform(Interaction),
}

pub(super) fn process(context: &InteractionContext<'_>, entries: &[Value]) -> Result<Reply, FhirError> {
    let mut planned = Vec::with_capacity(entries.len());
    let mut deleted = 0;
    for (index, entry) in entries.iter().enumerate() {
        let planned_entry = plan(context, entry).map_err(|error| error.in_entry(index))?;
        deleted = count_deleted(deleted, &planned_entry.action).map_err(|error| error.in_entry(index))?;
        planned.push(planned_entry);
    }
    check_overlaps(&planned)?;
    let mut names = full_urls(&planned)?;
    rewrite_references(&mut planned, &names)?;
    for body in planned
        .iter_mut()
        .filter(|planned_entry| planned_entry.writes_resource())
        .filter_map(|planned_entry| planned_entry.entry.body.as_mut())
    {
        references::make_local(body, context.own_addresses());
    }
    let criteria = conditional_references(&mut planned)?;
    if !criteria.is_empty() {
        names = resolve(context, &planned, &criteria)?;
        rewrite_references(&mut planned, &names)?;
    }
    execute(context, &planned)
}

/// Adds the number of resources that a conditional delete removes. It is limited, because all ids are kept in memory.
fn count_deleted(before: usize, action: &EntryAction) -> Result<usize, FhirError> {
    let EntryAction::Delete(_, ids) = action else { return Ok(before) };
    let deleted = before + ids.len();
    if deleted > conditional::MAX_DELETED {
        let max = conditional::MAX_DELETED;
        let message = format!("the conditional deletes of the transaction match more than {max} resources in total");
        return Err(FhirError::precondition("too-costly", message));
    }
    Ok(deleted)
}

fn plan(context: &InteractionContext<'_>, entry: &Value) -> Result<PlannedEntry, FhirError> {
    let mut entry = Entry::read(entry, context.own_addresses())?;
    let inner = entry.context(context, context.world, context.sandbox);
    for (permission, resource_type) in entry.interaction.needs(entry.conditions.if_none_exist.is_some()) {
        inner.require(permission, resource_type)?;
    }
    let body = entry.body.as_ref().unwrap_or(&Value::Null);
    let action = match &entry.interaction {
        Interaction::Create(resource_type) => match &entry.conditions.if_none_exist {
            None => EntryAction::Create(*resource_type, (context.world_context.new_id)()),
            Some(criteria) => match conditional::find_text(&inner, *resource_type, criteria)? {
                CriteriaMatch::None => EntryAction::Create(*resource_type, (context.world_context.new_id)()),
                CriteriaMatch::One(id) => EntryAction::Existing(*resource_type, id),
                CriteriaMatch::Many => return Err(create::multiple_matches(*resource_type)),
            },
        },
        Interaction::ConditionalUpdate(resource_type) => {
            let id = conditional::update_target(&inner, *resource_type, body)?;
            let body = conditional::with_id(body, &id);
            entry.body = Some(body);
            EntryAction::Perform(Interaction::Update(*resource_type, id))
        }
        Interaction::ConditionalPatch(resource_type) => {
            EntryAction::Perform(Interaction::Patch(*resource_type, conditional::patch_target(&inner, *resource_type)?))
        }
        Interaction::ConditionalDelete(resource_type) => {
            EntryAction::Delete(*resource_type, conditional::delete_targets(&inner, *resource_type)?)
        }
        interaction => EntryAction::Perform(interaction.clone()),
    };
    Ok(PlannedEntry { entry, action })
}

impl PlannedEntry {
    /// The resource that the entry writes.
    fn target(&self) -> Option<(ResourceType, &str)> {
        match &self.action {
            EntryAction::Create(resource_type, id)
            | EntryAction::Perform(Interaction::Update(resource_type, id) | Interaction::Patch(resource_type, id))
            | EntryAction::Perform(Interaction::Delete(resource_type, id)) => Some((*resource_type, id)),
            EntryAction::Existing(..) | EntryAction::Delete(..) | EntryAction::Perform(_) => None,
        }
    }

    /// All resources that the entry writes or deletes.
    fn targets(&self) -> Vec<(ResourceType, &str)> {
        match &self.action {
            EntryAction::Delete(resource_type, ids) => ids.iter().map(|id| (*resource_type, id.as_str())).collect(),
            _ => self.target().into_iter().collect(),
        }
    }

    /// The reference to the entry's resource.
    fn reference(&self) -> Option<String> {
        match &self.action {
            EntryAction::Existing(resource_type, id) => Some(format!("{resource_type}/{id}")),
            _ => self.target().map(|(resource_type, id)| format!("{resource_type}/{id}")),
        }
    }

    fn writes_resource(&self) -> bool {
        matches!(self.action, EntryAction::Create(..) | EntryAction::Perform(Interaction::Update(..)))
    }

    /// The processing order: DELETE, POST, PUT and PATCH, GET.
    fn order(&self) -> u8 {
        match &self.action {
            EntryAction::Delete(..) | EntryAction::Perform(Interaction::Delete(..)) => 0,
            EntryAction::Create(..) | EntryAction::Existing(..) => 1,
            EntryAction::Perform(Interaction::Update(..) | Interaction::Patch(..)) => 2,
            EntryAction::Perform(_) => 3,
        }
    }
}

/// Rejects transactions that write a resource twice or repeat a condition.
fn check_overlaps(planned: &[PlannedEntry]) -> Result<(), FhirError> {
    let mut targets = HashSet::new();
    let mut conditions = HashSet::new();
    for (index, planned_entry) in planned.iter().enumerate() {
        if let Some((resource_type, id)) = planned_entry.targets().into_iter().find(|target| !targets.insert(*target)) {
            let message = format!("another entry also writes {resource_type}/{id}");
            return Err(FhirError::bad("duplicate", message).in_entry(index));
        }
        if let (EntryAction::Create(resource_type, _), Some(criteria)) =
            (&planned_entry.action, &planned_entry.entry.conditions.if_none_exist)
            && !conditions.insert((resource_type, criteria))
        {
            let message = format!("another entry has the same ifNoneExist {}", excerpt(criteria));
            return Err(FhirError::bad("duplicate", message).in_entry(index));
        }
    }
    Ok(())
}

fn full_urls(planned: &[PlannedEntry]) -> Result<ReferenceMap, FhirError> {
    let mut names = ReferenceMap::new();
    for (index, planned_entry) in planned.iter().enumerate() {
        if let (Some(full_url), Some(reference)) = (&planned_entry.entry.full_url, planned_entry.reference())
            && names.insert(full_url.clone(), reference.clone()).is_some_and(|other| other != reference)
        {
            let message = format!("another entry also has the fullUrl {}", excerpt(full_url));
            return Err(FhirError::bad("duplicate", message).in_entry(index));
        }
    }
    Ok(names)
}

fn rewrite_references(planned: &mut [PlannedEntry], names: &ReferenceMap) -> Result<(), FhirError> {
    for (index, planned_entry) in
        planned.iter_mut().enumerate().filter(|(_, planned_entry)| planned_entry.writes_resource())
    {
        let full_url = planned_entry.entry.full_url.as_deref();
        if let Some(body) = &mut planned_entry.entry.body {
            references::rewrite(body, names, full_url)
                .map_err(|error| error.at(&format!("Bundle.entry[{index}].resource")))?;
        }
    }
    Ok(())
}

/// All distinct conditional references, each with the first entry that contains it.
fn conditional_references(planned: &mut [PlannedEntry]) -> Result<Vec<(usize, String)>, FhirError> {
    let mut known = BTreeSet::new();
    let mut all = Vec::new();
    for (index, planned_entry) in
        planned.iter_mut().enumerate().filter(|(_, planned_entry)| planned_entry.writes_resource())
    {
        let mut found = BTreeSet::new();
        if let Some(body) = &mut planned_entry.entry.body {
            references::criteria(body, &mut found)?;
        }
        all.extend(found.into_iter().filter(|text| known.insert(text.clone())).map(|text| (index, text)));
    }
    Ok(all)
}

/// Resolves conditional references in the world after the transaction.
fn resolve(
    context: &InteractionContext<'_>,
    planned: &[PlannedEntry],
    criteria: &[(usize, String)],
) -> Result<ReferenceMap, FhirError> {
    // References are checked later, when all of them are resolved.
    let (after, ..) = run(&InteractionContext { rules: WriteRules::default(), ..context.clone() }, planned)?;
    let sandbox = after.sandboxes.get(&context.sandbox.id).unwrap_or(context.sandbox);
    let inner = InteractionContext { world: &after, sandbox, records: &sandbox.records, ..context.clone() };
    let mut names = ReferenceMap::new();
    for (index, text) in criteria {
        let path = format!("Bundle.entry[{index}].resource");
        let Some((resource_type, criteria)) = references::split_criteria(text) else { continue };
        let found = conditional::find_text(&inner, resource_type, criteria).map_err(|error| error.at(&path))?;
        let count = match found {
            CriteriaMatch::One(id) => {
                names.insert(text.clone(), format!("{resource_type}/{id}"));
                continue;
            }
            CriteriaMatch::None => "nothing",
            CriteriaMatch::Many => "several resources",
        };
        let message = format!("the reference {} matches {count}; it must match exactly one resource", excerpt(text));
        return Err(FhirError::precondition("not-found", message).at(&path));
    }
    Ok(names)
}

fn execute(context: &InteractionContext<'_>, planned: &[PlannedEntry]) -> Result<Reply, FhirError> {
    let (_, replies, changes) = run(context, planned)?;
    let responses = replies.into_iter().zip(planned);
    let responses = responses
        .map(|(reply, planned)| response_entry(context, reply, planned.entry.interaction.is_write()))
        .collect();
    Ok(reply("transaction-response", responses, changes))
}

/// Performs all entries in processing order. Returns the world after them, the replies in the order of the Bundle, and the
/// changes.
fn run(
    context: &InteractionContext<'_>,
    planned: &[PlannedEntry],
) -> Result<(World, Vec<Reply>, Vec<Change>), FhirError> {
    let mut order: Vec<usize> = (0..planned.len()).collect();
    order.sort_by_key(|index| planned[*index].order());
    let mut staged = context.world.clone();
    let mut changes = Vec::new();
    let mut replies = Vec::with_capacity(planned.len());
    for index in order {
        let reply = perform(context, &staged, &planned[index]).map_err(|error| error.in_entry(index))?;
        for change in &reply.changes {
            staged.apply(context.world.seq + 1, change);
        }
        changes.extend(reply.changes.iter().cloned());
        replies.push((index, reply));
    }
    replies.sort_by_key(|(index, _)| *index);
    Ok((staged, replies.into_iter().map(|(_, reply)| reply).collect(), changes))
}

fn perform(context: &InteractionContext<'_>, staged: &World, planned_entry: &PlannedEntry) -> Result<Reply, FhirError> {
    let sandbox = staged.sandboxes.get(&context.sandbox.id).unwrap_or(context.sandbox);
    let inner = planned_entry.entry.context(context, staged, sandbox);
    let body = planned_entry.entry.body.as_ref();
    match &planned_entry.action {
        EntryAction::Create(resource_type, id) => {
            let body = body.ok_or_else(|| FhirError::bad("required", "the entry has no resource"))?;
            create::with_id(&inner, *resource_type, id, body)
        }
        EntryAction::Existing(resource_type, id) => create::existing(&inner, *resource_type, id),
        EntryAction::Delete(resource_type, ids) => delete::delete_all(&inner, *resource_type, ids),
        EntryAction::Perform(interaction) => inner.perform(interaction, body),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditional_deletes_are_bounded_together() {
        let action = EntryAction::Delete("Patient".parse().unwrap(), vec!["1".to_owned(); 6_000]);
        let deleted = count_deleted(0, &action).unwrap();
        assert_eq!(count_deleted(deleted, &action).unwrap_err().status, 412);
    }
}
