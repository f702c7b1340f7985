//! Differences between the two databases: error codes, constraint names, text order, parameter encoding.

use postgres::types::{IsNull, ToSql, Type, private::BytesMut, to_sql_checked};

use crate::value::{Row, Value};
use crate::{Constraint, Db, StoreError};

/// A constraint, its name in PostgreSQL, and the columns by which SQLite identifies it.
const CONSTRAINTS: [(Constraint, &str, &str); 2] = [
    (Constraint::SolverAlias, "solvers_alias_key", "solvers.org_id, solvers.alias"),
    (Constraint::EntityName, "dataset_entities_name_key", "dataset_entities.dataset_id, dataset_entities.name"),
];

pub(crate) fn sqlite_error(error: &rusqlite::Error) -> StoreError {
    use rusqlite::ffi;
    let rusqlite::Error::SqliteFailure(failure, message) = error else {
        return StoreError::Database(error.to_string());
    };
    match (failure.extended_code, failure.code) {
        (ffi::SQLITE_CONSTRAINT_UNIQUE | ffi::SQLITE_CONSTRAINT_PRIMARYKEY, _) => {
            let columns =
                message.as_deref().and_then(|message| message.split_once(": ")).map_or("", |(_, columns)| columns);
            let known = CONSTRAINTS.iter().find(|(_, _, sqlite)| *sqlite == columns);
            StoreError::Unique(known.map_or(Constraint::Other, |(constraint, _, _)| *constraint))
        }
        (
            _,
            ffi::ErrorCode::DatabaseBusy
            | ffi::ErrorCode::DatabaseLocked
            | ffi::ErrorCode::DiskFull
            | ffi::ErrorCode::CannotOpen,
        ) => StoreError::Unavailable(error.to_string()),
        _ => StoreError::Database(error.to_string()),
    }
}

pub(crate) fn postgres_error(error: &postgres::Error) -> StoreError {
    let Some(database) = error.as_db_error() else {
        return StoreError::Unavailable(format!("{error:?}"));
    };
    if let Some(constraint) = violated(database) {
        return StoreError::Unique(constraint);
    }
    if is_transient(error) {
        return StoreError::Contended;
    }
    if is_connection_lost(error) {
        return StoreError::Unavailable(database.message().to_owned());
    }
    // Class 53: insufficient resources; 57: operator intervention (start-up, a statement that took too long).
    match database.code().code().get(..2) {
        Some("53" | "57") => StoreError::Unavailable(database.message().to_owned()),
        _ => StoreError::Database(format!("{}: {}", database.code().code(), database.message())),
    }
}

fn violated(database: &postgres::error::DbError) -> Option<Constraint> {
    if *database.code() != postgres::error::SqlState::UNIQUE_VIOLATION {
        return None;
    }
    let known = CONSTRAINTS.iter().find(|(_, name, _)| database.constraint() == Some(name));
    Some(known.map_or(Constraint::Other, |(constraint, _, _)| *constraint))
}

/// A serialization failure, a deadlock or a lock timeout: the transaction may succeed when it runs again.
pub(crate) fn is_transient(error: &postgres::Error) -> bool {
    use postgres::error::SqlState;
    let again = [SqlState::T_R_SERIALIZATION_FAILURE, SqlState::T_R_DEADLOCK_DETECTED, SqlState::LOCK_NOT_AVAILABLE];
    error.code().is_some_and(|code| again.contains(code))
}

/// The connection is lost: closed, reset, or ended by the server (shutdown, idle in transaction).
pub(crate) fn is_connection_lost(error: &postgres::Error) -> bool {
    use postgres::error::SqlState;
    let ended = [
        SqlState::ADMIN_SHUTDOWN,
        SqlState::CRASH_SHUTDOWN,
        SqlState::CANNOT_CONNECT_NOW,
        SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
    ];
    let is_io = std::error::Error::source(error).is_some_and(|source| source.is::<std::io::Error>());
    error.is_closed() || is_io || error.code().is_some_and(|code| ended.contains(code))
}

/// A concurrent transaction has inserted the same key, which PostgreSQL does not always report as a serialization failure.
/// When the transaction runs again, it either sees the other row or fails for its own reason.
pub(crate) fn is_clash(error: &postgres::Error) -> bool {
    error.as_db_error().and_then(violated) == Some(Constraint::Other)
}

/// PostgreSQL checks its pages when it reads them; SQLite only on request.
pub(crate) fn check_sqlite(db: &mut Db<'_>) -> Result<Vec<String>, StoreError> {
    let mut problems = Vec::new();
    for mut row in db.query("pragma integrity_check", &[])? {
        let verdict = row.text()?;
        if verdict != "ok" {
            problems.push(verdict);
        }
    }
    for mut row in db.query("pragma foreign_key_check", &[])? {
        problems.push(format!("a row of {} refers to a row that does not exist", row.text()?));
    }
    Ok(problems)
}

/// SQLite orders text by bytes; PostgreSQL needs a collation for each column.
pub(crate) fn postgres_schema(sql: &str) -> String {
    sql.replace(" text", " text collate \"C\"")
}

impl ToSql for Value<'_> {
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match self {
            Value::Null => Ok(IsNull::Yes),
            Value::Text(text) => text.as_ref().to_sql(kind, out),
            Value::Integer(number) if *kind == Type::INT4 => i32::try_from(*number)?.to_sql(kind, out),
            Value::Integer(number) => number.to_sql(kind, out),
        }
    }

    fn accepts(kind: &Type) -> bool {
        [Type::TEXT, Type::VARCHAR, Type::INT8, Type::INT4, Type::UNKNOWN].contains(kind)
    }

    to_sql_checked!();
}

pub(crate) fn postgres_parameters<'a>(parameters: &'a [Value<'a>]) -> Vec<&'a (dyn ToSql + Sync)> {
    parameters.iter().map(|value| value as &(dyn ToSql + Sync)).collect()
}

pub(crate) fn postgres_row(row: &postgres::Row) -> Result<Row, postgres::Error> {
    let value = |(index, column): (usize, &postgres::Column)| -> Result<Value<'static>, postgres::Error> {
        match *column.type_() {
            Type::INT8 => Ok(row.try_get::<_, Option<i64>>(index)?.into()),
            Type::INT4 => Ok(row.try_get::<_, Option<i32>>(index)?.map(i64::from).into()),
            _ => Ok(row.try_get::<_, Option<String>>(index)?.into()),
        }
    };
    Ok(Row::new(row.columns().iter().enumerate().map(value).collect::<Result<Vec<_>, _>>()?))
}
