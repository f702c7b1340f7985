//! Cursor pagination. A cursor is a position in the sort order, so that pages stay stable while rows are added.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub const DEFAULT_LIMIT: usize = 20;
pub const MAX_LIMIT: usize = 100;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Towards older rows, the next page.
    Next,
    Prev,
}

/// Selects the rows strictly beyond `key` in the direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor {
    pub direction: Direction,
    pub key: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageRequest {
    pub limit: usize,
    pub cursor: Option<Cursor>,
}

impl Default for PageRequest {
    fn default() -> Self {
        Self { limit: DEFAULT_LIMIT, cursor: None }
    }
}

/// One page, with the cursors of the next and previous page if there are any.
#[derive(Clone, Debug, PartialEq)]
pub struct Page<T> {
    pub items: Vec<T>,
    pub next: Option<Cursor>,
    pub prev: Option<Cursor>,
    pub limit: usize,
}

impl<T> Page<T> {
    /// Builds a page from up to `limit + 1` query rows, which are in list order, or reversed when paging backwards.
    pub fn from_rows(mut rows: Vec<T>, request: &PageRequest, key: impl Fn(&T) -> String) -> Self {
        let has_more = rows.len() > request.limit;
        rows.truncate(request.limit);
        let backwards = request.cursor.as_ref().is_some_and(|cursor| cursor.direction == Direction::Prev);
        if backwards {
            rows.reverse();
        }
        let has_cursor = request.cursor.is_some();
        let (has_next, has_prev) = if backwards { (true, has_more) } else { (has_more, has_cursor) };
        let cursor = |direction, row: Option<&T>| row.map(|row| Cursor { direction, key: key(row) });
        let next = has_next.then(|| cursor(Direction::Next, rows.last())).flatten();
        let prev = has_prev.then(|| cursor(Direction::Prev, rows.first())).flatten();
        Self { items: rows, next, prev, limit: request.limit }
    }

    /// Converts the items; returns the first error.
    pub fn try_map<U, E>(self, each: impl FnMut(T) -> Result<U, E>) -> Result<Page<U>, E> {
        let items = self.items.into_iter().map(each).collect::<Result<_, E>>()?;
        Ok(Page { items, next: self.next, prev: self.prev, limit: self.limit })
    }

    pub fn map<U>(self, each: impl FnMut(T) -> U) -> Page<U> {
        Page { items: self.items.into_iter().map(each).collect(), next: self.next, prev: self.prev, limit: self.limit }
    }
}

/// A list response of the API.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct List<T> {
    pub data: Vec<T>,
    #[serde(rename = "_meta")]
    pub meta: ListMeta,
    /// Alias of `_meta.next`.
    #[serde(default)]
    pub next_cursor: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ListMeta {
    /// Pass as `cursor` for the next page; `null` on the last.
    pub next: Option<String>,
    /// Pass as `cursor` for the previous page; `null` on the first.
    pub prev: Option<String>,
    #[schema(minimum = 1, maximum = 100)]
    pub limit: usize,
}
