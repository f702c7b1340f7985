//! Login and logout.

use std::time::Duration;

use app::sandboxes::payer::pages::{self, LoginRefusal};
use axum::http::{Method, StatusCode};
use minijinja::context;
use tokio::time::Instant;

use super::super::login_throttle::LoginAttempt;
use super::page_route::PageRoute;
use super::render::{PageContent, PageResponse};
use super::{Browser, Form};
use crate::api_error::ApiError;

/// Responses to failed logins are delayed to a multiple of this.
const REJECTION_INTERVAL: Duration = Duration::from_millis(25);

/// Redirects to the login page, which leads to the requested page afterwards.
pub(super) fn redirect_to_login(browser: &Browser<'_>, method: &Method, route: &PageRoute) -> PageResponse {
    let notice = if browser.visitor.has_expired { "notice=expired&" } else { "" };
    let next = match route {
        PageRoute::Requests if *method == Method::GET => "next=requests",
        PageRoute::Drafts if *method == Method::GET => "next=drafts",
        PageRoute::Formulary if *method == Method::GET => "next=drugs",
        _ => "",
    };
    browser.redirect(format!("/login?{notice}{next}").trim_end_matches(['?', '&']))
}

pub(super) fn page(browser: &Browser<'_>, rejection: Option<LoginRefusal>) -> PageResponse {
    if browser.visitor.is_in() {
        return browser.redirect("/requests");
    }
    let (status, error) = match rejection {
        None => (StatusCode::OK, None),
        Some(LoginRefusal::Wrong) => {
            (StatusCode::UNAUTHORIZED, Some("That user name and password do not match. Check both and try again."))
        }
        Some(LoginRefusal::Locked) => (
            StatusCode::FORBIDDEN,
            Some("This account is locked after too many wrong passwords. Try again later or call provider support."),
        ),
    };
    let context = context! { error, next => browser.param("next") };
    PageResponse::Page(PageContent { status, template: "login.html", title: "Sign in".to_owned(), context })
}

pub(super) async fn log_in(browser: &mut Browser<'_>, form: &Form) -> Result<PageResponse, ApiError> {
    let (name, password) = (form.get("username").trim().to_owned(), form.get("password"));
    let (failures, app) = (&browser.state.login_failures, &browser.state.app);
    let attempt = LoginAttempt::new(&browser.sandbox, &name, browser.address);
    failures.check(&attempt, app.now())?;
    let started = Instant::now();
    match pages::login(app, &browser.visitor, &name, password).await? {
        Ok(visitor) => {
            browser.visitor = visitor;
            let next = ["requests", "drafts", "drugs"].into_iter().find(|page| *page == form.get("next"));
            Ok(browser.redirect(&format!("/{}", next.unwrap_or("requests"))))
        }
        Err(rejection) => {
            failures.record(attempt, app.now());
            pad_response_time(started).await;
            Ok(page(browser, Some(rejection)))
        }
    }
}

/// Delays the response to a failed login. A wrong password is written to the database and an unknown name is not, and the
/// response time must not reveal which one it was.
async fn pad_response_time(started: Instant) {
    let intervals = started.elapsed().as_millis() / REJECTION_INTERVAL.as_millis() + 1;
    tokio::time::sleep_until(started + REJECTION_INTERVAL * u32::try_from(intervals).unwrap_or(1)).await;
}

pub(super) async fn log_out(browser: &mut Browser<'_>) -> Result<PageResponse, ApiError> {
    browser.visitor = pages::logout(&browser.state.app, &browser.visitor).await?;
    Ok(browser.redirect("/login?notice=out"))
}
