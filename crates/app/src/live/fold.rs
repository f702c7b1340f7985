//! A world from the database: its sandboxes, their layers, and the changes of the log.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::simulator::SimulatorType;
use model::{PlaygroundId, Timestamp};
use store::log::{self, StoredChange, Text};
use store::playgrounds::{self, Progress};
use store::sandboxes::{self, StoredSandbox};
use world::{Records, Sandbox, Seq, World};

use super::{Live, Loaded};
use crate::{App, AppError};

/// Changes that are read in one transaction.
const ROWS: i64 = 1000;

impl App {
    /// The playground as the database has it now. Without other writers, memory is as good.
    pub(crate) async fn current(&self, live: &Live) -> Result<Loaded, AppError> {
        if !self.store().is_shared()
            && let Some(loaded) = live.ready()
        {
            return Ok(loaded);
        }
        self.catch_up(live).await
    }

    /// Compares with the database, whatever is in memory.
    pub(crate) async fn catch_up(&self, live: &Live) -> Result<Loaded, AppError> {
        let progress = self.progress(&live.id).await?;
        if let Some(loaded) = live.ready().filter(|loaded| is_current(loaded, &progress)) {
            return Ok(loaded);
        }
        let _loading = live.loading.lock().await;
        let doubts = live.doubts();
        let progress = self.progress(&live.id).await?;
        let foundation = progress.baseline.max(progress.shape);
        let known = live.any().filter(|loaded| (foundation..=progress.head).contains(&loaded.world.seq));
        let begun = match known.filter(|loaded| loaded.has_ended() == progress.torn_down_at.is_some()) {
            Some(loaded) => World::clone(&loaded.world),
            None => self.unchanged(&live.id, &progress).await?,
        };
        let world = self.fold(&live.id, begun, progress.head).await?;
        let Progress { torn_down_at, ends_at, .. } = progress;
        let loaded = Loaded::new(world, torn_down_at, ends_at);
        // Nothing is published that is older than what is there.
        match live.ready().filter(|newer| newer.world.seq > loaded.world.seq) {
            Some(newer) => Ok(newer),
            None => {
                live.publish(loaded.clone(), doubts);
                Ok(loaded)
            }
        }
    }

    async fn progress(&self, playground: &PlaygroundId) -> Result<Progress, AppError> {
        let id = playground.clone();
        let found = self.store().read(move |db| playgrounds::progress(db, &id)).await?;
        let progress = found.ok_or(AppError::missing::<PlaygroundId>())?;
        if progress.is_provisioned {
            // It has no state before its scenario: nothing of it may be loaded and remembered.
            let reason = if progress.torn_down_at.is_some() { "was never started" } else { "is not started" };
            return Err(AppError::conflict(format!("the task run {reason}; its sandboxes take no traffic")));
        }
        Ok(progress)
    }

    /// The world at its baseline.
    async fn unchanged(&self, playground: &PlaygroundId, progress: &Progress) -> Result<World, AppError> {
        let id = playground.clone();
        let read = self.store().read(move |db| {
            let started_at = playgrounds::started_at(db, &id)?;
            Ok::<_, AppError>((sandboxes::of_playground(db, &id)?, started_at))
        });
        let (stored, started_at) = read.await?;
        let mut sandboxes = BTreeMap::new();
        for mut sandbox in stored {
            // An older server started its task run, at a time when every interface was strict.
            if started_at.is_some() && sandbox.kind == SimulatorType::Hl7 {
                sims::hl7::config::keep_old_default(&mut sandbox.config);
            }
            let begins_at = started_at.unwrap_or(sandbox.created_at);
            sandboxes.insert(sandbox.id.clone(), self.at_baseline(sandbox, begins_at).await?);
        }
        Ok(World { seq: progress.baseline, oldest: progress.baseline.max(progress.shape), sandboxes })
    }

    /// As it is when its traffic begins: for a sandbox of a task run, at the start of that.
    pub(crate) async fn at_baseline(&self, stored: StoredSandbox, created_at: Timestamp) -> Result<Sandbox, AppError> {
        let StoredSandbox { id, kind, config, datasets, torn_down_at, .. } = stored;
        let (mut layers, mut trees) = (Vec::new(), Vec::new());
        for dataset in datasets {
            let at = (dataset.dataset_id, dataset.revision);
            let found = self.store().read(move |db| sandboxes::revision(db, &at.0, at.1)).await?;
            let Some((content_hash, manifest)) = found else { continue };
            if !manifest.chunks.is_empty() {
                layers.push(self.layer(&content_hash, &manifest).await?);
            }
            if !manifest.files.is_empty() {
                trees.push(self.inner.worlds.trees.of(&content_hash, &manifest));
            }
        }
        let is_active = torn_down_at.is_none();
        let records = Records::new(layers, created_at).over(trees);
        Ok(Sandbox { id, kind, config: Arc::new(config), created_at, is_active, records })
    }

    async fn fold(&self, playground: &PlaygroundId, mut world: World, head: Seq) -> Result<World, AppError> {
        let mut place = (world.seq, i64::MAX);
        while world.seq < head {
            let (id, from) = (playground.clone(), place);
            let changes = self.store().read(move |db| log::changes_after(db, &id, from, ROWS)).await?;
            let Some(last) = changes.last() else { break };
            place = (last.seq, last.position);
            for change in changes.into_iter().filter(|change| change.seq <= head) {
                self.apply(&mut world, change).await?;
            }
            if place.0 > head {
                break;
            }
        }
        world.seq = world.seq.max(head);
        Ok(world)
    }

    async fn apply(&self, world: &mut World, stored: StoredChange) -> Result<(), AppError> {
        let mut change = stored.change;
        change.text = match stored.text {
            None => None,
            Some(text) => Some(self.text(text).await?),
        };
        world.apply(stored.seq, &change);
        Ok(())
    }

    pub(crate) async fn text(&self, text: Text) -> Result<Arc<str>, AppError> {
        match text {
            Text::Inline(text) => Ok(text),
            Text::Blob(name) => {
                let bytes = self.blobs().get(&name).await?;
                let text = str::from_utf8(&bytes).map_err(|error| AppError::Internal(error.to_string()))?;
                Ok(text.into())
            }
        }
    }
}

fn is_current(loaded: &Loaded, progress: &Progress) -> bool {
    loaded.world.seq >= progress.head && loaded.has_ended() == progress.torn_down_at.is_some()
}
