//! Criteria. An assertion that no check knows is stored with a warning.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use model::criterion::{Criterion, CriterionPatch, NewCriterion};
use model::critical;
use model::environment::Environment;
use model::page::{Page, PageRequest};
use model::task::Task;
use model::template::{self, Bindings, Root};
use model::{BenchmarkId, CriterionId, FieldErrors, OrgId, TaskId};
use store::{Db, benchmarks, criteria, entities, environments, tasks};
use verify::Parsed;

use crate::etag::IfMatch;
use crate::idempotency::ResponseStorage;
use crate::{App, AppError, Created, Once, OrgGrant};

const MAX_CRITERIA: usize = 200;
/// Further warnings are dropped.
const MAX_WARNINGS: usize = 20;

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
        if criteria::of_task(db, &org, &criterion.task_id)?.len() >= MAX_CRITERIA {
            return Err(AppError::conflict(format!("a task has at most {MAX_CRITERIA} criteria")));
        }
        criteria::insert(db, &org, &criterion)?;
        with_derived(db, &org, criterion.clone())
    };
    app.once(grant, once, ResponseStorage::Plain, work).await
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
        let (mut known, mut simulators) = (BTreeMap::new(), SimulatorNames::default());
        criteria::list(db, &org, task.as_ref(), &page)?.try_map(|mut criterion| {
            let task = match known.entry(criterion.task_id.clone()) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(place) => place.insert(task_of(db, &org, &criterion)?),
            };
            derive_one(db, &org, &mut criterion, task, &mut simulators)?;
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

/// Validates the criterion, and sets the warnings of its assertion.
fn judge(criterion: &mut Criterion) -> Result<(), FieldErrors> {
    let mut errors = criterion.validate().err().unwrap_or_default();
    criterion.warnings = Vec::new();
    match verify::parse(&criterion.assertion) {
        // The values of templates are only known when the task is run.
        Ok(Parsed::Known(_)) => {
            let found = verify::unmatchable_parts(&criterion.assertion, &Bindings { entity: None, task: None });
            let warning = |one: verify::UnmatchablePart| {
                format!("assertion.{}: {}; nothing in a run can match it", one.path, one.message)
            };
            criterion.warnings.extend(found.into_iter().take(MAX_WARNINGS).map(warning));
        }
        Ok(Parsed::Unknown { name }) => {
            let name: String = name.chars().take(100).collect();
            criterion.warnings.push(format!(
                "unsupported assertion: no check is called `{name}`; this criterion will fail in every run"
            ));
        }
        Err(nested) => errors.nest("assertion", nested),
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
    let task = task_of(db, org, &criterion)?;
    derive_one(db, org, &mut criterion, &task, &mut SimulatorNames::default())?;
    Ok(criterion)
}

fn task_of(db: &mut Db<'_>, org: &OrgId, criterion: &Criterion) -> Result<Task, AppError> {
    tasks::find(db, org, &criterion.task_id)?.ok_or(AppError::missing::<TaskId>())
}

/// The names of the simulators in benchmarks' environments; none for a benchmark without an environment.
#[derive(Default)]
pub(crate) struct SimulatorNames(BTreeMap<BenchmarkId, Option<BTreeSet<String>>>);

impl SimulatorNames {
    fn of(
        &mut self,
        db: &mut Db<'_>,
        org: &OrgId,
        benchmark: &BenchmarkId,
    ) -> Result<Option<&BTreeSet<String>>, AppError> {
        let place = match self.0.entry(benchmark.clone()) {
            Entry::Occupied(known) => return Ok(known.into_mut().as_ref()),
            Entry::Vacant(place) => place,
        };
        let found = benchmarks::find(db, org, benchmark)?;
        let environment = match found.and_then(|benchmark| benchmark.environment_id) {
            Some(environment) => environments::find(db, org, &environment)?,
            None => None,
        };
        let names = |environment: Environment| environment.simulators.into_iter().map(|simulator| simulator.name);
        Ok(place.insert(environment.map(|environment| names(environment).collect())).as_ref())
    }

    /// Whether the assertion names a sandbox without a simulator in the environment. The simulator may be added later.
    fn warning(
        &mut self,
        db: &mut Db<'_>,
        org: &OrgId,
        benchmark: &BenchmarkId,
        criterion: &Criterion,
    ) -> Result<Option<String>, AppError> {
        let name = verify::sandbox_scope::named(&criterion.assertion).filter(|name| !name.contains("{{"));
        let Some(name) = name else { return Ok(None) };
        let is_unknown = self.of(db, org, benchmark)?.is_some_and(|known| !known.contains(name));
        let name = model::reading::shortened(name, 100);
        let words = || format!("the environment has no simulator `{name}`; this criterion will fail in every run");
        Ok(is_unknown.then(words))
    }
}

/// Sets the members that are not stored: whether it is a guard, and warnings about the weight of a critical criterion and
/// about unknown sandboxes.
fn derive_one(
    db: &mut Db<'_>,
    org: &OrgId,
    criterion: &mut Criterion,
    task: &Task,
    simulators: &mut SimulatorNames,
) -> Result<(), AppError> {
    criterion.guard = verify::is_guard(&criterion.assertion);
    let own = |position: usize| task.criteria.get(position).is_some_and(|sibling| sibling.id == criterion.id);
    let warning = too_light(&task.criteria).into_iter().find(|(position, _)| own(*position));
    criterion.warnings.extend(warning.map(|(_, words)| words));
    criterion.warnings.extend(simulators.warning(db, org, &task.benchmark_id, criterion)?);
    Ok(())
}

/// The same for all criteria of one task.
pub(crate) fn derive(
    db: &mut Db<'_>,
    org: &OrgId,
    task: &mut Task,
    simulators: &mut SimulatorNames,
) -> Result<(), AppError> {
    for (position, words) in too_light(&task.criteria) {
        if let Some(criterion) = task.criteria.get_mut(position) {
            criterion.warnings.push(words);
        }
    }
    for criterion in &mut task.criteria {
        criterion.guard = verify::is_guard(&criterion.assertion);
        criterion.warnings.extend(simulators.warning(db, org, &task.benchmark_id, criterion)?);
    }
    Ok(())
}

/// The warnings of critical criteria whose weight is too small, by their position in the task.
pub(crate) fn too_light(criteria: &[Criterion]) -> Vec<(usize, String)> {
    let weights: Vec<_> = criteria.iter().map(|criterion| (criterion.critical, criterion.weight)).collect();
    critical::too_light(&weights)
}
