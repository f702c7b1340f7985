//! Criteria: typed where a check knows them, kept with a warning where none does.

use model::criterion::{Criterion, CriterionPatch, NewCriterion};
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
        Ok(criterion.clone())
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
    app.store().read(move |db| Ok(criteria::list(db, &org, task.as_ref(), &page)?)).await
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
        Ok(criterion)
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
    criteria::find(db, org, criterion)?.ok_or(AppError::missing::<CriterionId>())
}
