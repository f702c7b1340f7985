//! Pages of rows by key: strictly beyond the cursor, one row more than asked to know whether there is more.

use model::page::{Direction, Page, PageRequest};

use crate::value::{Row, Value};
use crate::{Db, StoreError};

/// How a list is ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    NewestFirst,
    Ascending,
    /// By a number, the highest first.
    HighestFirst,
    /// By a number, the lowest first.
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
                // A key that is no number was not ours: it is a place before everything.
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
