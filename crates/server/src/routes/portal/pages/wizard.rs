//! The wizard: pages on which a request is filled in step by step. Each step saves the draft.

use app::sandboxes::payer::pages::{self, DraftEdit, Look, Question, QuestionKind, URGENCIES, portal_questions};
use app::sandboxes::payer::{MemberFilter, ProviderFilter};
use axum::http::StatusCode;
use clinical::{PartialDateTime, Precision};
use minijinja::context;
use model::page::PageRequest;
use serde_json::Value;

use super::percent::encode_segment;
use super::render::{PageContent, PageResponse, template_value};
use super::requests::labeled_answers;
use super::steps::WizardStep;
use super::{Browser, Form, drafts, field_errors};
use crate::api_error::ApiError;

pub(super) async fn show_step(browser: &Browser<'_>, key: &str, step: WizardStep) -> Result<PageResponse, ApiError> {
    match drafts::draft_or_redirect(browser, key, Look::Seen).await? {
        Ok(draft) => page(browser, &draft, step, &[]).await,
        Err(redirect) => Ok(redirect),
    }
}

/// Saves the form of a step, or shows it again with its errors.
pub(super) async fn submit_step(
    browser: &Browser<'_>,
    key: &str,
    step: WizardStep,
    form: Form,
) -> Result<PageResponse, ApiError> {
    let mut draft = match drafts::draft_or_redirect(browser, key, Look::Aside).await? {
        Ok(draft) => draft,
        Err(redirect) => return Ok(redirect),
    };
    if step == WizardStep::Review && form.get("action") != "save" {
        return submit(browser, key, &draft).await;
    }
    let edit = edit(browser, step, &form);
    fill(&mut draft, &edit);
    let mut errors = if form.get("action") == "save" { Vec::new() } else { step_errors(browser, step, &draft) };
    errors.extend(form.file_errors.iter().map(|(field, messages)| (field.to_owned(), messages.join("; "))));
    if !errors.is_empty() {
        return page(browser, &draft, step, &errors).await;
    }
    let (app, visitor, next) = (&browser.state.app, &browser.visitor, next_path(key, step, form.get("action")));
    match pages::save(app, visitor, key.to_owned(), edit, form.attachments).await {
        Ok(_) => Ok(browser.redirect(&next)),
        Err(error) => page(browser, &draft, step, &field_errors(error)?).await,
    }
}

/// The page after a step.
fn next_path(key: &str, step: WizardStep, action: &str) -> String {
    match action {
        "save" => "/drafts?notice=saved".to_owned(),
        // Documents are added one after the other.
        "upload" | "remove" => format!("/drafts/{}/{}", encode_segment(key), step.name()),
        _ => format!("/drafts/{}/{}", encode_segment(key), step.next().name()),
    }
}

async fn submit(browser: &Browser<'_>, key: &str, draft: &Value) -> Result<PageResponse, ApiError> {
    match pages::submit(&browser.state.app, &browser.visitor, key.to_owned()).await {
        Ok(changed) => {
            let number = changed.row["auth_number"].as_str().unwrap_or(key);
            Ok(browser.redirect(&format!("/requests/{}?notice=submitted", encode_segment(number))))
        }
        Err(error) => page(browser, draft, WizardStep::Review, &field_errors(error)?).await,
    }
}

/// The changes that the step's form makes to the draft.
fn edit(browser: &Browser<'_>, step: WizardStep, form: &Form) -> DraftEdit {
    let fields = step.fields(browser.visitor.config.portal).iter().map(|field| field.name());
    let fields = fields.filter(|name| form.has(name)).map(|name| (name, form.get(name).to_owned()));
    let mut edit = DraftEdit { fields: fields.collect(), ..DraftEdit::default() };
    if step == WizardStep::Clinical {
        let questions = portal_questions(&browser.visitor.config);
        let name = |question: &Question| format!("answer_{}", question.id);
        edit.answers = questions.iter().map(|one| (one.id.clone(), form.get(&name(one)).to_owned())).collect();
    }
    if step == WizardStep::Documents && form.get("action") == "remove" {
        edit.remove_document = Some(form.get("document").to_owned());
    }
    edit
}

/// Applies the form to the draft in memory, to validate it and to show it again.
fn fill(draft: &mut Value, edit: &DraftEdit) {
    for (name, value) in &edit.fields {
        draft[*name] = Some(value.trim()).filter(|value| !value.is_empty()).map_or(Value::Null, Value::from);
    }
    if !draft["answers"].is_object() {
        draft["answers"] = Value::Object(serde_json::Map::new());
    }
    for (name, answer) in &edit.answers {
        draft["answers"][name] = answer.as_str().into();
    }
}

/// Errors and missing fields of a step.
fn step_errors(browser: &Browser<'_>, step: WizardStep, draft: &Value) -> Vec<(String, String)> {
    let fields = step.fields(browser.visitor.config.portal);
    let errors = pages::draft_errors(draft);
    let of_step = errors.iter().filter(|(path, _)| fields.iter().any(|field| field.name() == *path));
    let mut errors: Vec<(String, String)> =
        of_step.map(|(path, messages)| (path.to_owned(), messages.join("; "))).collect();
    if step == WizardStep::Clinical {
        let questions = portal_questions(&browser.visitor.config);
        let is_unanswered = |one: &&Question| draft["answers"][&one.id].as_str().unwrap_or_default().trim().is_empty();
        for question in &questions {
            let answer = draft["answers"][&question.id].as_str().unwrap_or_default().trim();
            if question.required && is_unanswered(&question) {
                errors.push((format!("answers.{}", question.id), "must be answered".to_owned()));
            } else if !is_valid_answer(question, answer) {
                errors.push((format!("answers.{}", question.id), "is not a valid answer to this question".to_owned()));
            }
        }
    }
    errors
}

/// Whether an answer is empty or valid for the type of the question.
fn is_valid_answer(question: &Question, answer: &str) -> bool {
    match question.kind {
        _ if answer.is_empty() => true,
        QuestionKind::Text => true,
        QuestionKind::YesNo => matches!(answer, "yes" | "no"),
        QuestionKind::Choice => question.choices.iter().any(|choice| choice == answer),
        QuestionKind::Number => answer.parse::<f64>().is_ok_and(f64::is_finite),
        QuestionKind::Date => is_date(answer),
    }
}

/// Whether a text is a day of the calendar, such as `2026-04-23`.
fn is_date(text: &str) -> bool {
    PartialDateTime::parse_fhir(text).is_some_and(|date| date.precision() == Precision::Day)
}

async fn page(
    browser: &Browser<'_>,
    draft: &Value,
    step: WizardStep,
    errors: &[(String, String)],
) -> Result<PageResponse, ApiError> {
    let portal = browser.visitor.config.portal;
    let found = match step {
        WizardStep::Patient => patients(browser).await?,
        WizardStep::Provider => providers(browser).await?,
        WizardStep::Service => drugs(browser).await?,
        _ => Value::Null,
    };
    let steps: Vec<minijinja::Value> = WizardStep::ALL
        .iter()
        .map(|one| context! { name => one.name(), title => one.title(portal), is_now => *one == step })
        .collect();
    let lacks = if step == WizardStep::Review { incomplete_steps(browser, draft) } else { Vec::new() };
    let context = context! {
        draft => template_value(draft),
        key => draft["request_id"].as_str().unwrap_or_default(),
        steps,
        step => step.name(),
        found => template_value(&found),
        has_searched => ["member_id", "name", "birth_date", "npi"].iter().any(|name| !browser.param(name).is_empty()),
        asked => context! { member_id => browser.param("member_id"), name => browser.param("name"),
            birth_date => browser.param("birth_date"), npi => browser.param("npi") },
        questions => template_value(&serde_json::to_value(portal_questions(&browser.visitor.config)).unwrap_or_default()),
        answers => labeled_answers(browser, draft),
        urgencies => URGENCIES.to_vec(),
        errors => browser.with_labels(errors),
        lacks,
    };
    let status = if errors.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    let title = step.title(portal).to_owned();
    Ok(PageResponse::Page(PageContent { status, template: step.template(), title, context }))
}

/// Names and titles of the steps that the review page lists as incomplete.
fn incomplete_steps(browser: &Browser<'_>, draft: &Value) -> Vec<(&'static str, &'static str)> {
    let portal = browser.visitor.config.portal;
    let is_incomplete = |step: &WizardStep| !step_errors(browser, *step, draft).is_empty();
    WizardStep::ALL.into_iter().filter(is_incomplete).map(|step| (step.name(), step.title(portal))).collect()
}

const SEARCH_RESULTS: PageRequest = PageRequest { limit: 20, cursor: None };

/// Search results for patients; none without a search term.
async fn patients(browser: &Browser<'_>) -> Result<Value, ApiError> {
    let filter = MemberFilter {
        member_id: browser.optional_param("member_id"),
        name: browser.optional_param("name"),
        birth_date: browser.optional_param("birth_date"),
    };
    if filter.member_id.is_none() && filter.name.is_none() && filter.birth_date.is_none() {
        return Ok(Value::Array(Vec::new()));
    }
    Ok(pages::patients(&browser.state.app, &browser.visitor, filter, SEARCH_RESULTS).await?.items.into())
}

async fn providers(browser: &Browser<'_>) -> Result<Value, ApiError> {
    let filter = ProviderFilter { npi: browser.optional_param("npi"), name: browser.optional_param("name") };
    if filter.npi.is_none() && filter.name.is_none() {
        return Ok(Value::Array(Vec::new()));
    }
    Ok(pages::providers(&browser.state.app, &browser.visitor, filter, SEARCH_RESULTS).await?.items.into())
}

async fn drugs(browser: &Browser<'_>) -> Result<Value, ApiError> {
    if browser.visitor.config.formulary.is_empty() {
        return Ok(Value::Null);
    }
    let request = PageRequest { limit: 100, cursor: None };
    Ok(pages::formulary(&browser.state.app, &browser.visitor, None, request, Look::Aside).await?.items.into())
}
