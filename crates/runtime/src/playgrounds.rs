//! The copies of playgrounds in memory.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant};

use fhir::layer::Layer;
use model::{PlaygroundId, SandboxId, Timestamp};
use store::sandboxes::StoredSandbox;
use world::World;

use crate::layers::Layers;
use crate::queue::Queue;
use crate::shared_file_trees::SharedFileTrees;
use crate::{Runtime, RuntimeError, lock};

/// Playgrounds without traffic for this time are dropped from memory.
const IDLE: Duration = Duration::from_secs(600);

/// All playgrounds of this process, and their shared caches.
pub(crate) struct Playgrounds {
    by_id: Mutex<HashMap<PlaygroundId, Arc<Playground>>>,
    /// The rows of sandboxes, which do not change.
    sandboxes: Mutex<HashMap<SandboxId, Arc<StoredSandbox>>>,
    pub(crate) layers: Layers,
    pub(crate) file_trees: SharedFileTrees,
}

/// One playground in memory, loaded or not.
pub(crate) struct Playground {
    pub(crate) id: PlaygroundId,
    copy: RwLock<CachedCopy>,
    /// Held while the copy is loaded.
    pub(crate) loading: tokio::sync::Mutex<()>,
    /// Shared by queries in progress; freezing the playground takes it alone.
    pub(crate) traffic: tokio::sync::RwLock<()>,
    pub(crate) queue: Queue,
    used_at: Mutex<Instant>,
}

#[derive(Default)]
struct CachedCopy {
    loaded: Option<LoadedWorld>,
    /// Increases when the copy is invalidated.
    version: u64,
}

/// A world, and the state of its playground when it was loaded.
#[derive(Clone)]
pub struct LoadedWorld {
    pub world: Arc<World>,
    /// When the playground was torn down or frozen; nothing is written after that.
    pub(crate) ended_at: Option<Timestamp>,
    /// The deadline of the playground's task run.
    pub(crate) ends_at: Option<Timestamp>,
    /// When the next scheduled work is due.
    pub(crate) next_due: Option<Timestamp>,
    /// The playground was changed in another way than by its log: compare with the database before use.
    is_stale: bool,
}

impl LoadedWorld {
    pub(crate) fn new(world: World, ended_at: Option<Timestamp>, ends_at: Option<Timestamp>) -> Self {
        Self { next_due: sims::scheduler::next_due(&world), world: Arc::new(world), ended_at, ends_at, is_stale: false }
    }

    pub fn has_ended(&self) -> bool {
        self.ended_at.is_some()
    }

    /// When the task run of the playground ended; none while it takes traffic, and outside of runs.
    pub(crate) fn task_run_ended_at(&self) -> Option<Timestamp> {
        self.ended_at.filter(|_| self.ends_at.is_some())
    }
}

impl Playgrounds {
    pub(crate) fn new(layer_bytes: u64) -> Self {
        Self {
            by_id: Mutex::default(),
            sandboxes: Mutex::default(),
            layers: Layers::new(layer_bytes),
            file_trees: SharedFileTrees::default(),
        }
    }

    pub(crate) fn get(&self, id: &PlaygroundId) -> Arc<Playground> {
        let mut by_id = lock(&self.by_id);
        let playground = by_id.entry(id.clone()).or_insert_with(|| Arc::new(Playground::new(id.clone())));
        *lock(&playground.used_at) = Instant::now();
        Arc::clone(playground)
    }

    /// The playground if it is in memory.
    pub(crate) fn find(&self, id: &PlaygroundId) -> Option<Arc<Playground>> {
        lock(&self.by_id).get(id).cloned()
    }

    pub(crate) fn all(&self) -> Vec<Arc<Playground>> {
        lock(&self.by_id).values().cloned().collect()
    }

    /// Drops idle playgrounds with their sandboxes, and layers beyond the memory limit.
    pub(crate) fn sweep(&self) {
        // A playground that is in use must stay. Otherwise a second copy of it would be created.
        let is_idle = |playground: &Arc<Playground>| {
            Arc::strong_count(playground) == 1 && lock(&playground.used_at).elapsed() > IDLE
        };
        lock(&self.by_id).retain(|_, playground| !(is_idle(playground) && playground.unload()));
        let is_known = |id: &PlaygroundId| lock(&self.by_id).contains_key(id);
        lock(&self.sandboxes).retain(|_, sandbox| is_known(&sandbox.playground));
        self.shrink();
    }

    /// Drops the least recently used layers until the rest fits into the memory limit.
    pub(crate) fn shrink(&self) {
        for layer in self.layers.beyond_limit() {
            for playground in self.all().iter().filter(|playground| playground.uses(&layer)) {
                playground.unload();
            }
            self.layers.remove(&layer);
        }
    }
}

impl Runtime {
    /// The sandbox with that id, of any organization.
    pub async fn sandbox(&self, id: &SandboxId) -> Result<Option<Arc<StoredSandbox>>, RuntimeError> {
        if let Some(sandbox) = lock(&self.inner.playgrounds.sandboxes).get(id) {
            return Ok(Some(Arc::clone(sandbox)));
        }
        let id = id.clone();
        let found = self.store().read(move |db| store::sandboxes::find_any(db, &id)).await?;
        Ok(found.map(|sandbox| self.cache_sandbox(sandbox)))
    }

    /// A provisioned sandbox is not cached, because the start of its task run changes it.
    pub fn cache_sandbox(&self, sandbox: StoredSandbox) -> Arc<StoredSandbox> {
        let sandbox = Arc::new(sandbox);
        if !sandbox.is_provisioned {
            lock(&self.inner.playgrounds.sandboxes).insert(sandbox.id.clone(), Arc::clone(&sandbox));
        }
        sandbox
    }

    /// Marks the copy in memory as stale, after a playground was changed in another way than by a command.
    pub fn invalidate(&self, id: &PlaygroundId) {
        self.inner.playgrounds.get(id).invalidate();
    }

    /// Puts a world into memory that was just written by the start of a task run.
    pub fn publish_started(&self, id: &PlaygroundId, world: World, ends_at: Timestamp) {
        self.inner.playgrounds.get(id).publish_started(world, ends_at);
    }

    /// Drops the world of a playground that will hardly be used again.
    pub fn unload(&self, id: &PlaygroundId) {
        if let Some(playground) = self.inner.playgrounds.find(id) {
            playground.unload();
        }
    }
}

impl Playground {
    fn new(id: PlaygroundId) -> Self {
        Self {
            id,
            copy: RwLock::default(),
            loading: tokio::sync::Mutex::default(),
            traffic: tokio::sync::RwLock::default(),
            queue: Queue::default(),
            used_at: Mutex::new(Instant::now()),
        }
    }

    /// Does nothing if the playground was loaded or invalidated meanwhile: the given world is older than that.
    fn publish_started(&self, world: World, ends_at: Timestamp) {
        let mut copy = self.write();
        if copy.loaded.is_none() && copy.version == 0 {
            copy.loaded = Some(LoadedWorld::new(world, None, Some(ends_at)));
        }
    }

    /// The copy, if it need not be compared with the database.
    pub(crate) fn fresh(&self) -> Option<LoadedWorld> {
        self.cached().filter(|loaded| !loaded.is_stale)
    }

    pub(crate) fn cached(&self) -> Option<LoadedWorld> {
        self.read().loaded.clone()
    }

    /// The version of the copy. Read it before the database.
    pub(crate) fn version(&self) -> u64 {
        self.read().version
    }

    /// Replaces the copy. It is stale if it was invalidated after `version` was read.
    pub(crate) fn publish(&self, loaded: LoadedWorld, version: u64) {
        let mut copy = self.write();
        let is_stale = copy.version != version;
        copy.loaded = Some(LoadedWorld { is_stale, ..loaded });
    }

    pub(crate) fn invalidate(&self) {
        let mut copy = self.write();
        copy.version += 1;
        if let Some(loaded) = copy.loaded.as_mut() {
            loaded.is_stale = true;
        }
    }

    /// Drops the world, unless something waits to be written.
    fn unload(&self) -> bool {
        let is_idle = self.queue.is_empty();
        if is_idle {
            self.write().loaded = None;
        }
        is_idle
    }

    fn uses(&self, layer: &Arc<Layer>) -> bool {
        let uses = |loaded: LoadedWorld| loaded.world.sandboxes.values().any(|sandbox| sandbox.records.uses(layer));
        self.cached().is_some_and(uses)
    }

    fn read(&self) -> RwLockReadGuard<'_, CachedCopy> {
        self.copy.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, CachedCopy> {
        self.copy.write().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn world(seq: i64) -> World {
        World { seq, oldest: 0, sandboxes: Default::default() }
    }

    fn playground() -> Playground {
        Playground::new("pg_01K9Z3T5Q8W7N4M2R6V0XBHCDE".parse().unwrap())
    }

    #[test]
    fn a_world_that_was_invalidated_before_its_publication_is_stale() {
        let playground = playground();
        let loaded = LoadedWorld::new(world(1), None, None);
        let before = playground.version();
        playground.publish(loaded.clone(), before);
        assert!(playground.fresh().is_some());
        // A reset between an append and its publication.
        playground.invalidate();
        playground.publish(loaded.clone(), before);
        assert!(playground.fresh().is_none() && playground.cached().is_some());
        playground.publish(loaded, playground.version());
        assert!(playground.fresh().is_some());
    }

    #[test]
    fn a_start_does_not_replace_a_newer_world() {
        let end = Timestamp(1);
        let playground = playground();
        playground.publish_started(world(1), end);
        assert_eq!(playground.fresh().unwrap().world.seq, 1);
        let newer = LoadedWorld::new(world(2), None, Some(end));
        playground.publish(newer, playground.version());
        playground.publish_started(world(1), end);
        assert_eq!(playground.fresh().unwrap().world.seq, 2);
        // The task run was cancelled and dropped before its start was published.
        playground.invalidate();
        playground.unload();
        playground.publish_started(world(1), end);
        assert!(playground.cached().is_none());
    }
}
