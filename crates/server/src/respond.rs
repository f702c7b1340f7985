//! Answers: a value with its entity tag, a creation, a page of a list.

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

/// 201 with `Location` and `ETag`; a replay of an earlier answer says so.
pub(crate) struct Made<T> {
    pub(crate) created: Created<T>,
    pub(crate) location: String,
}

impl<T> Made<T> {
    pub(crate) fn at(created: Created<T>, location: impl FnOnce(&T) -> String) -> Self {
        let location = location(&created.value);
        Self { created, location }
    }
}

impl<T: Serialize> IntoResponse for Made<T> {
    fn into_response(self) -> Response {
        let Created { value, replayed } = self.created;
        let headers = [(header::LOCATION, self.location), (header::ETAG, etag::of(&value))];
        replay_marked((StatusCode::CREATED, headers, Json(value)).into_response(), replayed)
    }
}

/// 200 for a transition that may be repeated.
pub(crate) struct Done<T>(pub(crate) Created<T>);

impl<T: Serialize> IntoResponse for Done<T> {
    fn into_response(self) -> Response {
        replay_marked(Tagged(self.0.value).into_response(), self.0.replayed)
    }
}

fn replay_marked(mut response: Response, replayed: bool) -> Response {
    if replayed {
        response.headers_mut().insert("idempotent-replayed", HeaderValue::from_static("true"));
    }
    response
}

/// A page, with cursors that only this list takes back.
pub(crate) fn page<T>(list: &str, page: Page<T>) -> Json<List<T>> {
    let text = |cursor: Option<model::page::Cursor>| cursor.map(|cursor| cursor::encode(list, &cursor));
    let meta = ListMeta { next: text(page.next), prev: text(page.prev), limit: page.limit };
    Json(List { next_cursor: meta.next.clone(), meta, data: page.items })
}
