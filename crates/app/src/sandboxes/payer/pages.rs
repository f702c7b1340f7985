//! Operations of the portal's pages. Each request opens a visit, and all other operations take the resulting visitor.

use std::sync::Arc;

use model::SandboxId;
use model::page::{Page as Rows, PageRequest};
use model::portal::NewInformation;
use serde_json::Value;
pub use sims::payer::accounts::InjectedFault;
use sims::payer::accounts::{self, LoginResult};
pub use sims::payer::config::{PayerConfig, Portal};
use sims::payer::context::{PortalContext, PortalInterface, PortalOutcome};
use sims::payer::directory;
pub use sims::payer::drafts::{DRAFT_PREFIX, DraftEdit, draft_errors};
pub use sims::payer::faults::{Field, Page};
pub use sims::payer::questions::{Question, QuestionKind, portal_questions};
use sims::payer::requests::ChangedRequest;
use sims::payer::submission::Addition;
pub use sims::payer::submission::URGENCIES;
use sims::payer::{drafts, request_list, requests};
use store::sandboxes::StoredSandbox;
use subtle::ConstantTimeEq;
use world::Outcome;

use super::{
    Attachment, MemberFilter, ProviderFilter, RequestFilter, Visit, command, is_account, is_password, kept, portal,
    query,
};
use crate::sandboxes::{Access, credentials};
use crate::{App, AppError};

/// A browser at the portal, logged in or not.
#[derive(Clone)]
pub struct Visitor {
    access: Access,
    visit: Visit,
    pub config: Arc<PayerConfig>,
    /// Whether its login has timed out.
    pub has_expired: bool,
}

impl Visitor {
    pub fn is_in(&self) -> bool {
        self.visit.login.is_some()
    }

    pub fn username(&self) -> &str {
        &self.access.actor
    }

    /// The cookie for the response, with the current time.
    pub fn cookie(&self) -> String {
        self.visit.sign(&self.access.sandbox)
    }

    /// The token for every form of this visit.
    pub fn form_token(&self) -> String {
        self.visit.form_token(&self.access.sandbox)
    }

    pub fn owns_form(&self, token: &str) -> bool {
        self.form_token().as_bytes().ct_eq(token.as_bytes()).into()
    }
}

/// Opens the portal for a browser, with the cookie that it sent.
pub async fn open(app: &App, id: &SandboxId, cookie: Option<&str>) -> Result<Visitor, AppError> {
    let sandbox = portal(app, id).await?;
    let config = Arc::new(PayerConfig::of(&sandbox.config));
    let known = cookie.and_then(|cookie| Visit::read(&sandbox, cookie));
    let access = Access { actor: credentials::own(&sandbox, "username"), sandbox, after_end: false };
    let is_here = known.clone().and_then(|visit| visit.login);
    // In any case, because a portal that takes no traffic shows nothing.
    let is_in = query(app, &access, PortalInterface::Pages, move |portal| {
        let is_in = is_here.is_some_and(|login| accounts::is_logged_in(portal, &login));
        Outcome { answer: Ok(is_in), changes: Vec::new(), events: Vec::new() }
    });
    let is_in = is_in.await?;
    let is_late = known.as_ref().is_some_and(|visit| visit.is_past(app.now(), config.session_milliseconds()));
    let had_login = known.as_ref().is_some_and(|visit| visit.login.is_some());
    let visit = match known {
        Some(visit) if had_login == is_in && !(had_login && is_late) => visit.seen_now(app),
        _ => Visit::new(app, None)?,
    };
    Ok(Visitor { has_expired: had_login && visit.login.is_none() && is_in, access, visit, config })
}

/// Why a login failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoginRefusal {
    Wrong,
    Locked,
}

/// An unknown account is rejected like a wrong password. It is not logged, because anyone could fill the log of a run.
pub async fn login(
    app: &App,
    visitor: &Visitor,
    username: &str,
    password: &str,
) -> Result<Result<Visitor, LoginRefusal>, AppError> {
    let sandbox: &StoredSandbox = &visitor.access.sandbox;
    let (is_account, is_right) = (is_account(sandbox, username), is_password(sandbox, password));
    if !is_account {
        return Ok(Err(LoginRefusal::Wrong));
    }
    Ok(
        match command(app, &visitor.access, PortalInterface::Pages, move |portal| accounts::login(portal, is_right))
            .await?
        {
            LoginResult::LoggedIn(login) => {
                let visit = Visit::new(app, Some(login))?;
                Ok(Visitor { visit, has_expired: false, ..visitor.clone() })
            }
            LoginResult::WrongPassword => Err(LoginRefusal::Wrong),
            LoginResult::Locked => Err(LoginRefusal::Locked),
        },
    )
}

/// The visitor after a logout.
pub async fn logout(app: &App, visitor: &Visitor) -> Result<Visitor, AppError> {
    if let Some(login) = visitor.visit.login.clone() {
        command(app, &visitor.access, PortalInterface::Pages, move |portal| accounts::logout(portal, &login)).await?;
    }
    Ok(Visitor { visit: Visit::new(app, None)?, ..visitor.clone() })
}

/// The failure that the author has configured for the page.
pub async fn mishap(app: &App, visitor: &Visitor, page: Page) -> Result<Option<InjectedFault>, AppError> {
    let faults = &visitor.config.faults;
    if faults.session_expires_at != Some(page) && faults.unavailable_at != Some(page) {
        return Ok(None);
    }
    command(app, &visitor.access, PortalInterface::Pages, move |portal| accounts::trigger_fault(portal, page)).await
}

pub async fn requests(
    app: &App,
    visitor: &Visitor,
    filter: RequestFilter,
    request: PageRequest,
) -> Result<Rows<Value>, AppError> {
    query(app, &visitor.access, PortalInterface::Pages, move |portal| request_list::list(portal, &filter, &request))
        .await
}

/// Whether a read is logged. Reads that a page needs internally are not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    Seen,
    Aside,
}

impl Look {
    fn log_if_seen<T>(self, mut done: PortalOutcome<T>) -> PortalOutcome<T> {
        if self == Look::Aside {
            done.events.clear();
        }
        done
    }
}

pub async fn request(app: &App, visitor: &Visitor, number: String, look: Look) -> Result<Value, AppError> {
    query(app, &visitor.access, PortalInterface::Pages, move |portal| look.log_if_seen(requests::get(portal, &number)))
        .await
}

pub async fn inform(
    app: &App,
    visitor: &Visitor,
    number: String,
    information: NewInformation,
    attachments: Vec<Attachment>,
) -> Result<ChangedRequest, AppError> {
    let addition =
        Addition { information, uploads: kept(app, &visitor.access, attachments).await?, idempotency_key: None };
    command(app, &visitor.access, PortalInterface::Pages, move |portal| requests::add(portal, &number, &addition)).await
}

pub async fn withdraw(app: &App, visitor: &Visitor, number: String) -> Result<ChangedRequest, AppError> {
    command(app, &visitor.access, PortalInterface::Pages, move |portal| requests::withdraw(portal, &number, None)).await
}

pub async fn patients(
    app: &App,
    visitor: &Visitor,
    filter: MemberFilter,
    request: PageRequest,
) -> Result<Rows<Value>, AppError> {
    query(app, &visitor.access, PortalInterface::Pages, move |portal| directory::members(portal, &filter, &request))
        .await
}

pub async fn providers(
    app: &App,
    visitor: &Visitor,
    filter: ProviderFilter,
    request: PageRequest,
) -> Result<Rows<Value>, AppError> {
    query(app, &visitor.access, PortalInterface::Pages, move |portal| directory::providers(portal, &filter, &request))
        .await
}

pub async fn formulary(
    app: &App,
    visitor: &Visitor,
    drug: Option<String>,
    request: PageRequest,
    look: Look,
) -> Result<Rows<Value>, AppError> {
    let found =
        move |portal: &PortalContext<'_>| look.log_if_seen(directory::formulary(portal, drug.as_deref(), &request));
    query(app, &visitor.access, PortalInterface::Pages, found).await
}

pub async fn drafts(app: &App, visitor: &Visitor) -> Result<Vec<Value>, AppError> {
    query(app, &visitor.access, PortalInterface::Pages, drafts::list).await
}

pub async fn draft(app: &App, visitor: &Visitor, key: String, look: Look) -> Result<Value, AppError> {
    query(app, &visitor.access, PortalInterface::Pages, move |portal| look.log_if_seen(drafts::get(portal, &key))).await
}

/// The key in a form for a new request, so that sending the form twice creates one draft.
pub fn new_draft(app: &App) -> String {
    format!("{DRAFT_PREFIX}{}", runtime::unordered_id(app.now()))
}

/// Creates a draft for the form with this key. The same form again returns the same draft.
pub async fn begin(app: &App, visitor: &Visitor, key: String) -> Result<Value, AppError> {
    command(app, &visitor.access, PortalInterface::Pages, move |portal| drafts::begin(portal, &key)).await
}

pub async fn save(
    app: &App,
    visitor: &Visitor,
    key: String,
    mut edit: DraftEdit,
    attachments: Vec<Attachment>,
) -> Result<Value, AppError> {
    edit.uploads = kept(app, &visitor.access, attachments).await?;
    command(app, &visitor.access, PortalInterface::Pages, move |portal| drafts::save(portal, &key, &edit)).await
}

pub async fn discard(app: &App, visitor: &Visitor, key: String) -> Result<(), AppError> {
    command(app, &visitor.access, PortalInterface::Pages, move |portal| drafts::discard(portal, &key)).await
}

pub async fn submit(app: &App, visitor: &Visitor, key: String) -> Result<ChangedRequest, AppError> {
    command(app, &visitor.access, PortalInterface::Pages, move |portal| drafts::submit(portal, &key)).await
}
