//! Errors of the database, distinguished by what the caller can do about them.

/// The unique constraints whose violation is reported to the client as a conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Constraint {
    SolverAlias,
    EntityName,
    Other,
}

#[derive(Clone, Debug, thiserror::Error)]
pub enum StoreError {
    #[error("a row with this key exists ({0:?})")]
    Unique(Constraint),
    #[error("the database is closed")]
    Closed,
    #[error("a transaction panicked")]
    Panicked,
    #[error("the database is busy, unreachable or full: {0}")]
    Unavailable(String),
    #[error("transactions were in each other's way too often")]
    Contended,
    #[error("stored data cannot be read: {0}")]
    Corrupt(String),
    #[error("the database was written by a newer version: it has migration {found}, this binary knows {known}")]
    TooNew { found: i64, known: i64 },
    #[error("migration {0} was changed after it had been applied")]
    MigrationChanged(i64),
    #[error("{0}")]
    Database(String),
    #[error("blob store: {0}")]
    Blob(String),
}
