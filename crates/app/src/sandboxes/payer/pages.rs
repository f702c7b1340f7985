//! What the portal's pages do: a visit is opened for each request, and everything else takes the visitor that it gave.

use std::sync::Arc;

use model::SandboxId;
use model::page::{Page as Rows, PageRequest};
use model::portal::NewInformation;
use serde_json::Value;
use sims::payer::accounts::{self, Login, Mishap};
use sims::payer::call::{Call, Channel, Done};
pub use sims::payer::config::{PayerConfig, Portal};
use sims::payer::directory;
pub use sims::payer::drafts::{DRAFT_PREFIX, Edit, faults};
pub use sims::payer::faults::{Field, Page};
pub use sims::payer::questions::{Kind, Question, asked};
use sims::payer::requests::Changed;
use sims::payer::submission::Addition;
pub use sims::payer::submission::URGENCIES;
use sims::payer::{drafts, request_list, requests};
use store::sandboxes::StoredSandbox;
use subtle::ConstantTimeEq;
use world::Outcome;

use super::{
    Attachment, Filter, MemberFilter, ProviderFilter, Visit, ask, is_account, is_password, kept, portal, tell,
};
use crate::sandboxes::{Access, credentials};
use crate::{App, AppError};

/// A browser at the portal, logged in or not.
#[derive(Clone)]
pub struct Visitor {
    access: Access,
    visit: Visit,
    pub config: Arc<PayerConfig>,
    /// It was logged in until its time was over.
    pub has_expired: bool,
}

impl Visitor {
    pub fn is_in(&self) -> bool {
        self.visit.login.is_some()
    }

    pub fn username(&self) -> &str {
        &self.access.actor
    }

    /// The cookie to answer with: it says that the browser was seen now.
    pub fn cookie(&self) -> String {
        self.visit.sign(&self.access.sandbox)
    }

    /// What every form of this visit carries.
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
    let access = Access { actor: credentials::portal_username(&sandbox), sandbox, after_end: false };
    let is_here = known.clone().and_then(|visit| visit.login);
    // Asked in any case: of a portal that is closed nothing is shown.
    let is_in = ask(app, &access, Channel::Pages, move |call| {
        let is_in = is_here.is_some_and(|login| accounts::is_in(call, &login));
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

/// Another account's name is refused like a wrong password, and is no event: anyone could fill the log of a run.
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
    Ok(match tell(app, &visitor.access, Channel::Pages, move |call| accounts::login(call, is_right)).await? {
        Login::In(login) => {
            let visit = Visit::new(app, Some(login))?;
            Ok(Visitor { visit, has_expired: false, ..visitor.clone() })
        }
        Login::WrongPassword => Err(LoginRefusal::Wrong),
        Login::Locked => Err(LoginRefusal::Locked),
    })
}

/// The visitor that is left: nobody.
pub async fn logout(app: &App, visitor: &Visitor) -> Result<Visitor, AppError> {
    if let Some(login) = visitor.visit.login.clone() {
        tell(app, &visitor.access, Channel::Pages, move |call| accounts::logout(call, &login)).await?;
    }
    Ok(Visitor { visit: Visit::new(app, None)?, ..visitor.clone() })
}

/// What goes wrong on the page this time, if the author wanted it.
pub async fn mishap(app: &App, visitor: &Visitor, page: Page) -> Result<Option<Mishap>, AppError> {
    let faults = &visitor.config.faults;
    if faults.session_expires_at != Some(page) && faults.unavailable_at != Some(page) {
        return Ok(None);
    }
    tell(app, &visitor.access, Channel::Pages, move |call| accounts::suffer(call, page)).await
}

pub use sims::payer::accounts::Mishap as Fault;

pub async fn requests(
    app: &App,
    visitor: &Visitor,
    filter: Filter,
    request: PageRequest,
) -> Result<Rows<Value>, AppError> {
    ask(app, &visitor.access, Channel::Pages, move |call| request_list::list(call, &filter, &request)).await
}

/// Whether somebody looks at what is read; what a page reads for its own sake is no event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    Seen,
    Aside,
}

impl Look {
    fn told<T>(self, mut done: Done<T>) -> Done<T> {
        if self == Look::Aside {
            done.events.clear();
        }
        done
    }
}

pub async fn request(app: &App, visitor: &Visitor, number: String, look: Look) -> Result<Value, AppError> {
    ask(app, &visitor.access, Channel::Pages, move |call| look.told(requests::get(call, &number))).await
}

pub async fn inform(
    app: &App,
    visitor: &Visitor,
    number: String,
    information: NewInformation,
    attachments: Vec<Attachment>,
) -> Result<Changed, AppError> {
    let addition = Addition { information, uploads: kept(app, &visitor.access, attachments).await?, once: None };
    tell(app, &visitor.access, Channel::Pages, move |call| requests::add(call, &number, &addition)).await
}

pub async fn withdraw(app: &App, visitor: &Visitor, number: String) -> Result<Changed, AppError> {
    tell(app, &visitor.access, Channel::Pages, move |call| requests::withdraw(call, &number, None)).await
}

pub async fn patients(
    app: &App,
    visitor: &Visitor,
    filter: MemberFilter,
    request: PageRequest,
) -> Result<Rows<Value>, AppError> {
    ask(app, &visitor.access, Channel::Pages, move |call| directory::members(call, &filter, &request)).await
}

pub async fn providers(
    app: &App,
    visitor: &Visitor,
    filter: ProviderFilter,
    request: PageRequest,
) -> Result<Rows<Value>, AppError> {
    ask(app, &visitor.access, Channel::Pages, move |call| directory::providers(call, &filter, &request)).await
}

pub async fn formulary(
    app: &App,
    visitor: &Visitor,
    drug: Option<String>,
    request: PageRequest,
    look: Look,
) -> Result<Rows<Value>, AppError> {
    let found = move |call: &Call<'_>| look.told(directory::formulary(call, drug.as_deref(), &request));
    ask(app, &visitor.access, Channel::Pages, found).await
}

pub async fn drafts(app: &App, visitor: &Visitor) -> Result<Vec<Value>, AppError> {
    ask(app, &visitor.access, Channel::Pages, drafts::list).await
}

pub async fn draft(app: &App, visitor: &Visitor, key: String, look: Look) -> Result<Value, AppError> {
    ask(app, &visitor.access, Channel::Pages, move |call| look.told(drafts::get(call, &key))).await
}

/// What a form for a new request carries, so that sending it twice begins one draft.
pub fn new_draft(app: &App) -> String {
    format!("{DRAFT_PREFIX}{}", runtime::unordered_id(app.now()))
}

/// A new draft for the form that this key was written into; the same form again is the same draft.
pub async fn begin(app: &App, visitor: &Visitor, key: String) -> Result<Value, AppError> {
    tell(app, &visitor.access, Channel::Pages, move |call| drafts::begin(call, &key)).await
}

pub async fn save(
    app: &App,
    visitor: &Visitor,
    key: String,
    mut edit: Edit,
    attachments: Vec<Attachment>,
) -> Result<Value, AppError> {
    edit.uploads = kept(app, &visitor.access, attachments).await?;
    tell(app, &visitor.access, Channel::Pages, move |call| drafts::save(call, &key, &edit)).await
}

pub async fn discard(app: &App, visitor: &Visitor, key: String) -> Result<(), AppError> {
    tell(app, &visitor.access, Channel::Pages, move |call| drafts::discard(call, &key)).await
}

pub async fn submit(app: &App, visitor: &Visitor, key: String) -> Result<Changed, AppError> {
    tell(app, &visitor.access, Channel::Pages, move |call| drafts::submit(call, &key)).await
}
