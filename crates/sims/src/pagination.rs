//! Pages of rows in memory, sorted by key.

use model::page::{Direction, Page, PageRequest};
use serde_json::Value;

/// A row with its sort key.
pub(crate) type KeyedRow = (String, Value);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SortOrder {
    Ascending,
    Descending,
}

/// Returns one page. The rows may come in any order.
pub(crate) fn page(mut rows: Vec<KeyedRow>, request: &PageRequest, order: SortOrder) -> Page<Value> {
    let is_back = request.cursor.as_ref().is_some_and(|cursor| cursor.direction == Direction::Prev);
    // A page before the cursor is a page after it in the opposite order.
    let is_ascending = (order == SortOrder::Ascending) != is_back;
    if let Some(cursor) = &request.cursor {
        rows.retain(|(key, _)| if is_ascending { *key > cursor.key } else { *key < cursor.key });
    }
    rows.sort_by(|left, right| if is_ascending { left.0.cmp(&right.0) } else { right.0.cmp(&left.0) });
    rows.truncate(request.limit + 1);
    Page::from_rows(rows, request, |(key, _)| key.clone()).map(|(_, row)| row)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn pages_can_be_read_in_both_directions() {
        let rows = || (0..7).map(|number| (format!("{number}"), json!(number))).collect::<Vec<KeyedRow>>();
        for (order, expected) in [(SortOrder::Ascending, [0, 3, 6]), (SortOrder::Descending, [6, 3, 0])] {
            let mut request = PageRequest { limit: 3, cursor: None };
            let mut firsts = Vec::new();
            loop {
                let found = page(rows(), &request, order);
                firsts.push(found.items[0].clone());
                match found.next {
                    Some(next) => request.cursor = Some(next),
                    None => break,
                }
            }
            assert_eq!(firsts, expected.map(|number| json!(number)));
            let last = page(rows(), &request, order);
            request.cursor = last.prev;
            let before = page(rows(), &request, order);
            assert_eq!(before.items[0], json!(expected[1]));
        }
    }
}
