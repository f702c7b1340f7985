//! Errors of API calls: rejected by the server, server unreachable, or an unreadable response.

use reqwest::StatusCode;
use serde_json::Value;

#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The server responded with an error status.
    #[error("{0}")]
    Rejected(Box<ErrorResponse>),
    #[error("{url} cannot be reached: {reason}")]
    Unreachable { url: String, reason: String },
    #[error("the server's response is not valid: {0}")]
    InvalidResponse(String),
}

/// The error envelope of a response.
#[derive(Debug, Clone)]
pub struct ErrorResponse {
    pub status: u16,
    pub code: String,
    pub message: String,
    /// Maps each field name to a list of messages about it.
    pub details: Value,
    pub request_id: String,
}

impl ClientError {
    /// Whether a retry may help: the server is unreachable, overloaded or failing.
    pub fn is_infrastructure(&self) -> bool {
        match self {
            ClientError::Rejected(response) => response.status >= 500 || response.status == 429,
            ClientError::Unreachable { .. } | ClientError::InvalidResponse(_) => true,
        }
    }

    pub fn status(&self) -> Option<u16> {
        match self {
            ClientError::Rejected(response) => Some(response.status),
            _ => None,
        }
    }
}

impl ErrorResponse {
    /// Lists the field errors as `field: message`.
    pub fn field_errors(&self) -> Vec<String> {
        let of_field = |(field, messages): (&String, &Value)| {
            let messages = messages.as_array().into_iter().flatten().filter_map(Value::as_str);
            messages.map(|message| format!("{field}: {message}")).collect::<Vec<_>>()
        };
        self.details.as_object().into_iter().flatten().flat_map(of_field).collect()
    }
}

impl std::fmt::Display for ErrorResponse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.message)?;
        for error in self.field_errors() {
            write!(f, "; {error}")?;
        }
        write!(f, " ({}, request {})", self.code, self.request_id)
    }
}

/// Formats the last error of the source chain, which names the cause that a user can act on.
pub(crate) fn root_cause(error: &dyn std::error::Error) -> String {
    let mut deepest = error;
    while let Some(source) = deepest.source() {
        deepest = source;
    }
    deepest.to_string()
}

/// Builds the error for a response with an error status.
pub(crate) fn error_response(status: StatusCode, body: &[u8]) -> ClientError {
    let envelope: Value = serde_json::from_slice(body).unwrap_or_default();
    let error = &envelope["error"];
    let member = |name: &str| error[name].as_str().unwrap_or_default().to_owned();
    if error.is_null() {
        return without_envelope(status, body);
    }
    ClientError::Rejected(Box::new(ErrorResponse {
        status: status.as_u16(),
        code: member("code"),
        message: member("message"),
        details: error["details"].clone(),
        request_id: member("request_id"),
    }))
}

/// Builds the error for a body without the API's error envelope, such as an `OperationOutcome`, an HL7 v2
/// acknowledgement or a proxy's error page.
fn without_envelope(status: StatusCode, body: &[u8]) -> ClientError {
    const MAX_CHARS: usize = 2_000;
    let text: String = String::from_utf8_lossy(body).chars().take(MAX_CHARS).collect();
    ClientError::Rejected(Box::new(ErrorResponse {
        status: status.as_u16(),
        code: status.to_string(),
        message: if text.trim().is_empty() { "no reason was given".into() } else { text },
        details: Value::Null,
        request_id: "-".into(),
    }))
}
