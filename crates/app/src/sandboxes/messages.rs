//! Operations on the messages of a sandbox: sending, and reading conversations.

use model::SandboxId;
use model::message::NewMessage;
use model::page::{Page, PageRequest};
use serde_json::Value;
use sims::idempotency::{IdempotencyConflict, IdempotencyKey};
use sims::message::inbox;
pub use sims::message::inbox::Filter;
use sims::message::send::{self, SendError};
use world::{Context, Outcome, Sandbox, World};

use super::Access;
use crate::{App, AppError, Once};
use runtime::Cost;

/// Returns the stored message, with its delivery status.
pub async fn send(app: &App, access: &Access, new: NewMessage, once: Option<Once>) -> Result<Value, AppError> {
    let (id, actor, token) = (access.sandbox.id.clone(), access.actor.clone(), once.map(IdempotencyKey::from));
    let message = move |world: &World, context: &Context<'_>| {
        in_sandbox(world, &id, |sandbox| {
            let Outcome { answer, changes, events } = send::send(world, sandbox, &actor, context, &new, token.as_ref());
            Outcome { answer: answer.map_err(refused), changes, events }
        })
    };
    app.runtime().command(&access.sandbox, message).await?
}

/// Oldest first.
pub async fn list(app: &App, access: &Access, filter: Filter, request: PageRequest) -> Result<Page<Value>, AppError> {
    let (id, actor) = (access.sandbox.id.clone(), access.actor.clone());
    let question = move |world: &World, _: &Context<'_>| {
        in_sandbox(world, &id, |sandbox| answered(inbox::list(sandbox, &actor, &filter, &request)))
    };
    app.runtime().query(access.reader(), Cost::Heavy, question).await?
}

/// Returns one message and marks it as read.
pub async fn read(app: &App, access: &Access, message_id: String) -> Result<Value, AppError> {
    let (id, actor) = (access.sandbox.id.clone(), access.actor.clone());
    let message = move |world: &World, context: &Context<'_>| {
        in_sandbox(world, &id, |sandbox| answered(inbox::read(sandbox, &actor, context, &message_id)))
    };
    app.runtime().command_or_query(access.reader(), message).await??.ok_or(AppError::NotFound("message"))
}

fn refused(refusal: SendError) -> AppError {
    match refusal {
        SendError::Invalid(errors) => AppError::Invalid(errors),
        SendError::IdempotencyConflict(_) => AppError::conflict(IdempotencyConflict::MESSAGE),
    }
}

fn answered<T>(outcome: Outcome<T>) -> Outcome<Result<T, AppError>> {
    let Outcome { answer, changes, events } = outcome;
    Outcome { answer: Ok(answer), changes, events }
}

fn in_sandbox<T>(
    world: &World,
    id: &SandboxId,
    run: impl FnOnce(&Sandbox) -> Outcome<Result<T, AppError>>,
) -> Outcome<Result<T, AppError>> {
    match world.sandboxes.get(id) {
        Some(sandbox) => run(sandbox),
        None => Outcome { answer: Err(AppError::missing::<SandboxId>()), changes: Vec::new(), events: Vec::new() },
    }
}
