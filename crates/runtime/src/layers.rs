//! Dataset revisions in their searchable form: built once, stored as blobs, loaded on demand, shared, limited in memory.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use fhir::layer::Layer;
use futures_util::stream::{self, StreamExt, TryStreamExt};
use model::dataset::Manifest;
use store::layers::LayerBlobs;
use tokio::sync::OnceCell;

use crate::{Runtime, RuntimeError, lock};

pub(crate) struct Layers {
    slots: Mutex<HashMap<String, Arc<Slot>>>,
    max_bytes: u64,
    /// Increases with every use.
    uses: AtomicU64,
}

#[derive(Default)]
struct Slot {
    layer: OnceCell<Arc<Layer>>,
    used: AtomicU64,
}

/// Blobs that are read at the same time.
const MAX_LOADING: usize = 4;

impl Layers {
    pub(crate) fn new(max_bytes: u64) -> Self {
        Self { slots: Mutex::default(), max_bytes, uses: AtomicU64::new(0) }
    }

    fn slot(&self, content_hash: &str) -> Arc<Slot> {
        let slot = Arc::clone(lock(&self.slots).entry(content_hash.to_owned()).or_default());
        slot.used.store(self.uses.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        slot
    }

    /// Loaded layers beyond the memory limit, the least recently used first; never the most recently used one.
    pub(crate) fn beyond_limit(&self) -> Vec<Arc<Layer>> {
        let slots = lock(&self.slots);
        let mut loaded: Vec<(u64, Arc<Layer>)> = slots
            .values()
            .filter_map(|slot| Some((slot.used.load(Ordering::Relaxed), Arc::clone(slot.layer.get()?))))
            .collect();
        loaded.sort_by_key(|(used, _)| std::cmp::Reverse(*used));
        let mut bytes = 0u64;
        let beyond = |(index, (_, layer)): (usize, (u64, Arc<Layer>))| {
            bytes += layer.memory_bytes() as u64;
            (index > 0 && bytes > self.max_bytes).then_some(layer)
        };
        let mut beyond: Vec<Arc<Layer>> = loaded.into_iter().enumerate().filter_map(beyond).collect();
        beyond.reverse();
        beyond
    }

    pub(crate) fn remove(&self, layer: &Arc<Layer>) {
        lock(&self.slots).retain(|_, slot| slot.layer.get().is_none_or(|loaded| !Arc::ptr_eq(loaded, layer)));
    }

    /// The number of layers in memory, and their bytes.
    pub(crate) fn loaded(&self) -> (usize, u64) {
        let slots = lock(&self.slots);
        let layers = slots.values().filter_map(|slot| slot.layer.get());
        layers.fold((0, 0), |(count, bytes), layer| (count + 1, bytes + layer.memory_bytes() as u64))
    }
}

impl Runtime {
    /// The layer of a revision. The first caller loads or builds it; others wait.
    pub(crate) async fn layer(&self, content_hash: &str, manifest: &Manifest) -> Result<Arc<Layer>, RuntimeError> {
        let playgrounds = &self.inner.playgrounds;
        let slot = playgrounds.layers.slot(content_hash);
        let was_loaded = slot.layer.initialized();
        let layer = slot.layer.get_or_try_init(|| self.load_or_build(content_hash, manifest)).await?;
        if !was_loaded {
            playgrounds.shrink();
        }
        Ok(Arc::clone(layer))
    }

    async fn load_or_build(&self, content_hash: &str, manifest: &Manifest) -> Result<Arc<Layer>, RuntimeError> {
        let hash = content_hash.to_owned();
        let format = i64::from(Layer::FORMAT);
        let stored = self.store().read(move |db| store::layers::find(db, &hash, format)).await?;
        if let Some(blobs) = stored {
            match self.load_layer(&blobs).await {
                Ok(layer) => return Ok(Arc::new(layer)),
                Err(error) => tracing::warn!(%error, content_hash, "a stored layer cannot be read; it is built again"),
            }
        }
        let layer = Arc::new(self.build_layer(manifest).await?);
        self.store_layer(content_hash, &layer).await?;
        Ok(layer)
    }

    async fn load_layer(&self, blobs: &LayerBlobs) -> Result<Layer, RuntimeError> {
        let segments = self.get_blobs(blobs.segments.clone()).await?.into_iter().map(Vec::from).collect();
        let index = self.blobs().get(&blobs.index).await?;
        let decode = move || Layer::decode(&index, segments);
        let decoded =
            tokio::task::spawn_blocking(decode).await.map_err(|_| RuntimeError::panicked("decoding a layer"))?;
        decoded.map_err(|error| RuntimeError::Internal(error.to_string()))
    }

    async fn build_layer(&self, manifest: &Manifest) -> Result<Layer, RuntimeError> {
        let names = manifest.chunks.iter().map(|chunk| chunk.sha256.clone()).collect();
        let chunks = self.get_blobs(names).await?;
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let build = move || Layer::build(chunks, threads);
        let built =
            tokio::task::spawn_blocking(build).await.map_err(|_| RuntimeError::panicked("indexing a dataset"))?;
        built.map_err(|error| RuntimeError::Internal(error.to_string()))
    }

    async fn store_layer(&self, content_hash: &str, layer: &Arc<Layer>) -> Result<(), RuntimeError> {
        let mut segments = Vec::new();
        for number in 0..layer.segments().len() {
            // One at a time: a copy of all segments would need twice the memory.
            let segment = layer.segments().nth(number).map(bytes::Bytes::copy_from_slice).unwrap_or_default();
            segments.push(self.blobs().put(segment).await?);
        }
        let encoded = Arc::clone(layer);
        let index = tokio::task::spawn_blocking(move || encoded.encode_index()).await;
        let index = index.map_err(|_| RuntimeError::panicked("encoding a layer"))?;
        let blobs = LayerBlobs { index: self.blobs().put(index.into()).await?, segments };
        let (hash, now, format) = (content_hash.to_owned(), self.now(), i64::from(Layer::FORMAT));
        self.store().write(move |db| store::layers::keep(db, &hash, format, &blobs, now)).await?;
        Ok(())
    }

    async fn get_blobs(&self, names: Vec<String>) -> Result<Vec<bytes::Bytes>, RuntimeError> {
        let blobs = stream::iter(names).map(|name| async move { self.blobs().get(&name).await });
        Ok(blobs.buffered(MAX_LOADING).try_collect().await?)
    }
}
