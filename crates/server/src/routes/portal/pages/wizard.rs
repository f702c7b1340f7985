//! The pages on which a request is filled in, one step after the other. Each saves the draft.

use app::sandboxes::payer::pages::{self, Edit, Kind, Look, Question, URGENCIES, asked};
use app::sandboxes::payer::{MemberFilter, ProviderFilter};
use axum::http::StatusCode;
use minijinja::context;
use model::page::PageRequest;
use serde_json::Value;

use super::percent::encoded;
use super::render::{Answer, Shown, plain};
use super::requests::answered;
use super::steps::Step;
use super::{Browser, Form, drafts, faults};
use crate::envelope::ApiError;

pub(super) async fn shown(browser: &Browser<'_>, key: &str, step: Step) -> Result<Answer, ApiError> {
    match drafts::found(browser, key, Look::Seen).await? {
        Ok(draft) => page(browser, &draft, step, &[]).await,
        Err(answer) => Ok(answer),
    }
}

/// What was filled in, saved or refused.
pub(super) async fn sent(browser: &Browser<'_>, key: &str, step: Step, form: Form) -> Result<Answer, ApiError> {
    let mut draft = match drafts::found(browser, key, Look::Aside).await? {
        Ok(draft) => draft,
        Err(answer) => return Ok(answer),
    };
    if step == Step::Review && form.get("action") != "save" {
        return submit(browser, key, &draft).await;
    }
    let edit = edit(browser, step, &form);
    fill(&mut draft, &edit);
    let mut errors = if form.get("action") == "save" { Vec::new() } else { lacking(browser, step, &draft) };
    errors.extend(form.faults.iter().map(|(field, words)| (field.to_owned(), words.join("; "))));
    if !errors.is_empty() {
        return page(browser, &draft, step, &errors).await;
    }
    let (app, visitor, way) = (&browser.state.app, &browser.visitor, after(key, step, form.get("action")));
    match pages::save(app, visitor, key.to_owned(), edit, form.attachments).await {
        Ok(_) => Ok(browser.go(&way)),
        Err(error) => page(browser, &draft, step, &faults(error)?).await,
    }
}

fn after(key: &str, step: Step, action: &str) -> String {
    match action {
        "save" => "/drafts?notice=saved".to_owned(),
        // Documents are added one after the other.
        "upload" | "remove" => format!("/drafts/{}/{}", encoded(key), step.name()),
        _ => format!("/drafts/{}/{}", encoded(key), step.next().name()),
    }
}

async fn submit(browser: &Browser<'_>, key: &str, draft: &Value) -> Result<Answer, ApiError> {
    match pages::submit(&browser.state.app, &browser.visitor, key.to_owned()).await {
        Ok(changed) => {
            let number = changed.row["auth_number"].as_str().unwrap_or(key);
            Ok(browser.go(&format!("/requests/{}?notice=submitted", encoded(number))))
        }
        Err(error) => page(browser, draft, Step::Review, &faults(error)?).await,
    }
}

/// What the step's form sets.
fn edit(browser: &Browser<'_>, step: Step, form: &Form) -> Edit {
    let fields = step.fields(browser.visitor.config.portal).iter().map(|field| field.name());
    let fields = fields.filter(|name| form.has(name)).map(|name| (name, form.get(name).to_owned()));
    let mut edit = Edit { fields: fields.collect(), ..Edit::default() };
    if step == Step::Clinical {
        let questions = asked(&browser.visitor.config);
        let name = |question: &Question| format!("answer_{}", question.id);
        edit.answers = questions.iter().map(|one| (one.id.clone(), form.get(&name(one)).to_owned())).collect();
    }
    if step == Step::Documents && form.get("action") == "remove" {
        edit.remove_document = Some(form.get("document").to_owned());
    }
    edit
}

/// The draft as the form has it, to be judged and shown again.
fn fill(draft: &mut Value, edit: &Edit) {
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

/// What the step cannot be left without.
fn lacking(browser: &Browser<'_>, step: Step, draft: &Value) -> Vec<(String, String)> {
    let fields = step.fields(browser.visitor.config.portal);
    let faults = pages::faults(draft);
    let own = faults.iter().filter(|(place, _)| fields.iter().any(|field| field.name() == *place));
    let mut errors: Vec<(String, String)> = own.map(|(place, words)| (place.to_owned(), words.join("; "))).collect();
    if step == Step::Clinical {
        let questions = asked(&browser.visitor.config);
        let is_open = |one: &&Question| draft["answers"][&one.id].as_str().unwrap_or_default().trim().is_empty();
        for question in &questions {
            let answer = draft["answers"][&question.id].as_str().unwrap_or_default().trim();
            if question.required && is_open(&question) {
                errors.push((format!("answers.{}", question.id), "must be answered".to_owned()));
            } else if !fits(question, answer) {
                errors.push((format!("answers.{}", question.id), "is not an answer to this question".to_owned()));
            }
        }
    }
    errors
}

/// Whether an answer, if there is one, is of the question's kind.
fn fits(question: &Question, answer: &str) -> bool {
    match question.kind {
        _ if answer.is_empty() => true,
        Kind::Text => true,
        Kind::YesNo => matches!(answer, "yes" | "no"),
        Kind::Choice => question.choices.iter().any(|choice| choice == answer),
        Kind::Number => answer.parse::<f64>().is_ok_and(f64::is_finite),
        Kind::Date => is_date(answer),
    }
}

fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let is_number = |part: &&str, digits: usize| part.len() == digits && part.bytes().all(|byte| byte.is_ascii_digit());
    matches!(parts[..], [year, month, day] if is_number(&year, 4) && is_number(&month, 2) && is_number(&day, 2))
}

async fn page(
    browser: &Browser<'_>,
    draft: &Value,
    step: Step,
    errors: &[(String, String)],
) -> Result<Answer, ApiError> {
    let portal = browser.visitor.config.portal;
    let found = match step {
        Step::Patient => patients(browser).await?,
        Step::Provider => providers(browser).await?,
        Step::Service => drugs(browser).await?,
        _ => Value::Null,
    };
    let steps: Vec<minijinja::Value> = Step::ALL
        .iter()
        .map(|one| context! { name => one.name(), title => one.title(portal), is_now => *one == step })
        .collect();
    let lacks = if step == Step::Review { missing(browser, draft) } else { Vec::new() };
    let context = context! {
        draft => plain(draft),
        key => draft["request_id"].as_str().unwrap_or_default(),
        steps,
        step => step.name(),
        found => plain(&found),
        has_searched => ["member_id", "name", "birth_date", "npi"].iter().any(|name| !browser.asked(name).is_empty()),
        asked => context! { member_id => browser.asked("member_id"), name => browser.asked("name"),
            birth_date => browser.asked("birth_date"), npi => browser.asked("npi") },
        questions => plain(&serde_json::to_value(asked(&browser.visitor.config)).unwrap_or_default()),
        answers => answered(browser, draft),
        urgencies => URGENCIES.to_vec(),
        errors => browser.named(errors),
        lacks,
    };
    let status = if errors.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    let title = step.title(portal).to_owned();
    Ok(Answer::Page(Shown { status, template: step.template(), title, context }))
}

/// What the review must send the reader back for: the step, and the words.
fn missing(browser: &Browser<'_>, draft: &Value) -> Vec<(&'static str, &'static str)> {
    let portal = browser.visitor.config.portal;
    let has_gap = |step: &Step| !lacking(browser, *step, draft).is_empty();
    Step::ALL.into_iter().filter(has_gap).map(|step| (step.name(), step.title(portal))).collect()
}

const FEW: PageRequest = PageRequest { limit: 20, cursor: None };

/// Nobody is listed before something was asked.
async fn patients(browser: &Browser<'_>) -> Result<Value, ApiError> {
    let filter = MemberFilter {
        member_id: browser.maybe("member_id"),
        name: browser.maybe("name"),
        birth_date: browser.maybe("birth_date"),
    };
    if filter.member_id.is_none() && filter.name.is_none() && filter.birth_date.is_none() {
        return Ok(Value::Array(Vec::new()));
    }
    Ok(pages::patients(&browser.state.app, &browser.visitor, filter, FEW).await?.items.into())
}

async fn providers(browser: &Browser<'_>) -> Result<Value, ApiError> {
    let filter = ProviderFilter { npi: browser.maybe("npi"), name: browser.maybe("name") };
    if filter.npi.is_none() && filter.name.is_none() {
        return Ok(Value::Array(Vec::new()));
    }
    Ok(pages::providers(&browser.state.app, &browser.visitor, filter, FEW).await?.items.into())
}

async fn drugs(browser: &Browser<'_>) -> Result<Value, ApiError> {
    if browser.visitor.config.formulary.is_empty() {
        return Ok(Value::Null);
    }
    let request = PageRequest { limit: 100, cursor: None };
    Ok(pages::formulary(&browser.state.app, &browser.visitor, None, request, Look::Aside).await?.items.into())
}
