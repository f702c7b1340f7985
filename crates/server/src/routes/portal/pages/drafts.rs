//! Pages of drafts: requests that were not submitted yet.

use app::AppError;
use app::sandboxes::payer::pages::{self, Look};
use axum::http::StatusCode;
use minijinja::context;
use serde_json::Value;

use super::percent::encode_segment;
use super::render::{PageContent, PageResponse, template_value};
use super::steps::WizardStep;
use super::{Browser, Form};
use crate::api_error::ApiError;

pub(super) async fn list(browser: &Browser<'_>) -> Result<PageResponse, ApiError> {
    let drafts = pages::drafts(&browser.state.app, &browser.visitor).await?;
    let context = context! { drafts => template_value(&Value::from(drafts)) };
    Ok(PageResponse::Page(PageContent {
        status: StatusCode::OK,
        template: "drafts.html",
        title: "Drafts".to_owned(),
        context,
    }))
}

pub(super) async fn begin(browser: &Browser<'_>, form: &Form) -> Result<PageResponse, ApiError> {
    let draft = pages::begin(&browser.state.app, &browser.visitor, form.get("draft").to_owned()).await?;
    Ok(browser
        .redirect(&format!("/drafts/{}/patient", encode_segment(draft["request_id"].as_str().unwrap_or_default()))))
}

pub(super) async fn discard(browser: &Browser<'_>, key: &str) -> Result<PageResponse, ApiError> {
    match pages::discard(&browser.state.app, &browser.visitor, key.to_owned()).await {
        // Discarding a draft twice is not an error.
        Ok(()) | Err(AppError::NotFound(_)) => Ok(browser.redirect("/drafts?notice=discarded")),
        Err(error) => Err(error.into()),
    }
}

/// Continues at the first step that is incomplete.
pub(super) async fn resume(browser: &Browser<'_>, key: &str) -> Result<PageResponse, ApiError> {
    let draft = match draft_or_redirect(browser, key, Look::Aside).await? {
        Ok(draft) => draft,
        Err(redirect) => return Ok(redirect),
    };
    let portal = browser.visitor.config.portal;
    let errors = pages::draft_errors(&draft);
    let is_incomplete = |step: &WizardStep| {
        let names = || step.fields(portal).iter().map(|field| field.name());
        errors.iter().any(|(path, _)| names().any(|name| name == path))
    };
    let step = WizardStep::ALL.into_iter().find(is_incomplete).unwrap_or(WizardStep::Review);
    Ok(browser.redirect(&format!("/drafts/{}/{}", encode_segment(key), step.name())))
}

/// The draft, or a redirect to the request if the draft was submitted meanwhile.
pub(super) async fn draft_or_redirect(
    browser: &Browser<'_>,
    key: &str,
    look: Look,
) -> Result<Result<Value, PageResponse>, ApiError> {
    let (app, visitor) = (&browser.state.app, &browser.visitor);
    match pages::draft(app, visitor, key.to_owned(), look).await {
        Ok(draft) => Ok(Ok(draft)),
        Err(AppError::NotFound(_)) => {
            let request = pages::request(app, visitor, key.to_owned(), Look::Aside).await?;
            let number = request["auth_number"].as_str().unwrap_or(key);
            Ok(Err(browser.redirect(&format!("/requests/{}", encode_segment(number)))))
        }
        Err(error) => Err(error.into()),
    }
}
