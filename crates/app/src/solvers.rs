//! Solvers: the agents that run benchmarks.

use model::SolverId;
use model::identity::{NewSolver, Solver, SolverPatch};
use model::page::{Page, PageRequest};
use store::{Constraint, Db, StoreError, keys, solvers};

use crate::etag::IfMatch;
use crate::idempotency::ResponseStorage;
use crate::{App, AppError, Created, Once, OrgGrant};

pub async fn create(
    app: &App,
    grant: &OrgGrant,
    once: Option<Once>,
    new: NewSolver,
) -> Result<Created<Solver>, AppError> {
    let solver = new.into_solver(app.new_id(), app.now());
    solver.validate()?;
    let org = grant.org.clone();
    let work = move |db: &mut Db<'_>| {
        solvers::insert(db, &org, &solver).map_err(|error| alias_taken(error, &solver.alias))?;
        Ok(solver.clone())
    };
    app.once(grant, once, ResponseStorage::Plain, work).await
}

pub async fn get(app: &App, grant: &OrgGrant, solver: &SolverId) -> Result<Solver, AppError> {
    let (org, solver) = (grant.org.clone(), solver.clone());
    app.store().read(move |db| solvers::find(db, &org, &solver)?.ok_or(AppError::missing::<SolverId>())).await
}

pub async fn list(app: &App, grant: &OrgGrant, page: PageRequest) -> Result<Page<Solver>, AppError> {
    let org = grant.org.clone();
    app.store().read(move |db| Ok(solvers::list(db, &org, &page)?)).await
}

pub async fn update(
    app: &App,
    grant: &OrgGrant,
    solver: &SolverId,
    if_match: IfMatch,
    patch: SolverPatch,
) -> Result<Solver, AppError> {
    let (org, solver, now) = (grant.org.clone(), solver.clone(), app.now());
    let change = move |db: &mut Db<'_>| {
        let mut solver = solvers::find(db, &org, &solver)?.ok_or(AppError::missing::<SolverId>())?;
        if_match.check(&solver)?;
        patch.clone().apply(&mut solver);
        solver.validate()?;
        solver.updated_at = now;
        solvers::update(db, &org, &solver).map_err(|error| alias_taken(error, &solver.alias))?;
        Ok(solver)
    };
    app.store().write(change).await
}

/// Deletes the solver with its keys.
pub async fn delete(app: &App, grant: &OrgGrant, solver: &SolverId, if_match: IfMatch) -> Result<(), AppError> {
    let (org, solver, now) = (grant.org.clone(), solver.clone(), app.now());
    let change = move |db: &mut Db<'_>| {
        let found = solvers::find(db, &org, &solver)?.ok_or(AppError::missing::<SolverId>())?;
        if_match.check(&found)?;
        keys::revoke_of_solver(db, &org, &solver, now)?;
        Ok(solvers::delete(db, &org, &solver)?)
    };
    let deleted: Result<(), AppError> = app.store().write(change).await;
    app.inner.credentials.clear();
    deleted
}

fn alias_taken(error: StoreError, alias: &str) -> AppError {
    match error {
        StoreError::Unique(Constraint::SolverAlias) => {
            AppError::conflict(format!("the alias `{alias}` is taken by another solver"))
        }
        other => other.into(),
    }
}
