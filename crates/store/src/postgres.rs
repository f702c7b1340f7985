//! PostgreSQL: a fixed number of connections, each on a thread of its own. Writes are serializable and run again when the
//! server says that they met, so that code behaves as on SQLite, where writers follow each other.

use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, Sender};
use postgres::{Client, IsolationLevel};

use crate::db::Statements;
use crate::job::Ran;
use crate::{BoxedJob, Db, StoreError, dialect, migrate};

const DEFAULT_CONNECTIONS: usize = 16;
const MOST_ATTEMPTS: u32 = 30;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Read,
    Write,
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
    /// The usual connection URL; `?pool=N` sets the number of connections.
    fn parse(url: &str) -> Result<Self, StoreError> {
        let (url, connections) = take_pool(url);
        let config: postgres::Config =
            url.parse().map_err(|_| StoreError::Unavailable("not a valid PostgreSQL URL".into()))?;
        let mut roots = rustls::RootCertStore::empty();
        if config.get_ssl_mode() != postgres::config::SslMode::Disable {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let tls = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| StoreError::Unavailable(error.to_string()))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Self { config, tls: tokio_postgres_rustls::MakeRustlsConnect::new(tls), connections })
    }

    fn connect(&self) -> Result<Client, StoreError> {
        self.config.connect(self.tls.clone()).map_err(|error| match error.as_db_error() {
            Some(database) => StoreError::Unavailable(database.message().to_owned()),
            None => StoreError::Unavailable(error.to_string()),
        })
    }
}

fn take_pool(url: &str) -> (String, usize) {
    let Some((base, query)) = url.split_once('?') else {
        return (url.to_owned(), DEFAULT_CONNECTIONS);
    };
    let mut connections = DEFAULT_CONNECTIONS;
    let mut kept = Vec::new();
    for pair in query.split('&') {
        match pair.strip_prefix("pool=").and_then(|number| number.parse::<usize>().ok()) {
            Some(number) => connections = number.clamp(1, 256),
            None => kept.push(pair),
        }
    }
    let query = kept.join("&");
    (if query.is_empty() { base.to_owned() } else { format!("{base}?{query}") }, connections)
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
        for attempt in 0..MOST_ATTEMPTS {
            let (client, statements) = self.connected()?;
            match attempt_once(client, statements, job, mode)? {
                Attempt::Done => return Ok(()),
                Attempt::Again => pause(attempt),
            }
        }
        Err(StoreError::Contended)
    }

    fn connected(&mut self) -> Result<(&mut Client, &mut Statements), StoreError> {
        if self.client.as_ref().is_none_or(|(client, _)| client.is_closed()) {
            self.client = Some((self.settings.connect()?, Statements::new()));
        }
        let (client, statements) = self.client.as_mut().ok_or(StoreError::Closed)?;
        Ok((client, statements))
    }
}

enum Attempt {
    Done,
    Again,
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
        Mode::Read => builder.isolation_level(IsolationLevel::RepeatableRead).read_only(true),
    };
    let transaction = builder.start().map_err(|error| dialect::postgres_error(&error))?;
    let mut db = Db::postgres(transaction, statements);
    let ran = job.run(&mut db);
    if db.transient {
        return Ok(Attempt::Again);
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
    fn the_pool_size_is_taken_out_of_the_url() {
        assert_eq!(take_pool("postgres://h/db"), ("postgres://h/db".into(), DEFAULT_CONNECTIONS));
        assert_eq!(take_pool("postgres://h/db?pool=3"), ("postgres://h/db".into(), 3));
        assert_eq!(take_pool("postgres://h/db?sslmode=require&pool=0"), ("postgres://h/db?sslmode=require".into(), 1));
    }
}
