//! Runs the HTTP operations that simulators describe as data.

use model::SandboxId;
use model::page::PageRequest;
use model::simulator::SimulatorType;
use runtime::Cost;
use sims::idempotency::IdempotencyKey;
use sims::operation::OperationCall;
pub use sims::operation::{
    Method, Mode, NamedSchema, OperationEntry, OperationError, OperationInfo, PreparedOperation, Reply,
};
use world::{Context, Outcome, World};

use super::Access;
use crate::{App, AppError, Once};

/// Every operation, with the type of simulator whose sandboxes have it.
pub fn all() -> impl Iterator<Item = (SimulatorType, &'static OperationEntry)> {
    sims::catalog().iter().flat_map(|info| info.operations.iter().map(|operation| (info.kind, operation)))
}

/// What a request holds besides its query and body.
pub struct RequestParts {
    /// The path's parameters, in order.
    pub path: Vec<String>,
    pub page: PageRequest,
    pub once: Option<Once>,
}

pub async fn run(
    app: &App,
    access: &Access,
    mode: Mode,
    operation: PreparedOperation,
    request: RequestParts,
) -> Result<Reply, AppError> {
    let (id, actor) = (access.sandbox.id.clone(), access.actor.clone());
    let token = request.once.map(IdempotencyKey::from);
    let run = move |world: &World, context: &Context<'_>| {
        let Some(sandbox) = world.sandboxes.get(&id) else {
            let missing = Err(AppError::missing::<SandboxId>());
            return Outcome { answer: missing, changes: Vec::new(), events: Vec::new() };
        };
        let (path, page, token) = (request.path.as_slice(), &request.page, token.as_ref());
        let call = OperationCall { world, sandbox, context, actor: &actor, path, page, token };
        let Outcome { answer, changes, events } = operation(&call);
        Outcome { answer: answer.map_err(AppError::from), changes, events }
    };
    let runtime = app.runtime();
    match mode {
        Mode::Query => runtime.query(access.reader(), Cost::Heavy, run).await?,
        Mode::Command => runtime.command(&access.sandbox, run).await?,
        Mode::MarkingRead => runtime.command_or_query(access.reader(), run).await?,
    }
}

impl From<OperationError> for AppError {
    fn from(error: OperationError) -> Self {
        match error {
            OperationError::Invalid(errors) => Self::Invalid(errors),
            OperationError::NotFound(noun) => Self::NotFound(noun),
            OperationError::Conflict(message) => Self::conflict(message),
        }
    }
}
