//! Dataset revisions in their searchable form: built once, kept as blobs, loaded on demand, shared, bounded in memory.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use fhir::layer::Layer;
use futures_util::stream::{self, StreamExt, TryStreamExt};
use model::dataset::Manifest;
use store::layers::LayerBlobs;
use tokio::sync::OnceCell;

use super::lock;
use crate::{App, AppError};

pub(crate) struct Layers {
    slots: Mutex<HashMap<String, Arc<Slot>>>,
    budget_bytes: u64,
    /// Rises with every use.
    uses: AtomicU64,
}

#[derive(Default)]
struct Slot {
    layer: OnceCell<Arc<Layer>>,
    used: AtomicU64,
}

/// Blobs that are read or written at the same time.
const AT_ONCE: usize = 4;

impl Layers {
    pub(crate) fn new(budget_bytes: u64) -> Self {
        Self { slots: Mutex::default(), budget_bytes, uses: AtomicU64::new(0) }
    }

    fn slot(&self, content_hash: &str) -> Arc<Slot> {
        let slot = Arc::clone(lock(&self.slots).entry(content_hash.to_owned()).or_default());
        slot.used.store(self.uses.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        slot
    }

    /// Loaded layers that do not fit, those that were not used for longest first; never the one that was used last.
    pub(crate) fn beyond_budget(&self) -> Vec<Arc<Layer>> {
        let slots = lock(&self.slots);
        let mut loaded: Vec<(u64, Arc<Layer>)> = slots
            .values()
            .filter_map(|slot| Some((slot.used.load(Ordering::Relaxed), Arc::clone(slot.layer.get()?))))
            .collect();
        loaded.sort_by_key(|(used, _)| std::cmp::Reverse(*used));
        let mut bytes = 0u64;
        let beyond = |(place, (_, layer)): (usize, (u64, Arc<Layer>))| {
            bytes += layer.memory_bytes() as u64;
            (place > 0 && bytes > self.budget_bytes).then_some(layer)
        };
        let mut beyond: Vec<Arc<Layer>> = loaded.into_iter().enumerate().filter_map(beyond).collect();
        beyond.reverse();
        beyond
    }

    pub(crate) fn forget(&self, layer: &Arc<Layer>) {
        lock(&self.slots).retain(|_, slot| slot.layer.get().is_none_or(|known| !Arc::ptr_eq(known, layer)));
    }

    /// How many are in memory, and their bytes.
    pub(crate) fn loaded(&self) -> (usize, u64) {
        let slots = lock(&self.slots);
        let layers = slots.values().filter_map(|slot| slot.layer.get());
        layers.fold((0, 0), |(count, bytes), layer| (count + 1, bytes + layer.memory_bytes() as u64))
    }
}

impl App {
    /// The layer of a revision. Whoever asks first builds or loads it; others wait.
    pub(crate) async fn layer(&self, content_hash: &str, manifest: &Manifest) -> Result<Arc<Layer>, AppError> {
        let worlds = &self.inner.worlds;
        let slot = worlds.layers.slot(content_hash);
        let was_loaded = slot.layer.initialized();
        let layer = slot.layer.get_or_try_init(|| self.load_or_build(content_hash, manifest)).await?;
        if !was_loaded {
            worlds.shrink();
        }
        Ok(Arc::clone(layer))
    }

    async fn load_or_build(&self, content_hash: &str, manifest: &Manifest) -> Result<Arc<Layer>, AppError> {
        let hash = content_hash.to_owned();
        let format = i64::from(Layer::FORMAT);
        let known = self.store().read(move |db| store::layers::find(db, &hash, format)).await?;
        if let Some(blobs) = known {
            match self.load(&blobs).await {
                Ok(layer) => return Ok(Arc::new(layer)),
                Err(error) => tracing::warn!(%error, content_hash, "a kept layer cannot be read; it is built again"),
            }
        }
        let layer = Arc::new(self.build(manifest).await?);
        self.keep(content_hash, &layer).await?;
        Ok(layer)
    }

    async fn load(&self, blobs: &LayerBlobs) -> Result<Layer, AppError> {
        let segments = self.get_blobs(blobs.segments.clone()).await?.into_iter().map(Vec::from).collect();
        let index = self.blobs().get(&blobs.index).await?;
        let decode = move || Layer::decode(&index, segments);
        let decoded = tokio::task::spawn_blocking(decode).await.map_err(|_| AppError::Internal("decoding".into()))?;
        decoded.map_err(|error| AppError::Internal(error.to_string()))
    }

    async fn build(&self, manifest: &Manifest) -> Result<Layer, AppError> {
        let names = manifest.chunks.iter().map(|chunk| chunk.sha256.clone()).collect();
        let chunks = self.get_blobs(names).await?;
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let build = move || Layer::build(chunks, threads);
        let built = tokio::task::spawn_blocking(build).await.map_err(|_| AppError::Internal("indexing".into()))?;
        built.map_err(|error| AppError::Internal(error.to_string()))
    }

    async fn keep(&self, content_hash: &str, layer: &Arc<Layer>) -> Result<(), AppError> {
        let mut segments = Vec::new();
        for number in 0..layer.segments().len() {
            // One at a time: a copy of all of them would need the memory twice.
            let segment = layer.segments().nth(number).map(bytes::Bytes::copy_from_slice).unwrap_or_default();
            segments.push(self.blobs().put(segment).await?);
        }
        let encoded = Arc::clone(layer);
        let index = tokio::task::spawn_blocking(move || encoded.encode_index()).await;
        let index = index.map_err(|_| AppError::Internal("encoding".into()))?;
        let blobs = LayerBlobs { index: self.blobs().put(index.into()).await?, segments };
        let (hash, now, format) = (content_hash.to_owned(), self.now(), i64::from(Layer::FORMAT));
        self.store().write(move |db| store::layers::keep(db, &hash, format, &blobs, now)).await?;
        Ok(())
    }

    async fn get_blobs(&self, names: Vec<String>) -> Result<Vec<bytes::Bytes>, AppError> {
        let blobs = stream::iter(names).map(|name| async move { self.blobs().get(&name).await });
        Ok(blobs.buffered(AT_ONCE).try_collect().await?)
    }
}
