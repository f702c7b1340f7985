//! Pages of rows by key. Reads one row more than requested, which shows whether there is another page.

use model::page::{Direction, Page, PageRequest};

use crate::value::{Row, Value};
use crate::{Db, StoreError};

/// The order of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    NewestFirst,
    Ascending,
    /// By a number, highest first.
    HighestFirst,
    /// By a number, lowest first.
    LowestFirst,
}

/// `select` ends in a `where` clause; `key` is the column that orders the list and that cursors hold.
pub(crate) struct Paged<'a> {
    pub(crate) select: &'a str,
    pub(crate) key: &'a str,
    pub(crate) order: Order,
}

impl Paged<'_> {
    pub(crate) fn fetch<T>(
        &self,
        db: &mut Db<'_>,
        mut parameters: Vec<Value<'_>>,
        request: &PageRequest,
        read: impl Fn(&mut Row) -> Result<T, StoreError>,
        key: impl Fn(&T) -> String,
    ) -> Result<Page<T>, StoreError> {
        let forwards = request.cursor.as_ref().is_none_or(|cursor| cursor.direction == Direction::Next);
        let descending = forwards == matches!(self.order, Order::NewestFirst | Order::HighestFirst);
        let (compare, order) = if descending { ("<", "desc") } else { (">", "asc") };
        let mut sql = self.select.to_owned();
        if let Some(cursor) = &request.cursor {
            parameters.push(match self.order {
                // Our cursors always contain a number. Any other key means the start of the list.
                Order::HighestFirst | Order::LowestFirst => Value::Integer(cursor.key.parse().unwrap_or_default()),
                Order::NewestFirst | Order::Ascending => Value::from(cursor.key.clone()),
            });
            sql.push_str(&format!(" and {} {compare} ${}", self.key, parameters.len()));
        }
        parameters.push(Value::Integer(request.limit as i64 + 1));
        sql.push_str(&format!(" order by {} {order} limit ${}", self.key, parameters.len()));
        let rows = db.query(&sql, &parameters)?.iter_mut().map(read).collect::<Result<Vec<T>, _>>()?;
        Ok(Page::from_rows(rows, request, key))
    }
}
