//! Pages of submitted requests: the list, one request with its determination, and the forms to add information or withdraw.

use app::sandboxes::payer::RequestFilter;
use app::sandboxes::payer::pages::{self, Look, portal_questions};
use axum::http::StatusCode;
use minijinja::context;
use model::page::PageRequest;
use model::portal::NewInformation;
use serde_json::Value;

use super::percent::encode_segment;
use super::render::{PageContent, PageResponse, template_value};
use super::{Browser, Form, field_errors};
use crate::api_error::ApiError;
use crate::cursor;

const LIST: &str = "portal requests";

pub(super) async fn list(browser: &Browser<'_>) -> Result<PageResponse, ApiError> {
    let filter = RequestFilter {
        status: browser.optional_param("status"),
        determination: browser.optional_param("determination"),
        patient_member_id: browser.optional_param("member"),
        ..RequestFilter::default()
    };
    let cursor = cursor::decode(LIST, browser.param("cursor"));
    let request = PageRequest { cursor, ..PageRequest::default() };
    let page = pages::requests(&browser.state.app, &browser.visitor, filter, request).await?;
    let encode = |cursor: Option<&model::page::Cursor>| cursor.map(|cursor| cursor::encode(LIST, cursor));
    let context = context! {
        rows => template_value(&Value::from(page.items)),
        next => encode(page.next.as_ref()),
        prev => encode(page.prev.as_ref()),
        status => browser.param("status"),
        determination => browser.param("determination"),
        member => browser.param("member"),
    };
    Ok(PageResponse::Page(PageContent {
        status: StatusCode::OK,
        template: "requests.html",
        title: "Requests".to_owned(),
        context,
    }))
}

pub(super) async fn detail(
    browser: &Browser<'_>,
    number: &str,
    errors: &[(String, String)],
) -> Result<PageResponse, ApiError> {
    let status = if errors.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    request_page(browser, number, "request.html", (status, errors)).await
}

pub(super) async fn print(browser: &Browser<'_>, number: &str) -> Result<PageResponse, ApiError> {
    request_page(browser, number, "print.html", (StatusCode::OK, &[])).await
}

async fn request_page(
    browser: &Browser<'_>,
    number: &str,
    template: &'static str,
    (status, errors): (StatusCode, &[(String, String)]),
) -> Result<PageResponse, ApiError> {
    let row = pages::request(&browser.state.app, &browser.visitor, number.to_owned(), Look::Seen).await?;
    let title = format!("Request {}", row["auth_number"].as_str().unwrap_or(number));
    let context = context! {
        row => template_value(&row),
        answers => labeled_answers(browser, &row),
        errors => browser.with_labels(errors),
        number,
    };
    Ok(PageResponse::Page(PageContent { status, template, title, context }))
}

/// The answers of a request, with the texts of the portal's questions as labels.
pub(super) fn labeled_answers(browser: &Browser<'_>, row: &Value) -> Vec<(String, minijinja::Value)> {
    let questions = portal_questions(&browser.visitor.config);
    let label = |name: &str| {
        let question = questions.iter().find(|question| question.id == name);
        question.map_or_else(|| name.to_owned(), |question| question.text.clone())
    };
    let answers = row.get("answers").and_then(Value::as_object).into_iter().flatten();
    answers.map(|(name, answer)| (label(name), template_value(answer))).collect()
}

/// Sends the information that the payer requested.
pub(super) async fn inform(browser: &Browser<'_>, number: &str, form: Form) -> Result<PageResponse, ApiError> {
    if !form.file_errors.is_empty() {
        let errors: Vec<(String, String)> =
            form.file_errors.iter().map(|(field, messages)| (field.to_owned(), messages.join("; "))).collect();
        return detail(browser, number, &errors).await;
    }
    let notes = Some(form.get("clinical_notes").to_owned()).filter(|notes| !notes.trim().is_empty());
    let information = NewInformation { clinical_notes: notes, ..NewInformation::default() };
    let (app, visitor) = (&browser.state.app, &browser.visitor);
    // The request must exist before documents are stored for it.
    pages::request(app, visitor, number.to_owned(), Look::Aside).await?;
    match pages::inform(app, visitor, number.to_owned(), information, form.attachments).await {
        Ok(_) => Ok(browser.redirect(&format!("/requests/{}?notice=added", encode_segment(number)))),
        Err(error) => detail(browser, number, &field_errors(error)?).await,
    }
}

pub(super) async fn withdraw(browser: &Browser<'_>, number: &str) -> Result<PageResponse, ApiError> {
    pages::withdraw(&browser.state.app, &browser.visitor, number.to_owned()).await?;
    Ok(browser.redirect(&format!("/requests/{}?notice=withdrawn", encode_segment(number))))
}

pub(super) async fn formulary(browser: &Browser<'_>) -> Result<PageResponse, ApiError> {
    let request = PageRequest { limit: 100, cursor: None };
    let page =
        pages::formulary(&browser.state.app, &browser.visitor, browser.optional_param("drug"), request, Look::Seen)
            .await?;
    let context = context! { rows => template_value(&Value::from(page.items)), drug => browser.param("drug") };
    let title = "Formulary".to_owned();
    Ok(PageResponse::Page(PageContent { status: StatusCode::OK, template: "formulary.html", title, context }))
}
