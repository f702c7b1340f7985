//! Pages of rows that are in memory, each row with its place in the order.

use model::page::{Direction, Page, PageRequest};
use serde_json::Value;

/// A row with its place.
pub(crate) type Placed = (String, Value);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Rising,
    Falling,
}

/// The page of the rows, which may come in any order.
pub(crate) fn page(mut rows: Vec<Placed>, request: &PageRequest, order: Order) -> Page<Value> {
    let is_back = request.cursor.as_ref().is_some_and(|cursor| cursor.direction == Direction::Prev);
    // Going back is going forward in the other order.
    let is_rising = (order == Order::Rising) != is_back;
    if let Some(cursor) = &request.cursor {
        rows.retain(|(place, _)| if is_rising { *place > cursor.key } else { *place < cursor.key });
    }
    rows.sort_by(|left, right| if is_rising { left.0.cmp(&right.0) } else { right.0.cmp(&left.0) });
    rows.truncate(request.limit + 1);
    Page::from_rows(rows, request, |(place, _)| place.clone()).map(|(_, row)| row)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn pages_go_forth_and_back() {
        let rows = || (0..7).map(|number| (format!("{number}"), json!(number))).collect::<Vec<Placed>>();
        for (order, expected) in [(Order::Rising, [0, 3, 6]), (Order::Falling, [6, 3, 0])] {
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
