//! The list of requests, a request with its decision, and what can be done about it.

use app::sandboxes::payer::Filter;
use app::sandboxes::payer::pages::{self, Look, asked};
use axum::http::StatusCode;
use minijinja::context;
use model::page::PageRequest;
use model::portal::NewInformation;
use serde_json::Value;

use super::percent::encoded;
use super::render::{Answer, Shown, plain};
use super::{Browser, Form, faults};
use crate::cursor;
use crate::envelope::ApiError;

const LIST: &str = "portal requests";

pub(super) async fn list(browser: &Browser<'_>) -> Result<Answer, ApiError> {
    let filter = Filter {
        status: browser.maybe("status"),
        determination: browser.maybe("determination"),
        patient_member_id: browser.maybe("member"),
        ..Filter::default()
    };
    let cursor = cursor::decode(LIST, browser.asked("cursor"));
    let request = PageRequest { cursor, ..PageRequest::default() };
    let page = pages::requests(&browser.state.app, &browser.visitor, filter, request).await?;
    let turn = |cursor: Option<&model::page::Cursor>| cursor.map(|cursor| cursor::encode(LIST, cursor));
    let context = context! {
        rows => plain(&Value::from(page.items)),
        next => turn(page.next.as_ref()),
        prev => turn(page.prev.as_ref()),
        status => browser.asked("status"),
        determination => browser.asked("determination"),
        member => browser.asked("member"),
    };
    Ok(Answer::Page(Shown { status: StatusCode::OK, template: "requests.html", title: "Requests".to_owned(), context }))
}

pub(super) async fn detail(
    browser: &Browser<'_>,
    number: &str,
    errors: &[(String, String)],
) -> Result<Answer, ApiError> {
    let status = if errors.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    shown(browser, number, "request.html", (status, errors)).await
}

pub(super) async fn print(browser: &Browser<'_>, number: &str) -> Result<Answer, ApiError> {
    shown(browser, number, "print.html", (StatusCode::OK, &[])).await
}

async fn shown(
    browser: &Browser<'_>,
    number: &str,
    template: &'static str,
    (status, errors): (StatusCode, &[(String, String)]),
) -> Result<Answer, ApiError> {
    let row = pages::request(&browser.state.app, &browser.visitor, number.to_owned(), Look::Seen).await?;
    let title = format!("Request {}", row["auth_number"].as_str().unwrap_or(number));
    let context = context! {
        row => plain(&row),
        answers => answered(browser, &row),
        errors => browser.named(errors),
        number,
    };
    Ok(Answer::Page(Shown { status, template, title, context }))
}

/// Answers with the words of their questions, where the portal asks them.
pub(super) fn answered(browser: &Browser<'_>, row: &Value) -> Vec<(String, minijinja::Value)> {
    let questions = asked(&browser.visitor.config);
    let words = |name: &str| {
        let question = questions.iter().find(|question| question.id == name);
        question.map_or_else(|| name.to_owned(), |question| question.text.clone())
    };
    let answers = row.get("answers").and_then(Value::as_object).into_iter().flatten();
    answers.map(|(name, answer)| (words(name), plain(answer))).collect()
}

/// Gives what the payer asked for.
pub(super) async fn inform(browser: &Browser<'_>, number: &str, form: Form) -> Result<Answer, ApiError> {
    if !form.faults.is_empty() {
        let errors: Vec<(String, String)> =
            form.faults.iter().map(|(field, words)| (field.to_owned(), words.join("; "))).collect();
        return detail(browser, number, &errors).await;
    }
    let notes = Some(form.get("clinical_notes").to_owned()).filter(|notes| !notes.trim().is_empty());
    let information = NewInformation { clinical_notes: notes, ..NewInformation::default() };
    let (app, visitor) = (&browser.state.app, &browser.visitor);
    // Before bytes are kept for it.
    pages::request(app, visitor, number.to_owned(), Look::Aside).await?;
    match pages::inform(app, visitor, number.to_owned(), information, form.attachments).await {
        Ok(_) => Ok(browser.go(&format!("/requests/{}?notice=added", encoded(number)))),
        Err(error) => detail(browser, number, &faults(error)?).await,
    }
}

pub(super) async fn withdraw(browser: &Browser<'_>, number: &str) -> Result<Answer, ApiError> {
    pages::withdraw(&browser.state.app, &browser.visitor, number.to_owned()).await?;
    Ok(browser.go(&format!("/requests/{}?notice=withdrawn", encoded(number))))
}

pub(super) async fn formulary(browser: &Browser<'_>) -> Result<Answer, ApiError> {
    let request = PageRequest { limit: 100, cursor: None };
    let page =
        pages::formulary(&browser.state.app, &browser.visitor, browser.maybe("drug"), request, Look::Seen).await?;
    let context = context! { rows => plain(&Value::from(page.items)), drug => browser.asked("drug") };
    let title = "Formulary".to_owned();
    Ok(Answer::Page(Shown { status: StatusCode::OK, template: "formulary.html", title, context }))
}
