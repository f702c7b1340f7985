//! Requests that are still being filled in.

use app::AppError;
use app::sandboxes::payer::pages::{self, Look};
use axum::http::StatusCode;
use minijinja::context;
use serde_json::Value;

use super::percent::encoded;
use super::render::{Answer, Shown, plain};
use super::steps::Step;
use super::{Browser, Form};
use crate::envelope::ApiError;

pub(super) async fn list(browser: &Browser<'_>) -> Result<Answer, ApiError> {
    let drafts = pages::drafts(&browser.state.app, &browser.visitor).await?;
    let context = context! { drafts => plain(&Value::from(drafts)) };
    Ok(Answer::Page(Shown { status: StatusCode::OK, template: "drafts.html", title: "Drafts".to_owned(), context }))
}

pub(super) async fn begin(browser: &Browser<'_>, form: &Form) -> Result<Answer, ApiError> {
    let draft = pages::begin(&browser.state.app, &browser.visitor, form.get("draft").to_owned()).await?;
    Ok(browser.go(&format!("/drafts/{}/patient", encoded(draft["request_id"].as_str().unwrap_or_default()))))
}

pub(super) async fn discard(browser: &Browser<'_>, key: &str) -> Result<Answer, ApiError> {
    match pages::discard(&browser.state.app, &browser.visitor, key.to_owned()).await {
        // Twice is once.
        Ok(()) | Err(AppError::NotFound(_)) => Ok(browser.go("/drafts?notice=discarded")),
        Err(error) => Err(error.into()),
    }
}

/// Goes on where something is missing.
pub(super) async fn resume(browser: &Browser<'_>, key: &str) -> Result<Answer, ApiError> {
    let draft = match found(browser, key, Look::Aside).await? {
        Ok(draft) => draft,
        Err(answer) => return Ok(answer),
    };
    let portal = browser.visitor.config.portal;
    let faults = pages::faults(&draft);
    let lacks = |step: &Step| {
        let names = || step.fields(portal).iter().map(|field| field.name());
        faults.iter().any(|(place, _)| names().any(|name| name == place))
    };
    let step = Step::ALL.into_iter().find(lacks).unwrap_or(Step::Review);
    Ok(browser.go(&format!("/drafts/{}/{}", encoded(key), step.name())))
}

/// The draft; or, of one that was submitted meanwhile, the way to the request.
pub(super) async fn found(browser: &Browser<'_>, key: &str, look: Look) -> Result<Result<Value, Answer>, ApiError> {
    let (app, visitor) = (&browser.state.app, &browser.visitor);
    match pages::draft(app, visitor, key.to_owned(), look).await {
        Ok(draft) => Ok(Ok(draft)),
        Err(AppError::NotFound(_)) => {
            let request = pages::request(app, visitor, key.to_owned(), Look::Aside).await?;
            let number = request["auth_number"].as_str().unwrap_or(key);
            Ok(Err(browser.go(&format!("/requests/{}", encoded(number)))))
        }
        Err(error) => Err(error.into()),
    }
}
