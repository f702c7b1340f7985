//! The HTML pages of a payer portal. They use no scripts, and every form can be sent twice. They are served at the sandbox's
//! own address and require the portal's login.

mod drafts;
mod login;
mod page_route;
mod percent;
mod render;
mod request_checks;
mod requests;
mod steps;
mod wizard;

use std::time::Duration;

use app::AppError;
use app::sandboxes::payer::pages::{self, Field, InjectedFault, Visitor};
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
use crate::api_error::{ApiError, Code};
use crate::extractors::{path_values, peer};
use crate::json_body::{read_body, reject_content_encoding};
use page_route::PageRoute;
use render::{PageContent, PageResponse};

/// The second is an alias of the first.
const BASES: [&str; 2] = ["/sandboxes/{sandbox_id}/portal", "/services/{sandbox_id}/portal"];

/// A request of a browser.
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
    /// A query parameter; empty if it is missing.
    fn param(&self, name: &str) -> &str {
        self.query.iter().find(|(key, _)| key == name).map(|(_, value)| value.trim()).unwrap_or_default()
    }

    /// A query parameter, unless it is empty.
    fn optional_param(&self, name: &str) -> Option<String> {
        Some(self.param(name)).filter(|value| !value.is_empty()).map(ToOwned::to_owned)
    }

    /// Adds the labels of fields to errors: the field's name in the form, its label, and the message.
    fn with_labels(&self, errors: &[(String, String)]) -> Vec<(String, String, String)> {
        let config = &self.visitor.config;
        let questions = pages::portal_questions(config);
        let with_label = |(path, message): &(String, String)| {
            let field = Field::ALL.iter().find(|field| field.name() == path);
            let question = path.strip_prefix("answers.").and_then(|id| questions.iter().find(|one| one.id == id));
            let label = match (field, question) {
                (Some(field), _) => steps::label(*field, config).to_owned(),
                (None, Some(question)) => question.text.clone(),
                (None, None) => "Request".to_owned(),
            };
            (path.replace("answers.", "answer_"), label, message.clone())
        };
        errors.iter().map(with_label).collect()
    }

    /// A redirect to a page of the portal.
    fn redirect(&self, path: &str) -> PageResponse {
        PageResponse::Redirect(format!("{}{path}", self.base))
    }
}

async fn handle(extract::State(state): extract::State<State>, request: Request) -> Response {
    let (mut parts, body) = request.into_parts();
    let base = match base(&mut parts, &state).await {
        Ok(base) => base,
        Err(error) => return render::error_response(&error),
    };
    if parts.uri.path().ends_with(render::STYLE_PATH) {
        return render::style_sheet(&parts.method);
    }
    match handle_visit(&state, &parts, body, base).await {
        Ok(response) => response,
        Err(error) => render::error_response(&error),
    }
}

/// The sandbox, and the path of its portal with the prefix that the browser used.
async fn base(parts: &mut Parts, state: &State) -> Result<(SandboxId, String), ApiError> {
    let values = path_values(parts, state).await?;
    let id = values.first().and_then(|text| text.parse().ok());
    let id: SandboxId = id.ok_or_else(|| ApiError::new(Code::NotFound, "no such sandbox"))?;
    let root = if parts.uri.path().starts_with("/services/") { "services" } else { "sandboxes" };
    let base = format!("/{root}/{id}/portal");
    Ok((id, base))
}

async fn handle_visit(
    state: &State,
    parts: &Parts,
    body: Body,
    (sandbox, base): (SandboxId, String),
) -> Result<Response, ApiError> {
    let address = peer(parts);
    state.rate_limits.check_key(&address.to_string())?;
    let visitor = pages::open(&state.app, &sandbox, request_checks::cookie(&parts.headers)).await?;
    let query = parts.uri.query().unwrap_or_default();
    let query: Vec<(String, String)> = serde_urlencoded::from_str(query).unwrap_or_default();
    let is_secure = request_checks::is_secure(parts, state);
    let mut browser = Browser { state, visitor, base, query, address, sandbox };
    let route = PageRoute::parse(&parts.method, parts.uri.path());
    let result = match route {
        Ok(route) => serve_page(&mut browser, parts, body, &route).await,
        Err(error) => Err(error),
    };
    let response = result.unwrap_or_else(|error| error_page(&error));
    Ok(render::response(&browser, response, is_secure))
}

/// Serves a page after all checks: origin, configured faults, login, and form token.
async fn serve_page(
    browser: &mut Browser<'_>,
    parts: &Parts,
    body: Body,
    route: &PageRoute,
) -> Result<PageResponse, ApiError> {
    let form = match parts.method {
        Method::POST => {
            request_checks::check_origin(parts, browser.state)?;
            read_form(parts, body).await?
        }
        _ => Form::default(),
    };
    if let Some(response) = apply_configured_fault(browser, route).await? {
        return Ok(response);
    }
    if route.needs_login() && !browser.visitor.is_in() {
        return Ok(login::redirect_to_login(browser, &parts.method, route));
    }
    if parts.method == Method::POST && !browser.visitor.owns_form(form.get("form_token")) {
        return Err(ApiError::new(
            Code::Forbidden,
            "This form is out of date. Go back, reload the page and try again.",
        ));
    }
    if parts.method == Method::POST { post(browser, route, form).await } else { get(browser, route).await }
}

/// Shows a page.
async fn get(browser: &Browser<'_>, route: &PageRoute) -> Result<PageResponse, ApiError> {
    match route {
        PageRoute::Login => Ok(login::page(browser, None)),
        PageRoute::Requests => requests::list(browser).await,
        PageRoute::Request(number) => requests::detail(browser, number, &[]).await,
        PageRoute::Print(number) => requests::print(browser, number).await,
        PageRoute::Drafts => drafts::list(browser).await,
        PageRoute::Draft(key) => drafts::resume(browser, key).await,
        PageRoute::Step(key, step) => wizard::show_step(browser, key, *step).await,
        PageRoute::Formulary => requests::formulary(browser).await,
        _ => Ok(browser.redirect("/requests")),
    }
}

/// Handles a submitted form. Routes that accept no form were rejected before.
async fn post(browser: &mut Browser<'_>, route: &PageRoute, form: Form) -> Result<PageResponse, ApiError> {
    match route {
        PageRoute::Login => login::log_in(browser, &form).await,
        PageRoute::Logout => login::log_out(browser).await,
        PageRoute::Information(number) => requests::inform(browser, number, form).await,
        PageRoute::Withdraw(number) => requests::withdraw(browser, number).await,
        PageRoute::Drafts => drafts::begin(browser, &form).await,
        PageRoute::Discard(key) => drafts::discard(browser, key).await,
        PageRoute::Step(key, step) => wizard::submit_step(browser, key, *step, form).await,
        _ => Ok(browser.redirect("/requests")),
    }
}

/// Applies the delays and faults that the simulator's config sets for the page.
async fn apply_configured_fault(
    browser: &mut Browser<'_>,
    route: &PageRoute,
) -> Result<Option<PageResponse>, ApiError> {
    let Some(page) = route.page() else { return Ok(None) };
    let wait = browser.visitor.config.faults.wait_milliseconds(page);
    if wait > 0 {
        tokio::time::sleep(Duration::from_millis(wait)).await;
    }
    if route.needs_login() && !browser.visitor.is_in() {
        return Ok(None);
    }
    match pages::mishap(&browser.state.app, &browser.visitor, page).await? {
        None => Ok(None),
        Some(InjectedFault::Unavailable) => {
            let text = "The portal is down for a moment. Please try again.";
            Ok(Some(message(StatusCode::SERVICE_UNAVAILABLE, "Temporarily unavailable", text)))
        }
        Some(InjectedFault::SessionExpired) => {
            browser.visitor = pages::logout(&browser.state.app, &browser.visitor).await?;
            Ok(Some(browser.redirect("/login?notice=expired")))
        }
    }
}

async fn read_form(parts: &Parts, body: Body) -> Result<Form, ApiError> {
    reject_content_encoding(&parts.headers)?;
    if form::is_multipart(&parts.headers) {
        return form::read_multipart(&parts.headers, read_body(body, form::MAX_MULTIPART_BYTES).await?).await;
    }
    Form::from_urlencoded(&read_body(body, form::MAX_URLENCODED_BYTES).await?)
}

fn message(status: StatusCode, title: &str, text: &str) -> PageResponse {
    let context = context! { words => text };
    PageResponse::Page(PageContent { status, template: "message.html", title: title.to_owned(), context })
}

/// An error as a page of the portal.
fn error_page(error: &ApiError) -> PageResponse {
    let (title, text) = match error.code() {
        Code::NotFound => ("Page not found", "There is no such page in this portal.".to_owned()),
        Code::MethodNotAllowed => ("Not possible", "This address does not support that kind of request.".to_owned()),
        Code::Forbidden => ("Not accepted", error.public_message()),
        Code::RateLimited => ("Too many attempts", error.public_message()),
        Code::InternalError | Code::Unavailable => ("Something went wrong", "Please try again.".to_owned()),
        _ => ("Not accepted", error.public_message()),
    };
    message(error.status(), title, &text)
}

/// The field errors of a request, which the page shows next to the fields. Other errors get a page of their own.
fn field_errors(error: AppError) -> Result<Vec<(String, String)>, ApiError> {
    match error {
        AppError::Invalid(errors) => {
            Ok(errors.iter().map(|(field, messages)| (field.to_owned(), messages.join("; "))).collect())
        }
        other => Err(other.into()),
    }
}

/// Not in the OpenAPI document, because these are HTML pages.
pub(super) fn router() -> Router<State> {
    BASES.iter().fold(Router::new(), |router, base| {
        let deeper = format!("{base}/{{*page}}");
        router.route(base, any(handle)).route(&format!("{base}/"), any(handle)).route(&deeper, any(handle))
    })
}
