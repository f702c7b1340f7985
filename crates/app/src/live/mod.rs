//! Playgrounds in memory: what is loaded of each, and how messages reach it.
//!
//! The database has everything; memory has copies. A playground is loaded by folding its log over its layers, and may be
//! dropped at any time when nothing of it waits to be written.

mod exchange;
mod fold;
mod layers;
mod queue;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, Instant};

use model::{PlaygroundId, SandboxId};
use store::sandboxes::StoredSandbox;
use world::World;

pub(crate) use exchange::Cost;
pub(crate) use layers::Layers;
use queue::Queue;

/// Playgrounds that nobody used for so long are dropped from memory.
const IDLE: Duration = Duration::from_secs(600);

/// What is in memory of all playgrounds.
pub(crate) struct Worlds {
    live: Mutex<HashMap<PlaygroundId, Arc<Live>>>,
    /// What never changes of a sandbox.
    sandboxes: Mutex<HashMap<SandboxId, Arc<StoredSandbox>>>,
    pub(crate) layers: Layers,
}

/// One playground in memory.
pub(crate) struct Live {
    pub(crate) id: PlaygroundId,
    loaded: RwLock<Option<Loaded>>,
    /// Held by whoever loads or catches up.
    loading: tokio::sync::Mutex<()>,
    queue: Queue,
    used_at: Mutex<Instant>,
}

/// A world and what it was folded from.
#[derive(Clone)]
pub(crate) struct Loaded {
    pub(crate) world: Arc<World>,
    /// Nothing can be written any more.
    pub(crate) has_ended: bool,
    /// Something changed that the log does not tell: it is to be compared with the database before it is used.
    is_stale: bool,
}

impl Worlds {
    pub(crate) fn new(layer_bytes: u64) -> Self {
        Self { live: Mutex::default(), sandboxes: Mutex::default(), layers: Layers::new(layer_bytes) }
    }

    pub(crate) fn of(&self, id: &PlaygroundId) -> Arc<Live> {
        let mut live = lock(&self.live);
        let found = live.entry(id.clone()).or_insert_with(|| Arc::new(Live::new(id.clone())));
        *lock(&found.used_at) = Instant::now();
        Arc::clone(found)
    }

    pub(crate) fn remembered(&self, id: &SandboxId) -> Option<Arc<StoredSandbox>> {
        lock(&self.sandboxes).get(id).cloned()
    }

    pub(crate) fn remember(&self, sandbox: StoredSandbox) -> Arc<StoredSandbox> {
        let sandbox = Arc::new(sandbox);
        lock(&self.sandboxes).insert(sandbox.id.clone(), Arc::clone(&sandbox));
        sandbox
    }

    /// Drops what nobody used for a while, and what the memory for layers is too small for.
    pub(crate) fn sweep(&self) {
        let forget = |live: &Arc<Live>| lock(&live.used_at).elapsed() > IDLE && live.unload();
        lock(&self.live).retain(|_, live| !forget(live));
        let gone = |id: &PlaygroundId| !lock(&self.live).contains_key(id);
        let idle: Vec<SandboxId> =
            lock(&self.sandboxes).values().filter(|sandbox| gone(&sandbox.playground)).map(|s| s.id.clone()).collect();
        let mut sandboxes = lock(&self.sandboxes);
        idle.iter().for_each(|id| {
            sandboxes.remove(id);
        });
        drop(sandboxes);
        self.shrink();
    }

    /// Frees layers, those first that were not used for longest, until the rest fits.
    pub(crate) fn shrink(&self) {
        for layer in self.layers.beyond_budget() {
            let all: Vec<Arc<Live>> = lock(&self.live).values().cloned().collect();
            all.iter().filter(|live| live.uses(&layer)).for_each(|live| {
                live.unload();
            });
            self.layers.forget(&layer);
        }
    }
}

impl Live {
    fn new(id: PlaygroundId) -> Self {
        Self {
            id,
            loaded: RwLock::default(),
            loading: tokio::sync::Mutex::default(),
            queue: Queue::default(),
            used_at: Mutex::new(Instant::now()),
        }
    }

    /// What is loaded, if it can be used as it is.
    fn ready(&self) -> Option<Loaded> {
        self.any().filter(|loaded| !loaded.is_stale)
    }

    fn any(&self) -> Option<Loaded> {
        self.loaded.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn publish(&self, loaded: Loaded) {
        *self.loaded.write().unwrap_or_else(PoisonError::into_inner) = Some(loaded);
    }

    /// What is loaded must be compared with the database before it is used again.
    pub(crate) fn doubt(&self) {
        if let Some(loaded) = self.loaded.write().unwrap_or_else(PoisonError::into_inner).as_mut() {
            loaded.is_stale = true;
        }
    }

    /// Drops the world, unless something waits to be written.
    fn unload(&self) -> bool {
        let is_idle = self.queue.is_empty();
        if is_idle {
            *self.loaded.write().unwrap_or_else(PoisonError::into_inner) = None;
        }
        is_idle
    }

    fn uses(&self, layer: &Arc<fhir::layer::Layer>) -> bool {
        self.any().is_some_and(|loaded| loaded.world.sandboxes.values().any(|sandbox| sandbox.records.uses(layer)))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
