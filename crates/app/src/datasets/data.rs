//! FHIR content of a dataset: checked resource by resource while it streams in, and stored as chunks of NDJSON that are
//! named by their hash.

use bytes::{Bytes, BytesMut};
use fhir::ingest::{Format, Ingest, IngestError, InputLocation, Limits, Resource};
use futures_util::{Stream, StreamExt, stream};
use model::dataset::{Chunk, Dataset, DatasetType, Manifest};
use model::{DatasetId, OrgId, Timestamp};
use store::{Db, datasets};

use super::found_of_type;
use crate::etag::IfMatch;
use crate::{App, AppError, OrgGrant};

/// Large enough that a million resources need few blobs, small enough to fit in memory.
const CHUNK_BYTES: usize = 4 * 1024 * 1024;
const MAX_RESOURCES: u64 = 20_000_000;

/// Replaces the content if the whole stream is valid. The same content again creates no new revision.
pub async fn put<S>(
    app: &App,
    grant: &OrgGrant,
    dataset: &DatasetId,
    if_match: IfMatch,
    format: Format,
    body: S,
) -> Result<Dataset, AppError>
where
    S: Stream<Item = Result<Bytes, AppError>> + Unpin,
{
    let (org, id) = (grant.org.clone(), dataset.clone());
    app.store().read(move |db| found_of_type(db, &org, &id, DatasetType::Fhir)).await?;
    let content = receive(app, format, body).await?;
    let (org, id, now) = (grant.org.clone(), dataset.clone(), app.now());
    let change = move |db: &mut Db<'_>| {
        let mut dataset = found_of_type(db, &org, &id, DatasetType::Fhir)?;
        if_match.check(&dataset)?;
        content.replace(db, &org, &mut dataset, now)?;
        Ok(dataset)
    };
    app.store().write(change).await
}

/// The content of an upload.
pub(super) struct Content {
    pub(super) manifest: Manifest,
    pub(super) counts: std::collections::BTreeMap<String, u64>,
}

impl Content {
    /// Makes it the content of a FHIR dataset. The same content again creates no new revision.
    pub(super) fn replace(
        &self,
        db: &mut Db<'_>,
        org: &OrgId,
        dataset: &mut Dataset,
        now: Timestamp,
    ) -> Result<(), AppError> {
        if dataset.revision > 0 && datasets::manifest(db, dataset)? == self.manifest {
            return Ok(());
        }
        dataset.revision += 1;
        dataset.counts = self.counts.clone();
        dataset.bytes = self.manifest.bytes();
        dataset.updated_at = now;
        datasets::set_manifest(db, &dataset.id, &self.manifest)?;
        datasets::update(db, org, dataset)?;
        Ok(datasets::keep_revision(db, org, dataset, &self.manifest, now)?)
    }
}

/// A Bundle that was part of another request.
pub(super) async fn receive_inline(app: &App, bundle: &serde_json::Value) -> Result<Content, AppError> {
    let text = Bytes::from(bundle.to_string());
    receive(app, Format::Bundle, stream::iter([Ok(text)])).await
}

/// Reads the whole stream. Chunks are stored meanwhile; without a manifest they have no effect.
async fn receive<S>(app: &App, format: Format, mut body: S) -> Result<Content, AppError>
where
    S: Stream<Item = Result<Bytes, AppError>> + Unpin,
{
    let most = if format == Format::Ndjson { app.limits().stream_bytes } else { app.limits().upload_bytes };
    let mut ingest = Ingest::new(format, Limits { resources: MAX_RESOURCES, ..Limits::default() });
    let mut pieces = ChunkWriter::default();
    let mut received = 0u64;
    while let Some(part) = body.next().await {
        let part = part?;
        received += part.len() as u64;
        if received > most {
            return Err(AppError::TooLarge(format!("the body is larger than {most} bytes")));
        }
        ingest.push(&part, &mut |resource| pieces.add(&resource)).map_err(refused)?;
        pieces.store_full(app).await?;
    }
    let summary = ingest.finish(&mut |resource| pieces.add(&resource)).map_err(refused)?;
    let manifest = pieces.finish(app).await?;
    let counts = summary.counts.into_iter().map(|(kind, count)| (kind.to_owned(), count)).collect();
    Ok(Content { manifest, counts })
}

/// Splits NDJSON into chunks and stores them as blobs.
#[derive(Default)]
struct ChunkWriter {
    buffer: BytesMut,
    resources: u64,
    chunks: Vec<Chunk>,
    /// Full buffers that are not stored yet.
    full: Vec<(Bytes, u64)>,
}

impl ChunkWriter {
    fn add(&mut self, resource: &Resource<'_>) -> Result<(), AppError> {
        self.buffer.extend_from_slice(resource.line);
        self.buffer.extend_from_slice(b"\n");
        self.resources += 1;
        // Only the size decides, so that the same content always has the same chunks.
        if self.buffer.len() >= CHUNK_BYTES {
            self.cut();
        }
        Ok(())
    }

    fn cut(&mut self) {
        let piece = std::mem::take(&mut self.buffer).freeze();
        self.full.push((piece, std::mem::take(&mut self.resources)));
    }

    async fn store_full(&mut self, app: &App) -> Result<(), AppError> {
        for (piece, resources) in self.full.drain(..) {
            let bytes = piece.len() as u64;
            let sha256 = app.blobs().put(piece).await?;
            self.chunks.push(Chunk { sha256, bytes, resources });
        }
        Ok(())
    }

    async fn finish(mut self, app: &App) -> Result<Manifest, AppError> {
        if !self.buffer.is_empty() {
            self.cut();
        }
        self.store_full(app).await?;
        Ok(Manifest { chunks: self.chunks, files: std::collections::BTreeMap::new() })
    }
}

fn refused(error: IngestError<AppError>) -> AppError {
    match error {
        IngestError::Sink(error) => error,
        IngestError::Fault(error) => {
            let location = match error.place {
                InputLocation::Document => "data".to_owned(),
                InputLocation::Line(line) => format!("line {line}"),
                InputLocation::Entry(entry) => format!("entry {entry}"),
            };
            model::FieldErrors::one(location, error.message).into()
        }
    }
}

/// The format of a download.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    Ndjson,
    /// One Bundle of type `collection`.
    Bundle,
}

/// The current content, chunk by chunk.
pub async fn get(
    app: &App,
    grant: &OrgGrant,
    dataset: &DatasetId,
    shape: Shape,
) -> Result<impl Stream<Item = Result<Bytes, AppError>> + Send + use<>, AppError> {
    let (org, id) = (grant.org.clone(), dataset.clone());
    let read = move |db: &mut Db<'_>| {
        let dataset = found_of_type(db, &org, &id, DatasetType::Fhir)?;
        Ok::<_, AppError>(datasets::manifest(db, &dataset)?)
    };
    let manifest = app.store().read(read).await?;
    let blobs = app.blobs().clone();
    let pieces = stream::iter(manifest.chunks.into_iter().enumerate()).then(move |(index, chunk)| {
        let blobs = blobs.clone();
        async move {
            let lines = blobs.get(&chunk.sha256).await?;
            Ok(if shape == Shape::Bundle { as_entries(&lines, index == 0) } else { lines })
        }
    });
    let (open, close) = match shape {
        Shape::Ndjson => ("", ""),
        Shape::Bundle => (r#"{"resourceType":"Bundle","type":"collection","entry":["#, "]}"),
    };
    let open = stream::iter([Ok(Bytes::from_static(open.as_bytes()))]);
    let close = stream::iter([Ok(Bytes::from_static(close.as_bytes()))]);
    Ok(open.chain(pieces).chain(close).boxed())
}

fn as_entries(lines: &[u8], first: bool) -> Bytes {
    let mut entries = BytesMut::with_capacity(lines.len() + lines.len() / 8);
    for (index, line) in lines.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).enumerate() {
        if index > 0 || !first {
            entries.extend_from_slice(b",");
        }
        entries.extend_from_slice(br#"{"resource":"#);
        entries.extend_from_slice(line);
        entries.extend_from_slice(b"}");
    }
    entries.freeze()
}
