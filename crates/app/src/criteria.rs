//! Criteria: typed where a check knows them, kept with a warning where none does.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use model::criterion::{Criterion, CriterionPatch, NewCriterion};
use model::critical;
use model::page::{Page, PageRequest};
use model::template::{self, Root};
use model::{CriterionId, FieldErrors, OrgId, TaskId};
use store::{Db, criteria, entities, tasks};
use verify::Parsed;

use crate::etag::IfMatch;
use crate::once::Keep;
use crate::{App, AppError, Created, Once, OrgGrant};

const MOST_CRITERIA: usize = 200;

pub async fn create(
    app: &App,
    grant: &OrgGrant,
    once: Option<Once>,
    new: NewCriterion,
) -> Result<Created<Criterion>, AppError> {
    let mut criterion = new.into_criterion(app.new_id(), app.now());
    judge(&mut criterion)?;
    let org = grant.org.clone();
    let work = move |db: &mut Db<'_>| {
        check_references(db, &org, &criterion)?;
        if criteria::of_task(db, &org, &criterion.task_id)?.len() >= MOST_CRITERIA {
            return Err(AppError::conflict(format!("a task has at most {MOST_CRITERIA} criteria")));
        }
        criteria::insert(db, &org, &criterion)?;
        with_derived(db, &org, criterion.clone())
    };
    app.once(grant, once, Keep::Plain, work).await
}

pub async fn get(app: &App, grant: &OrgGrant, criterion: &CriterionId) -> Result<Criterion, AppError> {
    let (org, criterion) = (grant.org.clone(), criterion.clone());
    app.store().read(move |db| found(db, &org, &criterion)).await
}

pub async fn list(
    app: &App,
    grant: &OrgGrant,
    task: Option<TaskId>,
    page: PageRequest,
) -> Result<Page<Criterion>, AppError> {
    let org = grant.org.clone();
    let read = move |db: &mut Db<'_>| {
        let mut siblings: BTreeMap<TaskId, Vec<Criterion>> = BTreeMap::new();
        criteria::list(db, &org, task.as_ref(), &page)?.try_map(|mut criterion| {
            let task = criterion.task_id.clone();
            let siblings = match siblings.entry(task.clone()) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(place) => place.insert(criteria::of_task(db, &org, &task)?),
            };
            derive_one(&mut criterion, siblings);
            Ok(criterion)
        })
    };
    app.store().read(read).await
}

pub async fn update(
    app: &App,
    grant: &OrgGrant,
    criterion: &CriterionId,
    if_match: IfMatch,
    patch: CriterionPatch,
) -> Result<Criterion, AppError> {
    let (org, criterion, now) = (grant.org.clone(), criterion.clone(), app.now());
    let change = move |db: &mut Db<'_>| {
        let mut criterion = found(db, &org, &criterion)?;
        if_match.check(&criterion)?;
        patch.clone().apply(&mut criterion);
        judge(&mut criterion)?;
        check_references(db, &org, &criterion)?;
        criterion.updated_at = now;
        criteria::update(db, &org, &criterion)?;
        with_derived(db, &org, criterion)
    };
    app.store().write(change).await
}

pub async fn delete(app: &App, grant: &OrgGrant, criterion: &CriterionId, if_match: IfMatch) -> Result<(), AppError> {
    let (org, criterion) = (grant.org.clone(), criterion.clone());
    let change = move |db: &mut Db<'_>| {
        if_match.check(&found(db, &org, &criterion)?)?;
        Ok(criteria::delete(db, &org, &criterion)?)
    };
    app.store().write(change).await
}

/// Validates, and sets the warnings that the assertion earns.
fn judge(criterion: &mut Criterion) -> Result<(), FieldErrors> {
    let mut errors = criterion.validate().err().unwrap_or_default();
    criterion.warnings = Vec::new();
    match verify::parse(&criterion.assertion) {
        Ok(Parsed::Known(_)) => {}
        Ok(Parsed::Unknown { name }) => {
            let name: String = name.chars().take(100).collect();
            criterion.warnings.push(format!(
                "unsupported assertion: no check is called `{name}`; this criterion will fail in every run"
            ));
        }
        Err(faults) => errors.nest("assertion", faults),
    }
    let unbound = criterion.input_entity_id.is_none() && template::uses(&criterion.assertion, Root::Entity);
    if unbound {
        errors.add("input_entity_id", "is needed because the assertion uses `{{entity.…}}`");
    }
    errors.into_result()
}

fn check_references(db: &mut Db<'_>, org: &OrgId, criterion: &Criterion) -> Result<(), AppError> {
    let mut errors = FieldErrors::new();
    if tasks::find(db, org, &criterion.task_id)?.is_none() {
        errors.no_such("task_id", &criterion.task_id);
    }
    if let Some(entity) = &criterion.input_entity_id
        && entities::find(db, org, entity)?.is_none()
    {
        errors.no_such("input_entity_id", entity);
    }
    Ok(errors.into_result()?)
}

fn found(db: &mut Db<'_>, org: &OrgId, criterion: &CriterionId) -> Result<Criterion, AppError> {
    let found = criteria::find(db, org, criterion)?.ok_or(AppError::missing::<CriterionId>())?;
    with_derived(db, org, found)
}

fn with_derived(db: &mut Db<'_>, org: &OrgId, mut criterion: Criterion) -> Result<Criterion, AppError> {
    let siblings = criteria::of_task(db, org, &criterion.task_id)?;
    derive_one(&mut criterion, &siblings);
    Ok(criterion)
}

/// Sets what is not stored: whether it is a guard, and whether a critical criterion is too light among its siblings.
fn derive_one(criterion: &mut Criterion, siblings: &[Criterion]) {
    criterion.guard = verify::is_guard(&criterion.assertion);
    let own = |position: usize| siblings.get(position).is_some_and(|sibling| sibling.id == criterion.id);
    let warning = too_light(siblings).into_iter().find(|(position, _)| own(*position));
    criterion.warnings.extend(warning.map(|(_, words)| words));
}

/// The same for all criteria of one task.
pub(crate) fn derive(criteria: &mut [Criterion]) {
    let warnings = too_light(criteria);
    for criterion in criteria.iter_mut() {
        criterion.guard = verify::is_guard(&criterion.assertion);
    }
    for (position, words) in warnings {
        if let Some(criterion) = criteria.get_mut(position) {
            criterion.warnings.push(words);
        }
    }
}

/// Critical criteria of a task that are too light, by position, with why.
pub(crate) fn too_light(criteria: &[Criterion]) -> Vec<(usize, String)> {
    let weights: Vec<_> = criteria.iter().map(|criterion| (criterion.critical, criterion.weight)).collect();
    critical::too_light(&weights)
}
