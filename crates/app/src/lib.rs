//! The operations of Verial: one file per resource, one function per operation. An operation takes the grant that permits it,
//! validates its input, runs one transaction and returns a value. All interfaces (HTTP, command line, SFTP) call these.
//!
//! It listens on no socket. Requests to other servers are in `outbound`.

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

use std::sync::{Arc, OnceLock, Weak};

use model::{SandboxId, Timestamp};
use runtime::{Runtime, RuntimeOptions};
use store::{Blobs, Store, StoreError};

pub use caller::Caller;
pub use credentials::{OrgGrant, Principal, RunGrant, SolverGrant};
pub use error::AppError;
pub use idempotency::{Created, Once};
pub use limits::{Limits, Options, SftpAddress};
pub use runtime::Clock;

/// Timeout of health checks for the response of the storage.
const READY_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(4);

type SandboxEndHook = Box<dyn Fn(&SandboxId) + Send + Sync>;

/// The whole application: storage, clock, randomness and caches. Cheap to clone.
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
    mllp_deliveries: outbound::mllp::Deliveries,
    on_sandbox_end: OnceLock<SandboxEndHook>,
    listeners: sandboxes::voice::Listeners,
    uploads: upload_buffer::UploadBuffers,
    /// Limits the parsing of documents, and OCR.
    papers: blocking_limit::BlockingLimit,
    ocr: blocking_limit::BlockingLimit,
    sftp: Option<SftpAddress>,
    engine: &'static str,
}

impl App {
    pub fn new(store: Store, blobs: Blobs, clock: Clock, options: impl Into<Options>) -> Self {
        let Options { limits, allowed_hosts, sftp, spool, engine } = options.into();
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
            mllp_deliveries: outbound::mllp::Deliveries::default(),
            on_sandbox_end: OnceLock::new(),
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

    /// Calls the hook when a sandbox ends on this node, so that its sockets can be closed. Only the first hook is used.
    pub fn on_sandbox_end(&self, hook: impl Fn(&SandboxId) + Send + Sync + 'static) {
        let _ = self.inner.on_sandbox_end.set(Box::new(hook));
    }

    pub(crate) fn notify_sandbox_end(&self, sandbox: &SandboxId) {
        if let Some(hook) = self.inner.on_sandbox_end.get() {
            hook(sandbox);
        }
    }

    /// The playgrounds in memory.
    pub(crate) fn runtime(&self) -> &Runtime {
        &self.inner.runtime
    }

    /// Writes all waiting events of reads, before the process ends.
    pub async fn flush_events(&self) {
        self.inner.runtime.flush_all().await;
    }

    pub fn limits(&self) -> &Limits {
        &self.inner.limits
    }

    /// Checks that the database and the blob store respond in time.
    pub async fn ready(&self) -> Result<(), AppError> {
        let both = async {
            self.store().ping().await?;
            Ok(self.blobs().ping().await?)
        };
        let late = |_| Err(AppError::Store(StoreError::Unavailable("the storage does not answer".into())));
        tokio::time::timeout(READY_TIMEOUT, both).await.unwrap_or_else(late)
    }

    /// Deletes expired responses to idempotent requests. Called every hour.
    pub async fn sweep(&self) -> Result<(), AppError> {
        let oldest = self.now().plus_milliseconds(-idempotency::LIFETIME_MILLISECONDS);
        self.store().write(move |db| store::idempotency::delete_before(db, oldest)).await?;
        Ok(())
    }

    /// Frees unused memory. Called every minute.
    pub fn sweep_memory(&self) {
        self.inner.runtime.sweep();
    }

    /// The number of dataset layers in memory, and their bytes.
    pub fn loaded_layers(&self) -> (usize, u64) {
        self.inner.runtime.loaded_layers()
    }

    /// The version of this server's scoring engine.
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

/// Delivers messages that an append has added to the inboxes of sandboxes.
fn on_append(app: &Weak<Inner>) -> runtime::AppendHook {
    let app = Weak::clone(app);
    Box::new(move |entries| {
        if let Some(inner) = app.upgrade() {
            App { inner }.deliver_arrivals(entries);
        }
    })
}

/// An id for a request without one.
pub fn new_request_id(app: &App) -> String {
    runtime::unordered_id(app.now()).text("req_").to_string()
}
