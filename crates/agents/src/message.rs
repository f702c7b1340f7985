//! One request of an agent to a door of its task, with what can be read of its body.

use bytes::Bytes;
use client::Method;
use serde_json::Value;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    pub method: Method,
    /// Before the path, when the agent went another way than through its task run.
    pub root: Option<String>,
    /// Below the task's sandbox, with its query: `fhir/Task`.
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: Bytes,
}

impl Message {
    pub fn read(path: &str) -> Self {
        Self { method: Method::GET, root: None, path: path.to_owned(), headers: Vec::new(), body: Bytes::new() }
    }

    pub(crate) fn json(method: Method, path: &str, body: &Value) -> Self {
        let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        Self { method, root: None, path: path.to_owned(), headers, body: body.to_string().into() }
    }

    /// Without the sender's own address and key, which belong to one run.
    pub(crate) fn without_sender(&self) -> Self {
        let mut message = Self { root: None, ..self.clone() };
        message.headers.retain(|(name, _)| !name.eq_ignore_ascii_case("authorization"));
        message
    }

    pub(crate) fn is_read(&self) -> bool {
        self.method == Method::GET || self.method == Method::HEAD || self.path.contains("/_search")
    }

    /// Where it goes, without what names one thing there.
    pub(crate) fn door(&self) -> String {
        let mut parts = self.path.split(['/', '?']);
        let first = parts.next().unwrap_or_default();
        match (first, parts.next(), parts.next_back()) {
            ("files", _, _) | (_, None, _) => first.to_owned(),
            (_, Some(second), Some(last)) if first != "fhir" => format!("{first}/{second}/{last}"),
            (_, Some(second), _) => format!("{first}/{second}"),
        }
    }

    /// JSON as it is, an HL7 v2 message or an X12 interchange as one text; nothing of anything else.
    pub(crate) fn content(&self) -> Option<Value> {
        if let Ok(value @ (Value::Object(_) | Value::Array(_))) = serde_json::from_slice(&self.body) {
            return Some(value);
        }
        let text = std::str::from_utf8(&self.body).ok()?;
        (text.starts_with("ISA") || text.starts_with("MSH")).then(|| Value::String(text.to_owned()))
    }

    pub(crate) fn with(&self, content: &Value) -> Self {
        let body = match content {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        Self { body: body.into(), ..self.clone() }
    }
}
