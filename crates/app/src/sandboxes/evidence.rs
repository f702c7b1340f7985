//! The evidence of a sandbox: events, state, and the difference to its baseline. It stays readable after the end.

use std::sync::Arc;

use model::event::Event;
use model::page::{Page, PageRequest};
use model::playground::{Difference, DifferenceKind, StateRecord};
use model::{FieldErrors, SandboxId};
use serde_json::Value;
use store::Db;
pub use store::log::EventFilter;
use store::log::{self, StoredEvent, Text};
use world::{Direction, Lookup, Record, Records, Window, World};

use super::{open, response_bodies};
use crate::{App, AppError, OrgGrant};

/// Oldest first.
pub async fn events(
    app: &App,
    grant: &OrgGrant,
    id: &SandboxId,
    filter: EventFilter,
    page: PageRequest,
) -> Result<Page<Event>, AppError> {
    let sandbox = open(app, grant, id).await?;
    if !sandbox.is_provisioned {
        app.runtime().flush(&sandbox.playground).await?;
    }
    let read = move |db: &mut Db<'_>| log::events(db, (&sandbox.playground, &sandbox.id), &filter, &page);
    let mut stored = app.store().read(read).await?;
    for event in &mut stored.items {
        fill(app, event).await?;
    }
    let mut page = stored.map(|stored| stored.event);
    if page.items.iter().any(response_bodies::are_missing) {
        let world = world(app, grant, id).await?;
        let id = id.clone();
        page = on_blocking_thread(move || {
            if let Some(sandbox) = world.sandboxes.get(&id) {
                response_bodies::fill(&mut page.items, &sandbox.records);
            }
            Ok(page)
        })
        .await?;
    }
    Ok(page)
}

pub(crate) async fn fill(app: &App, stored: &mut StoredEvent) -> Result<(), AppError> {
    if let Some(blob) = stored.blob.take() {
        let text = app.runtime().read_text(Text::Blob(blob)).await?;
        stored.event.payload = serde_json::from_str(&text).map_err(|error| AppError::Internal(error.to_string()))?;
    }
    Ok(())
}

/// Selects all records, a collection (`Patient`), one record (`Patient/1`) or one of its versions (`Patient/1/_history/2`).
pub async fn state(
    app: &App,
    grant: &OrgGrant,
    id: &SandboxId,
    resource: Option<String>,
    page: PageRequest,
) -> Result<Page<StateRecord>, AppError> {
    let world = world(app, grant, id).await?;
    let id = id.clone();
    on_blocking_thread(move || match world.sandboxes.get(&id) {
        Some(sandbox) => Ok(state_page(&sandbox.records, resource.as_deref().unwrap_or_default(), &page)?),
        None => Err(AppError::missing::<SandboxId>()),
    })
    .await
}

fn state_page(records: &Records, resource: &str, request: &PageRequest) -> Result<Page<StateRecord>, FieldErrors> {
    // The key of a file is its path, which contains slashes.
    if let Some(path) = resource.strip_prefix("files/").filter(|path| !path.is_empty()) {
        let found = records.get(world::FILES, path).live().map(|record| shown(&record));
        return Ok(Page::from_rows(found.into_iter().collect(), request, place_of));
    }
    let parts: Vec<&str> = resource.split('/').filter(|part| !part.is_empty()).collect();
    let found = match parts[..] {
        [] => window(records, None, request),
        [collection] => window(records, Some(collection), request),
        [collection, key] => records.get(collection, key).live().map(|record| shown(&record)).into_iter().collect(),
        [collection, key, "_history", version] => {
            let history = records.history(collection, key).into_iter();
            let wanted = history.filter(|revision| revision.version.to_string() == version);
            wanted.filter_map(|revision| revision.record).map(|record| shown(&record)).collect()
        }
        _ => {
            let rule = "must be a collection, or a record as `Patient/1` or `Patient/1/_history/2`";
            return Err(FieldErrors::one("resource", rule));
        }
    };
    Ok(Page::from_rows(found, request, place_of))
}

/// Reads one record more than the page has, which shows whether there is another page.
fn window(records: &Records, collection: Option<&str>, request: &PageRequest) -> Vec<StateRecord> {
    let from = request.cursor.as_ref().and_then(|cursor| cursor.key.split_once('/'));
    let direction = direction(request);
    let window = Window { from, direction, most: request.limit + 1 };
    records.window(collection, window).iter().map(shown).collect()
}

fn direction(request: &PageRequest) -> Direction {
    match &request.cursor {
        Some(cursor) if cursor.direction == model::page::Direction::Prev => Direction::Backward,
        _ => Direction::Forward,
    }
}

fn shown(record: &Record<'_>) -> StateRecord {
    StateRecord {
        collection: record.collection.to_owned(),
        key: record.key.to_owned(),
        version: record.version,
        updated_at: record.at,
        value: Value::clone(&record.json()),
    }
}

fn place_of(record: &StateRecord) -> String {
    format!("{}/{}", record.collection, record.key)
}

/// Records that differ from the baseline, by collection and key.
pub async fn diff(
    app: &App,
    grant: &OrgGrant,
    id: &SandboxId,
    page: PageRequest,
) -> Result<Page<Difference>, AppError> {
    let world = world(app, grant, id).await?;
    let id = id.clone();
    on_blocking_thread(move || {
        let sandbox = world.sandboxes.get(&id).ok_or(AppError::missing::<SandboxId>())?;
        let all = sandbox.records.differences().filter_map(|(before, now)| difference(before.as_ref(), now));
        Ok(page_of(all.collect(), &page))
    })
    .await
}

fn difference(before: Option<&Record<'_>>, now: Lookup<'_>) -> Option<Difference> {
    let after = now.live();
    let known = before.or(after.as_ref())?;
    let (collection, key) = (known.collection.to_owned(), known.key.to_owned());
    let json = |record: Option<&Record<'_>>| record.map(|record| Value::clone(&record.json()));
    let (before, after) = (json(before), json(after.as_ref()));
    let change = match (&before, &after) {
        (None, None) => return None,
        (None, Some(_)) => DifferenceKind::Created,
        (Some(_), None) => DifferenceKind::Deleted,
        (Some(before), Some(after)) if without_bookkeeping(before) == without_bookkeeping(after) => return None,
        (Some(_), Some(_)) => DifferenceKind::Updated,
    };
    Some(Difference { collection, key, change, before, after })
}

/// A resource that was changed back does not differ.
fn without_bookkeeping(value: &Value) -> Value {
    let mut value = value.clone();
    let meta = value.get_mut("meta").and_then(Value::as_object_mut).map(|meta| {
        meta.shift_remove("versionId");
        meta.shift_remove("lastUpdated");
        meta.is_empty()
    });
    if let (Some(true), Some(object)) = (meta, value.as_object_mut()) {
        object.shift_remove("meta");
    }
    value
}

/// A page of a list that is completely in memory.
fn page_of(all: Vec<Difference>, request: &PageRequest) -> Page<Difference> {
    let place = |item: &Difference| (item.collection.clone(), item.key.clone());
    let from = request.cursor.as_ref().and_then(|cursor| cursor.key.split_once('/'));
    let from = from.map(|(collection, key)| (collection.to_owned(), key.to_owned()));
    let most = request.limit + 1;
    let rows = match (direction(request), from) {
        (_, None) => all.into_iter().take(most).collect(),
        (Direction::Forward, Some(from)) => all.into_iter().filter(|item| place(item) > from).take(most).collect(),
        (Direction::Backward, Some(from)) => {
            all.into_iter().rev().filter(|item| place(item) < from).take(most).collect()
        }
    };
    Page::from_rows(rows, request, |item: &Difference| format!("{}/{}", item.collection, item.key))
}

async fn world(app: &App, grant: &OrgGrant, id: &SandboxId) -> Result<Arc<World>, AppError> {
    let sandbox = open(app, grant, id).await?;
    Ok(app.runtime().load(&sandbox.playground).await?.world)
}

async fn on_blocking_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, AppError> + Send + 'static,
) -> Result<T, AppError> {
    tokio::task::spawn_blocking(work).await.map_err(|_| AppError::Internal("reading the state panicked".into()))?
}
