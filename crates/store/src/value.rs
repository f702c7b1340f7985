//! The values that cross between our code and both databases: text, integers and nothing else.

use model::{Id, Timestamp};

use crate::StoreError;

#[derive(Clone, PartialEq)]
pub(crate) enum Value {
    Null,
    Integer(i64),
    Text(String),
}

/// Never the text: the PostgreSQL client logs the parameters of every statement when it is asked for details.
impl std::fmt::Debug for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Null => f.write_str("null"),
            Value::Integer(_) => f.write_str("number"),
            Value::Text(text) => write!(f, "text of {} bytes", text.len()),
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}
impl From<&String> for Value {
    fn from(text: &String) -> Self {
        Self::Text(text.clone())
    }
}
impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}
impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Integer(number)
    }
}
impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Self::Integer(i64::try_from(number).unwrap_or(i64::MAX))
    }
}
impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Self::Integer(i64::from(flag))
    }
}
impl From<Timestamp> for Value {
    fn from(time: Timestamp) -> Self {
        Self::Integer(time.milliseconds())
    }
}
impl From<&serde_json::Value> for Value {
    fn from(json: &serde_json::Value) -> Self {
        Self::Text(json.to_string())
    }
}
impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// `bind![org, name, now]`: the parameters of a query in the order of `$1`, `$2` …
macro_rules! bind {
    ($($value:expr),* $(,)?) => { &[$($crate::value::IntoValue::into_value($value)),*] };
}
pub(crate) use bind;

/// What `bind!` takes: everything that has a [`Value`] form, and ids.
pub(crate) trait IntoValue {
    fn into_value(self) -> Value;
}
macro_rules! into_value {
    ($($kind:ty),*) => {$(impl IntoValue for $kind { fn into_value(self) -> Value { self.into() } })*};
}
into_value!(
    &str,
    &String,
    String,
    i64,
    u64,
    bool,
    Timestamp,
    &serde_json::Value,
    Option<Timestamp>,
    Option<i64>,
    Option<String>,
    Option<&str>
);
impl IntoValue for &Option<String> {
    fn into_value(self) -> Value {
        self.as_deref().into()
    }
}
macro_rules! ids_into_value {
    ($($id:ident),*) => {$(
        impl IntoValue for &model::$id { fn into_value(self) -> Value { self.as_str().into() } }
        impl IntoValue for Option<&model::$id> { fn into_value(self) -> Value { self.map(Id::as_str).into() } }
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

/// One row; its columns are taken from left to right, as the query lists them.
pub(crate) struct Row {
    columns: std::vec::IntoIter<Value>,
}

impl Row {
    pub(crate) fn new(columns: Vec<Value>) -> Self {
        Self { columns: columns.into_iter() }
    }

    fn next(&mut self) -> Result<Value, StoreError> {
        self.columns.next().ok_or_else(|| StoreError::Corrupt("a row has too few columns".into()))
    }

    pub(crate) fn text_or_null(&mut self) -> Result<Option<String>, StoreError> {
        match self.next()? {
            Value::Null => Ok(None),
            Value::Text(text) => Ok(Some(text)),
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

    /// Anything that is kept in its text form: ids, enumerations, weights.
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

/// JSON text of a value that is ours and always serialises.
pub(crate) fn json_text<T: serde::Serialize>(value: &T) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::Corrupt(error.to_string()))
}
