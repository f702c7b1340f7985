//! All SQL and all access to blobs. One type covers SQLite (embedded) and PostgreSQL: a transaction is a synchronous closure
//! over [`Db`], and each query is one text for both databases.

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

use job::{Job, Mode, TypedJob};

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

    /// Runs the work in its own transaction and returns once it is durable. Transactions behave as if they ran one after the
    /// other. The database may ask for the work to be run again, so it must only talk to `db`.
    pub async fn write<T, E, F>(&self, work: F) -> Result<T, E>
    where
        F: Fn(&mut Db<'_>) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        self.run(Mode::Write, work).await
    }

    /// Like `write`, for work that changes a row under a condition on that row and writes nothing else that others base
    /// their writes on: it conflicts only with changes of the same row. PostgreSQL detects conflicts of serializable
    /// transactions by page, and would report them between the logs of different playgrounds.
    pub async fn append<T, E, F>(&self, work: F) -> Result<T, E>
    where
        F: Fn(&mut Db<'_>) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        self.run(Mode::Append, work).await
    }

    /// Runs the work on one consistent view of the database. Writing is an error.
    pub async fn read<T, E, F>(&self, work: F) -> Result<T, E>
    where
        F: Fn(&mut Db<'_>) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        self.run(Mode::Read, work).await
    }

    async fn run<T, E, F>(&self, mode: Mode, work: F) -> Result<T, E>
    where
        F: Fn(&mut Db<'_>) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        let (job, answer) = TypedJob::boxed(work);
        let answered = match &*self.backend {
            Backend::Sqlite(sqlite) => {
                sqlite.run(job, mode);
                answer.await
            }
            // The database is on another machine and may stop answering without closing the connection.
            Backend::Postgres(postgres) => {
                postgres.run(job, mode);
                match tokio::time::timeout(postgres.timeout(), answer).await {
                    Ok(answered) => answered,
                    Err(_) => return Err(StoreError::Unavailable("the database does not answer".into()).into()),
                }
            }
        };
        answered.unwrap_or_else(|_| Err(StoreError::Closed.into()))
    }

    /// Damage that the database finds in its own files.
    pub async fn check(&self) -> Result<Vec<String>, StoreError> {
        let is_sqlite = matches!(&*self.backend, Backend::Sqlite(_));
        self.read(move |db| if is_sqlite { dialect::check_sqlite(db) } else { Ok(Vec::new()) }).await
    }

    /// Whether other processes may write to the database too.
    pub fn is_shared(&self) -> bool {
        matches!(&*self.backend, Backend::Postgres(_))
    }

    /// Whether the database responds.
    pub async fn ping(&self) -> Result<(), StoreError> {
        self.read(|db| db.query("select 1", &[]).map(|_| ())).await
    }
}

type BoxedJob = Box<dyn Job>;
