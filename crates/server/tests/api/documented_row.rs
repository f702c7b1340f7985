//! One documented statement about the API: a request and the expected response.

use std::collections::BTreeMap;

use reqwest::Method;
use serde_json::Value;
use testkit::{Caller, TestResponse, TestServer};

/// A statement of the product's public documentation. `{name}` in the path, the body and expected values stands for
/// a value that an earlier row saved.
pub(crate) struct Row {
    statement: &'static str,
    method: Method,
    path: String,
    body: Body,
    bearer: Bearer,
    statuses: Vec<u16>,
    wants: Vec<Want>,
    saves: Vec<(&'static str, &'static str)>,
}

enum Body {
    None,
    Json(Value),
    Form(String),
}

enum Bearer {
    Organization,
    Nobody,
    /// Values that earlier rows saved.
    Saved(&'static str),
}

/// Expectations about a response, by JSON pointer.
enum Want {
    Has(&'static str),
    Lacks(&'static str),
    Is(&'static str, Value),
    Same(&'static str, &'static str),
    Starts(&'static str, String),
    Contains(&'static str, String),
    Count(&'static str, usize),
    Header(&'static str),
}

impl Row {
    fn new(statement: &'static str, method: Method, path: &str, body: Body) -> Self {
        let statuses = match method {
            Method::POST => vec![200, 201],
            Method::DELETE => vec![200, 204],
            _ => vec![200],
        };
        let (path, bearer) = (path.to_owned(), Bearer::Organization);
        Self { statement, method, path, body, bearer, statuses, wants: Vec::new(), saves: Vec::new() }
    }

    pub(crate) fn get(statement: &'static str, path: &str) -> Self {
        Self::new(statement, Method::GET, path, Body::None)
    }

    pub(crate) fn post(statement: &'static str, path: &str, body: Value) -> Self {
        Self::new(statement, Method::POST, path, Body::Json(body))
    }

    /// Without a body and without a content type.
    pub(crate) fn post_nothing(statement: &'static str, path: &str) -> Self {
        Self::new(statement, Method::POST, path, Body::None)
    }

    pub(crate) fn post_form(statement: &'static str, path: &str, form: &str) -> Self {
        Self::new(statement, Method::POST, path, Body::Form(form.to_owned()))
    }

    pub(crate) fn put(statement: &'static str, path: &str, body: Value) -> Self {
        Self::new(statement, Method::PUT, path, Body::Json(body)).status(&[200, 201])
    }

    pub(crate) fn patch(statement: &'static str, path: &str, body: Value) -> Self {
        Self::new(statement, Method::PATCH, path, Body::Json(body))
    }

    pub(crate) fn delete(statement: &'static str, path: &str) -> Self {
        Self::new(statement, Method::DELETE, path, Body::None)
    }

    pub(crate) fn anonymous(mut self) -> Self {
        self.bearer = Bearer::Nobody;
        self
    }

    pub(crate) fn bearer(mut self, saved: &'static str) -> Self {
        self.bearer = Bearer::Saved(saved);
        self
    }

    pub(crate) fn status(mut self, statuses: &[u16]) -> Self {
        self.statuses = statuses.to_vec();
        self
    }

    pub(crate) fn has(mut self, pointers: &[&'static str]) -> Self {
        self.wants.extend(pointers.iter().map(|pointer| Want::Has(pointer)));
        self
    }

    pub(crate) fn lacks(mut self, pointers: &[&'static str]) -> Self {
        self.wants.extend(pointers.iter().map(|pointer| Want::Lacks(pointer)));
        self
    }

    pub(crate) fn is(mut self, pointer: &'static str, value: impl Into<Value>) -> Self {
        self.wants.push(Want::Is(pointer, value.into()));
        self
    }

    pub(crate) fn same(mut self, left: &'static str, right: &'static str) -> Self {
        self.wants.push(Want::Same(left, right));
        self
    }

    pub(crate) fn starts(mut self, pointer: &'static str, text: &str) -> Self {
        self.wants.push(Want::Starts(pointer, text.to_owned()));
        self
    }

    pub(crate) fn contains(mut self, pointer: &'static str, text: &str) -> Self {
        self.wants.push(Want::Contains(pointer, text.to_owned()));
        self
    }

    pub(crate) fn count(mut self, pointer: &'static str, count: usize) -> Self {
        self.wants.push(Want::Count(pointer, count));
        self
    }

    pub(crate) fn header(mut self, name: &'static str) -> Self {
        self.wants.push(Want::Header(name));
        self
    }

    /// Saves a string of the response for later rows.
    pub(crate) fn save(mut self, name: &'static str, pointer: &'static str) -> Self {
        self.saves.push((name, pointer));
        self
    }
}

/// Sends the rows in order and fails with every statement that does not hold.
pub(crate) async fn check(server: &TestServer, organization: &Caller, known: &[(&str, &str)], rows: Vec<Row>) {
    let mut saved: BTreeMap<String, String> =
        known.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    saved.insert("base".to_owned(), server.base_url.clone());
    let count = rows.len();
    let mut broken = Vec::new();
    for row in rows {
        let response = send(server, organization, &row, &saved).await;
        broken.extend(mismatches(&row, &response, &saved).into_iter().map(|fault| {
            format!("{}: {fault}\n    {} → {} {}", row.statement, response.request, response.status, response.text())
        }));
        for (name, pointer) in &row.saves {
            if let Some(text) = response.json.pointer(pointer).and_then(Value::as_str) {
                saved.insert((*name).to_owned(), text.to_owned());
            }
        }
    }
    assert!(broken.is_empty(), "{} faults in {count} statements:\n{}", broken.len(), broken.join("\n"));
}

async fn send(server: &TestServer, organization: &Caller, row: &Row, saved: &BTreeMap<String, String>) -> TestResponse {
    let caller = match row.bearer {
        Bearer::Organization => organization.clone(),
        Bearer::Nobody => server.anonymous(),
        Bearer::Saved(name) => server.caller(saved.get(name).map(String::as_str).unwrap_or_default()),
    };
    let path = fill_in(&row.path, saved);
    let path = path.strip_prefix(&server.base_url).unwrap_or(&path);
    let body = match &row.body {
        Body::None => None,
        Body::Json(body) => Some(("application/json", fill_in(&body.to_string(), saved).into_bytes())),
        Body::Form(form) => Some(("application/x-www-form-urlencoded", fill_in(form, saved).into_bytes())),
    };
    caller.send_bytes(row.method.clone(), path, &[], body).await
}

fn fill_in(text: &str, saved: &BTreeMap<String, String>) -> String {
    saved.iter().fold(text.to_owned(), |text, (name, value)| text.replace(&format!("{{{name}}}"), value))
}

fn mismatches(row: &Row, response: &TestResponse, saved: &BTreeMap<String, String>) -> Vec<String> {
    if !row.statuses.contains(&response.status) {
        return vec![format!("status {}, documented {:?}", response.status, row.statuses)];
    }
    let at = |pointer: &str| response.json.pointer(pointer);
    let text = |pointer: &str| if pointer.is_empty() { response.text() } else { display(at(pointer)) };
    let judged = row.wants.iter().map(|want| match want {
        Want::Has(pointer) => (at(pointer).is_some(), format!("{pointer} is missing")),
        Want::Lacks(pointer) => (at(pointer).is_none(), format!("{pointer} must not be there")),
        Want::Is(pointer, value) => {
            let value: Value = serde_json::from_str(&fill_in(&value.to_string(), saved)).unwrap();
            (at(pointer) == Some(&value), format!("{pointer} is {}, documented {value}", display(at(pointer))))
        }
        Want::Same(left, right) => {
            (at(left).is_some() && at(left) == at(right), format!("{left} and {right} must be the same"))
        }
        Want::Starts(pointer, start) => {
            (text(pointer).starts_with(&fill_in(start, saved)), format!("{pointer} must start with {start}"))
        }
        Want::Contains(pointer, part) => {
            (text(pointer).contains(&fill_in(part, saved)), format!("{pointer} must contain {part}"))
        }
        Want::Count(pointer, count) => {
            let items = at(pointer).and_then(Value::as_array).map(Vec::len);
            (items == Some(*count), format!("{pointer} has {items:?} items, documented {count}"))
        }
        Want::Header(name) => (response.header(name).is_some(), format!("the header {name} is missing")),
    });
    judged.filter(|(holds, _)| !holds).map(|(_, fault)| fault).collect()
}

fn display(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
        None => "missing".to_owned(),
    }
}
