//! Playgrounds in memory: what is loaded of each, and how messages reach it.
//!
//! The database has everything; memory has copies. A playground is loaded by folding its log over its layers, and may be
//! dropped at any time when nothing of it waits to be written.

mod exchange;
mod fold;
mod layers;
mod queue;
mod seal;
mod trees;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, Instant};

use model::{PlaygroundId, SandboxId, Timestamp};
use store::sandboxes::StoredSandbox;
use world::World;

pub(crate) use exchange::{Cost, SandboxReader};
pub(crate) use layers::Layers;
use queue::Queue;
use trees::Trees;

/// Playgrounds that nobody used for so long are dropped from memory.
const IDLE: Duration = Duration::from_secs(600);

/// What is in memory of all playgrounds.
pub(crate) struct Worlds {
    live: Mutex<HashMap<PlaygroundId, Arc<Live>>>,
    /// What never changes of a sandbox.
    sandboxes: Mutex<HashMap<SandboxId, Arc<StoredSandbox>>>,
    pub(crate) layers: Layers,
    trees: Trees,
}

/// One playground in memory.
pub(crate) struct Live {
    pub(crate) id: PlaygroundId,
    memory: RwLock<Memory>,
    /// Held by whoever loads or catches up.
    loading: tokio::sync::Mutex<()>,
    /// Shared by questions while they are answered; whoever seals the playground waits for them.
    traffic: tokio::sync::RwLock<()>,
    queue: Queue,
    used_at: Mutex<Instant>,
}

#[derive(Default)]
struct Memory {
    loaded: Option<Loaded>,
    /// How often it was doubted.
    doubts: u64,
}

/// A world and what it was folded from.
#[derive(Clone)]
pub(crate) struct Loaded {
    pub(crate) world: Arc<World>,
    /// Since when nothing can be written any more.
    pub(crate) ended_at: Option<Timestamp>,
    /// The deadline of the task run that is done in it.
    pub(crate) ends_at: Option<Timestamp>,
    /// When something that was put off becomes due: known once for all who ask.
    pub(crate) next_due: Option<Timestamp>,
    /// Something changed that the log does not tell: it is to be compared with the database before it is used.
    is_stale: bool,
}

impl Loaded {
    pub(crate) fn new(world: World, ended_at: Option<Timestamp>, ends_at: Option<Timestamp>) -> Self {
        Self { next_due: sims::due::next(&world), world: Arc::new(world), ended_at, ends_at, is_stale: false }
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.ended_at.is_some()
    }
}

impl Worlds {
    pub(crate) fn new(layer_bytes: u64) -> Self {
        Self {
            live: Mutex::default(),
            sandboxes: Mutex::default(),
            layers: Layers::new(layer_bytes),
            trees: Trees::default(),
        }
    }

    pub(crate) fn of(&self, id: &PlaygroundId) -> Arc<Live> {
        let mut live = lock(&self.live);
        let found = live.entry(id.clone()).or_insert_with(|| Arc::new(Live::new(id.clone())));
        *lock(&found.used_at) = Instant::now();
        Arc::clone(found)
    }

    /// What is in memory of it, if anything is, must be compared with the database.
    pub(crate) fn doubt(&self, id: &PlaygroundId) {
        if let Some(live) = lock(&self.live).get(id) {
            live.doubt();
        }
    }

    /// What is in memory of it, if anything is.
    pub(crate) fn known(&self, id: &PlaygroundId) -> Option<Arc<Live>> {
        lock(&self.live).get(id).cloned()
    }

    pub(crate) fn all(&self) -> Vec<Arc<Live>> {
        lock(&self.live).values().cloned().collect()
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
        // Whoever still holds one would write past the next one that is made.
        let is_idle = |live: &Arc<Live>| Arc::strong_count(live) == 1 && lock(&live.used_at).elapsed() > IDLE;
        lock(&self.live).retain(|_, live| !(is_idle(live) && live.unload()));
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
            memory: RwLock::default(),
            loading: tokio::sync::Mutex::default(),
            traffic: tokio::sync::RwLock::default(),
            queue: Queue::default(),
            used_at: Mutex::new(Instant::now()),
        }
    }

    /// A playground that was just written is known without reading it again; unless someone was there already, who knows
    /// it as it is after that.
    pub(crate) fn begin(&self, world: World, ends_at: Timestamp) {
        let mut memory = self.memory.write().unwrap_or_else(PoisonError::into_inner);
        if memory.loaded.is_none() && memory.doubts == 0 {
            let ends_at = Some(ends_at);
            memory.loaded = Some(Loaded::new(world, None, ends_at));
        }
    }

    /// What is loaded, if it can be used as it is.
    fn ready(&self) -> Option<Loaded> {
        self.any().filter(|loaded| !loaded.is_stale)
    }

    fn any(&self) -> Option<Loaded> {
        self.memory.read().unwrap_or_else(PoisonError::into_inner).loaded.clone()
    }

    /// How often it was doubted until now: to be asked before the database is.
    fn doubts(&self) -> u64 {
        self.memory.read().unwrap_or_else(PoisonError::into_inner).doubts
    }

    /// Shows a world to everyone. When something was doubted after `doubts` were counted, the world may be of before that.
    fn publish(&self, loaded: Loaded, doubts: u64) {
        let mut memory = self.memory.write().unwrap_or_else(PoisonError::into_inner);
        let is_stale = memory.doubts != doubts;
        memory.loaded = Some(Loaded { is_stale, ..loaded });
    }

    /// What is loaded must be compared with the database before it is used again.
    pub(crate) fn doubt(&self) {
        let mut memory = self.memory.write().unwrap_or_else(PoisonError::into_inner);
        memory.doubts += 1;
        if let Some(loaded) = memory.loaded.as_mut() {
            loaded.is_stale = true;
        }
    }

    /// Drops the world, unless something waits to be written.
    fn unload(&self) -> bool {
        let is_idle = self.queue.is_empty();
        if is_idle {
            self.memory.write().unwrap_or_else(PoisonError::into_inner).loaded = None;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_world_that_was_doubted_on_its_way_is_not_trusted() {
        let live = Live::new("pg_01K9Z3T5Q8W7N4M2R6V0XBHCDE".parse().unwrap());
        let loaded = Loaded::new(World { seq: 1, oldest: 0, sandboxes: Default::default() }, None, None);
        let before = live.doubts();
        live.publish(loaded.clone(), before);
        assert!(live.ready().is_some());
        // A reset between an append and its publication.
        live.doubt();
        live.publish(loaded.clone(), before);
        assert!(live.ready().is_none() && live.any().is_some());
        live.publish(loaded, live.doubts());
        assert!(live.ready().is_some());
    }

    #[test]
    fn a_beginning_does_not_replace_what_came_after_it() {
        let world = |seq| World { seq, oldest: 0, sandboxes: Default::default() };
        let end = Timestamp(1);
        let live = Live::new("pg_01K9Z3T5Q8W7N4M2R6V0XBHCDE".parse().unwrap());
        live.begin(world(1), end);
        assert_eq!(live.ready().unwrap().world.seq, 1);
        let later = Loaded::new(world(2), None, Some(end));
        live.publish(later, live.doubts());
        live.begin(world(1), end);
        assert_eq!(live.ready().unwrap().world.seq, 2);
        // Ended and dropped before the one who began it came to say so.
        live.doubt();
        live.unload();
        live.begin(world(1), end);
        assert!(live.any().is_none());
    }
}
