//! A request of an agent to a sandbox of its task.

use bytes::Bytes;
use client::Method;
use serde_json::Value;

/// A request to a sandbox. Its body can be read when it is JSON, an HL7 v2 message or an X12 interchange.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    pub method: Method,
    /// The URL prefix of the sandbox, when the agent used another address than the one below its task run.
    pub root: Option<String>,
    /// The path and query below the sandbox prefix, such as `fhir/Task`.
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: Bytes,
}

impl Message {
    /// A GET request.
    pub fn read(path: &str) -> Self {
        Self { method: Method::GET, root: None, path: path.to_owned(), headers: Vec::new(), body: Bytes::new() }
    }

    pub(crate) fn json(method: Method, path: &str, body: &Value) -> Self {
        let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        Self { method, root: None, path: path.to_owned(), headers, body: body.to_string().into() }
    }

    /// Removes the sender's address and credentials, which are valid in one run only.
    pub(crate) fn without_sender(&self) -> Self {
        let mut message = Self { root: None, ..self.clone() };
        message.headers.retain(|(name, _)| !name.eq_ignore_ascii_case("authorization"));
        message
    }

    pub(crate) fn is_read(&self) -> bool {
        self.method == Method::GET || self.method == Method::HEAD || self.path.contains("/_search")
    }

    /// The kind of endpoint that the request goes to, without ids and file names.
    pub(crate) fn endpoint(&self) -> String {
        let mut parts = self.path.split(['/', '?']);
        let first = parts.next().unwrap_or_default();
        match (first, parts.next(), parts.next_back()) {
            ("files", _, _) | (_, None, _) => first.to_owned(),
            (_, Some(second), Some(last)) if first != "fhir" => format!("{first}/{second}/{last}"),
            (_, Some(second), _) => format!("{first}/{second}"),
        }
    }

    /// The body as JSON, or as one string when it is an HL7 v2 message or an X12 interchange. `None` for other content.
    pub(crate) fn content(&self) -> Option<Value> {
        if let Ok(value @ (Value::Object(_) | Value::Array(_))) = serde_json::from_slice(&self.body) {
            return Some(value);
        }
        let text = std::str::from_utf8(&self.body).ok()?;
        (text.starts_with("ISA") || text.starts_with("MSH")).then(|| Value::String(text.to_owned()))
    }

    /// The same request with another body.
    pub(crate) fn with(&self, content: &Value) -> Self {
        let body = match content {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        Self { body: body.into(), ..self.clone() }
    }
}
