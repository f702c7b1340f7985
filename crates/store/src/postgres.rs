//! PostgreSQL: a fixed number of connections, each on its own thread. Writes are serializable and are run again when the
//! database reports a conflict, so that code behaves as on SQLite, where writers follow each other.
//!
//! Every wait of a request is bounded: connecting, statements, locks, idle transactions, and the caller's wait for its
//! result. A database that stops answering makes requests fail; it does not make them hang, and it needs no restart when it
//! is back. Only opening a store may wait longer: until another node has finished its migrations.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender};
use postgres::{Client, IsolationLevel};

use crate::db::Statements;
use crate::job::{Mode, Ran};
use crate::tls::{self, Verification};
use crate::{BoxedJob, Db, StoreError, dialect, migrate};

const DEFAULT_CONNECTIONS: usize = 16;
/// How long a caller waits for its transaction; `timeout` in the URL changes it.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);
/// A transaction whose client does nothing for this long is ended by the database, with its locks. It is run again if its
/// client is still there.
const IDLE_IN_TRANSACTION: Duration = Duration::from_secs(3);
const KEEPALIVE_IDLE: Duration = Duration::from_secs(30);
const MAX_CONFLICTS: u32 = 4;
/// How often one job may lose its connection before it fails.
const MAX_LOST_CONNECTIONS: u32 = 2;
/// After this many conflicts, a transaction waits for the lock `TURN`: transactions that hold it do not conflict with each
/// other.
const UNLUCKY: u32 = 4;
const TURN: i64 = 7_305_402;

pub(crate) struct Postgres {
    jobs: Option<Sender<(BoxedJob, Mode)>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    pool: Arc<Pool>,
}

/// State that the workers share.
struct Pool {
    settings: Settings,
    /// How many workers have a connection.
    connected: AtomicUsize,
    is_stopping: AtomicBool,
}

impl Postgres {
    pub(crate) fn open(url: &str, now: model::Timestamp) -> Result<Self, StoreError> {
        let pool = Arc::new(Pool {
            settings: Settings::parse(url)?,
            connected: AtomicUsize::new(0),
            is_stopping: AtomicBool::new(false),
        });
        migrate_on_own_thread(&pool, now)?;
        let (jobs, queue) = crossbeam_channel::bounded::<(BoxedJob, Mode)>(4096);
        let mut threads = Vec::new();
        for _ in 0..pool.settings.connections {
            let worker = Worker { pool: Arc::clone(&pool), session: None, cannot_connect: false };
            let queue = queue.clone();
            let thread = std::thread::Builder::new().name("postgres".into()).spawn(move || worker.serve(&queue));
            threads.push(thread.map_err(|error| StoreError::Unavailable(error.to_string()))?);
        }
        Ok(Self { jobs: Some(jobs), threads: Mutex::new(threads), pool })
    }

    /// How long a caller waits for its transaction.
    pub(crate) fn timeout(&self) -> Duration {
        self.pool.settings.timeout
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
    /// Finishes the accepted jobs, but does not wait longer than their callers do for a database that does not answer.
    fn drop(&mut self) {
        self.pool.is_stopping.store(true, Ordering::Relaxed);
        self.jobs = None;
        let end = Instant::now() + self.timeout();
        let threads = self.threads.get_mut().map(std::mem::take).unwrap_or_default();
        for thread in threads {
            let is_own = thread.thread().id() == std::thread::current().id();
            while !is_own && !thread.is_finished() && Instant::now() < end {
                sleep(Duration::from_millis(2));
            }
        }
    }
}

/// The synchronous client has its own runtime and must not be driven on a thread that has one already.
fn migrate_on_own_thread(pool: &Arc<Pool>, now: model::Timestamp) -> Result<(), StoreError> {
    let (connected, wait) = crossbeam_channel::bounded(1);
    let for_thread = Arc::clone(pool);
    let migrated = std::thread::spawn(move || -> Result<(), StoreError> {
        let mut client = for_thread.settings.connect()?;
        let _ = connected.send(());
        migrate_postgres(&mut client, now)
    });
    let limit = pool.settings.timeout;
    if wait.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
        return Err(StoreError::Unavailable(format!("PostgreSQL did not answer within {} s", limit.as_secs())));
    }
    migrated.join().map_err(|_| StoreError::Panicked)?
}

struct Settings {
    config: postgres::Config,
    tls: tokio_postgres_rustls::MakeRustlsConnect,
    connections: usize,
    timeout: Duration,
}

impl Settings {
    /// A standard connection URL with the additional options `pool` (number of connections) and `timeout` (seconds).
    fn parse(url: &str) -> Result<Self, StoreError> {
        let Options { url, connections, timeout, verification } =
            Options::take(url).map_err(StoreError::Unavailable)?;
        let mut config: postgres::Config = url.parse().map_err(|error: postgres::Error| {
            let reason = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
            StoreError::Unavailable(format!("the PostgreSQL URL is not valid: {reason}"))
        })?;
        let tls = tokio_postgres_rustls::MakeRustlsConnect::new(tls::client_config(&verification)?);
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(timeout);
        }
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(timeout);
        }
        let query = url.split_once('?').map_or("", |(_, query)| query);
        if !query.split('&').any(|pair| pair.starts_with("keepalives_idle=")) {
            config.keepalives_idle(KEEPALIVE_IDLE);
        }
        Ok(Self { config, tls, connections, timeout })
    }

    fn connect(&self) -> Result<Client, StoreError> {
        self.config.connect(self.tls.clone()).map_err(|error| unavailable(&error))
    }

    /// A connection for jobs, with limits that the database enforces.
    fn connect_for_jobs(&self) -> Result<Client, StoreError> {
        let mut client = self.connect()?;
        let milliseconds = self.timeout.as_millis();
        let idle = IDLE_IN_TRANSACTION.min(self.timeout).as_millis();
        // A sequential scan of a small table conflicts with every writer to it; all our queries have an index.
        let setup = format!(
            "set enable_seqscan = off; set statement_timeout = {milliseconds}; set lock_timeout = {}; \
             set idle_in_transaction_session_timeout = {idle}",
            milliseconds / 2
        );
        client.batch_execute(&setup).map_err(|error| unavailable(&error))?;
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

/// Options in the URL that the driver does not know.
#[derive(Debug, PartialEq)]
struct Options {
    url: String,
    connections: usize,
    timeout: Duration,
    verification: Verification,
}

impl Options {
    fn take(url: &str) -> Result<Self, String> {
        let (base, query) = url.split_once('?').unwrap_or((url, ""));
        let (mut connections, mut kept) = (DEFAULT_CONNECTIONS, Vec::new());
        let mut timeout = DEFAULT_TIMEOUT;
        let (mut full, mut root_file) = (false, None);
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            match pair.split_once('=').unwrap_or((pair, "")) {
                ("pool", number) => {
                    let number = number.parse::<usize>().ok().filter(|number| (1..=256).contains(number));
                    connections = number.ok_or("pool must be a number from 1 to 256")?;
                }
                ("timeout", seconds) => {
                    let seconds = seconds.parse::<u64>().ok().filter(|seconds| (1..=600).contains(seconds));
                    timeout = Duration::from_secs(seconds.ok_or("timeout must be a number of seconds from 1 to 600")?);
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
        Ok(Self { url, connections, timeout, verification })
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

/// A connection with its prepared statements, counted while it is open.
struct Session {
    client: Client,
    statements: Statements,
    pool: Arc<Pool>,
}

impl Drop for Session {
    fn drop(&mut self) {
        self.pool.connected.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Runs jobs on one connection, which it replaces when it is lost.
struct Worker {
    pool: Arc<Pool>,
    session: Option<Session>,
    cannot_connect: bool,
}

impl Worker {
    fn serve(mut self, queue: &Receiver<(BoxedJob, Mode)>) {
        loop {
            self.reconnect_while_others_work();
            let Ok((mut job, mode)) = queue.recv() else { return };
            // The caller has stopped waiting, and no transaction was begun.
            if job.is_abandoned() {
                continue;
            }
            let failure = self.run(&mut job, mode).err();
            job.answer(failure);
        }
    }

    /// A worker that cannot connect leaves the jobs to workers that are connected. If none is, jobs fail at once.
    fn reconnect_while_others_work(&mut self) {
        let mut attempt = 0;
        while self.cannot_connect
            && self.session().is_err()
            && self.pool.connected.load(Ordering::Relaxed) > 0
            && !self.pool.is_stopping.load(Ordering::Relaxed)
        {
            sleep(Duration::from_millis(10 << attempt.min(6)));
            attempt += 1;
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
        let mut losses = 0;
        for attempt in 0.. {
            let session = self.session()?;
            match attempt_once(session, job, mode)? {
                Attempt::Done => return Ok(()),
                // It fails for its own reason, which its result contains.
                Attempt::Clashed if attempt >= MAX_CONFLICTS => return Ok(()),
                Attempt::Clashed | Attempt::Again => sleep(Duration::from_micros(200 << attempt.min(7))),
                Attempt::Lost(error) => {
                    (self.session, *has_turn) = (None, false);
                    losses += 1;
                    if losses > MAX_LOST_CONNECTIONS {
                        return Err(error);
                    }
                }
            }
            if began.elapsed() > self.pool.settings.timeout || job.is_abandoned() {
                break;
            }
            if attempt >= UNLUCKY && !*has_turn {
                *has_turn = take_turn(&mut self.session()?.client)?;
            }
        }
        Err(StoreError::Contended)
    }

    /// A session that may still hold the lock is not used again.
    fn give_turn_back(&mut self) {
        if let Some(session) = &mut self.session
            && session.client.execute("select pg_advisory_unlock($1)", &[&TURN]).is_err()
        {
            self.session = None;
        }
    }

    fn session(&mut self) -> Result<&mut Session, StoreError> {
        if self.session.as_ref().is_some_and(|session| session.client.is_closed()) {
            self.session = None;
        }
        if self.session.is_none() {
            let connected = self.pool.settings.connect_for_jobs();
            self.cannot_connect = connected.is_err();
            let (client, pool) = (connected?, Arc::clone(&self.pool));
            pool.connected.fetch_add(1, Ordering::Relaxed);
            self.session = Some(Session { client, statements: Statements::new(), pool });
        }
        self.session.as_mut().ok_or(StoreError::Closed)
    }
}

/// Whether the lock was taken before `lock_timeout`. Taken before the transaction begins, so that the transaction sees what
/// was committed during the wait.
fn take_turn(client: &mut Client) -> Result<bool, StoreError> {
    match client.execute("select pg_advisory_lock($1)", &[&TURN]) {
        Ok(_) => Ok(true),
        Err(error) if dialect::is_transient(&error) => Ok(false),
        Err(error) => Err(dialect::postgres_error(&error)),
    }
}

enum Attempt {
    Done,
    Again,
    Clashed,
    /// The connection was lost before the commit, so nothing was written.
    Lost(StoreError),
}

fn attempt_once(session: &mut Session, job: &mut BoxedJob, mode: Mode) -> Result<Attempt, StoreError> {
    let builder = session.client.build_transaction();
    let builder = match mode {
        Mode::Write => builder.isolation_level(IsolationLevel::Serializable),
        Mode::Append => builder.isolation_level(IsolationLevel::RepeatableRead),
        Mode::Read => builder.isolation_level(IsolationLevel::RepeatableRead).read_only(true),
    };
    let transaction = match builder.start() {
        Ok(transaction) => transaction,
        Err(error) if dialect::is_connection_lost(&error) => return Ok(Attempt::Lost(dialect::postgres_error(&error))),
        Err(error) => return Err(dialect::postgres_error(&error)),
    };
    let mut db = Db::postgres(transaction, &mut session.statements);
    let ran = job.run(&mut db);
    if db.lost {
        return Ok(Attempt::Lost(StoreError::Unavailable("the connection to the database was lost".into())));
    }
    if db.transient {
        return Ok(Attempt::Again);
    }
    if db.clashed {
        return Ok(Attempt::Clashed);
    }
    // The caller of an abandoned job has received an error. Only a commit that is already in progress may still succeed.
    if ran == Ran::Rollback || (mode != Mode::Read && job.is_abandoned()) {
        return Ok(Attempt::Done);
    }
    match db.commit() {
        Ok(()) => Ok(Attempt::Done),
        Err(StoreError::Contended) => Ok(Attempt::Again),
        Err(error) => Err(error),
    }
}

#[expect(clippy::disallowed_methods, reason = "the calling thread belongs to one connection, or ends the pool")]
fn sleep(duration: Duration) {
    std::thread::sleep(duration);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_url_decides_before_our_defaults() {
        let idle = |url: &str| Settings::parse(url).map(|settings| settings.config.get_keepalives_idle()).unwrap();
        assert_eq!(idle("postgres://h/db"), KEEPALIVE_IDLE);
        assert_eq!(idle("postgres://h/db?timeout=3&keepalives_idle=7"), Duration::from_secs(7));
    }

    #[test]
    fn our_options_are_taken_out_of_the_url() {
        let taken =
            |url: &str| Options::take(url).map(|options| (options.url, options.connections, options.verification));
        assert_eq!(
            Options::take("postgres://h/db?timeout=3").map(|options| options.timeout),
            Ok(Duration::from_secs(3))
        );
        let none = Verification::None;
        assert_eq!(taken("postgres://h/db"), Ok(("postgres://h/db".into(), DEFAULT_CONNECTIONS, none.clone())));
        assert_eq!(
            taken("postgres://h/db?sslmode=require&pool=3"),
            Ok(("postgres://h/db?sslmode=require".into(), 3, none))
        );
        let full = Verification::Full { root_file: Some("/ca.pem".into()) };
        let url = "postgres://h/db?sslmode=verify-full&sslrootcert=/ca.pem";
        assert_eq!(taken(url), Ok(("postgres://h/db?sslmode=require".into(), DEFAULT_CONNECTIONS, full)));
        for bad in ["pool=x", "pool=0", "timeout=0", "timeout=soon", "sslmode=verify-ca", "sslrootcert=/ca.pem"] {
            assert!(Options::take(&format!("postgres://h/db?{bad}")).is_err(), "{bad}");
        }
    }
}
