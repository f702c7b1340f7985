//! Successful responses: a value with its entity tag, a creation, a transition, a page of a list.

use app::{Created, etag};
use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use model::page::{List, ListMeta, Page};
use serde::Serialize;

use crate::cursor;

/// 200 with an `ETag`.
pub(crate) struct Tagged<T>(pub(crate) T);

impl<T: Serialize> IntoResponse for Tagged<T> {
    fn into_response(self) -> Response {
        ([(header::ETAG, etag::of(&self.0))], Json(self.0)).into_response()
    }
}

/// 201 with `Location` and `ETag`, and `Idempotent-Replayed` when an earlier response is replayed.
pub(crate) struct CreatedResponse<T> {
    pub(crate) created: Created<T>,
    pub(crate) location: String,
}

impl<T> CreatedResponse<T> {
    pub(crate) fn at(created: Created<T>, location: impl FnOnce(&T) -> String) -> Self {
        let location = location(&created.value);
        Self { created, location }
    }
}

impl<T: Serialize> IntoResponse for CreatedResponse<T> {
    fn into_response(self) -> Response {
        let Created { value, replayed } = self.created;
        let headers = [(header::LOCATION, self.location), (header::ETAG, etag::of(&value))];
        mark_replay((StatusCode::CREATED, headers, Json(value)).into_response(), replayed)
    }
}

/// 200 with `ETag`, and `Idempotent-Replayed` when an earlier response is replayed.
pub(crate) struct TransitionResponse<T>(pub(crate) Created<T>);

impl<T: Serialize> IntoResponse for TransitionResponse<T> {
    fn into_response(self) -> Response {
        mark_replay(Tagged(self.0.value).into_response(), self.0.replayed)
    }
}

fn mark_replay(mut response: Response, replayed: bool) -> Response {
    if replayed {
        response.headers_mut().insert("idempotent-replayed", HeaderValue::from_static("true"));
    }
    response
}

/// A page of a list, with cursors that are only valid for this list.
pub(crate) fn page<T>(list: &str, page: Page<T>) -> Json<List<T>> {
    let text = |cursor: Option<model::page::Cursor>| cursor.map(|cursor| cursor::encode(list, &cursor));
    let meta = ListMeta { next: text(page.next), prev: text(page.prev), limit: page.limit };
    Json(List { next_cursor: meta.next.clone(), meta, data: page.items })
}
