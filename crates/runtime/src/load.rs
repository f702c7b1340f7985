//! Loads worlds from the database: sandboxes, their layers, and the changes of the log.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::simulator::SimulatorType;
use model::{PlaygroundId, Timestamp};
use store::log::{self, StoredChange};
use store::playgrounds::{self, Progress};
use store::sandboxes::{self, StoredSandbox};
use world::{Records, Sandbox, Seq, World};

use crate::playgrounds::{LoadedWorld, Playground};
use crate::{Runtime, RuntimeError};

/// Changes that are read in one transaction.
const PAGE_ROWS: i64 = 1000;

impl Runtime {
    /// The playground as the database has it now.
    pub async fn load(&self, id: &PlaygroundId) -> Result<LoadedWorld, RuntimeError> {
        self.current(&self.inner.playgrounds.get(id)).await
    }

    /// The same, always compared with the database: for what this process may not know, such as the end of a task run.
    pub async fn load_latest(&self, id: &PlaygroundId) -> Result<LoadedWorld, RuntimeError> {
        self.catch_up(&self.inner.playgrounds.get(id)).await
    }

    /// If no other process writes, the copy in memory is current.
    pub(crate) async fn current(&self, playground: &Playground) -> Result<LoadedWorld, RuntimeError> {
        if !self.store().is_shared()
            && let Some(loaded) = playground.fresh()
        {
            return Ok(loaded);
        }
        self.catch_up(playground).await
    }

    /// Compares the copy in memory with the database, and loads what is missing.
    pub(crate) async fn catch_up(&self, playground: &Playground) -> Result<LoadedWorld, RuntimeError> {
        let progress = self.progress(&playground.id).await?;
        if let Some(loaded) = playground.fresh().filter(|loaded| is_current(loaded, &progress)) {
            return Ok(loaded);
        }
        let _loading = playground.loading.lock().await;
        let version = playground.version();
        let progress = self.progress(&playground.id).await?;
        let foundation = progress.baseline.max(progress.shape);
        let cached = playground.cached().filter(|loaded| (foundation..=progress.head).contains(&loaded.world.seq));
        let base = match cached.filter(|loaded| loaded.has_ended() == progress.torn_down_at.is_some()) {
            Some(loaded) => World::clone(&loaded.world),
            None => self.baseline(&playground.id, &progress).await?,
        };
        let world = self.fold(&playground.id, base, progress.head).await?;
        let loaded = LoadedWorld::new(world, progress.torn_down_at, progress.ends_at);
        // A newer world is never replaced by an older one.
        if let Some(newer) = playground.fresh().filter(|newer| newer.world.seq > loaded.world.seq) {
            return Ok(newer);
        }
        playground.publish(loaded.clone(), version);
        Ok(loaded)
    }

    async fn progress(&self, id: &PlaygroundId) -> Result<Progress, RuntimeError> {
        let id = id.clone();
        let progress = self.store().read(move |db| playgrounds::progress(db, &id)).await?;
        let progress = progress.ok_or(RuntimeError::PlaygroundNotFound)?;
        // A provisioned playground has no state before its scenario runs, so it must not be loaded and cached.
        match (progress.is_provisioned, progress.torn_down_at) {
            (true, Some(_)) => Err(RuntimeError::NeverStarted),
            (true, None) => Err(RuntimeError::NotStarted),
            (false, _) => Ok(progress),
        }
    }

    /// The world at its baseline.
    async fn baseline(&self, playground: &PlaygroundId, progress: &Progress) -> Result<World, RuntimeError> {
        let id = playground.clone();
        let read = self.store().read(move |db| {
            let started_at = playgrounds::started_at(db, &id)?;
            Ok::<_, RuntimeError>((sandboxes::of_playground(db, &id)?, started_at))
        });
        let (stored, started_at) = read.await?;
        let mut sandboxes = BTreeMap::new();
        for mut sandbox in stored {
            // The task run was started by an older server, on which every interface was strict.
            if started_at.is_some() && sandbox.kind == SimulatorType::Hl7 {
                sims::hl7::config::keep_old_default(&mut sandbox.config);
            }
            let begins_at = started_at.unwrap_or(sandbox.created_at);
            sandboxes.insert(sandbox.id.clone(), self.sandbox_at_baseline(sandbox, begins_at).await?);
        }
        Ok(World { seq: progress.baseline, oldest: progress.baseline.max(progress.shape), sandboxes })
    }

    /// The sandbox before its first message. `created_at` is the start of its task run if it has one.
    pub async fn sandbox_at_baseline(
        &self,
        stored: StoredSandbox,
        created_at: Timestamp,
    ) -> Result<Sandbox, RuntimeError> {
        let StoredSandbox { id, kind, config, datasets, torn_down_at, .. } = stored;
        let (mut layers, mut trees) = (Vec::new(), Vec::new());
        for dataset in datasets {
            let (dataset, revision) = (dataset.dataset_id, dataset.revision);
            let read = self.store().read(move |db| sandboxes::revision(db, &dataset, revision)).await?;
            let Some((content_hash, manifest)) = read else { continue };
            if !manifest.chunks.is_empty() {
                layers.push(self.layer(&content_hash, &manifest).await?);
            }
            if !manifest.files.is_empty() {
                trees.push(self.inner.playgrounds.file_trees.tree(&content_hash, &manifest));
            }
        }
        let is_active = torn_down_at.is_none();
        let records = Records::new(layers, created_at).over(trees);
        Ok(Sandbox { id, kind, config: Arc::new(config), created_at, is_active, records })
    }

    /// Applies the changes of the log up to `head`.
    async fn fold(&self, playground: &PlaygroundId, mut world: World, head: Seq) -> Result<World, RuntimeError> {
        let mut position = (world.seq, i64::MAX);
        while world.seq < head {
            let (id, from) = (playground.clone(), position);
            let changes = self.store().read(move |db| log::changes_after(db, &id, from, PAGE_ROWS)).await?;
            let Some(last) = changes.last() else { break };
            position = (last.seq, last.position);
            for change in changes.into_iter().filter(|change| change.seq <= head) {
                self.apply(&mut world, change).await?;
            }
            if position.0 > head {
                break;
            }
        }
        world.seq = world.seq.max(head);
        Ok(world)
    }

    async fn apply(&self, world: &mut World, stored: StoredChange) -> Result<(), RuntimeError> {
        let mut change = stored.change;
        change.text = match stored.text {
            None => None,
            Some(text) => Some(self.read_text(text).await?),
        };
        world.apply(stored.seq, &change);
        Ok(())
    }
}

fn is_current(loaded: &LoadedWorld, progress: &Progress) -> bool {
    loaded.world.seq >= progress.head && loaded.has_ended() == progress.torn_down_at.is_some()
}
