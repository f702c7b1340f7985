//! transaction: all entries or none, whatever their order in the Bundle.

use std::collections::{BTreeSet, HashSet};

use fhir::ResourceType;
use serde_json::Value;
use world::{Change, World};

use super::entry::Entry;
use super::references::{self, Names};
use super::{answered, reply};
use crate::fhir::call::Call;
use crate::fhir::conditional::{self, Match};
use crate::fhir::config::WriteRules;
use crate::fhir::outcome::{Refusal, excerpt};
use crate::fhir::reply::Reply;
use crate::fhir::route::Action;
use crate::fhir::{create, delete};

/// An entry after its conditions were looked at, with the resource that it is about.
#[derive(Debug)]
struct Step {
    entry: Entry,
    task: Task,
}

#[derive(Debug)]
enum Task {
    /// A new resource under an id that was drawn before, so that others can refer to it.
    Create(ResourceType, String),
    /// What a conditional create found.
    Existing(ResourceType, String),
    /// What a conditional delete found.
    Delete(ResourceType, Vec<String>),
    Perform(Action),
}

pub(super) fn process(call: &Call<'_>, entries: &[Value]) -> Result<Reply, Refusal> {
    let mut steps = Vec::with_capacity(entries.len());
    let mut deleted = 0;
    for (index, entry) in entries.iter().enumerate() {
        let step = plan(call, entry).map_err(|refusal| refusal.in_entry(index))?;
        deleted = with_deleted(deleted, &step.task).map_err(|refusal| refusal.in_entry(index))?;
        steps.push(step);
    }
    check_overlaps(&steps)?;
    let mut names = full_urls(&steps)?;
    rename(&mut steps, &names)?;
    for body in steps.iter_mut().filter(|step| step.is_resource()).filter_map(|step| step.entry.body.as_mut()) {
        references::make_local(body, call.own_addresses());
    }
    let criteria = conditional_references(&mut steps)?;
    if !criteria.is_empty() {
        names = resolved(call, &steps, &criteria)?;
        rename(&mut steps, &names)?;
    }
    carry_out(call, &steps)
}

/// How many resources the conditional deletes remove, this one too. Their ids are all kept in memory.
fn with_deleted(before: usize, task: &Task) -> Result<usize, Refusal> {
    let Task::Delete(_, ids) = task else { return Ok(before) };
    let deleted = before + ids.len();
    if deleted > conditional::MOST_DELETED {
        let most = conditional::MOST_DELETED;
        let message = format!("the conditional deletes of the transaction find more than {most} resources together");
        return Err(Refusal::precondition("too-costly", message));
    }
    Ok(deleted)
}

fn plan(call: &Call<'_>, entry: &Value) -> Result<Step, Refusal> {
    let mut entry = Entry::read(entry, call.own_addresses())?;
    let inner = entry.call(call, call.world, call.sandbox);
    for (permission, resource_type) in entry.action.needs(entry.conditions.if_none_exist.is_some()) {
        inner.require(permission, resource_type)?;
    }
    let body = entry.body.as_ref().unwrap_or(&Value::Null);
    let task = match &entry.action {
        Action::Create(resource_type) => match &entry.conditions.if_none_exist {
            None => Task::Create(*resource_type, (call.context.new_id)()),
            Some(criteria) => match conditional::find_text(&inner, *resource_type, criteria)? {
                Match::None => Task::Create(*resource_type, (call.context.new_id)()),
                Match::One(id) => Task::Existing(*resource_type, id),
                Match::Many => return Err(create::several(*resource_type)),
            },
        },
        Action::ConditionalUpdate(resource_type) => {
            let id = conditional::update_target(&inner, *resource_type, body)?;
            let body = conditional::with_id(body, &id);
            entry.body = Some(body);
            Task::Perform(Action::Update(*resource_type, id))
        }
        Action::ConditionalPatch(resource_type) => {
            Task::Perform(Action::Patch(*resource_type, conditional::patch_target(&inner, *resource_type)?))
        }
        Action::ConditionalDelete(resource_type) => {
            Task::Delete(*resource_type, conditional::delete_targets(&inner, *resource_type)?)
        }
        action => Task::Perform(action.clone()),
    };
    Ok(Step { entry, task })
}

impl Step {
    /// The resource that is written.
    fn target(&self) -> Option<(ResourceType, &str)> {
        match &self.task {
            Task::Create(resource_type, id)
            | Task::Perform(Action::Update(resource_type, id) | Action::Patch(resource_type, id))
            | Task::Perform(Action::Delete(resource_type, id)) => Some((*resource_type, id)),
            Task::Existing(..) | Task::Delete(..) | Task::Perform(_) => None,
        }
    }

    /// Every resource that is written or deleted.
    fn targets(&self) -> Vec<(ResourceType, &str)> {
        match &self.task {
            Task::Delete(resource_type, ids) => ids.iter().map(|id| (*resource_type, id.as_str())).collect(),
            _ => self.target().into_iter().collect(),
        }
    }

    /// What a reference to the entry means.
    fn reference(&self) -> Option<String> {
        match &self.task {
            Task::Existing(resource_type, id) => Some(format!("{resource_type}/{id}")),
            _ => self.target().map(|(resource_type, id)| format!("{resource_type}/{id}")),
        }
    }

    fn is_resource(&self) -> bool {
        matches!(self.task, Task::Create(..) | Task::Perform(Action::Update(..)))
    }

    /// DELETE, POST, PUT and PATCH, GET.
    fn turn(&self) -> u8 {
        match &self.task {
            Task::Delete(..) | Task::Perform(Action::Delete(..)) => 0,
            Task::Create(..) | Task::Existing(..) => 1,
            Task::Perform(Action::Update(..) | Action::Patch(..)) => 2,
            Task::Perform(_) => 3,
        }
    }
}

/// No resource may be written twice, and no condition may be met by another entry.
fn check_overlaps(steps: &[Step]) -> Result<(), Refusal> {
    let mut targets = HashSet::new();
    let mut conditions = HashSet::new();
    for (index, step) in steps.iter().enumerate() {
        if let Some((resource_type, id)) = step.targets().into_iter().find(|target| !targets.insert(*target)) {
            let message = format!("another entry writes {resource_type}/{id} too");
            return Err(Refusal::bad("duplicate", message).in_entry(index));
        }
        if let (Task::Create(resource_type, _), Some(criteria)) = (&step.task, &step.entry.conditions.if_none_exist)
            && !conditions.insert((resource_type, criteria))
        {
            let message = format!("another entry has the same ifNoneExist {}", excerpt(criteria));
            return Err(Refusal::bad("duplicate", message).in_entry(index));
        }
    }
    Ok(())
}

fn full_urls(steps: &[Step]) -> Result<Names, Refusal> {
    let mut names = Names::new();
    for (index, step) in steps.iter().enumerate() {
        if let (Some(full_url), Some(reference)) = (&step.entry.full_url, step.reference())
            && names.insert(full_url.clone(), reference.clone()).is_some_and(|other| other != reference)
        {
            let message = format!("another entry has the fullUrl {} too", excerpt(full_url));
            return Err(Refusal::bad("duplicate", message).in_entry(index));
        }
    }
    Ok(names)
}

fn rename(steps: &mut [Step], names: &Names) -> Result<(), Refusal> {
    for (index, step) in steps.iter_mut().enumerate().filter(|(_, step)| step.is_resource()) {
        let full_url = step.entry.full_url.as_deref();
        if let Some(body) = &mut step.entry.body {
            references::rewrite(body, names, full_url)
                .map_err(|refusal| refusal.at(&format!("Bundle.entry[{index}].resource")))?;
        }
    }
    Ok(())
}

/// Each with the first entry that has it.
fn conditional_references(steps: &mut [Step]) -> Result<Vec<(usize, String)>, Refusal> {
    let mut known = BTreeSet::new();
    let mut all = Vec::new();
    for (index, step) in steps.iter_mut().enumerate().filter(|(_, step)| step.is_resource()) {
        let mut found = BTreeSet::new();
        if let Some(body) = &mut step.entry.body {
            references::criteria(body, &mut found)?;
        }
        all.extend(found.into_iter().filter(|text| known.insert(text.clone())).map(|text| (index, text)));
    }
    Ok(all)
}

/// Looks up conditional references in the world as the transaction will leave it.
fn resolved(call: &Call<'_>, steps: &[Step], criteria: &[(usize, String)]) -> Result<Names, Refusal> {
    // References are complete only afterwards, and are looked at then.
    let (after, ..) = run(&Call { rules: WriteRules::default(), ..call.clone() }, steps)?;
    let sandbox = after.sandboxes.get(&call.sandbox.id).unwrap_or(call.sandbox);
    let inner = Call { world: &after, sandbox, records: &sandbox.records, ..call.clone() };
    let mut names = Names::new();
    for (index, text) in criteria {
        let place = format!("Bundle.entry[{index}].resource");
        let Some((resource_type, criteria)) = references::split_criteria(text) else { continue };
        let found = conditional::find_text(&inner, resource_type, criteria).map_err(|refusal| refusal.at(&place))?;
        let count = match found {
            Match::One(id) => {
                names.insert(text.clone(), format!("{resource_type}/{id}"));
                continue;
            }
            Match::None => "nothing",
            Match::Many => "several resources",
        };
        let message = format!("the reference {} finds {count}; it must find one resource", excerpt(text));
        return Err(Refusal::precondition("not-found", message).at(&place));
    }
    Ok(names)
}

fn carry_out(call: &Call<'_>, steps: &[Step]) -> Result<Reply, Refusal> {
    let (_, replies, changes) = run(call, steps)?;
    let answers = replies.into_iter().zip(steps);
    let answers = answers.map(|(done, step)| answered(call, done, step.entry.action.is_write())).collect();
    Ok(reply("transaction-response", answers, changes))
}

/// Every step in its turn: the world after them, their answers in the order of the Bundle, and the changes.
fn run(call: &Call<'_>, steps: &[Step]) -> Result<(World, Vec<Reply>, Vec<Change>), Refusal> {
    let mut order: Vec<usize> = (0..steps.len()).collect();
    order.sort_by_key(|index| steps[*index].turn());
    let mut staged = call.world.clone();
    let mut changes = Vec::new();
    let mut replies = Vec::with_capacity(steps.len());
    for index in order {
        let done = one(call, &staged, &steps[index]).map_err(|refusal| refusal.in_entry(index))?;
        for change in &done.changes {
            staged.apply(call.world.seq + 1, change);
        }
        changes.extend(done.changes.iter().cloned());
        replies.push((index, done));
    }
    replies.sort_by_key(|(index, _)| *index);
    Ok((staged, replies.into_iter().map(|(_, done)| done).collect(), changes))
}

fn one(call: &Call<'_>, staged: &World, step: &Step) -> Result<Reply, Refusal> {
    let sandbox = staged.sandboxes.get(&call.sandbox.id).unwrap_or(call.sandbox);
    let inner = step.entry.call(call, staged, sandbox);
    let body = step.entry.body.as_ref();
    match &step.task {
        Task::Create(resource_type, id) => {
            let body = body.ok_or_else(|| Refusal::bad("required", "the entry has no resource"))?;
            create::with_id(&inner, *resource_type, id, body)
        }
        Task::Existing(resource_type, id) => create::existing(&inner, *resource_type, id),
        Task::Delete(resource_type, ids) => delete::delete_all(&inner, *resource_type, ids),
        Task::Perform(action) => inner.perform(action, body),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditional_deletes_are_bounded_together() {
        let task = Task::Delete("Patient".parse().unwrap(), vec!["1".to_owned(); 6_000]);
        let deleted = with_deleted(0, &task).unwrap();
        assert_eq!(with_deleted(deleted, &task).unwrap_err().status, 412);
    }
}
