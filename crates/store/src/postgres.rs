//! PostgreSQL: a fixed number of connections, each on a thread of its own. Writes are serializable and run again when the
//! server says that they met, so that code behaves as on SQLite, where writers follow each other.

use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender};
use postgres::{Client, IsolationLevel};

use crate::db::Statements;
use crate::job::Ran;
use crate::tls::{self, Verification};
use crate::{BoxedJob, Db, StoreError, dialect, migrate};

const DEFAULT_CONNECTIONS: usize = 16;
const MOST_CLASHES: u32 = 4;
/// So many attempts in vain, and a transaction waits for its turn: those that take turns do not meet each other.
const UNLUCKY: u32 = 4;
/// For how long a transaction is tried again.
const PATIENCE: Duration = Duration::from_secs(30);
/// The lock of those that take turns.
const TURN: i64 = 7_305_402;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Read,
    Write,
    Append,
}

pub(crate) struct Postgres {
    jobs: Option<Sender<(BoxedJob, Mode)>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Postgres {
    pub(crate) fn open(url: &str, now: model::Timestamp) -> Result<Self, StoreError> {
        // The synchronous client has a runtime of its own and must not be driven on a thread of ours that has one.
        let settings = Arc::new(Settings::parse(url)?);
        let first = Arc::clone(&settings);
        let opened = std::thread::spawn(move || -> Result<(), StoreError> {
            let mut client = first.connect()?;
            migrate_postgres(&mut client, now)
        });
        opened.join().map_err(|_| StoreError::Panicked)??;
        let (jobs, queue) = crossbeam_channel::bounded::<(BoxedJob, Mode)>(4096);
        let mut threads = Vec::new();
        for _ in 0..settings.connections {
            let (settings, queue) = (Arc::clone(&settings), queue.clone());
            let worker =
                std::thread::Builder::new().name("postgres".into()).spawn(move || Worker::new(settings).serve(&queue));
            threads.push(worker.map_err(|error| StoreError::Unavailable(error.to_string()))?);
        }
        Ok(Self { jobs: Some(jobs), threads: Mutex::new(threads) })
    }

    pub(crate) fn run(&self, job: BoxedJob, mode: Mode) {
        use crossbeam_channel::TrySendError;
        let Some(jobs) = &self.jobs else {
            return job.answer(Some(StoreError::Closed));
        };
        match jobs.try_send((job, mode)) {
            Ok(()) => {}
            Err(TrySendError::Full((job, _))) => {
                job.answer(Some(StoreError::Unavailable("too many transactions are waiting".into())));
            }
            Err(TrySendError::Disconnected((job, _))) => job.answer(Some(StoreError::Closed)),
        }
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.jobs = None;
        let threads = self.threads.get_mut().map(std::mem::take).unwrap_or_default();
        for thread in threads {
            if thread.thread().id() != std::thread::current().id() {
                let _ = thread.join();
            }
        }
    }
}

struct Settings {
    config: postgres::Config,
    tls: tokio_postgres_rustls::MakeRustlsConnect,
    connections: usize,
}

impl Settings {
    /// The usual connection URL, and of ours `pool`, the number of connections.
    fn parse(url: &str) -> Result<Self, StoreError> {
        let Options { url, connections, verification } = Options::take(url).map_err(StoreError::Unavailable)?;
        let config = url.parse().map_err(|error: postgres::Error| {
            let reason = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
            StoreError::Unavailable(format!("the PostgreSQL URL is not valid: {reason}"))
        })?;
        let tls = tokio_postgres_rustls::MakeRustlsConnect::new(tls::client_config(&verification)?);
        Ok(Self { config, tls, connections })
    }

    fn connect(&self) -> Result<Client, StoreError> {
        let mut client = self.config.connect(self.tls.clone()).map_err(|error| unavailable(&error))?;
        // Who reads a small table as a whole meets everyone who writes to it; every query of ours has an index.
        client.batch_execute("set enable_seqscan = off").map_err(|error| unavailable(&error))?;
        Ok(client)
    }
}

fn unavailable(error: &postgres::Error) -> StoreError {
    StoreError::Unavailable(match error.as_db_error() {
        Some(database) => database.message().to_owned(),
        None => {
            let reason = std::error::Error::source(error).map(|source| format!(": {source}")).unwrap_or_default();
            format!("{error}{reason}")
        }
    })
}

/// What a URL says that the driver does not read itself.
#[derive(Debug, PartialEq)]
struct Options {
    url: String,
    connections: usize,
    verification: Verification,
}

impl Options {
    fn take(url: &str) -> Result<Self, String> {
        let (base, query) = url.split_once('?').unwrap_or((url, ""));
        let (mut connections, mut kept) = (DEFAULT_CONNECTIONS, Vec::new());
        let (mut full, mut root_file) = (false, None);
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            match pair.split_once('=').unwrap_or((pair, "")) {
                ("pool", number) => {
                    let number = number.parse::<usize>().ok().filter(|number| (1..=256).contains(number));
                    connections = number.ok_or("pool must be a number from 1 to 256")?;
                }
                ("sslmode", "verify-full") => {
                    full = true;
                    kept.push("sslmode=require");
                }
                ("sslmode", "verify-ca" | "allow") => {
                    return Err("sslmode must be disable, prefer, require or verify-full".into());
                }
                ("sslrootcert", file) => root_file = Some(file.to_owned()),
                _ => kept.push(pair),
            }
        }
        if root_file.is_some() && !full {
            return Err("sslrootcert needs sslmode=verify-full".into());
        }
        let verification = if full { Verification::Full { root_file } } else { Verification::None };
        let query = kept.join("&");
        let url = if query.is_empty() { base.to_owned() } else { format!("{base}?{query}") };
        Ok(Self { url, connections, verification })
    }
}

fn migrate_postgres(client: &mut Client, now: model::Timestamp) -> Result<(), StoreError> {
    let failed = |error: postgres::Error| dialect::postgres_error(&error);
    let mut statements = Statements::new();
    let mut transaction = client.transaction().map_err(failed)?;
    transaction.batch_execute("select pg_advisory_xact_lock(7305401)").map_err(failed)?;
    let mut db = Db::postgres(transaction, &mut statements);
    migrate::apply(&mut db, now)?;
    db.commit()
}

/// One connection, made again when it was lost.
struct Worker {
    settings: Arc<Settings>,
    client: Option<(Client, Statements)>,
}

impl Worker {
    fn new(settings: Arc<Settings>) -> Self {
        Self { settings, client: None }
    }

    fn serve(mut self, queue: &Receiver<(BoxedJob, Mode)>) {
        for (mut job, mode) in queue {
            let failure = self.run(&mut job, mode).err();
            job.answer(failure);
        }
    }

    fn run(&mut self, job: &mut BoxedJob, mode: Mode) -> Result<(), StoreError> {
        let mut has_turn = false;
        let ran = self.run_in_turn(job, mode, &mut has_turn);
        if has_turn {
            self.give_turn_back();
        }
        ran
    }

    fn run_in_turn(&mut self, job: &mut BoxedJob, mode: Mode, has_turn: &mut bool) -> Result<(), StoreError> {
        let began = Instant::now();
        for attempt in 0.. {
            let (client, statements) = self.connected()?;
            match attempt_once(client, statements, job, mode)? {
                Attempt::Done => return Ok(()),
                // It clashes with itself: its own answer says how.
                Attempt::Clashed if attempt >= MOST_CLASHES => return Ok(()),
                Attempt::Clashed | Attempt::Again => pause(attempt),
            }
            if began.elapsed() > PATIENCE {
                break;
            }
            if attempt >= UNLUCKY && !*has_turn {
                let (client, _) = self.connected()?;
                take_turn(client)?;
                *has_turn = true;
            }
        }
        Err(StoreError::Contended)
    }

    /// A session that may still hold the lock is not used again.
    fn give_turn_back(&mut self) {
        if let Some((client, _)) = &mut self.client
            && client.execute("select pg_advisory_unlock($1)", &[&TURN]).is_err()
        {
            self.client = None;
        }
    }

    fn connected(&mut self) -> Result<(&mut Client, &mut Statements), StoreError> {
        if self.client.as_ref().is_none_or(|(client, _)| client.is_closed()) {
            self.client = Some((self.settings.connect()?, Statements::new()));
        }
        let (client, statements) = self.client.as_mut().ok_or(StoreError::Closed)?;
        Ok((client, statements))
    }
}

/// Before the transaction begins: what it reads must be of after the wait.
fn take_turn(client: &mut Client) -> Result<(), StoreError> {
    let taken = client.execute("select pg_advisory_lock($1)", &[&TURN]);
    taken.map(|_| ()).map_err(|error| dialect::postgres_error(&error))
}

enum Attempt {
    Done,
    Again,
    Clashed,
}

fn attempt_once(
    client: &mut Client,
    statements: &mut Statements,
    job: &mut BoxedJob,
    mode: Mode,
) -> Result<Attempt, StoreError> {
    let builder = client.build_transaction();
    let builder = match mode {
        Mode::Write => builder.isolation_level(IsolationLevel::Serializable),
        Mode::Append => builder.isolation_level(IsolationLevel::RepeatableRead),
        Mode::Read => builder.isolation_level(IsolationLevel::RepeatableRead).read_only(true),
    };
    let transaction = builder.start().map_err(|error| dialect::postgres_error(&error))?;
    let mut db = Db::postgres(transaction, statements);
    let ran = job.run(&mut db);
    if db.transient {
        return Ok(Attempt::Again);
    }
    if db.clashed {
        return Ok(Attempt::Clashed);
    }
    if ran == Ran::Rollback {
        return Ok(Attempt::Done);
    }
    match db.commit() {
        Ok(()) => Ok(Attempt::Done),
        Err(StoreError::Contended) => Ok(Attempt::Again),
        Err(error) => Err(error),
    }
}

/// A short, growing wait, so that transactions that met do not meet again at once.
#[expect(clippy::disallowed_methods, reason = "this thread belongs to one connection and has nothing else to do")]
fn pause(attempt: u32) {
    let microseconds = 200u64 << attempt.min(7);
    std::thread::sleep(std::time::Duration::from_micros(microseconds));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_options_are_taken_out_of_the_url() {
        let taken =
            |url: &str| Options::take(url).map(|options| (options.url, options.connections, options.verification));
        let none = Verification::None;
        assert_eq!(taken("postgres://h/db"), Ok(("postgres://h/db".into(), DEFAULT_CONNECTIONS, none.clone())));
        assert_eq!(
            taken("postgres://h/db?sslmode=require&pool=3"),
            Ok(("postgres://h/db?sslmode=require".into(), 3, none))
        );
        let full = Verification::Full { root_file: Some("/ca.pem".into()) };
        let url = "postgres://h/db?sslmode=verify-full&sslrootcert=/ca.pem";
        assert_eq!(taken(url), Ok(("postgres://h/db?sslmode=require".into(), DEFAULT_CONNECTIONS, full)));
        for bad in ["pool=x", "pool=0", "sslmode=verify-ca", "sslrootcert=/ca.pem"] {
            assert!(Options::take(&format!("postgres://h/db?{bad}")).is_err(), "{bad}");
        }
    }
}
