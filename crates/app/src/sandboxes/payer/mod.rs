//! Operations on a payer portal, for its REST API and its pages.

pub mod pages;
mod visit;

use std::sync::Arc;

use bytes::Bytes;
use model::SandboxId;
use model::page::{Page, PageRequest};
use model::portal::{NewDocument, NewInformation, NewPriorAuth};
use model::simulator::SimulatorType;
use serde_json::Value;
use sims::payer::context::{self, PortalClient, PortalContext, PortalError, PortalInterface, PortalOutcome};
use sims::payer::directory;
pub use sims::payer::directory::{MemberFilter, ProviderFilter};
use sims::payer::documents::{self, Upload};
pub use sims::payer::documents::{Attachment, MAX_DOCUMENT_BYTES, MAX_DOCUMENTS_PER_MESSAGE};
use sims::payer::idempotency::IdempotencyKey;
pub use sims::payer::request_list::RequestFilter;
use sims::payer::requests::ChangedRequest;
use sims::payer::submission::{Addition, Submission};
use sims::payer::{request_list, requests};
use store::sandboxes::StoredSandbox;
use subtle::ConstantTimeEq;
pub use visit::Visit;
use world::Outcome;

use super::{Access, credentials};
use crate::{App, AppError, Created, Once};
use runtime::Cost;

/// The account's name and password, as a client of the REST API sends them.
pub async fn admit_login(app: &App, id: &SandboxId, username: &str, password: &str) -> Result<Access, AppError> {
    const REFUSED: AppError = AppError::Unauthorized("the name or the password is wrong");
    let sandbox =
        app.runtime().sandbox(id).await?.filter(|sandbox| sandbox.kind == SimulatorType::Payer).ok_or(REFUSED)?;
    if !is_account(&sandbox, username) | !is_password(&sandbox, password) {
        return Err(REFUSED);
    }
    Ok(Access { actor: credentials::own(&sandbox, "username"), sandbox, after_end: false })
}

fn is_account(sandbox: &StoredSandbox, username: &str) -> bool {
    credentials::own(sandbox, "username").as_bytes().ct_eq(username.as_bytes()).into()
}

fn is_password(sandbox: &StoredSandbox, password: &str) -> bool {
    credentials::own(sandbox, "password").as_bytes().ct_eq(password.as_bytes()).into()
}

pub async fn submit(
    app: &App,
    access: &Access,
    new: NewPriorAuth,
    once: Option<Once>,
) -> Result<Created<Value>, AppError> {
    let uploads = kept(app, access, documents::read(&new.documents)?).await?;
    let submission = Submission { new, uploads, idempotency_key: token(once) };
    let changed =
        command(app, access, PortalInterface::Api, move |portal| requests::submit(portal, &submission, None)).await?;
    Ok(created(changed))
}

pub async fn list(
    app: &App,
    access: &Access,
    filter: RequestFilter,
    request: PageRequest,
) -> Result<Page<Value>, AppError> {
    query(app, access, PortalInterface::Api, move |portal| request_list::list(portal, &filter, &request)).await
}

pub async fn get(app: &App, access: &Access, number: String) -> Result<Value, AppError> {
    query(app, access, PortalInterface::Api, move |portal| requests::get(portal, &number)).await
}

/// Adds documents to an existing request.
pub async fn add_documents(
    app: &App,
    access: &Access,
    number: String,
    attachments: Vec<Attachment>,
    once: Option<Once>,
) -> Result<Created<Value>, AppError> {
    add(app, access, number, NewInformation::default(), attachments, once).await
}

pub fn read_document(new: &NewDocument) -> Result<Attachment, AppError> {
    Ok(documents::from_new(new)?)
}

/// Sends the information that the payer asked for.
pub async fn inform(
    app: &App,
    access: &Access,
    number: String,
    information: NewInformation,
    once: Option<Once>,
) -> Result<Created<Value>, AppError> {
    let attachments = documents::read(&information.documents)?;
    add(app, access, number, information, attachments, once).await
}

async fn add(
    app: &App,
    access: &Access,
    number: String,
    information: NewInformation,
    attachments: Vec<Attachment>,
    once: Option<Once>,
) -> Result<Created<Value>, AppError> {
    check_there(app, access, number.clone()).await?;
    let addition =
        Addition { information, uploads: kept(app, access, attachments).await?, idempotency_key: token(once) };
    let changed =
        command(app, access, PortalInterface::Api, move |portal| requests::add(portal, &number, &addition)).await?;
    Ok(created(changed))
}

pub async fn withdraw(
    app: &App,
    access: &Access,
    number: String,
    once: Option<Once>,
) -> Result<Created<Value>, AppError> {
    let once = token(once);
    let changed =
        command(app, access, PortalInterface::Api, move |portal| requests::withdraw(portal, &number, once.as_ref()))
            .await?;
    Ok(created(changed))
}

pub async fn patients(
    app: &App,
    access: &Access,
    filter: MemberFilter,
    request: PageRequest,
) -> Result<Page<Value>, AppError> {
    query(app, access, PortalInterface::Api, move |portal| directory::members(portal, &filter, &request)).await
}

pub async fn providers(
    app: &App,
    access: &Access,
    filter: ProviderFilter,
    request: PageRequest,
) -> Result<Page<Value>, AppError> {
    query(app, access, PortalInterface::Api, move |portal| directory::providers(portal, &filter, &request)).await
}

pub async fn formulary(
    app: &App,
    access: &Access,
    drug: Option<String>,
    request: PageRequest,
) -> Result<Page<Value>, AppError> {
    query(app, access, PortalInterface::Api, move |portal| directory::formulary(portal, drug.as_deref(), &request))
        .await
}

/// Stores the bytes of documents, if the portal takes traffic, and returns their metadata.
async fn kept(app: &App, access: &Access, attachments: Vec<Attachment>) -> Result<Vec<Upload>, AppError> {
    let nothing =
        |_: &world::World, _: &world::Context<'_>| Outcome { answer: (), changes: Vec::new(), events: Vec::new() };
    app.runtime().query(&access.sandbox, Cost::Light, nothing).await?;
    let mut uploads = Vec::with_capacity(attachments.len());
    for attachment in attachments {
        uploads.push(attachment.metadata());
        if let Some(bytes) = attachment.bytes {
            app.blobs().put(Bytes::from(bytes)).await?;
        }
    }
    Ok(uploads)
}

/// Called before bytes are stored. Logs no event, because the following command does.
async fn check_there(app: &App, access: &Access, number: String) -> Result<(), AppError> {
    let found = move |portal: &PortalContext<'_>| {
        let mut found = requests::get(portal, &number);
        found.events.clear();
        found
    };
    query(app, &access.during_traffic(), PortalInterface::Api, found).await.map(drop)
}

/// A query to the portal. Many queries read FHIR data and are therefore heavy.
async fn query<T: Send + 'static>(
    app: &App,
    access: &Access,
    interface: PortalInterface,
    run: impl FnOnce(&PortalContext<'_>) -> PortalOutcome<T> + Send + 'static,
) -> Result<T, AppError> {
    let (id, client) = (access.sandbox.id.clone(), PortalClient { name: access.actor.clone(), interface });
    let query =
        move |world: &world::World, context: &world::Context<'_>| context::handle(world, &id, &client, context, run);
    app.runtime().query(access.reader(), Cost::Heavy, query).await?.map_err(portal_error)
}

async fn command<T: Send + 'static>(
    app: &App,
    access: &Access,
    interface: PortalInterface,
    run: impl Fn(&PortalContext<'_>) -> PortalOutcome<T> + Send + 'static,
) -> Result<T, AppError> {
    let (id, client) = (access.sandbox.id.clone(), PortalClient { name: access.actor.clone(), interface });
    let message =
        move |world: &world::World, context: &world::Context<'_>| context::handle(world, &id, &client, context, &run);
    app.runtime().command(&access.sandbox, message).await?.map_err(portal_error)
}

fn portal_error(error: PortalError) -> AppError {
    match error {
        PortalError::Invalid(errors) => AppError::Invalid(errors),
        PortalError::NotFound(what) => AppError::NotFound(what),
        PortalError::Conflict(message) => AppError::conflict(message),
    }
}

fn token(once: Option<Once>) -> Option<IdempotencyKey> {
    once.map(IdempotencyKey::from)
}

fn created(changed: ChangedRequest) -> Created<Value> {
    Created { value: changed.row, replayed: !changed.is_new }
}

/// Finds a portal, without checking who asks.
async fn portal(app: &App, id: &SandboxId) -> Result<Arc<StoredSandbox>, AppError> {
    let sandbox = app.runtime().sandbox(id).await?.filter(|sandbox| sandbox.kind == SimulatorType::Payer);
    sandbox.ok_or(AppError::missing::<SandboxId>())
}
