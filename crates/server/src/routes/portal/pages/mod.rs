//! The pages of a payer portal, for people and browsers: no script, every form safe to send twice and to go back from.
//! Reached at the sandbox's own address, with the portal's login.

mod drafts;
mod guard;
mod login;
mod percent;
mod place;
mod render;
mod requests;
mod steps;
mod wizard;

use std::time::Duration;

use app::AppError;
use app::sandboxes::payer::pages::{self, Fault, Field, Visitor};
use axum::Router;
use axum::body::Body;
use axum::extract::{self, Request};
use axum::http::request::Parts;
use axum::http::{Method, StatusCode};
use axum::response::Response;
use axum::routing::any;
use minijinja::context;
use model::SandboxId;

use super::form::{self, Form};
use crate::State;
use crate::envelope::{ApiError, Code};
use crate::extract::{path_values, peer};
use crate::json_body::{read_whole, refuse_encoding};
use crate::routes::portal::pages::place::Place;
use render::{Answer, Shown};

/// The second is another name for the first.
const BASES: [&str; 2] = ["/sandboxes/{sandbox_id}/portal", "/services/{sandbox_id}/portal"];

/// One request of a browser.
struct Browser<'a> {
    state: &'a State,
    visitor: Visitor,
    /// The path of the portal: `/sandboxes/sbx_…/portal`.
    base: String,
    query: Vec<(String, String)>,
    address: std::net::IpAddr,
    sandbox: SandboxId,
}

impl Browser<'_> {
    /// A parameter of the address; nothing is the empty text.
    fn asked(&self, name: &str) -> &str {
        self.query.iter().find(|(known, _)| known == name).map(|(_, value)| value.trim()).unwrap_or_default()
    }

    fn maybe(&self, name: &str) -> Option<String> {
        Some(self.asked(name)).filter(|value| !value.is_empty()).map(ToOwned::to_owned)
    }

    /// Faults with the words of their fields: the field's name in the form, its label, and what is wrong.
    fn named(&self, faults: &[(String, String)]) -> Vec<(String, String, String)> {
        let config = &self.visitor.config;
        let questions = pages::asked(config);
        let named = |(place, words): &(String, String)| {
            let field = Field::ALL.iter().find(|field| field.name() == place);
            let question = place.strip_prefix("answers.").and_then(|id| questions.iter().find(|one| one.id == id));
            let label = match (field, question) {
                (Some(field), _) => steps::label(*field, config).to_owned(),
                (None, Some(question)) => question.text.clone(),
                (None, None) => "Request".to_owned(),
            };
            (place.replace("answers.", "answer_"), label, words.clone())
        };
        faults.iter().map(named).collect()
    }

    fn go(&self, path: &str) -> Answer {
        Answer::Go(format!("{}{path}", self.base))
    }
}

async fn answer(extract::State(state): extract::State<State>, request: Request) -> Response {
    let (mut parts, body) = request.into_parts();
    let base = match base(&mut parts, &state).await {
        Ok(base) => base,
        Err(error) => return render::failure(&error),
    };
    if parts.uri.path().ends_with(render::STYLE_PATH) {
        return render::style(&parts.method);
    }
    match visited(&state, &parts, body, base).await {
        Ok(response) => response,
        Err(error) => render::failure(&error),
    }
}

/// The sandbox, and the path of its portal as the browser wrote it.
async fn base(parts: &mut Parts, state: &State) -> Result<(SandboxId, String), ApiError> {
    let values = path_values(parts, state).await?;
    let id = values.first().and_then(|text| text.parse().ok());
    let id: SandboxId = id.ok_or_else(|| ApiError::new(Code::NotFound, "no such sandbox"))?;
    let root = if parts.uri.path().starts_with("/services/") { "services" } else { "sandboxes" };
    let base = format!("/{root}/{id}/portal");
    Ok((id, base))
}

async fn visited(
    state: &State,
    parts: &Parts,
    body: Body,
    (sandbox, base): (SandboxId, String),
) -> Result<Response, ApiError> {
    let address = peer(parts);
    state.rates.check_key(&address.to_string())?;
    let visitor = pages::open(&state.app, &sandbox, guard::cookie(&parts.headers)).await?;
    let query = parts.uri.query().unwrap_or_default();
    let query: Vec<(String, String)> = serde_urlencoded::from_str(query).unwrap_or_default();
    let is_secure = guard::is_secure(parts, state);
    let mut browser = Browser { state, visitor, base, query, address, sandbox };
    let place = Place::of(&parts.method, parts.uri.path());
    let answered = match place {
        Ok(place) => served(&mut browser, parts, body, &place).await,
        Err(refusal) => Err(refusal),
    };
    let answer = answered.unwrap_or_else(|error| refused(&error));
    Ok(render::response(&browser, answer, is_secure))
}

/// Lets the page happen, after all that may stand in its way.
async fn served(browser: &mut Browser<'_>, parts: &Parts, body: Body, place: &Place) -> Result<Answer, ApiError> {
    let form = match parts.method {
        Method::POST => {
            guard::check_origin(parts, browser.state)?;
            read_form(parts, body).await?
        }
        _ => Form::default(),
    };
    if let Some(answer) = hindered(browser, place).await? {
        return Ok(answer);
    }
    if place.needs_login() && !browser.visitor.is_in() {
        return Ok(login::first(browser, &parts.method, place));
    }
    if parts.method == Method::POST && !browser.visitor.owns_form(form.get("form_token")) {
        return Err(ApiError::new(
            Code::Forbidden,
            "This form is out of date. Go back, reload the page and try again.",
        ));
    }
    if parts.method == Method::POST { sent(browser, place, form).await } else { read(browser, place).await }
}

/// A page that is looked at.
async fn read(browser: &Browser<'_>, place: &Place) -> Result<Answer, ApiError> {
    match place {
        Place::Login => Ok(login::page(browser, None)),
        Place::Requests => requests::list(browser).await,
        Place::Request(number) => requests::detail(browser, number, &[]).await,
        Place::Print(number) => requests::print(browser, number).await,
        Place::Drafts => drafts::list(browser).await,
        Place::Draft(key) => drafts::resume(browser, key).await,
        Place::Step(key, step) => wizard::shown(browser, key, *step).await,
        Place::Formulary => requests::formulary(browser).await,
        _ => Ok(browser.go("/requests")),
    }
}

/// A form that was sent; a place that takes none was refused before.
async fn sent(browser: &mut Browser<'_>, place: &Place, form: Form) -> Result<Answer, ApiError> {
    match place {
        Place::Login => login::enter(browser, &form).await,
        Place::Logout => login::leave(browser).await,
        Place::Information(number) => requests::inform(browser, number, form).await,
        Place::Withdraw(number) => requests::withdraw(browser, number).await,
        Place::Drafts => drafts::begin(browser, &form).await,
        Place::Discard(key) => drafts::discard(browser, key).await,
        Place::Step(key, step) => wizard::sent(browser, key, *step, form).await,
        _ => Ok(browser.go("/requests")),
    }
}

/// What an author lets go wrong.
async fn hindered(browser: &mut Browser<'_>, place: &Place) -> Result<Option<Answer>, ApiError> {
    let Some(page) = place.page() else { return Ok(None) };
    let wait = browser.visitor.config.faults.wait_milliseconds(page);
    if wait > 0 {
        tokio::time::sleep(Duration::from_millis(wait)).await;
    }
    if place.needs_login() && !browser.visitor.is_in() {
        return Ok(None);
    }
    match pages::mishap(&browser.state.app, &browser.visitor, page).await? {
        None => Ok(None),
        Some(Fault::Unavailable) => {
            let words = "The portal is down for a moment. Please try again.";
            Ok(Some(message(StatusCode::SERVICE_UNAVAILABLE, "Temporarily unavailable", words)))
        }
        Some(Fault::SessionExpired) => {
            browser.visitor = pages::logout(&browser.state.app, &browser.visitor).await?;
            Ok(Some(browser.go("/login?notice=expired")))
        }
    }
}

async fn read_form(parts: &Parts, body: Body) -> Result<Form, ApiError> {
    refuse_encoding(&parts.headers)?;
    if form::is_multipart(&parts.headers) {
        return form::read(&parts.headers, read_whole(body, form::MOST_BYTES).await?).await;
    }
    Form::plain(&read_whole(body, form::MOST_PLAIN_BYTES).await?)
}

fn message(status: StatusCode, title: &str, words: &str) -> Answer {
    Answer::Page(Shown { status, template: "message.html", title: title.to_owned(), context: context! { words } })
}

/// A refusal as a page.
fn refused(error: &ApiError) -> Answer {
    let (title, words) = match error.code() {
        Code::NotFound => ("Page not found", "There is no such page in this portal.".to_owned()),
        Code::MethodNotAllowed => ("Not possible", "This address takes no such request.".to_owned()),
        Code::Forbidden => ("Not accepted", error.shown_message()),
        Code::RateLimited => ("Too many attempts", error.shown_message()),
        Code::InternalError | Code::Unavailable => ("Something went wrong", "Please try again.".to_owned()),
        _ => ("Not accepted", error.shown_message()),
    };
    message(error.status(), title, &words)
}

/// What a page does with an error of the portal: faults of fields are shown beside them, all else is a page of its own.
fn faults(error: AppError) -> Result<Vec<(String, String)>, ApiError> {
    match error {
        AppError::Invalid(errors) => {
            Ok(errors.iter().map(|(field, words)| (field.to_owned(), words.join("; "))).collect())
        }
        other => Err(other.into()),
    }
}

/// Not in the OpenAPI document: these are pages, and their forms describe themselves.
pub(super) fn router() -> Router<State> {
    BASES.iter().fold(Router::new(), |router, base| {
        let deeper = format!("{base}/{{*page}}");
        router.route(base, any(answer)).route(&format!("{base}/"), any(answer)).route(&deeper, any(answer))
    })
}
