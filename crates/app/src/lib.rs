//! What Verial can be asked to do: one file per resource, one function per verb. A verb takes the grant that allows it, checks
//! its input, runs one transaction and returns a value; every face (HTTP, command line, pages) calls these.

pub mod admin;
pub mod api_keys;
pub mod benchmarks;
mod chance;
mod clock;
mod contents;
pub mod credentials;
pub mod criteria;
pub mod datasets;
pub mod entities;
pub mod environments;
mod error;
pub mod etag;
mod limits;
mod live;
pub mod mllp;
pub mod ocr;
mod once;
pub mod organizations;
mod outbound;
pub mod playgrounds;
pub mod publications;
pub mod runs;
pub mod sandboxes;
pub mod schemas;
mod seal;
pub mod simulators;
mod slots;
pub mod solvers;
mod spool;
pub mod tasks;

use std::sync::Arc;

use model::Timestamp;
use store::{Blobs, Store, StoreError};

pub use clock::Clock;
pub use credentials::{OrgGrant, Principal, RunGrant, SolverGrant};
pub use error::AppError;
pub use limits::{Limits, Options, SftpAddress};
pub use once::{Created, Once};

/// A health check gives up on storage that has not answered by then.
const READY_WITHIN: std::time::Duration = std::time::Duration::from_secs(4);

/// The whole application: storage, time, chance and what is remembered between requests. Cheap to clone.
#[derive(Clone)]
pub struct App {
    inner: Arc<Inner>,
}

struct Inner {
    store: Store,
    blobs: Blobs,
    clock: Clock,
    ids: chance::IdSource,
    credentials: credentials::Cache,
    limits: Limits,
    worlds: live::Worlds,
    snapshots: runs::Snapshots,
    started: runs::access::Started,
    outbound: outbound::Outbound,
    calls: sandboxes::cds::Calls,
    mllp: mllp::Ports,
    pushes: tokio::sync::Semaphore,
    listeners: sandboxes::voice::Listeners,
    contents: contents::Contents,
    spools: spool::Spools,
    /// Documents that are looked through, and pictures that are read.
    papers: slots::Slots,
    ocr: slots::Slots,
    sftp: Option<SftpAddress>,
    engine: &'static str,
}

impl App {
    pub fn new(store: Store, blobs: Blobs, clock: Clock, options: impl Into<Options>) -> Self {
        let Options { limits, allowed_hosts, mllp, sftp, spool, engine } = options.into();
        let inner = Inner {
            store,
            blobs,
            clock,
            ids: chance::IdSource::default(),
            credentials: credentials::Cache::default(),
            worlds: live::Worlds::new(limits.layer_bytes),
            snapshots: runs::Snapshots::default(),
            started: runs::access::Started::default(),
            outbound: outbound::Outbound::new(&allowed_hosts),
            calls: sandboxes::cds::Calls::default(),
            mllp: mllp::Ports::new(mllp),
            pushes: tokio::sync::Semaphore::new(mllp::MOST_AT_ONCE),
            listeners: sandboxes::voice::Listeners::default(),
            contents: contents::Contents::default(),
            spools: spool::Spools::new(spool),
            papers: slots::Slots::new(2, 64),
            ocr: slots::Slots::new(2, 32),
            sftp,
            limits,
            engine: engine.unwrap_or(runs::ENGINE),
        };
        Self { inner: Arc::new(inner) }
    }

    pub fn now(&self) -> Timestamp {
        self.inner.clock.now()
    }

    pub fn limits(&self) -> &Limits {
        &self.inner.limits
    }

    /// Whether the database and the blob store answer in time for a health check.
    pub async fn ready(&self) -> Result<(), AppError> {
        let both = async {
            self.store().ping().await?;
            Ok(self.blobs().ping().await?)
        };
        let late = |_| Err(AppError::Store(StoreError::Unavailable("the storage does not answer".into())));
        tokio::time::timeout(READY_WITHIN, both).await.unwrap_or_else(late)
    }

    /// Clears what is past its time. Called now and then by whoever runs the server.
    pub async fn sweep(&self) -> Result<(), AppError> {
        let oldest = self.now().plus_milliseconds(-once::KEPT_MILLISECONDS);
        self.store().write(move |db| store::idempotency::forget_before(db, oldest)).await?;
        Ok(())
    }

    /// Drops what nobody uses from memory. Called every minute by whoever runs the server.
    pub fn sweep_memory(&self) {
        self.inner.worlds.sweep();
    }

    /// How many dataset layers are in memory, and their bytes.
    pub fn loaded_layers(&self) -> (usize, u64) {
        self.inner.worlds.layers.loaded()
    }

    /// The version of the engine that scores here.
    pub(crate) fn engine(&self) -> &'static str {
        self.inner.engine
    }

    pub(crate) fn new_id<I: model::Id>(&self) -> I {
        I::from_ulid(self.inner.ids.next(self.now()))
    }

    pub(crate) fn store(&self) -> &Store {
        &self.inner.store
    }

    pub(crate) fn blobs(&self) -> &Blobs {
        &self.inner.blobs
    }
}

/// A request's own identifier, when the caller sent none.
pub fn new_request_id(app: &App) -> String {
    chance::unordered(app.now()).text("req_").to_string()
}
