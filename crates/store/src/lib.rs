//! The only SQL and the only blob access. SQLite (embedded) and PostgreSQL stand behind one concrete type: a transaction is a
//! synchronous closure over [`Db`], each query is one text that both databases take.

pub mod benchmarks;
pub mod blobs;
pub mod content;
pub mod criteria;
pub mod datasets;
mod db;
mod dialect;
pub mod engine_results;
pub mod entities;
pub mod environments;
mod error;
pub mod idempotency;
mod job;
pub mod keys;
pub mod layers;
pub mod leaderboards;
pub mod log;
mod migrate;
pub mod organizations;
mod paging;
pub mod playgrounds;
mod postgres;
pub mod runs;
pub mod sandboxes;
pub mod server_secrets;
pub mod simulators;
pub mod solvers;
mod sqlite;
pub mod task_runs;
pub mod tasks;
mod tls;
mod value;
pub mod versions;

pub use blobs::Blobs;
pub use db::Db;
pub use error::{Constraint, StoreError};

use std::sync::Arc;

use job::{Job, TypedJob};

/// Where the database is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DatabaseUrl {
    Sqlite(std::path::PathBuf),
    Postgres(String),
}

impl std::str::FromStr for DatabaseUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(path) = text.strip_prefix("sqlite:") {
            let path = path.strip_prefix("//").unwrap_or(path);
            return if path.is_empty() { Err("sqlite: needs a path".into()) } else { Ok(Self::Sqlite(path.into())) };
        }
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            return Ok(Self::Postgres(text.to_owned()));
        }
        Err("must be sqlite:PATH or postgres://…".into())
    }
}

/// The database. Cheap to clone; the last clone closes it.
#[derive(Clone)]
pub struct Store {
    backend: Arc<Backend>,
}

enum Backend {
    Sqlite(sqlite::Sqlite),
    Postgres(postgres::Postgres),
}

impl Store {
    /// Opens and migrates. Blocking: call it before the server runs, or on a blocking thread.
    pub fn open(url: &DatabaseUrl, now: model::Timestamp) -> Result<Self, StoreError> {
        let backend = match url {
            DatabaseUrl::Sqlite(path) => Backend::Sqlite(sqlite::Sqlite::open(path, now)?),
            DatabaseUrl::Postgres(url) => Backend::Postgres(postgres::Postgres::open(url, now)?),
        };
        Ok(Self { backend: Arc::new(backend) })
    }

    /// Runs the work in a transaction of its own and answers after it is durable. Transactions behave as if one ran after the
    /// other. The work may be run again when the database asks for it, so it must do nothing but talk to `db`.
    pub async fn write<T, E, F>(&self, work: F) -> Result<T, E>
    where
        F: Fn(&mut Db<'_>) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        let (job, answer) = TypedJob::boxed(work);
        match &*self.backend {
            Backend::Sqlite(sqlite) => sqlite.write(job),
            Backend::Postgres(postgres) => postgres.run(job, postgres::Mode::Write),
        }
        answer.await.unwrap_or_else(|_| Err(StoreError::Closed.into()))
    }

    /// As `write`, for work that changes a row under a condition on that row, and nothing else that others read to decide
    /// what to write: it meets only who changes the same row. PostgreSQL compares what serializable transactions read by the
    /// page, and finds that the logs of different playgrounds had met.
    pub async fn append<T, E, F>(&self, work: F) -> Result<T, E>
    where
        F: Fn(&mut Db<'_>) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        let (job, answer) = TypedJob::boxed(work);
        match &*self.backend {
            Backend::Sqlite(sqlite) => sqlite.write(job),
            Backend::Postgres(postgres) => postgres.run(job, postgres::Mode::Append),
        }
        answer.await.unwrap_or_else(|_| Err(StoreError::Closed.into()))
    }

    /// Runs the work on one consistent view of the database. Writing is an error.
    pub async fn read<T, E, F>(&self, work: F) -> Result<T, E>
    where
        F: Fn(&mut Db<'_>) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        let (job, answer) = TypedJob::boxed(work);
        match &*self.backend {
            Backend::Sqlite(sqlite) => sqlite.read(job),
            Backend::Postgres(postgres) => postgres.run(job, postgres::Mode::Read),
        }
        answer.await.unwrap_or_else(|_| Err(StoreError::Closed.into()))
    }

    /// What the database itself finds wrong with its content: nothing, unless it is damaged.
    pub async fn check(&self) -> Result<Vec<String>, StoreError> {
        let is_sqlite = matches!(&*self.backend, Backend::Sqlite(_));
        self.read(move |db| if is_sqlite { dialect::check_sqlite(db) } else { Ok(Vec::new()) }).await
    }

    /// Whether other processes may write to the database too.
    pub fn is_shared(&self) -> bool {
        matches!(&*self.backend, Backend::Postgres(_))
    }

    /// Whether the database answers.
    pub async fn ping(&self) -> Result<(), StoreError> {
        self.read(|db| db.query("select 1", &[]).map(|_| ())).await
    }
}

type BoxedJob = Box<dyn Job>;
