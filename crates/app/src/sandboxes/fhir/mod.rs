//! Operations on a FHIR sandbox: access, and request handling.

mod own_paths;
mod remote;
pub mod token;

use std::sync::Arc;

use model::simulator::SimulatorType;
use model::{Id, SandboxId};
use sims::fhir::config::{FhirConfig, Remote};
use sims::fhir::handle::{self, FhirClient};
pub use sims::fhir::http::{HEADERS, Request, Response};
use sims::fhir::scopes::Scopes;
use store::sandboxes::StoredSandbox;

use crate::{App, AppError, OrgGrant};
use runtime::{Cost, SandboxReader};

/// A caller with access to a FHIR sandbox.
#[derive(Clone)]
pub struct Access {
    sandbox: Arc<StoredSandbox>,
    client: FhirClient,
    after_end: bool,
}

impl Access {
    pub fn sandbox(&self) -> &SandboxId {
        &self.sandbox.id
    }

    /// Anonymous requests are not logged: anyone could fill the log of a run, or use up its agent's budget.
    fn is_anonymous(&self) -> bool {
        self.client.name == ANONYMOUS
    }
}

/// A key of the organization has full access to its sandboxes.
pub async fn admit_key(app: &App, grant: &OrgGrant, id: &SandboxId) -> Result<Access, AppError> {
    Ok(super::Access::by_key(app, grant, id, SimulatorType::Fhir).await?.into())
}

/// Access to a sandbox is full access to its FHIR server.
impl From<super::Access> for Access {
    fn from(access: super::Access) -> Self {
        let super::Access { sandbox, actor, after_end } = access;
        Self { sandbox, client: FhirClient { name: actor, scopes: None }, after_end }
    }
}

/// A SMART access token has the access of its scopes, in the sandbox that issued it.
pub async fn admit_token(app: &App, presented: &str, id: &SandboxId) -> Result<Access, AppError> {
    const REFUSED: AppError = AppError::Unauthorized("the access token is unknown, expired or of another sandbox");
    let sandbox =
        app.runtime().sandbox(id).await?.filter(|sandbox| sandbox.kind == SimulatorType::Fhir).ok_or(REFUSED)?;
    let scopes = token::verify(&sandbox, presented, app.now()).ok_or(REFUSED)?;
    Ok(Access { client: FhirClient { name: sandbox.id.to_string(), scopes: Some(scopes) }, sandbox, after_end: false })
}

/// The client name of requests without a credential.
const ANONYMOUS: &str = "anonymous";

/// Without a credential, a client can only read the capability statement and the SMART configuration.
pub async fn admit_anyone(app: &App, id: &SandboxId) -> Result<Access, AppError> {
    let sandbox = app.runtime().sandbox(id).await?.filter(|sandbox| sandbox.kind == SimulatorType::Fhir);
    let sandbox = sandbox.ok_or(AppError::NotFound(SandboxId::NOUN))?;
    let client = FhirClient { name: ANONYMOUS.into(), scopes: Some(Scopes::default()) };
    Ok(Access { sandbox, client, after_end: false })
}

pub async fn exchange(app: &App, access: Access, mut request: Request) -> Result<Response, AppError> {
    if own_paths::may_mention_run(&request) {
        request.other_paths = own_paths::of_run(app, &access.sandbox).await?;
    }
    if let Some(remote) = remote_of(&access.sandbox).filter(|_| request.path != SMART_CONFIGURATION) {
        return remote::exchange(app, access, &remote, request).await;
    }
    let is_anonymous = access.is_anonymous();
    let Access { sandbox, client, after_end } = access;
    let id = sandbox.id.clone();
    if handle::is_read_only(&request) {
        let cost = if is_plain_read(&request) { Cost::Light } else { Cost::Heavy };
        let query = move |world: &world::World, context: &world::Context<'_>| {
            let mut outcome = handle::handle(world, &id, &client, &request, context);
            if is_anonymous {
                outcome.events.clear();
            }
            outcome
        };
        return Ok(app.runtime().query(SandboxReader { sandbox: &sandbox, after_end }, cost, query).await?);
    }
    let command = move |world: &world::World, context: &world::Context<'_>| {
        handle::handle(world, &id, &client, &request, context)
    };
    Ok(app.runtime().command(&sandbox, command).await?)
}

/// This server issues the tokens, also for remote sandboxes.
const SMART_CONFIGURATION: &str = ".well-known/smart-configuration";

fn remote_of(sandbox: &StoredSandbox) -> Option<Remote> {
    // Most sandboxes have none. Then the config is not parsed.
    sandbox.config.get("remote")?;
    sims::authored::read::<FhirConfig>(&sandbox.config).ok()?.remote
}

/// `GET Patient/1`, which is a single lookup. Escaped forms such as `Patient/%241` do not count.
fn is_plain_read(request: &Request) -> bool {
    let is_name = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let is_id = |part: &str| part.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.'));
    let mut parts = request.path.split('/');
    let names_one = parts.next().is_some_and(is_name) && parts.next().is_some_and(is_id) && parts.next().is_none();
    let is_read = matches!(request.method.as_str(), "GET" | "HEAD");
    is_read && names_one && request.query.is_empty()
}
