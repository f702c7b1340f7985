//! In and out.

use std::time::Duration;

use app::sandboxes::payer::pages::{self, LoginRefusal};
use axum::http::{Method, StatusCode};
use minijinja::context;
use tokio::time::Instant;

use super::super::throttle::Attempt;
use super::place::Place;
use super::render::{Answer, Shown};
use super::{Browser, Form};
use crate::envelope::ApiError;

/// A refusal is answered at a whole multiple of this.
const REFUSAL_STEP: Duration = Duration::from_millis(25);

/// Where somebody goes who is not logged in; a page that was asked for is shown afterwards.
pub(super) fn first(browser: &Browser<'_>, method: &Method, place: &Place) -> Answer {
    let notice = if browser.visitor.has_expired { "notice=expired&" } else { "" };
    let next = match place {
        Place::Requests if *method == Method::GET => "next=requests",
        Place::Drafts if *method == Method::GET => "next=drafts",
        Place::Formulary if *method == Method::GET => "next=drugs",
        _ => "",
    };
    browser.go(format!("/login?{notice}{next}").trim_end_matches(['?', '&']))
}

pub(super) fn page(browser: &Browser<'_>, refusal: Option<LoginRefusal>) -> Answer {
    if browser.visitor.is_in() {
        return browser.go("/requests");
    }
    let (status, error) = match refusal {
        None => (StatusCode::OK, None),
        Some(LoginRefusal::Wrong) => {
            (StatusCode::UNAUTHORIZED, Some("That user name and password do not match. Check both and try again."))
        }
        Some(LoginRefusal::Locked) => (
            StatusCode::FORBIDDEN,
            Some("This account is locked after too many wrong passwords. Try again later or call provider support."),
        ),
    };
    let context = context! { error, next => browser.asked("next") };
    Answer::Page(Shown { status, template: "login.html", title: "Sign in".to_owned(), context })
}

pub(super) async fn enter(browser: &mut Browser<'_>, form: &Form) -> Result<Answer, ApiError> {
    let (name, password) = (form.get("username").trim().to_owned(), form.get("password"));
    let (failures, app) = (&browser.state.login_failures, &browser.state.app);
    let attempt = Attempt::new(&browser.sandbox, &name, browser.address);
    failures.check(&attempt, app.now())?;
    let begun = Instant::now();
    match pages::login(app, &browser.visitor, &name, password).await? {
        Ok(visitor) => {
            browser.visitor = visitor;
            let next = ["requests", "drafts", "drugs"].into_iter().find(|page| *page == form.get("next"));
            Ok(browser.go(&format!("/{}", next.unwrap_or("requests"))))
        }
        Err(refusal) => {
            failures.note(attempt, app.now());
            even_out(begun).await;
            Ok(page(browser, Some(refusal)))
        }
    }
}

/// A wrong password is written down and a name that nobody has is not: the time of the answer must not tell which it was.
async fn even_out(begun: Instant) {
    let steps = begun.elapsed().as_millis() / REFUSAL_STEP.as_millis() + 1;
    tokio::time::sleep_until(begun + REFUSAL_STEP * u32::try_from(steps).unwrap_or(1)).await;
}

pub(super) async fn leave(browser: &mut Browser<'_>) -> Result<Answer, ApiError> {
    browser.visitor = pages::logout(&browser.state.app, &browser.visitor).await?;
    Ok(browser.go("/login?notice=out"))
}
