//! The values of parameters and columns in both databases: text and integers.

use std::borrow::Cow;

use model::{Id, Timestamp};

use crate::StoreError;

#[derive(Clone, PartialEq)]
pub(crate) enum Value<'a> {
    Null,
    Integer(i64),
    Text(Cow<'a, str>),
}

/// Never the text: the PostgreSQL client logs the parameters of every statement when it is asked for details.
impl std::fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Null => f.write_str("null"),
            Value::Integer(_) => f.write_str("number"),
            Value::Text(text) => write!(f, "text of {} bytes", text.len()),
        }
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }
}
impl<'a> From<&'a String> for Value<'a> {
    fn from(text: &'a String) -> Self {
        Self::Text(Cow::Borrowed(text))
    }
}
impl From<String> for Value<'_> {
    fn from(text: String) -> Self {
        Self::Text(Cow::Owned(text))
    }
}
impl From<i64> for Value<'_> {
    fn from(number: i64) -> Self {
        Self::Integer(number)
    }
}
impl From<u64> for Value<'_> {
    fn from(number: u64) -> Self {
        Self::Integer(i64::try_from(number).unwrap_or(i64::MAX))
    }
}
impl From<bool> for Value<'_> {
    fn from(flag: bool) -> Self {
        Self::Integer(i64::from(flag))
    }
}
impl From<Timestamp> for Value<'_> {
    fn from(time: Timestamp) -> Self {
        Self::Integer(time.milliseconds())
    }
}
impl From<&serde_json::Value> for Value<'_> {
    fn from(json: &serde_json::Value) -> Self {
        Self::Text(Cow::Owned(json.to_string()))
    }
}
impl<'a, T: Into<Value<'a>>> From<Option<T>> for Value<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// `bind![org, name, now]`: the parameters of a query in the order of `$1`, `$2` …
macro_rules! bind {
    ($($value:expr),* $(,)?) => { &[$($crate::value::IntoValue::into_value($value)),*] };
}
pub(crate) use bind;

/// Rows that one statement inserts. Only statements of two sizes are prepared.
const ROWS_AT_ONCE: usize = 50;

/// Inserts rows with few statements.
pub(crate) fn insert_many(
    db: &mut crate::Db<'_>,
    table: &str,
    columns: &str,
    rows: &[Vec<Value<'_>>],
) -> Result<(), StoreError> {
    let mut chunks = rows.chunks_exact(ROWS_AT_ONCE);
    for chunk in chunks.by_ref() {
        insert_rows(db, table, columns, chunk)?;
    }
    chunks.remainder().chunks(1).try_for_each(|row| insert_rows(db, table, columns, row))
}

fn insert_rows(db: &mut crate::Db<'_>, table: &str, columns: &str, rows: &[Vec<Value<'_>>]) -> Result<(), StoreError> {
    let mut number = 0;
    let mut row_text = |row: &Vec<Value<'_>>| {
        let numbers = row.iter().map(|_| {
            number += 1;
            format!("${number}")
        });
        format!("({})", numbers.collect::<Vec<_>>().join(", "))
    };
    let values: Vec<String> = rows.iter().map(&mut row_text).collect();
    let sql = format!("insert into {table} ({columns}) values {}", values.join(", "));
    db.execute(&sql, &rows.concat())?;
    Ok(())
}

/// What `bind!` takes: everything that has a [`Value`] form, and ids.
pub(crate) trait IntoValue<'a> {
    fn into_value(self) -> Value<'a>;
}
macro_rules! into_value {
    ($($kind:ty),*) => {$(impl<'a> IntoValue<'a> for $kind { fn into_value(self) -> Value<'a> { self.into() } })*};
}
into_value!(
    &'a str,
    &'a String,
    String,
    i64,
    u64,
    bool,
    Timestamp,
    &serde_json::Value,
    Option<Timestamp>,
    Option<i64>,
    Option<String>,
    Option<&'a str>
);
impl<'a> IntoValue<'a> for &'a Option<String> {
    fn into_value(self) -> Value<'a> {
        self.as_deref().into()
    }
}
macro_rules! ids_into_value {
    ($($id:ident),*) => {$(
        impl<'a> IntoValue<'a> for &'a model::$id { fn into_value(self) -> Value<'a> { self.as_str().into() } }
        impl<'a> IntoValue<'a> for Option<&'a model::$id> { fn into_value(self) -> Value<'a> { self.map(Id::as_str).into() } }
    )*};
}
ids_into_value!(
    OrgId,
    KeyId,
    SolverId,
    EnvironmentId,
    SimulatorId,
    DatasetId,
    EntityId,
    BenchmarkId,
    TaskId,
    CriterionId,
    PlaygroundId,
    SandboxId,
    EventId,
    BenchmarkRunId,
    TaskRunId,
    CriterionRunId
);

/// Declares a query's columns next to the fields that they fill, so that their order cannot differ:
/// `rows! { SELECT from "tables", read: Struct { field: reader = "column", … } with { field: value, … } }`.
///
/// `SELECT` is the text of the query; without `from`, it is only the list of columns. A reader takes one column of a row, or
/// as many as its text names.
macro_rules! rows {
    (@select $tables:literal) => { "select " };
    (
        $vis:vis $name:ident $(from $tables:literal)?, $read:ident: $row:ident {
            $field:ident: $reader:path = $column:literal,
            $($fields:ident: $readers:path = $columns:literal,)*
        } $(with { $($rest:tt)* })?
    ) => {
        $vis const $name: &str =
            concat!($($crate::value::rows!(@select $tables),)? $column, $(", ", $columns,)* $(" from ", $tables)?);

        $vis fn $read(row: &mut $crate::value::Row) -> Result<$row, $crate::StoreError> {
            Ok($row { $field: $reader(row)?, $($fields: $readers(row)?,)* $($($rest)*)? })
        }
    };
}
pub(crate) use rows;

/// One row; its columns are taken from left to right, as the query lists them.
pub(crate) struct Row {
    columns: std::vec::IntoIter<Value<'static>>,
}

impl Row {
    pub(crate) fn new(columns: Vec<Value<'static>>) -> Self {
        Self { columns: columns.into_iter() }
    }

    fn next(&mut self) -> Result<Value<'static>, StoreError> {
        self.columns.next().ok_or_else(|| StoreError::Corrupt("a row has too few columns".into()))
    }

    pub(crate) fn text_or_null(&mut self) -> Result<Option<String>, StoreError> {
        match self.next()? {
            Value::Null => Ok(None),
            Value::Text(text) => Ok(Some(text.into_owned())),
            Value::Integer(_) => Err(StoreError::Corrupt("a number where text was expected".into())),
        }
    }

    pub(crate) fn integer_or_null(&mut self) -> Result<Option<i64>, StoreError> {
        match self.next()? {
            Value::Null => Ok(None),
            Value::Integer(number) => Ok(Some(number)),
            Value::Text(_) => Err(StoreError::Corrupt("text where a number was expected".into())),
        }
    }

    pub(crate) fn text(&mut self) -> Result<String, StoreError> {
        self.text_or_null()?.ok_or_else(|| StoreError::Corrupt("null where text was expected".into()))
    }

    pub(crate) fn integer(&mut self) -> Result<i64, StoreError> {
        self.integer_or_null()?.ok_or_else(|| StoreError::Corrupt("null where a number was expected".into()))
    }

    pub(crate) fn size(&mut self) -> Result<u64, StoreError> {
        u64::try_from(self.integer()?).map_err(|_| StoreError::Corrupt("a negative size".into()))
    }

    pub(crate) fn flag(&mut self) -> Result<bool, StoreError> {
        Ok(self.integer()? != 0)
    }

    pub(crate) fn time(&mut self) -> Result<Timestamp, StoreError> {
        Ok(Timestamp(self.integer()?))
    }

    pub(crate) fn time_or_null(&mut self) -> Result<Option<Timestamp>, StoreError> {
        Ok(self.integer_or_null()?.map(Timestamp))
    }

    /// A value that is stored in its text form: ids, enumerations, weights.
    pub(crate) fn parsed<T: std::str::FromStr>(&mut self) -> Result<T, StoreError> {
        let text = self.text()?;
        text.parse().map_err(|_| StoreError::Corrupt(format!("not a valid {}", std::any::type_name::<T>())))
    }

    pub(crate) fn parsed_or_null<T: std::str::FromStr>(&mut self) -> Result<Option<T>, StoreError> {
        let Some(text) = self.text_or_null()? else {
            return Ok(None);
        };
        text.parse().map(Some).map_err(|_| StoreError::Corrupt(format!("not a valid {}", std::any::type_name::<T>())))
    }

    pub(crate) fn json<T: serde::de::DeserializeOwned>(&mut self) -> Result<T, StoreError> {
        serde_json::from_str(&self.text()?).map_err(|error| StoreError::Corrupt(error.to_string()))
    }

    pub(crate) fn json_or_null<T: serde::de::DeserializeOwned>(&mut self) -> Result<Option<T>, StoreError> {
        let text = self.text_or_null()?;
        text.map(|text| serde_json::from_str(&text).map_err(|error| StoreError::Corrupt(error.to_string()))).transpose()
    }
}

/// The JSON text of a value of ours, which always serializes.
pub(crate) fn json_text<T: serde::Serialize>(value: &T) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::Corrupt(error.to_string()))
}
