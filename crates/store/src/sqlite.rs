//! SQLite: one thread writes, and waiting transactions share one durable commit; several threads read.

use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, Sender};
use rusqlite::{Connection, OpenFlags};

use crate::job::{Mode, Ran};
use crate::{BoxedJob, Db, StoreError, dialect, migrate};

/// More jobs per commit would only delay the first caller.
const MAX_JOBS_PER_COMMIT: usize = 512;
const READERS: usize = 4;
const BUSY_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(10);

pub(crate) struct Sqlite {
    writes: Option<Sender<BoxedJob>>,
    reads: Option<Sender<BoxedJob>>,
    threads: Vec<JoinHandle<()>>,
}

impl Sqlite {
    pub(crate) fn open(path: &Path, now: model::Timestamp) -> Result<Self, StoreError> {
        make_private(path)?;
        let mut writer = open_connection(path, false)?;
        migrate_sqlite(&mut writer, now)?;
        let (writes, write_jobs) = crossbeam_channel::bounded(4096);
        let (reads, read_jobs) = crossbeam_channel::bounded(4096);
        let mut threads = vec![spawn("sqlite-writer", move || write_loop(&writer, &write_jobs))?];
        for _ in 0..READERS {
            let reader = open_connection(path, true)?;
            let jobs: Receiver<BoxedJob> = read_jobs.clone();
            threads.push(spawn("sqlite-reader", move || {
                jobs.iter().for_each(|job| read_one(&reader, job));
            })?);
        }
        Ok(Self { writes: Some(writes), reads: Some(reads), threads })
    }

    pub(crate) fn run(&self, job: BoxedJob, mode: Mode) {
        let queue = if mode == Mode::Read { &self.reads } else { &self.writes };
        enqueue(queue.as_ref(), job);
    }
}

/// A full queue means that the disk is too slow. Further callers get an error instead of waiting.
fn enqueue(queue: Option<&Sender<BoxedJob>>, job: BoxedJob) {
    use crossbeam_channel::TrySendError;
    let Some(queue) = queue else {
        return job.answer(Some(StoreError::Closed));
    };
    match queue.try_send(job) {
        Ok(()) => {}
        Err(TrySendError::Full(job)) => {
            job.answer(Some(StoreError::Unavailable("too many transactions are waiting".into())));
        }
        Err(TrySendError::Disconnected(job)) => job.answer(Some(StoreError::Closed)),
    }
}

impl Drop for Sqlite {
    /// Finishes the accepted jobs.
    fn drop(&mut self) {
        self.writes = None;
        self.reads = None;
        for thread in self.threads.drain(..) {
            // The last clone may be dropped by a job's own closure; a thread cannot wait for itself.
            if thread.thread().id() != std::thread::current().id() {
                let _ = thread.join();
            }
        }
    }
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, StoreError> {
    let thread = std::thread::Builder::new().name(name.to_owned()).spawn(work);
    thread.map_err(|error| StoreError::Unavailable(error.to_string()))
}

/// Only the owner can read a new database. SQLite creates its other files with the same mode.
fn make_private(path: &Path) -> Result<(), StoreError> {
    use std::os::unix::fs::OpenOptionsExt;
    match std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(StoreError::Unavailable(format!("{}: {error}", path.display()))),
    }
}

fn open_connection(path: &Path, read_only: bool) -> Result<Connection, StoreError> {
    let open = || -> Result<Connection, rusqlite::Error> {
        let flags = if read_only {
            OpenFlags::SQLITE_OPEN_READ_ONLY
        } else {
            OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE
        };
        let connection = Connection::open_with_flags(PathBuf::from(path), flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        if !read_only {
            connection.pragma_update(None, "journal_mode", "WAL")?;
        }
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update(None, "foreign_keys", "ON")?;
        connection.set_prepared_statement_cache_capacity(256);
        Ok(connection)
    };
    open().map_err(|error| StoreError::Unavailable(format!("{}: {error}", path.display())))
}

fn migrate_sqlite(connection: &mut Connection, now: model::Timestamp) -> Result<(), StoreError> {
    let failed = |error: rusqlite::Error| dialect::sqlite_error(&error);
    let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Exclusive).map_err(failed)?;
    migrate::apply(&mut Db::sqlite(&transaction), now)?;
    transaction.commit().map_err(failed)
}

fn write_loop(connection: &Connection, jobs: &Receiver<BoxedJob>) {
    while let Ok(first) = jobs.recv() {
        write_group(connection, first, jobs);
    }
}

/// Runs the first job and all that arrived meanwhile, each in its own savepoint, then commits once and responds to all.
fn write_group(connection: &Connection, first: BoxedJob, jobs: &Receiver<BoxedJob>) {
    if let Err(error) = connection.execute_batch("begin immediate") {
        return first.answer(Some(dialect::sqlite_error(&error)));
    }
    let mut done = Vec::new();
    let mut next = Some(first);
    while let Some(mut job) = next {
        let failure = run_in_savepoint(connection, &mut job).err();
        done.push((job, failure));
        // After a full disk or a failed read, SQLite rolls back the whole transaction. No other job may run in it.
        let lost = connection.is_autocommit();
        next = if lost || done.len() >= MAX_JOBS_PER_COMMIT { None } else { jobs.try_recv().ok() };
    }
    let committed = connection.execute_batch("commit");
    if let Err(error) = &committed {
        tracing::error!(%error, jobs = done.len(), "commit failed");
        let _ = connection.execute_batch("rollback");
    }
    for (job, failure) in done {
        job.answer(failure.or_else(|| committed.as_ref().err().map(dialect::sqlite_error)));
    }
}

fn run_in_savepoint(connection: &Connection, job: &mut BoxedJob) -> Result<(), StoreError> {
    let failed = |error: rusqlite::Error| dialect::sqlite_error(&error);
    connection.prepare_cached("savepoint job").and_then(|mut statement| statement.execute([])).map_err(failed)?;
    if job.run(&mut Db::sqlite(connection)) == Ran::Rollback {
        connection.execute_batch("rollback to job").map_err(failed)?;
    }
    connection.prepare_cached("release job").and_then(|mut statement| statement.execute([])).map_err(failed)?;
    Ok(())
}

fn read_one(connection: &Connection, mut job: BoxedJob) {
    let begun = connection.prepare_cached("begin").and_then(|mut statement| statement.execute([]));
    if let Err(error) = begun {
        return job.answer(Some(dialect::sqlite_error(&error)));
    }
    job.run(&mut Db::sqlite(connection));
    if let Err(error) = connection.prepare_cached("rollback").and_then(|mut statement| statement.execute([])) {
        tracing::error!(%error, "a read transaction did not end");
    }
    job.answer(None);
}
