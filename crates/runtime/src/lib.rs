//! Playgrounds in memory: loads them from the store, answers queries, runs commands and freezes them.
//!
//! The database contains everything; memory has copies. A playground is loaded by folding its log over its dataset layers,
//! and may be dropped from memory at any time when none of its events wait to be written.

mod blob_cache;
mod clock;
mod commit;
mod error;
mod freeze;
mod ids;
mod layers;
mod load;
mod lru_cache;
mod messages;
mod playgrounds;
mod queue;
mod shared_file_trees;
#[cfg(test)]
mod tests;
mod texts;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use model::Timestamp;
use store::log::Entry;
use store::{Blobs, Store};
use world::{Context, Seq};

pub use blob_cache::{CHUNK_BYTES, FileReader};
pub use clock::Clock;
pub use error::RuntimeError;
pub use freeze::FrozenPlayground;
pub use ids::unordered_id;
pub use lru_cache::LruCache;
pub use messages::{Cost, SandboxReader};
pub use playgrounds::LoadedWorld;

use blob_cache::BlobCache;
use ids::IdSource;
use playgrounds::Playgrounds;

/// Called with the entries of each append, after the append is durable.
pub type AppendHook = Box<dyn Fn(&[Entry]) + Send + Sync>;

/// The parts and limits of a [`Runtime`].
pub struct RuntimeOptions {
    pub store: Store,
    pub blobs: Blobs,
    pub clock: Clock,
    /// Memory for dataset layers; the least recently used are dropped beyond it.
    pub layer_bytes: u64,
    /// Maximum number of events in the log of a task run.
    pub task_run_events: Seq,
    pub on_append: AppendHook,
}

/// All playgrounds of this process. Cheap to clone.
#[derive(Clone)]
pub struct Runtime {
    inner: Arc<Inner>,
}

struct Inner {
    options: RuntimeOptions,
    ids: IdSource,
    playgrounds: Playgrounds,
    blob_cache: BlobCache,
}

impl Runtime {
    pub fn new(options: RuntimeOptions) -> Self {
        let playgrounds = Playgrounds::new(options.layer_bytes);
        let inner = Inner { options, ids: IdSource::default(), playgrounds, blob_cache: BlobCache::default() };
        Self { inner: Arc::new(inner) }
    }

    pub fn store(&self) -> &Store {
        &self.inner.options.store
    }

    pub fn blobs(&self) -> &Blobs {
        &self.inner.options.blobs
    }

    pub fn now(&self) -> Timestamp {
        self.inner.options.clock.now()
    }

    pub fn new_id<I: model::Id>(&self) -> I {
        I::from_ulid(self.inner.ids.next(self.now()))
    }

    /// Runs a function with the context of simulators: the time and new ids.
    pub fn with_context<T>(&self, run: impl FnOnce(&Context<'_>) -> T) -> T {
        self.with_context_at(self.now(), run)
    }

    fn with_context_at<T>(&self, now: Timestamp, run: impl FnOnce(&Context<'_>) -> T) -> T {
        let new_id = || self.inner.ids.next(now).to_string();
        run(&Context { now, new_id: &new_id })
    }

    /// Drops idle playgrounds, and the least recently used layers beyond the memory limit. Called every minute.
    pub fn sweep(&self) {
        self.inner.playgrounds.sweep();
    }

    /// The number of dataset layers in memory, and their bytes.
    pub fn loaded_layers(&self) -> (usize, u64) {
        self.inner.playgrounds.layers.loaded()
    }

    fn max_events(&self) -> Seq {
        self.inner.options.task_run_events
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
