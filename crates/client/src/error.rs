//! What can go wrong between a caller and the server, and whose fault it is.

use reqwest::StatusCode;
use serde_json::Value;

#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The server understood and said no.
    #[error("{0}")]
    Refused(Box<Refusal>),
    #[error("{url} cannot be reached: {reason}")]
    Unreachable { url: String, reason: String },
    #[error("the server's answer cannot be understood: {0}")]
    Garbled(String),
}

/// The error of an answer.
#[derive(Debug, Clone)]
pub struct Refusal {
    pub status: u16,
    pub code: String,
    pub message: String,
    /// Field name to what is wrong with it.
    pub details: Value,
    pub request_id: String,
}

impl ClientError {
    /// Whether asking again may help: nobody answered, or the server has a problem of its own.
    pub fn is_infrastructure(&self) -> bool {
        match self {
            ClientError::Refused(refusal) => refusal.status >= 500 || refusal.status == 429,
            ClientError::Unreachable { .. } | ClientError::Garbled(_) => true,
        }
    }

    pub fn status(&self) -> Option<u16> {
        match self {
            ClientError::Refused(refusal) => Some(refusal.status),
            _ => None,
        }
    }
}

impl Refusal {
    /// Each fault of a field, as `field: what is wrong`.
    pub fn faults(&self) -> Vec<String> {
        let words = |(place, words): (&String, &Value)| {
            let words = words.as_array().into_iter().flatten().filter_map(Value::as_str);
            words.map(|word| format!("{place}: {word}")).collect::<Vec<_>>()
        };
        self.details.as_object().into_iter().flatten().flat_map(words).collect()
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.message)?;
        for fault in self.faults() {
            write!(f, "; {fault}")?;
        }
        write!(f, " ({}, request {})", self.code, self.request_id)
    }
}

/// The reason that a person can act on is at the end of the chain.
pub(crate) fn innermost(error: &dyn std::error::Error) -> String {
    let mut deepest = error;
    while let Some(source) = deepest.source() {
        deepest = source;
    }
    deepest.to_string()
}

pub(crate) fn refusal(status: StatusCode, body: &[u8]) -> ClientError {
    let envelope: Value = serde_json::from_slice(body).unwrap_or_default();
    let error = &envelope["error"];
    let text = |name: &str| error[name].as_str().unwrap_or_default().to_owned();
    if error.is_null() {
        return of_another_form(status, body);
    }
    ClientError::Refused(Box::new(Refusal {
        status: status.as_u16(),
        code: text("code"),
        message: text("message"),
        details: error["details"].clone(),
        request_id: text("request_id"),
    }))
}

/// Protocols answer errors in their own form (an `OperationOutcome`, an acknowledgement), and proxies in theirs.
fn of_another_form(status: StatusCode, body: &[u8]) -> ClientError {
    const MOST: usize = 2_000;
    let words: String = String::from_utf8_lossy(body).chars().take(MOST).collect();
    ClientError::Refused(Box::new(Refusal {
        status: status.as_u16(),
        code: status.to_string(),
        message: if words.trim().is_empty() { "no reason was given".into() } else { words },
        details: Value::Null,
        request_id: "-".into(),
    }))
}
