//! Responses with the content of a file, or a range of it.

use app::sandboxes::files::{FileDrop, FileReader, TreeEntry, TreePath, etag_list_matches};
use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use model::dataset::DatasetFile;

use super::range::{RangeRequest, parse_range};
use crate::api_error::{ApiError, Code};

pub(super) async fn respond(
    files: FileDrop,
    path: &TreePath,
    is_head: bool,
    headers: &HeaderMap,
) -> Result<Response, ApiError> {
    if is_head {
        return match files.stat(path).await.map_err(app::AppError::from)? {
            TreeEntry::File(file) => Ok(with_file_headers(Body::empty().into_response(), &file, file.size)),
            TreeEntry::Directory { .. } => Err(ApiError::new(Code::Conflict, "the path is a directory")),
        };
    }
    let reader = files.open(path).await.map_err(app::AppError::from)?;
    let size = reader.file.size;
    match parse_range(applicable_range(headers, &reader.file), size) {
        RangeRequest::None => Ok(part(reader, 0, size)),
        RangeRequest::Bytes(bytes) => {
            let mut response = part(reader, bytes.start, bytes.end);
            *response.status_mut() = StatusCode::PARTIAL_CONTENT;
            let range = format!("bytes {}-{}/{size}", bytes.start, bytes.end.saturating_sub(1));
            set(&mut response, header::CONTENT_RANGE, &range);
            Ok(response)
        }
        RangeRequest::Unsatisfiable => {
            let message = format!("the file has {size} bytes");
            let mut response = ApiError::new(Code::RangeNotSatisfiable, message).into_response();
            set(&mut response, header::CONTENT_RANGE, &format!("bytes */{size}"));
            Ok(response)
        }
    }
}

/// The `Range` header, unless `If-Range` does not match the file. Dates in `If-Range` never match, because they are not
/// precise enough.
fn applicable_range<'h>(headers: &'h HeaderMap, file: &DatasetFile) -> Option<&'h str> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let is_same = match headers.get(header::IF_RANGE) {
        None => true,
        Some(_) => {
            text(header::IF_RANGE).is_some_and(|tag| tag != "*" && etag_list_matches(tag, Some(&file.sha256), false))
        }
    };
    text(header::RANGE).filter(|_| is_same)
}

fn part(reader: FileReader, start: u64, end: u64) -> Response {
    let file = reader.file.clone();
    with_file_headers(Body::from_stream(reader.stream(start, end)).into_response(), &file, end - start)
}

fn with_file_headers(mut response: Response, file: &DatasetFile, length: u64) -> Response {
    set(&mut response, header::CONTENT_TYPE, &file.content_type);
    set(&mut response, header::CONTENT_LENGTH, &length.to_string());
    set(&mut response, header::ETAG, &tag(file));
    set(&mut response, header::ACCEPT_RANGES, "bytes");
    // An agent's bytes must never be rendered as a page of this server.
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
