//! What Verial can be asked to do: one file per resource, one function per verb. A verb takes the grant that allows it, checks
//! its input, runs one transaction and returns a value; every face (HTTP, command line, pages) calls these.

pub mod admin;
pub mod api_keys;
pub mod benchmarks;
mod blocking_limit;
mod caller;
pub mod credentials;
pub mod criteria;
pub mod datasets;
pub mod entities;
pub mod environments;
mod error;
pub mod etag;
mod idempotency;
mod limits;
pub mod mllp;
pub mod ocr;
pub mod organizations;
mod outbound;
pub mod playgrounds;
pub mod publications;
mod random;
mod response_encryption;
pub mod runs;
pub mod sandboxes;
pub mod schemas;
pub mod simulators;
pub mod solvers;
pub mod tasks;
mod upload_buffer;

use std::sync::{Arc, Weak};

use model::Timestamp;
use runtime::{Runtime, RuntimeOptions};
use store::{Blobs, Store, StoreError};

pub use caller::Caller;
pub use credentials::{OrgGrant, Principal, RunGrant, SolverGrant};
pub use error::AppError;
pub use idempotency::{Created, Once};
pub use limits::{Limits, Options, SftpAddress};
pub use runtime::Clock;

/// A health check gives up on storage that has not answered by then.
const READY_WITHIN: std::time::Duration = std::time::Duration::from_secs(4);

/// The whole application: storage, time, chance and what is remembered between requests. Cheap to clone.
#[derive(Clone)]
pub struct App {
    inner: Arc<Inner>,
}

struct Inner {
    runtime: Runtime,
    credentials: credentials::Cache,
    limits: Limits,
    snapshots: runs::Snapshots,
    started_tasks: runs::access::StartedTasks,
    outbound: outbound::Outbound,
    calls: sandboxes::cds::Calls,
    mllp: mllp::Ports,
    pushes: tokio::sync::Semaphore,
    listeners: sandboxes::voice::Listeners,
    uploads: upload_buffer::UploadBuffers,
    /// Documents that are looked through, and pictures that are read.
    papers: blocking_limit::BlockingLimit,
    ocr: blocking_limit::BlockingLimit,
    sftp: Option<SftpAddress>,
    engine: &'static str,
}

impl App {
    pub fn new(store: Store, blobs: Blobs, clock: Clock, options: impl Into<Options>) -> Self {
        let Options { limits, allowed_hosts, mllp, sftp, spool, engine } = options.into();
        let inner = Arc::new_cyclic(|inner| Inner {
            runtime: Runtime::new(RuntimeOptions {
                store,
                blobs,
                clock,
                layer_bytes: limits.layer_bytes,
                task_run_events: limits.task_run_events,
                on_append: on_append(inner),
            }),
            credentials: credentials::Cache::default(),
            snapshots: runs::Snapshots::default(),
            started_tasks: runs::access::StartedTasks::default(),
            outbound: outbound::Outbound::new(&allowed_hosts),
            calls: sandboxes::cds::Calls::default(),
            mllp: mllp::Ports::new(mllp),
            pushes: tokio::sync::Semaphore::new(mllp::MOST_AT_ONCE),
            listeners: sandboxes::voice::Listeners::default(),
            uploads: upload_buffer::UploadBuffers::new(spool),
            papers: blocking_limit::BlockingLimit::new(2, 64),
            ocr: blocking_limit::BlockingLimit::new(2, 32),
            sftp,
            limits,
            engine: engine.unwrap_or(runs::ENGINE),
        });
        Self { inner }
    }

    pub fn now(&self) -> Timestamp {
        self.inner.runtime.now()
    }

    /// The playgrounds in memory.
    pub(crate) fn runtime(&self) -> &Runtime {
        &self.inner.runtime
    }

    /// Writes all events of reads that wait, before the process ends.
    pub async fn flush_events(&self) {
        self.inner.runtime.flush_all().await;
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
        let oldest = self.now().plus_milliseconds(-idempotency::LIFETIME_MILLISECONDS);
        self.store().write(move |db| store::idempotency::delete_before(db, oldest)).await?;
        Ok(())
    }

    /// Drops what nobody uses from memory. Called every minute by whoever runs the server.
    pub fn sweep_memory(&self) {
        self.inner.runtime.sweep();
    }

    /// How many dataset layers are in memory, and their bytes.
    pub fn loaded_layers(&self) -> (usize, u64) {
        self.inner.runtime.loaded_layers()
    }

    /// The version of the engine that scores here.
    pub(crate) fn engine(&self) -> &'static str {
        self.inner.engine
    }

    pub(crate) fn new_id<I: model::Id>(&self) -> I {
        self.inner.runtime.new_id()
    }

    pub(crate) fn store(&self) -> &Store {
        self.inner.runtime.store()
    }

    pub(crate) fn blobs(&self) -> &Blobs {
        self.inner.runtime.blobs()
    }
}

/// Delivers messages that an append has put into the inboxes of sandboxes.
fn on_append(app: &Weak<Inner>) -> runtime::AppendHook {
    let app = Weak::clone(app);
    Box::new(move |entries| {
        if let Some(inner) = app.upgrade() {
            App { inner }.deliver_arrivals(entries);
        }
    })
}

/// A request's own identifier, when the caller sent none.
pub fn new_request_id(app: &App) -> String {
    runtime::unordered_id(app.now()).text("req_").to_string()
}
