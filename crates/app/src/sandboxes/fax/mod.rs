//! Operations on a fax line: sending faxes, and reading the inbox.

mod paper;

use bytes::Bytes;
use model::fax::NewFax;
use model::page::{Page, PageRequest};
use model::{FieldErrors, SandboxId};
use serde_json::Value;
pub use sims::fax::Direction;
pub use sims::fax::read::Filter;
use sims::fax::read::{self, FaxPart};
pub use sims::fax::send::MAX_BYTES;
use sims::fax::send::{self, SendError, SendPlan};
use sims::fax::{DocumentSource, FaxText, StoredFax, UnreadableFax};
use sims::files::Content;
use sims::idempotency::{IdempotencyConflict, IdempotencyKey};
use store::sandboxes::StoredSandbox;
use world::{Context, Outcome, Sandbox, World};

use paper::Sight;

use super::Access;
use crate::{App, AppError, Created, Once};
use runtime::Cost;

/// A file or picture for a client.
pub struct Served {
    pub content_type: String,
    pub bytes: Bytes,
}

/// Sends a fax and returns its stored form. `bytes` are its document, unless it refers to one.
pub async fn send(
    app: &App,
    access: &Access,
    mut new: NewFax,
    bytes: Option<Bytes>,
    once: Option<Once>,
) -> Result<Created<Value>, AppError> {
    let bytes = match bytes {
        Some(bytes) => Some(bytes),
        None => new.base64.take().map(|base64| paper::decoded(&base64)).transpose()?,
    };
    let token = once.map(IdempotencyKey::from);
    let source = match plan(app, access, new.clone(), bytes.is_some(), token.clone()).await? {
        SendPlan::Replay(kept) => return Ok(Created { value: kept.public_row(), replayed: true }),
        SendPlan::ReadDocument(source) => source,
    };
    let field = if bytes.is_some() { "document" } else { "content_reference" };
    let bytes = match (bytes, source) {
        (Some(bytes), _) => Ok(bytes),
        (None, Some(source)) => loaded(app, source).await?,
        (None, None) => Err("must be given".to_owned()),
    };
    let read = match bytes {
        Ok(bytes) => paper::read(app, bytes.clone(), Sight::Visible).await?.map(|paper| (paper, bytes)),
        Err(fault) => Err(fault),
    };
    let (paper, bytes) = match read {
        Ok(read) => read,
        Err(fault) => return refuse(app, access, new, FieldErrors::one(field, fault)).await,
    };
    app.blobs().put(bytes).await?;
    let message = in_sandbox(access, move |world, sandbox, actor, context| {
        send::send(world, sandbox, actor, context, (&new, &paper), token.as_ref())
    });
    let (kept, is_new) = app.runtime().command(&access.sandbox, message).await??.map_err(refused)?;
    Ok(Created { value: kept.public_row(), replayed: !is_new })
}

async fn plan(
    app: &App,
    access: &Access,
    new: NewFax,
    has_bytes: bool,
    token: Option<IdempotencyKey>,
) -> Result<SendPlan, AppError> {
    let query = in_sandbox(access, move |world, sandbox, actor, context| {
        send::plan(world, sandbox, actor, context, (&new, has_bytes), token.as_ref())
    });
    app.runtime().query(&access.sandbox, Cost::Heavy, query).await??.map_err(refused)
}

async fn refuse<T>(app: &App, access: &Access, new: NewFax, errors: FieldErrors) -> Result<T, AppError> {
    let reasons = errors.clone();
    let note = in_sandbox(access, move |_, sandbox, actor, _| send::reject(sandbox, actor, &new, &reasons));
    app.runtime().query(&access.sandbox, Cost::Light, note).await??;
    Err(AppError::Invalid(errors))
}

/// The bytes of a document in the playground, or why they cannot be sent.
async fn loaded(app: &App, source: DocumentSource) -> Result<Result<Bytes, String>, AppError> {
    let opened = match source {
        DocumentSource::Bytes(bytes) => return Ok(Ok(bytes.into())),
        DocumentSource::File(opened) => opened,
    };
    if opened.file.size > MAX_BYTES as u64 {
        return Ok(Err(format!("must have at most {MAX_BYTES} bytes, has {}", opened.file.size)));
    }
    let reader = app.runtime().file_reader(opened);
    let mut bytes = Vec::new();
    while bytes.len() <= MAX_BYTES {
        let part = reader.read(bytes.len() as u64, MAX_BYTES + 1 - bytes.len()).await?;
        if part.is_empty() {
            break;
        }
        bytes.extend_from_slice(&part);
    }
    Ok(Ok(bytes.into()))
}

/// Newest first.
pub async fn list(app: &App, access: &Access, filter: Filter, request: PageRequest) -> Result<Page<Value>, AppError> {
    let query = in_sandbox(access, move |_, sandbox, actor, _| read::list(sandbox, actor, &filter, &request));
    app.runtime().query(access.reader(), Cost::Heavy, query).await?
}

/// One fax; a fax that was sent includes its text.
pub async fn get(app: &App, access: &Access, direction: Direction, id: &str) -> Result<Value, AppError> {
    let kept = look(app, access, (direction, id), FaxPart::Row).await?;
    Ok(match direction {
        Direction::Outbound => kept.public_row_with_text(),
        Direction::Inbound => kept.public_row(),
    })
}

/// The document of a fax, as it was sent.
pub async fn document(app: &App, access: &Access, direction: Direction, id: &str) -> Result<Served, AppError> {
    let kept = look(app, access, (direction, id), FaxPart::Document).await?;
    let content_type = kept.member("content_type").to_owned();
    Ok(Served { content_type, bytes: bytes(app, &kept).await? })
}

/// A page of a fax as a picture. Pages start at 1.
pub async fn page(
    app: &App,
    access: &Access,
    (direction, id): (Direction, &str),
    number: usize,
) -> Result<Served, AppError> {
    let kept = look(app, access, (direction, id), FaxPart::Page(number)).await?;
    if !(1..=kept.pages()).contains(&number) {
        return Err(AppError::NotFound("page"));
    }
    let image = match kept.document() {
        Some(document) => app.inner.papers.run(move || documents::picture(&document, number)).await?,
        None => {
            let bytes = bytes(app, &kept).await?;
            app.inner.papers.run(move || documents::page(&bytes, number)).await?
        }
    };
    let image = image.ok().flatten().ok_or(AppError::NotFound("page that can be shown"))?;
    Ok(Served { content_type: image.content_type.to_owned(), bytes: image.bytes.into() })
}

/// The text of a fax by page. OCR of a received fax runs on the first request.
pub async fn text(app: &App, access: &Access, direction: Direction, id: &str) -> Result<Value, AppError> {
    let mut kept = look(app, access, (direction, id), FaxPart::Text).await?;
    if kept.needs_ocr() {
        let read = paper::read(app, bytes(app, &kept).await?, sight(direction)).await?;
        if let Some(paper) = read.ok().filter(|paper| is_news(&kept, &paper.text)) {
            let fax = id.to_owned();
            let keep = in_sandbox(access, move |_, sandbox, _, context| {
                read::store_text(sandbox, context, (direction, &fax), &paper.text)
            });
            kept = app.runtime().command_or_query(access.reader(), keep).await??.ok_or(AppError::NotFound("fax"))?;
        }
    }
    Ok(kept.text_by_page())
}

/// Which text of a document is read: of faxes that the agent sends, only what recipients see.
fn sight(direction: Direction) -> Sight {
    match direction {
        Direction::Outbound => Sight::Visible,
        Direction::Inbound => Sight::TextLayer,
    }
}

/// Whether another attempt found more text.
fn is_news(kept: &StoredFax, text: &FaxText) -> bool {
    kept.member("ocr_status") != text.ocr_status.name()
}

/// Reads the agent's faxes again that could not be read when they were sent, because the server had no OCR then.
pub(crate) async fn read_unread(app: &App, sandboxes: &[StoredSandbox], world: &World) -> Result<(), AppError> {
    for UnreadableFax { sandbox, id, fax: kept } in sims::fax::unreadable_faxes(world) {
        let Some(line) = sandboxes.iter().find(|one| one.id == sandbox) else { continue };
        let read = paper::read(app, bytes(app, &kept).await?, Sight::Visible).await?;
        let Some(paper) = read.ok().filter(|paper| is_news(&kept, &paper.text)) else { continue };
        let keep = move |world: &World, context: &Context<'_>| match world.sandboxes.get(&sandbox) {
            Some(sandbox) => {
                let kept = read::store_text(sandbox, context, (Direction::Outbound, &id), &paper.text);
                Outcome { answer: (), changes: kept.changes, events: kept.events }
            }
            None => Outcome { answer: (), changes: Vec::new(), events: Vec::new() },
        };
        // A playground that has ended does not change.
        if let Err(error) = app.runtime().command(line, keep).await {
            tracing::warn!(%error, "the text of a fax could not be stored");
        }
    }
    Ok(())
}

/// Marks a received fax as read or unread.
pub async fn mark(app: &App, access: &Access, id: &str, is_read: bool) -> Result<Value, AppError> {
    let fax = id.to_owned();
    let message =
        in_sandbox(access, move |_, sandbox, actor, context| read::mark(sandbox, actor, context, (&fax, is_read)));
    app.runtime().command(&access.sandbox, message).await??.ok_or(AppError::NotFound("fax"))
}

async fn look(
    app: &App,
    access: &Access,
    (direction, id): (Direction, &str),
    part: FaxPart,
) -> Result<StoredFax, AppError> {
    let fax = id.to_owned();
    let query = in_sandbox(access, move |_, sandbox, actor, _| read::get(sandbox, actor, (direction, &fax), part));
    app.runtime().query(access.reader(), Cost::Light, query).await??.ok_or(AppError::NotFound("fax"))
}

async fn bytes(app: &App, kept: &StoredFax) -> Result<Bytes, AppError> {
    match kept.content() {
        Some(Content::Inline(bytes)) => Ok(bytes.into()),
        Some(Content::Blobs(names)) => match names.first() {
            Some(name) => Ok(app.runtime().blob(name).await?),
            None => Err(AppError::NotFound("document")),
        },
        None => Err(AppError::NotFound("document")),
    }
}

fn refused(refusal: SendError) -> AppError {
    match refusal {
        SendError::Invalid(errors) => AppError::Invalid(errors),
        SendError::IdempotencyConflict(_) => AppError::conflict(IdempotencyConflict::MESSAGE),
        SendError::Full(words) => AppError::conflict(words),
    }
}

/// A command to the caller's sandbox.
fn in_sandbox<T, F>(
    access: &Access,
    run: F,
) -> impl Fn(&World, &Context<'_>) -> Outcome<Result<T, AppError>> + use<T, F>
where
    F: Fn(&World, &Sandbox, &str, &Context<'_>) -> Outcome<T>,
{
    let (id, actor) = (access.sandbox.id.clone(), access.actor.clone());
    move |world, context| match world.sandboxes.get(&id) {
        Some(sandbox) => {
            let Outcome { answer, changes, events } = run(world, sandbox, &actor, context);
            Outcome { answer: Ok(answer), changes, events }
        }
        None => Outcome { answer: Err(AppError::missing::<SandboxId>()), changes: Vec::new(), events: Vec::new() },
    }
}

/// The blobs that the record of a fax refers to.
pub(crate) fn blobs_of_row(row: &str) -> Vec<String> {
    let row = serde_json::from_str(row).unwrap_or_default();
    match sims::fax::stored_content(&row) {
        Some(Content::Blobs(names)) => names,
        Some(Content::Inline(_)) | None => Vec::new(),
    }
}
