//! JSON bodies: size, encoding, depth and shape are checked, and every faulty field is named at once.

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
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::Schema;

use crate::State;
use crate::envelope::{ApiError, Code};
use crate::extract::once;

/// What is stored is shown again deeper inside other things (a task in a version), and must be readable there too: the
/// most that is ever read is 127 levels.
const MOST_LEVELS: usize = 100;

/// More than a body of sense has in its bytes; a tree of so many takes some tens of megabytes.
const MOST_VALUES: usize = 200_000;

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

/// The body of a creation, and what makes it safe to repeat.
pub(crate) struct Post<T>(pub(crate) T, pub(crate) Option<Once>);

impl<T: DeserializeOwned + ToSchema> FromRequest<State> for Post<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &State) -> Result<Self, ApiError> {
        let (parts, body) = request.into_parts();
        let bytes = read(&parts, body, state).await?;
        Ok(Post(parse(&parts, &bytes)?, once(&parts, &bytes)?))
    }
}

/// A creation or transition whose body may be left out.
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

/// A transition that takes no body; one that is sent is not read as anything.
pub(crate) struct Bodyless(pub(crate) Option<Once>);

impl FromRequest<State> for Bodyless {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &State) -> Result<Self, ApiError> {
        let (parts, body) = request.into_parts();
        let bytes = read(&parts, body, state).await?;
        Ok(Bodyless(once(&parts, &bytes)?))
    }
}

/// A body of any type, as a whole, up to `most` bytes.
pub(crate) async fn read_whole(body: Body, most: u64) -> Result<Bytes, ApiError> {
    if body.is_end_stream() {
        return Ok(Bytes::new());
    }
    let too_large = || ApiError::new(Code::PayloadTooLarge, format!("the body is larger than {most} bytes"));
    // What says so itself need not be read to be refused.
    if body.size_hint().lower() > most {
        return Err(too_large());
    }
    match Limited::new(body, usize::try_from(most).unwrap_or(usize::MAX)).collect().await {
        Ok(whole) => Ok(whole.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(too_large()),
        Err(_) => Err(ApiError::new(Code::BadRequest, "the body ended early or came too slowly")),
    }
}

/// Bodies come as they are: a compressed one would have to be measured twice.
pub(crate) fn refuse_encoding(headers: &HeaderMap) -> Result<(), ApiError> {
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

async fn read(parts: &Parts, body: Body, state: &State) -> Result<Bytes, ApiError> {
    refuse_encoding(&parts.headers)?;
    read_whole(body, state.app.limits().json_bytes as u64).await
}

pub(crate) fn parse<T: DeserializeOwned + ToSchema>(parts: &Parts, bytes: &[u8]) -> Result<T, ApiError> {
    let is_json =
        media_type(&parts.headers).is_some_and(|media| media == "application/json" || media.ends_with("+json"));
    if !is_json {
        return Err(ApiError::new(Code::UnsupportedMediaType, "send the body as application/json"));
    }
    let text = str::from_utf8(bytes).map_err(|_| ApiError::new(Code::BadRequest, "the body is not valid UTF-8"))?;
    if values_at_most(text) > MOST_VALUES {
        return Err(ApiError::new(Code::BadRequest, format!("the body has more than {MOST_VALUES} values")));
    }
    let value: Value = serde_json::from_str(text)
        .map_err(|error| ApiError::new(Code::BadRequest, format!("the body is not valid JSON: {error}")))?;
    if !value.is_object() {
        return Err(ApiError::new(Code::BadRequest, "the body must be a JSON object"));
    }
    if is_deeper(&value, MOST_LEVELS) {
        return Err(ApiError::new(Code::BadRequest, format!("the body is nested deeper than {MOST_LEVELS} levels")));
    }
    if has_nul(&value) {
        return Err(ApiError::new(Code::BadRequest, "the body has a string with the character U+0000"));
    }
    typed(value).map_err(ApiError::invalid)
}

fn is_deeper(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(items) => levels == 0 || items.iter().any(|item| is_deeper(item, levels - 1)),
        Value::Object(members) => levels == 0 || members.values().any(|member| is_deeper(member, levels - 1)),
        _ => false,
    }
}

/// How many values a JSON text can have, without building them: one, and one more behind every bracket and comma.
fn values_at_most(text: &str) -> usize {
    let (mut count, mut is_text, mut is_escaped) = (1, false, false);
    for byte in text.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_text => is_escaped = true,
            b'"' => is_text = !is_text,
            b'[' | b'{' | b',' if !is_text => count += 1,
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

/// Reads the typed form, or names all that is faulty or missing.
fn typed<T: DeserializeOwned + ToSchema>(value: Value) -> Result<T, FieldErrors> {
    reading::read_owned(value, Hints { required: &required::<T>(), aliases: &[] }).into_result()
}

/// The members that the schema requires.
fn required<T: ToSchema>() -> Vec<String> {
    match T::schema() {
        RefOr::T(Schema::Object(schema)) => schema.required,
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::simulator::NewSimulator;
    use model::task::NewTask;
    use serde_json::json;

    fn faults<T: DeserializeOwned + ToSchema>(value: Value) -> String {
        typed::<T>(value).err().map(|errors| errors.to_string()).unwrap_or_default()
    }

    #[test]
    fn every_faulty_field_is_named_at_once() {
        let words = faults::<NewTask>(json!({"name": 5, "tags": ["a", 7], "colour": "red", "timeout": "soon"}));
        for part in [
            "benchmark_id: is required",
            "colour: is not a known field",
            "name: must be a string, is 5",
            "tags.1: must be a string, is 7",
            "timeout: must be an integer, is \"soon\"",
        ] {
            assert!(words.contains(part), "{part} in {words}");
        }
        assert!(faults::<NewSimulator>(json!({"type": "Ehr", "name": "x"})).starts_with("type: must be one of"));
        assert_eq!(faults::<NewSimulator>(json!({})), "name: is required; type: is required");
    }

    #[test]
    fn a_body_of_nothing_but_faults_is_not_read_once_for_each() {
        let body: serde_json::Map<String, Value> =
            (0..100_000).map(|number| (format!("f{number}"), json!(1))).collect();
        let errors = typed::<NewTask>(Value::Object(body)).err().unwrap();
        assert!(errors.iter().count() <= reading::MOST_FAULTS + 1);
        let words = faults::<NewTask>(json!({"k".repeat(100_000): 1}));
        assert!(words.len() < 1000, "{} bytes", words.len());
    }

    #[test]
    fn values_are_counted_before_they_are_built() {
        for (text, most) in [("1", 1), ("[]", 2), ("[1, 2]", 3), (r#"{"a[,\\\"": [1], "b": "]"}"#, 4)] {
            assert_eq!(values_at_most(text), most, "{text}");
        }
    }

    #[test]
    fn levels_are_counted_as_they_are_written() {
        let at = |levels: usize| (1..levels).fold(json!({}), |inner, _| json!([inner]));
        assert!(!is_deeper(&at(MOST_LEVELS), MOST_LEVELS));
        assert!(is_deeper(&at(MOST_LEVELS + 1), MOST_LEVELS));
    }

    #[test]
    fn numbers_keep_their_digits_through_the_typed_form() {
        let body = r#"{"type": "fhir", "name": "x", "config": {"a": 1.10}}"#;
        let new: NewSimulator = typed(serde_json::from_str(body).unwrap()).unwrap();
        assert_eq!(new.config.to_string(), "{\"a\":1.10}");
    }
}
