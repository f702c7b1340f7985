//! One open transaction on either database.

use std::collections::HashMap;

use crate::StoreError;
use crate::dialect;
use crate::value::{Row, Value};

/// A transaction. Queries use `$1`, `$2` … and the common subset of SQL.
pub struct Db<'a> {
    connection: Connection<'a>,
    /// The database requires that this transaction runs again.
    pub(crate) transient: bool,
    /// The connection was lost before the commit, so nothing was written.
    pub(crate) lost: bool,
    /// A key that only the server generates exists already, probably because of a concurrent transaction.
    pub(crate) clashed: bool,
    /// A statement failed. PostgreSQL then rolls back the transaction, even on `commit`.
    pub(crate) failed: bool,
}

enum Connection<'a> {
    Sqlite(&'a rusqlite::Connection),
    Postgres { transaction: ::postgres::Transaction<'a>, statements: &'a mut Statements },
}

pub(crate) type Statements = HashMap<String, ::postgres::Statement>;

impl<'a> Db<'a> {
    pub(crate) fn sqlite(connection: &'a rusqlite::Connection) -> Self {
        Self {
            connection: Connection::Sqlite(connection),
            transient: false,
            lost: false,
            clashed: false,
            failed: false,
        }
    }

    pub(crate) fn postgres(transaction: ::postgres::Transaction<'a>, statements: &'a mut Statements) -> Self {
        Self {
            connection: Connection::Postgres { transaction, statements },
            transient: false,
            lost: false,
            clashed: false,
            failed: false,
        }
    }

    /// Ends a PostgreSQL transaction. On SQLite, it ends with the group commit.
    pub(crate) fn commit(self) -> Result<(), StoreError> {
        match self.connection {
            Connection::Sqlite(_) => Ok(()),
            Connection::Postgres { transaction, .. } => {
                transaction.commit().map_err(|error| dialect::postgres_error(&error))
            }
        }
    }

    fn record_error(&mut self, error: &::postgres::Error) -> StoreError {
        self.transient |= dialect::is_transient(error);
        self.lost |= dialect::is_connection_lost(error);
        self.clashed |= dialect::is_clash(error);
        dialect::postgres_error(error)
    }

    pub(crate) fn query(&mut self, sql: &str, parameters: &[Value<'_>]) -> Result<Vec<Row>, StoreError> {
        let rows = match &mut self.connection {
            Connection::Sqlite(connection) => sqlite_query(connection, sql, parameters),
            Connection::Postgres { transaction, statements } => {
                postgres_query(transaction, statements, sql, parameters).map_err(|error| self.record_error(&error))
            }
        };
        self.failed |= rows.is_err();
        rows
    }

    pub(crate) fn query_one(&mut self, sql: &str, parameters: &[Value<'_>]) -> Result<Option<Row>, StoreError> {
        Ok(self.query(sql, parameters)?.into_iter().next())
    }

    /// Returns the number of changed rows.
    pub(crate) fn execute(&mut self, sql: &str, parameters: &[Value<'_>]) -> Result<u64, StoreError> {
        let changed = match &mut self.connection {
            Connection::Sqlite(connection) => sqlite_execute(connection, sql, parameters),
            Connection::Postgres { transaction, statements } => {
                postgres_execute(transaction, statements, sql, parameters).map_err(|error| self.record_error(&error))
            }
        };
        self.failed |= changed.is_err();
        changed
    }

    pub(crate) fn batch(&mut self, sql: &str) -> Result<(), StoreError> {
        match &mut self.connection {
            Connection::Sqlite(connection) => {
                connection.execute_batch(sql).map_err(|error| dialect::sqlite_error(&error))
            }
            Connection::Postgres { transaction, .. } => {
                let sql = dialect::postgres_schema(sql);
                transaction.batch_execute(&sql).map_err(|error| dialect::postgres_error(&error))
            }
        }
    }
}

/// SQLite treats `$1` as a name, which it looks up in a list; `?1` is an index and faster.
fn numbered(sql: &str) -> String {
    sql.replace('$', "?")
}

fn bind_sqlite(statement: &mut rusqlite::CachedStatement<'_>, parameters: &[Value<'_>]) -> Result<(), rusqlite::Error> {
    for index in 1..=statement.parameter_count() {
        let missing = rusqlite::Error::InvalidParameterCount(index, parameters.len());
        match parameters.get(index - 1).ok_or(missing)? {
            Value::Null => statement.raw_bind_parameter(index, rusqlite::types::Null)?,
            Value::Integer(integer) => statement.raw_bind_parameter(index, integer)?,
            Value::Text(text) => statement.raw_bind_parameter(index, &**text)?,
        }
    }
    Ok(())
}

fn sqlite_query(
    connection: &rusqlite::Connection,
    sql: &str,
    parameters: &[Value<'_>],
) -> Result<Vec<Row>, StoreError> {
    let run = || -> Result<Vec<Row>, rusqlite::Error> {
        let mut statement = connection.prepare_cached(&numbered(sql))?;
        bind_sqlite(&mut statement, parameters)?;
        let width = statement.column_count();
        let mut found = Vec::new();
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next()? {
            let columns = (0..width).map(|index| sqlite_value(row.get_ref(index)?)).collect::<Result<Vec<_>, _>>()?;
            found.push(Row::new(columns));
        }
        Ok(found)
    };
    run().map_err(|error| dialect::sqlite_error(&error))
}

fn sqlite_value(value: rusqlite::types::ValueRef<'_>) -> Result<Value<'static>, rusqlite::Error> {
    use rusqlite::types::ValueRef;
    match value {
        ValueRef::Null => Ok(Value::Null),
        ValueRef::Integer(integer) => Ok(Value::Integer(integer)),
        ValueRef::Text(text) => Ok(Value::Text(String::from_utf8_lossy(text).into_owned().into())),
        ValueRef::Real(_) | ValueRef::Blob(_) => Err(rusqlite::Error::InvalidQuery),
    }
}

fn sqlite_execute(connection: &rusqlite::Connection, sql: &str, parameters: &[Value<'_>]) -> Result<u64, StoreError> {
    let run = || -> Result<usize, rusqlite::Error> {
        let mut statement = connection.prepare_cached(&numbered(sql))?;
        bind_sqlite(&mut statement, parameters)?;
        statement.raw_execute()
    };
    run().map(|changed| changed as u64).map_err(|error| dialect::sqlite_error(&error))
}

fn prepared(
    transaction: &mut ::postgres::Transaction<'_>,
    statements: &mut Statements,
    sql: &str,
) -> Result<::postgres::Statement, ::postgres::Error> {
    if let Some(statement) = statements.get(sql) {
        return Ok(statement.clone());
    }
    let statement = transaction.prepare(sql)?;
    statements.insert(sql.to_owned(), statement.clone());
    Ok(statement)
}

fn postgres_query(
    transaction: &mut ::postgres::Transaction<'_>,
    statements: &mut Statements,
    sql: &str,
    parameters: &[Value<'_>],
) -> Result<Vec<Row>, ::postgres::Error> {
    let statement = prepared(transaction, statements, sql)?;
    let rows = transaction.query(&statement, &dialect::postgres_parameters(parameters))?;
    rows.iter().map(dialect::postgres_row).collect()
}

fn postgres_execute(
    transaction: &mut ::postgres::Transaction<'_>,
    statements: &mut Statements,
    sql: &str,
    parameters: &[Value<'_>],
) -> Result<u64, ::postgres::Error> {
    let statement = prepared(transaction, statements, sql)?;
    transaction.execute(&statement, &dialect::postgres_parameters(parameters))
}
