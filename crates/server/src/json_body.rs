//! JSON bodies: checks size, encoding, depth and shape, and reports all invalid fields at once.

use app::Once;
use axum::body::{Body, HttpBody as _};
use axum::extract::{FromRequest, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use model::FieldErrors;
use model::reading::{self, Hints};
use serde::de::DeserializeOwned;
use serde_json::Value;
use utoipa::ToSchema;

use crate::State;
use crate::api_error::{ApiError, Code};
use crate::extractors::once;

/// Maximum nesting. Stored JSON is returned inside other objects (a task in a version) and must stay below serde_json's limit
/// of 127 levels there.
const MAX_DEPTH: usize = 100;

/// Maximum number of JSON values in a body. A tree of this many takes some tens of megabytes.
const MAX_VALUES: usize = 200_000;

/// The body of an update.
pub(crate) struct Patch<T>(pub(crate) T);

impl<T: DeserializeOwned + ToSchema> FromRequest<State> for Patch<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &State) -> Result<Self, ApiError> {
        let (parts, body) = request.into_parts();
        let bytes = read(&parts, body, state).await?;
        Ok(Patch(parse(&parts, &bytes)?))
    }
}

/// The body of a creation, with its idempotency key.
pub(crate) struct Post<T>(pub(crate) T, pub(crate) Option<Once>);

impl<T: DeserializeOwned + ToSchema> FromRequest<State> for Post<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &State) -> Result<Self, ApiError> {
        let (parts, body) = request.into_parts();
        let bytes = read(&parts, body, state).await?;
        Ok(Post(parse(&parts, &bytes)?, once(&parts, &bytes)?))
    }
}

/// The body of a creation or transition that may be left out, with its idempotency key.
pub(crate) struct OptionalPost<T>(pub(crate) T, pub(crate) Option<Once>);

impl<T: DeserializeOwned + ToSchema + Default> FromRequest<State> for OptionalPost<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &State) -> Result<Self, ApiError> {
        let (parts, body) = request.into_parts();
        let bytes = read(&parts, body, state).await?;
        let value = if bytes.is_empty() { T::default() } else { parse(&parts, &bytes)? };
        Ok(OptionalPost(value, once(&parts, &bytes)?))
    }
}

/// A transition without a body, with its idempotency key. A body that is sent is ignored.
pub(crate) struct Bodyless(pub(crate) Option<Once>);

impl FromRequest<State> for Bodyless {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &State) -> Result<Self, ApiError> {
        let (parts, body) = request.into_parts();
        let bytes = read(&parts, body, state).await?;
        Ok(Bodyless(once(&parts, &bytes)?))
    }
}

/// Reads a complete body of any type, up to `max_bytes`.
pub(crate) async fn read_body(body: Body, max_bytes: u64) -> Result<Bytes, ApiError> {
    if body.is_end_stream() {
        return Ok(Bytes::new());
    }
    let too_large = || ApiError::new(Code::PayloadTooLarge, format!("the body is larger than {max_bytes} bytes"));
    // Rejected without reading when `Content-Length` already exceeds the limit.
    if body.size_hint().lower() > max_bytes {
        return Err(too_large());
    }
    match Limited::new(body, usize::try_from(max_bytes).unwrap_or(usize::MAX)).collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(too_large()),
        Err(_) => Err(ApiError::new(Code::BadRequest, "the body ended early or arrived too slowly")),
    }
}

/// Rejects compressed bodies: size limits would have to be checked before and after decompression.
pub(crate) fn reject_content_encoding(headers: &HeaderMap) -> Result<(), ApiError> {
    match headers.get(header::CONTENT_ENCODING) {
        Some(encoding) if encoding.as_bytes() != b"identity" => {
            Err(ApiError::new(Code::UnsupportedMediaType, "send the body without Content-Encoding"))
        }
        _ => Ok(()),
    }
}

/// The media type without parameters, in lower case.
pub(crate) fn media_type(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
    Some(value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase())
}

pub(crate) async fn read(parts: &Parts, body: Body, state: &State) -> Result<Bytes, ApiError> {
    reject_content_encoding(&parts.headers)?;
    read_body(body, state.app.limits().json_bytes as u64).await
}

pub(crate) fn parse<T: DeserializeOwned + ToSchema>(parts: &Parts, bytes: &[u8]) -> Result<T, ApiError> {
    typed(parse_object(parts, bytes)?).map_err(ApiError::invalid)
}

/// A JSON object within the limits of size and depth.
pub(crate) fn parse_object(parts: &Parts, bytes: &[u8]) -> Result<Value, ApiError> {
    let is_json =
        media_type(&parts.headers).is_some_and(|media| media == "application/json" || media.ends_with("+json"));
    if !is_json {
        return Err(ApiError::new(Code::UnsupportedMediaType, "send the body as application/json"));
    }
    let text = str::from_utf8(bytes).map_err(|_| ApiError::new(Code::BadRequest, "the body is not valid UTF-8"))?;
    if max_value_count(text) > MAX_VALUES {
        return Err(ApiError::new(Code::BadRequest, format!("the body has more than {MAX_VALUES} values")));
    }
    let value: Value = serde_json::from_str(text)
        .map_err(|error| ApiError::new(Code::BadRequest, format!("the body is not valid JSON: {error}")))?;
    if !value.is_object() {
        return Err(ApiError::new(Code::BadRequest, "the body must be a JSON object"));
    }
    if is_deeper(&value, MAX_DEPTH) {
        return Err(ApiError::new(Code::BadRequest, format!("the body is nested deeper than {MAX_DEPTH} levels")));
    }
    if has_nul(&value) {
        return Err(ApiError::new(Code::BadRequest, "the body contains a string with the character U+0000"));
    }
    Ok(value)
}

fn is_deeper(value: &Value, max_depth: usize) -> bool {
    match value {
        Value::Array(items) => max_depth == 0 || items.iter().any(|item| is_deeper(item, max_depth - 1)),
        Value::Object(members) => max_depth == 0 || members.values().any(|member| is_deeper(member, max_depth - 1)),
        _ => false,
    }
}

/// An upper bound for the number of values in a JSON text, without parsing it: one, plus one for every opening bracket and
/// comma outside of strings.
fn max_value_count(text: &str) -> usize {
    let (mut count, mut in_string, mut is_escaped) = (1, false, false);
    for byte in text.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_string => is_escaped = true,
            b'"' => in_string = !in_string,
            b'[' | b'{' | b',' if !in_string => count += 1,
            _ => {}
        }
    }
    count
}

fn has_nul(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(items) => items.iter().any(has_nul),
        Value::Object(members) => members.iter().any(|(key, member)| key.contains('\0') || has_nul(member)),
        _ => false,
    }
}

/// Deserializes the value, or reports all invalid and missing fields.
fn typed<T: DeserializeOwned + ToSchema>(value: Value) -> Result<T, FieldErrors> {
    reading::read_owned(value, Hints { required: &reading::required_fields::<T>(), aliases: &[] }).into_result()
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::simulator::NewSimulator;
    use model::task::NewTask;
    use serde_json::json;

    fn error_text<T: DeserializeOwned + ToSchema>(value: Value) -> String {
        typed::<T>(value).err().map(|errors| errors.to_string()).unwrap_or_default()
    }

    #[test]
    fn all_invalid_fields_are_reported_at_once() {
        let message = error_text::<NewTask>(json!({"name": 5, "tags": ["a", 7], "colour": "red", "timeout": "soon"}));
        for part in [
            "benchmark_id: is required",
            "colour: is not a known field",
            "name: must be a string, is 5",
            "tags.1: must be a string, is 7",
            "timeout: must be an integer, is \"soon\"",
        ] {
            assert!(message.contains(part), "{part} in {message}");
        }
        assert!(error_text::<NewSimulator>(json!({"type": "Ehr", "name": "x"})).starts_with("type: must be one of"));
        assert_eq!(error_text::<NewSimulator>(json!({})), "name: is required; type: is required");
    }

    #[test]
    fn the_number_and_length_of_reported_errors_is_limited() {
        let body: serde_json::Map<String, Value> =
            (0..100_000).map(|number| (format!("f{number}"), json!(1))).collect();
        let errors = typed::<NewTask>(Value::Object(body)).err().unwrap();
        assert!(errors.iter().count() <= reading::MAX_ERRORS + 1);
        let message = error_text::<NewTask>(json!({"k".repeat(100_000): 1}));
        assert!(message.len() < 1000, "{} bytes", message.len());
    }

    #[test]
    fn values_are_counted_before_parsing() {
        for (text, count) in [("1", 1), ("[]", 2), ("[1, 2]", 3), (r#"{"a[,\\\"": [1], "b": "]"}"#, 4)] {
            assert_eq!(max_value_count(text), count, "{text}");
        }
    }

    #[test]
    fn depth_counts_objects_and_arrays() {
        let at = |levels: usize| (1..levels).fold(json!({}), |inner, _| json!([inner]));
        assert!(!is_deeper(&at(MAX_DEPTH), MAX_DEPTH));
        assert!(is_deeper(&at(MAX_DEPTH + 1), MAX_DEPTH));
    }

    #[test]
    fn numbers_keep_their_digits_when_deserialized() {
        let body = r#"{"type": "fhir", "name": "x", "config": {"a": 1.10}}"#;
        let new: NewSimulator = typed(serde_json::from_str(body).unwrap()).unwrap();
        assert_eq!(new.config.to_string(), "{\"a\":1.10}");
    }
}
