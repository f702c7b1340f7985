//! Operations on a phone line: making, answering and reading calls.

mod listeners;
mod recording;
mod synthesis;

use std::sync::Arc;

use clinical::is_same_phone_number;
use model::SandboxId;
use model::page::{Page, PageRequest};
use model::simulator::SimulatorType;
use model::voice::{NewCall, NewTurn};
use serde_json::Value;
use sims::idempotency::{IdempotencyConflict, IdempotencyKey};
pub use sims::voice::calls::Exchange;
use sims::voice::calls::{self, CallError, CallRequest};
use sims::voice::inbox;
pub use sims::voice::inbox::Filter;
pub use sims::voice::wire;
use world::{Context, Outcome, Sandbox, World};

pub use listeners::Listener;
pub(crate) use listeners::Listeners;
pub use recording::record;

use super::{Access, credentials};
use crate::{App, AppError, Once};
use runtime::Cost;

/// The number of the line.
pub fn number(access: &Access) -> String {
    credentials::phone_number(&access.sandbox)
}

/// The agent calls the line, or another line of the playground by its number.
pub async fn dial(app: &App, access: &Access, new: NewCall, once: Option<Once>) -> Result<Exchange, AppError> {
    let line = match &new.to {
        Some(to) => line_with(app, access, to).await?,
        None => access.clone(),
    };
    let number = number(&line);
    command(app, &line, None, once, move |world, request| calls::dial(world, request, &new, &number)).await
}

/// The line of the playground with this number; the caller's own line if there is none.
async fn line_with(app: &App, access: &Access, to: &str) -> Result<Access, AppError> {
    if is_same_phone_number(to, &number(access)) {
        return Ok(access.clone());
    }
    let playground = access.sandbox.playground.clone();
    let all = app.store().read(move |db| store::sandboxes::of_playground(db, &playground)).await?;
    let mut lines = all.into_iter().filter(|one| one.kind == SimulatorType::Voice && one.torn_down_at.is_none());
    let found = lines.find(|line| is_same_phone_number(to, &credentials::phone_number(line)));
    Ok(found.map_or_else(|| access.clone(), |line| Access { sandbox: Arc::new(line), ..access.clone() }))
}

/// The agent answers a ringing call.
pub async fn answer(app: &App, access: &Access, call: String, once: Option<Once>) -> Result<Exchange, AppError> {
    command(app, access, Some(call.clone()), once, move |_, request| calls::answer(request, &call)).await
}

/// The agent speaks, presses keys or stays silent.
pub async fn turn(
    app: &App,
    access: &Access,
    call: String,
    new: NewTurn,
    once: Option<Once>,
) -> Result<Exchange, AppError> {
    command(app, access, Some(call.clone()), once, move |world, request| calls::turn(world, request, &call, &new)).await
}

/// The agent ends a call.
pub async fn hang_up(app: &App, access: &Access, call: String) -> Result<Exchange, AppError> {
    command(app, access, Some(call.clone()), None, move |_, request| calls::hang_up(request, &call)).await
}

/// Oldest first.
pub async fn list(app: &App, access: &Access, filter: Filter, request: PageRequest) -> Result<Page<Value>, AppError> {
    query(app, access, None, move |sandbox, actor| inbox::calls(sandbox, actor, &filter, &request)).await
}

pub async fn get(app: &App, access: &Access, call: String) -> Result<Value, AppError> {
    query(app, access, Some(call.clone()), move |sandbox, actor| inbox::call(sandbox, actor, &call))
        .await?
        .ok_or(NO_CALL)
}

/// In their order.
pub async fn turns(app: &App, access: &Access, call: String, request: PageRequest) -> Result<Page<Value>, AppError> {
    let wanted = call.clone();
    let read = move |sandbox: &Sandbox, actor: &str| inbox::turns(sandbox, actor, &call, &request);
    query(app, access, Some(wanted), read).await?.ok_or(NO_CALL)
}

/// Oldest first.
pub async fn voicemails(app: &App, access: &Access, request: PageRequest) -> Result<Page<Value>, AppError> {
    query(app, access, None, move |sandbox, actor| inbox::voicemails(sandbox, actor, &request)).await
}

/// Returns one voicemail and marks it as heard.
pub async fn voicemail(app: &App, access: &Access, voicemail: String) -> Result<Value, AppError> {
    let (id, actor) = (access.sandbox.id.clone(), access.actor.clone());
    let message = move |world: &World, context: &Context<'_>| {
        in_sandbox(world, &id, |sandbox| {
            let Outcome { answer, changes, events } = inbox::voicemail(sandbox, &actor, context, &voicemail);
            Outcome { answer: Ok(answer), changes, events }
        })
    };
    app.runtime().command_or_query(access.reader(), message).await??.ok_or(AppError::NotFound("voicemail"))
}

/// The call and its turns from a position, for a stream. Not logged, and not available after the end of a task run.
pub async fn since(app: &App, access: &Access, call: String, from: u64) -> Result<(Value, Vec<Value>), AppError> {
    let wanted = call.clone();
    let read = move |sandbox: &Sandbox, _: &str| Outcome {
        answer: inbox::since(sandbox, &call, from),
        changes: Vec::new(),
        events: Vec::new(),
    };
    query(app, &access.during_traffic(), Some(wanted), read).await?.ok_or(NO_CALL)
}

/// Whether the sandbox takes traffic.
pub async fn check_open(app: &App, access: &Access) -> Result<(), AppError> {
    let nothing = |_: &Sandbox, _: &str| Outcome { answer: (), changes: Vec::new(), events: Vec::new() };
    query(app, &access.during_traffic(), None, nothing).await
}

const NO_CALL: AppError = AppError::NotFound("call");

/// A command on the caller's line, or on the line of the playground that has the call.
async fn command<F>(
    app: &App,
    access: &Access,
    call: Option<String>,
    once: Option<Once>,
    act: F,
) -> Result<Exchange, AppError>
where
    F: Fn(&World, CallRequest<'_>) -> Outcome<Result<Exchange, CallError>> + Send + 'static,
{
    let (id, actor, token) = (access.sandbox.id.clone(), access.actor.clone(), once.map(IdempotencyKey::from));
    let message = move |world: &World, context: &Context<'_>| {
        in_sandbox(world, line_of(world, &id, call.as_deref()), |sandbox| {
            if token.as_ref().is_some_and(|token| calls::is_used_elsewhere(world, sandbox, token)) {
                return Outcome { answer: Err(used_otherwise()), changes: Vec::new(), events: Vec::new() };
            }
            let request = CallRequest { sandbox, actor: &actor, context, idempotency_key: token.as_ref() };
            let Outcome { answer, changes, events } = act(world, request);
            Outcome { answer: answer.map_err(refused), changes, events }
        })
    };
    let exchange = app.runtime().command(&access.sandbox, message).await??;
    if let Some(call) = exchange.call["id"].as_str() {
        app.inner.listeners.wake(call);
    }
    Ok(exchange)
}

async fn query<T, F>(app: &App, access: &Access, call: Option<String>, query: F) -> Result<T, AppError>
where
    F: FnOnce(&Sandbox, &str) -> Outcome<T> + Send + 'static,
    T: Send + 'static,
{
    let (id, actor) = (access.sandbox.id.clone(), access.actor.clone());
    let query = move |world: &World, _: &Context<'_>| {
        in_sandbox(world, line_of(world, &id, call.as_deref()), |sandbox| {
            let Outcome { answer, changes, events } = query(sandbox, &actor);
            Outcome { answer: Ok(answer), changes, events }
        })
    };
    app.runtime().query(access.reader(), Cost::Heavy, query).await?
}

/// The caller's line, or the line that has the call. A line that was torn down cannot be reached through another one.
fn line_of<'a>(world: &'a World, own: &'a SandboxId, call: Option<&str>) -> &'a SandboxId {
    let Some(call) = call else { return own };
    let after_end = world.sandboxes.get(own).is_some_and(|sandbox| !sandbox.is_active);
    let has = |sandbox: &&Sandbox| {
        sandbox.kind == SimulatorType::Voice && (sandbox.is_active || after_end) && calls::has_call(sandbox, call)
    };
    let is_here = world.sandboxes.get(own).is_some_and(|sandbox| calls::has_call(sandbox, call));
    let other = || world.sandboxes.values().find(has).map(|sandbox| &sandbox.id);
    if is_here { own } else { other().unwrap_or(own) }
}

fn refused(refusal: CallError) -> AppError {
    match refusal {
        CallError::Invalid(errors) => AppError::Invalid(errors),
        CallError::NoSuchCall => NO_CALL,
        CallError::Conflict(words) => AppError::conflict(words),
        CallError::IdempotencyConflict(_) => used_otherwise(),
    }
}

fn used_otherwise() -> AppError {
    AppError::conflict(IdempotencyConflict::MESSAGE)
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
