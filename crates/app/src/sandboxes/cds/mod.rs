//! The EHR of a CDS Hooks sandbox. Services are called between a query and the command that stores the result, so that a slow
//! service does not block the playground.

mod call;
mod feedback;
mod fire;
mod services;

use model::cds::CdsAnswer;
use model::page::{Page, PageRequest};
use serde_json::Value;
pub use sims::cds_hooks::invocations::Filter;
use sims::cds_hooks::{CdsError, answer, invocations};
use sims::idempotency::IdempotencyConflict;
use world::{Context, Outcome, Sandbox, World};

pub(crate) use call::Calls;
pub use feedback::{accept, feedback, list_feedback};
pub use fire::fire;
pub use services::{list_services, register, remove};

use super::Access;
use crate::{App, AppError};
use runtime::Cost;

/// Oldest first.
pub async fn list(app: &App, access: &Access, filter: Filter, request: PageRequest) -> Result<Page<Value>, AppError> {
    let actor = access.actor.clone();
    look(app, access, move |_, sandbox, _| passed(invocations::list(sandbox, &actor, &filter, &request))).await
}

pub async fn read(app: &App, access: &Access, id: String) -> Result<Value, AppError> {
    let actor = access.actor.clone();
    let found = look(app, access, move |_, sandbox, _| passed(invocations::read(sandbox, &actor, &id)));
    found.await?.ok_or(AppError::NotFound("invocation"))
}

/// The agent's response to a hook, if it is the service.
pub async fn respond(app: &App, access: &Access, id: String, answer: CdsAnswer) -> Result<Value, AppError> {
    let (actor, given) = (access.actor.clone(), answer.into_json());
    command(app, access, move |_, sandbox, context| answer::answer(sandbox, &actor, context, &id, &given)).await
}

/// A query to a sandbox that takes traffic, so that a service may be called after it.
async fn query<T, F>(app: &App, access: &Access, query: F) -> Result<T, AppError>
where
    F: FnOnce(&World, &Sandbox, &Context<'_>) -> Outcome<Result<T, CdsError>> + Send + 'static,
    T: Send + 'static,
{
    look(app, &access.during_traffic(), query).await
}

/// A query to the sandbox's state. It also works after the end of a task run, if the caller has that access.
async fn look<T, F>(app: &App, access: &Access, query: F) -> Result<T, AppError>
where
    F: FnOnce(&World, &Sandbox, &Context<'_>) -> Outcome<Result<T, CdsError>> + Send + 'static,
    T: Send + 'static,
{
    let id = access.sandbox.id.clone();
    let query = move |world: &World, context: &Context<'_>| match world.sandboxes.get(&id) {
        Some(sandbox) => query(world, sandbox, context),
        None => silent(Err(CdsError::Missing("sandbox"))),
    };
    app.runtime().query(access.reader(), Cost::Heavy, query).await?.map_err(refused)
}

/// A command.
async fn command<T, F>(app: &App, access: &Access, message: F) -> Result<T, AppError>
where
    F: Fn(&World, &Sandbox, &Context<'_>) -> Outcome<Result<T, CdsError>> + Send + 'static,
    T: Send + 'static,
{
    let id = access.sandbox.id.clone();
    let message = move |world: &World, context: &Context<'_>| match world.sandboxes.get(&id) {
        Some(sandbox) => message(world, sandbox, context),
        None => silent(Err(CdsError::Missing("sandbox"))),
    };
    app.runtime().command(&access.sandbox, message).await?.map_err(refused)
}

/// An outcome without events.
fn silent<T>(answer: T) -> Outcome<T> {
    Outcome { answer, changes: Vec::new(), events: Vec::new() }
}

fn passed<T>(outcome: Outcome<T>) -> Outcome<Result<T, CdsError>> {
    let Outcome { answer, changes, events } = outcome;
    Outcome { answer: Ok(answer), changes, events }
}

fn refused(refusal: CdsError) -> AppError {
    match refusal {
        CdsError::Invalid(errors) => AppError::Invalid(errors),
        CdsError::Missing(what) => AppError::NotFound(what),
        CdsError::Conflict(message) => AppError::conflict(message),
        CdsError::IdempotencyConflict(_) => AppError::conflict(IdempotencyConflict::MESSAGE),
    }
}
