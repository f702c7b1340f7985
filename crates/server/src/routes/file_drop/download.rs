//! A file on its way to a client.

use app::sandboxes::files::{Entry, FileDrop, Reader, TreePath, lists};
use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use model::dataset::DatasetFile;

use super::range::{Wanted, wanted};
use crate::envelope::{ApiError, Code};

pub(super) async fn answer(
    files: FileDrop,
    path: &TreePath,
    is_head: bool,
    headers: &HeaderMap,
) -> Result<Response, ApiError> {
    if is_head {
        return match files.stat(path).await.map_err(app::AppError::from)? {
            Entry::File(file) => Ok(described(Body::empty().into_response(), &file, file.size)),
            Entry::Directory { .. } => Err(ApiError::new(Code::Conflict, "it is a directory")),
        };
    }
    let reader = files.open(path).await.map_err(app::AppError::from)?;
    let size = reader.file.size;
    match wanted(range_that_counts(headers, &reader.file), size) {
        Wanted::Whole => Ok(part(reader, 0, size)),
        Wanted::Part(range) => {
            let mut response = part(reader, range.start, range.end);
            *response.status_mut() = StatusCode::PARTIAL_CONTENT;
            let told = format!("bytes {}-{}/{size}", range.start, range.end.saturating_sub(1));
            set(&mut response, header::CONTENT_RANGE, &told);
            Ok(response)
        }
        Wanted::Nowhere => {
            let words = format!("the file has {size} bytes");
            let mut response = ApiError::new(Code::RangeNotSatisfiable, words).into_response();
            set(&mut response, header::CONTENT_RANGE, &format!("bytes */{size}"));
            Ok(response)
        }
    }
}

/// The range counts if the file is still the one that the client has begun; dates are not precise enough to tell.
fn range_that_counts<'h>(headers: &'h HeaderMap, file: &DatasetFile) -> Option<&'h str> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let is_same = match headers.get(header::IF_RANGE) {
        None => true,
        Some(_) => text(header::IF_RANGE).is_some_and(|tag| tag != "*" && lists(tag, Some(&file.sha256), false)),
    };
    text(header::RANGE).filter(|_| is_same)
}

fn part(reader: Reader, start: u64, end: u64) -> Response {
    let file = reader.file.clone();
    described(Body::from_stream(reader.stream(start, end)).into_response(), &file, end - start)
}

fn described(mut response: Response, file: &DatasetFile, length: u64) -> Response {
    set(&mut response, header::CONTENT_TYPE, &file.content_type);
    set(&mut response, header::CONTENT_LENGTH, &length.to_string());
    set(&mut response, header::ETAG, &tag(file));
    set(&mut response, header::ACCEPT_RANGES, "bytes");
    // An agent's bytes must never run as a page of this server.
    set(&mut response, header::CONTENT_DISPOSITION, "attachment");
    set(&mut response, header::CONTENT_SECURITY_POLICY, "sandbox; default-src 'none'");
    response
}

fn set(response: &mut Response, name: header::HeaderName, value: &str) {
    let value = HeaderValue::from_str(value).unwrap_or(HeaderValue::from_static("application/octet-stream"));
    response.headers_mut().insert(name, value);
}

/// The entity tag of a file is the hash of its bytes.
pub(super) fn tag(file: &DatasetFile) -> String {
    format!("\"{}\"", file.sha256)
}
