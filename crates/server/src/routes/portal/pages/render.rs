//! Renders pages from templates, with the common context and the security headers of every page.

use std::sync::LazyLock;

use app::sandboxes::payer::pages::{Field, Portal, new_draft};
use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use minijinja::{Environment, Error, Output, UndefinedBehavior, context};
use serde_json::Value;

use super::percent::encode_segment;
use super::{Browser, request_checks, steps};
use crate::api_error::{ApiError, Code};

/// The response to a request for a page.
pub(super) enum PageResponse {
    Page(PageContent),
    /// A redirect, so that reloading does not send a form again.
    Redirect(String),
}

/// A template and the values to render it with.
pub(super) struct PageContent {
    pub(super) status: StatusCode,
    pub(super) template: &'static str,
    pub(super) title: String,
    pub(super) context: minijinja::Value,
}

pub(super) const STYLE_PATH: &str = "/portal/style.css";
const STYLE: &str = include_str!("templates/style.css");

macro_rules! templates {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("templates/", $name)))),*]
    };
}

const TEMPLATES: [(&str, &str); 16] = templates!(
    "base.html",
    "form.html",
    "login.html",
    "message.html",
    "requests.html",
    "request.html",
    "facts.html",
    "print.html",
    "drafts.html",
    "formulary.html",
    "patient.html",
    "provider.html",
    "service.html",
    "clinical.html",
    "documents.html",
    "review.html",
);

static ENVIRONMENT: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut environment = Environment::new();
    // Rows that a scenario created may lack any field.
    environment.set_undefined_behavior(UndefinedBehavior::Chainable);
    environment.set_formatter(format_value);
    environment.add_filter("segment", |text: String| encode_segment(&text));
    environment.add_filter("moment", |text: String| format_time(&text));
    environment.add_filter("words", |text: String| humanize(&text));
    // The value of a choice and its label.
    environment.add_filter("pair", |text: String| vec![text.clone(), text]);
    environment.add_filter("size", |bytes: String| format_size(&bytes));
    for (name, text) in TEMPLATES {
        if let Err(error) = environment.add_template(name, text) {
            tracing::error!(%error, name, "a portal template is invalid");
        }
    }
    environment
});

/// Writes nothing for missing values, and escapes all others.
fn format_value(
    out: &mut Output<'_>,
    state: &mut minijinja::State<'_, '_>,
    value: &minijinja::Value,
) -> Result<(), Error> {
    if value.is_none() || value.is_undefined() {
        return Ok(());
    }
    minijinja::escape_formatter(out, state, value)
}

/// `2026-04-23T12:00:00.000Z` as `2026-04-23, 12:00 UTC`.
fn format_time(text: &str) -> String {
    match (text.get(..10), text.get(11..16)) {
        (Some(day), Some(time)) if text.ends_with('Z') => format!("{day}, {time} UTC"),
        _ => text.to_owned(),
    }
}

/// `need_more_info` as `Need more info`.
fn humanize(name: &str) -> String {
    let text = name.replace('_', " ");
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

fn format_size(bytes: &str) -> String {
    match bytes.parse::<u64>() {
        Ok(0) => "name only".to_owned(),
        Ok(bytes) if bytes < 1024 => format!("{bytes} bytes"),
        Ok(bytes) if bytes < 1024 * 1024 => format!("{} KB", bytes.div_ceil(1024)),
        Ok(bytes) => format!("{} MB", bytes.div_ceil(1024 * 1024)),
        Err(_) => String::new(),
    }
}

/// JSON as a template value. Numbers become text, so that they keep their digits.
pub(super) fn template_value(value: &Value) -> minijinja::Value {
    match value {
        Value::Null => minijinja::Value::from(()),
        Value::Bool(flag) => minijinja::Value::from(*flag),
        Value::Number(number) => minijinja::Value::from(number.to_string()),
        Value::String(text) => minijinja::Value::from(text.as_str()),
        Value::Array(items) => items.iter().map(template_value).collect(),
        Value::Object(members) => {
            minijinja::Value::from_pairs(members.iter().map(|(name, member)| (name.as_str(), template_value(member))))
        }
    }
}

/// The text of a `?notice=` parameter.
fn notice(name: &str) -> Option<&'static str> {
    Some(match name {
        "expired" => "Your session has expired. Sign in again; your drafts are kept.",
        "out" => "You are signed out.",
        "saved" => "The draft is saved.",
        "discarded" => "The draft is deleted.",
        "submitted" => "The request is submitted.",
        "added" => "The information was sent to the payer.",
        "withdrawn" => "The request is withdrawn.",
        _ => return None,
    })
}

/// The page or redirect, with the session cookie.
pub(super) fn response(browser: &Browser<'_>, response: PageResponse, is_secure: bool) -> Response {
    let mut response = match response {
        PageResponse::Redirect(path) => match HeaderValue::from_str(&path) {
            Ok(path) => (StatusCode::SEE_OTHER, [(header::LOCATION, path)]).into_response(),
            Err(_) => error_response(&ApiError::internal()),
        },
        PageResponse::Page(content) => page(browser, &content),
    };
    let secure = if is_secure { "; Secure" } else { "" };
    let cookie = format!(
        "{}={}; Path={}; HttpOnly; SameSite=Lax{secure}",
        request_checks::COOKIE,
        browser.visitor.cookie(),
        browser.base
    );
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    set_security_headers(response.headers_mut());
    response
}

fn page(browser: &Browser<'_>, content: &PageContent) -> Response {
    let portal = browser.visitor.config.portal;
    let config = &browser.visitor.config;
    let label = |field: &Field| (field.name(), minijinja::Value::from(steps::label(*field, config)));
    let labels = minijinja::Value::from_pairs(Field::ALL.iter().map(label));
    let common = context! {
        base => browser.base.as_str(),
        title => content.title.as_str(),
        skin => if portal == Portal::Radmd { "radmd" } else { "covermymeds" },
        is_in => browser.visitor.is_in(),
        username => browser.visitor.username(),
        form_token => browser.visitor.form_token(),
        new_draft => new_draft(&browser.state.app),
        notice => notice(browser.param("notice")),
        is_warning => browser.param("notice") == "expired",
        labels,
        ..content.context.clone()
    };
    match ENVIRONMENT.get_template(content.template).and_then(|template| template.render(common)) {
        Ok(text) => html(content.status, text),
        Err(error) => {
            tracing::error!(%error, template = content.template, "a portal page could not be rendered");
            error_response(&ApiError::internal())
        }
    }
}

/// An error page outside of any portal.
pub(super) fn error_response(error: &ApiError) -> Response {
    let message = match error.code() {
        Code::NotFound => "There is no such portal.".to_owned(),
        Code::InternalError => "Something went wrong. Please try again.".to_owned(),
        _ => error.public_message(),
    };
    let context = context! { base => "", title => "Not available", skin => "radmd", is_in => false, words => message };
    let text = ENVIRONMENT.get_template("message.html").and_then(|template| template.render(context));
    let mut response = html(error.status(), text.unwrap_or_default());
    set_security_headers(response.headers_mut());
    response
}

fn html(status: StatusCode, text: String) -> Response {
    let content_type = HeaderValue::from_static("text/html; charset=utf-8");
    let mut response = (status, [(header::CONTENT_TYPE, content_type)], Body::from(text)).into_response();
    if status == StatusCode::SERVICE_UNAVAILABLE || status == StatusCode::TOO_MANY_REQUESTS {
        let wait = if status == StatusCode::TOO_MANY_REQUESTS { "60" } else { "5" };
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static(wait));
    }
    response
}

/// Headers that forbid scripts, content from other origins, framing, and caching.
fn set_security_headers(headers: &mut HeaderMap) {
    const POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; \
                          frame-ancestors 'none'";
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
}

pub(super) fn style_sheet(method: &Method) -> Response {
    if !matches!(*method, Method::GET | Method::HEAD) {
        return error_response(&ApiError::new(Code::MethodNotAllowed, "this address does not support that method"));
    }
    let headers = [(header::CONTENT_TYPE, "text/css; charset=utf-8"), (header::CACHE_CONTROL, "public, max-age=300")];
    (headers, STYLE).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_template_is_valid() {
        for (name, _) in TEMPLATES {
            assert!(ENVIRONMENT.get_template(name).is_ok(), "{name}");
        }
    }

    #[test]
    fn values_are_formatted_as_text() {
        let text = ENVIRONMENT.render_str(
            "{{ v.a }}|{{ v.b }}|{{ v.c }}|{{ v.d.e }}",
            context! { v => template_value(&json!({"a": null, "b": 1.50, "c": "<"})) },
        );
        assert_eq!(text.unwrap(), "|1.5|<|");
        assert_eq!(format_time("2026-04-23T12:00:00.000Z"), "2026-04-23, 12:00 UTC");
        assert_eq!((humanize("need_more_info"), format_size("2048")), ("Need more info".into(), "2 KB".into()));
    }
}
