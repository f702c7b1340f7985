//! The log of a playground: events, and the changes that they made. An append names the expected end of the log.

use std::sync::{Arc, LazyLock};

use model::event::{Event, EventType};
use model::page::{Page, PageRequest};
use model::{EventId, Id, KeyId, PlaygroundId, SandboxId, Timestamp};
use world::{Change, Seq};

use crate::paging::{Order, Paged};
use crate::value::{Row, Value, bind};
use crate::{Db, StoreError, playgrounds};

/// Text in its row, or the name of the blob that contains it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Text {
    Inline(Arc<str>),
    Blob(String),
}

impl Text {
    pub(crate) fn parts(&self) -> (Option<&str>, Option<&str>) {
        match self {
            Text::Inline(text) => (Some(text), None),
            Text::Blob(name) => (None, Some(name)),
        }
    }

    pub(crate) fn read(row: &mut Row) -> Result<Option<Self>, StoreError> {
        let (inline, blob) = (row.text_or_null()?, row.text_or_null()?);
        Ok(blob.map(Text::Blob).or(inline.map(|text| Text::Inline(text.into()))))
    }
}

/// One event and its changes. Its position is one after that of the previous entry.
#[derive(Clone, Debug)]
pub struct Entry {
    pub id: EventId,
    pub sandbox: SandboxId,
    pub r#type: EventType,
    pub at: Timestamp,
    pub actor: String,
    pub summary: String,
    pub payload: Text,
    pub changes: Vec<(Change, Option<Text>)>,
}

impl Entry {
    /// Whether a key of the organization changed or sent something. Reads do not count, although some of them record that a
    /// message was read or that someone is logged in.
    pub fn is_organization_write(&self) -> bool {
        let is_write = match self.r#type {
            EventType::Hl7Inbound
            | EventType::FileRead
            | EventType::PortalLogin
            | EventType::PortalView
            | EventType::PortalSearch
            | EventType::VoiceRead
            | EventType::FaxRead
            | EventType::MessageRead
            | EventType::AuthToken => false,
            EventType::Hl7Outbound | EventType::VoiceTurn | EventType::FaxOutbound | EventType::MessageOutbound => true,
            _ => !self.changes.is_empty(),
        };
        is_write && self.actor.starts_with(KeyId::PREFIX)
    }
}

/// The result of an append.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Appended {
    /// The log now ends at this position.
    At(Seq),
    /// Nothing was written: the log did not end at the expected position, or the playground has ended.
    Refused,
}

pub fn append(
    db: &mut Db<'_>,
    playground: &PlaygroundId,
    expected: Seq,
    entries: &[Entry],
) -> Result<Appended, StoreError> {
    let head = expected + entries.len() as i64;
    if !playgrounds::advance(db, playground, expected, head)? {
        return Ok(Appended::Refused);
    }
    insert_events(db, playground, expected + 1, entries)?;
    for (entry, seq) in entries.iter().zip(expected + 1..) {
        for ((change, text), position) in entry.changes.iter().zip(0..) {
            insert_change(db, playground, seq, position, change, text.as_ref())?;
        }
    }
    Ok(Appended::At(head))
}

/// Events that one statement inserts if there are many, because reads come in hundreds.
const ROWS: usize = 32;

fn insert_events(db: &mut Db<'_>, playground: &PlaygroundId, first: Seq, entries: &[Entry]) -> Result<(), StoreError> {
    static MANY: LazyLock<String> = LazyLock::new(|| insert_sql(ROWS));
    let mut seqs = first..;
    let mut chunks = entries.chunks_exact(ROWS);
    for chunk in &mut chunks {
        let rows = chunk.iter().zip(&mut seqs).flat_map(|(entry, seq)| row(playground, seq, entry));
        db.execute(&MANY, &rows.collect::<Vec<Value<'_>>>())?;
    }
    chunks.remainder().iter().zip(seqs).try_for_each(|(entry, seq)| insert_event(db, playground, seq, entry))
}

/// Writes an entry at a position that was reserved before.
pub fn insert_event(db: &mut Db<'_>, playground: &PlaygroundId, seq: Seq, entry: &Entry) -> Result<(), StoreError> {
    static ONE: LazyLock<String> = LazyLock::new(|| insert_sql(1));
    db.execute(&ONE, &row(playground, seq, entry))?;
    Ok(())
}

const COLUMNS: usize = 10;

fn insert_sql(rows: usize) -> String {
    let row = |number: usize| {
        let binds: Vec<String> = (1..=COLUMNS).map(|column| format!("${}", number * COLUMNS + column)).collect();
        format!("({})", binds.join(", "))
    };
    let rows: Vec<String> = (0..rows).map(row).collect();
    let columns = "playground_id, seq, id, sandbox_id, type, at, actor, summary, payload, blob";
    format!("insert into events ({columns}) values {}", rows.join(", "))
}

fn row<'a>(playground: &'a PlaygroundId, seq: Seq, entry: &'a Entry) -> [Value<'a>; COLUMNS] {
    let Entry { id, sandbox, r#type, at, actor, summary, payload, .. } = entry;
    let (inline, blob) = payload.parts();
    let inline = inline.unwrap_or_default();
    [
        playground.as_str().into(),
        seq.into(),
        id.as_str().into(),
        sandbox.as_str().into(),
        r#type.name().into(),
        (*at).into(),
        actor.into(),
        summary.into(),
        inline.into(),
        blob.into(),
    ]
}

fn insert_change(
    db: &mut Db<'_>,
    playground: &PlaygroundId,
    seq: Seq,
    position: i64,
    change: &Change,
    text: Option<&Text>,
) -> Result<(), StoreError> {
    let sql = "insert into changes (playground_id, seq, position, sandbox_id, collection, key, version, at, write, body, blob)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";
    let Change { sandbox, collection, key, version, at, write, .. } = change;
    let (body, blob) = text.map_or((None, None), Text::parts);
    db.execute(
        sql,
        bind![playground, seq, position, sandbox, &**collection, &**key, *version, *at, write.name(), body, blob],
    )?;
    Ok(())
}

/// The changes after a position, in order, up to a maximum number of rows. Their text may still be in blobs.
pub fn changes_after(
    db: &mut Db<'_>,
    playground: &PlaygroundId,
    (seq, position): (Seq, i64),
    most: i64,
) -> Result<Vec<StoredChange>, StoreError> {
    let sql = "select seq, position, sandbox_id, collection, key, version, at, write, body, blob from changes
        where playground_id = $1 and (seq > $2 or (seq = $2 and position > $3)) order by seq, position limit $4";
    db.query(sql, bind![playground, seq, position, most])?.iter_mut().map(read_change).collect()
}

#[derive(Clone, Debug)]
pub struct StoredChange {
    pub seq: Seq,
    pub position: i64,
    /// Without its text.
    pub change: Change,
    pub text: Option<Text>,
}

fn read_change(row: &mut Row) -> Result<StoredChange, StoreError> {
    let (seq, position) = (row.integer()?, row.integer()?);
    let change = Change {
        sandbox: row.parsed()?,
        collection: row.text()?.into(),
        key: row.text()?.into(),
        version: row.size()?,
        at: row.time()?,
        write: row.parsed()?,
        text: None,
    };
    Ok(StoredChange { seq, position, change, text: Text::read(row)? })
}

/// An event. If its payload is in a blob, the payload in the event is null.
#[derive(Clone, Debug)]
pub struct StoredEvent {
    pub event: Event,
    pub blob: Option<String>,
}

/// A filter for lists of events.
#[derive(Clone, Debug, Default)]
pub struct EventFilter {
    pub r#type: Option<EventType>,
    /// Only events at this time or later.
    pub since: Option<Timestamp>,
}

/// The events of one sandbox, oldest first.
pub fn events(
    db: &mut Db<'_>,
    (playground, sandbox): (&PlaygroundId, &SandboxId),
    filter: &EventFilter,
    page: &PageRequest,
) -> Result<Page<StoredEvent>, StoreError> {
    let mut select = "select id, sandbox_id, seq, type, at, actor, summary, payload, blob from events
        where playground_id = $1 and sandbox_id = $2"
        .to_owned();
    let mut parameters: Vec<Value<'_>> = bind![playground, sandbox].to_vec();
    if let Some(kind) = filter.r#type {
        parameters.push(kind.name().into());
        select.push_str(&format!(" and type = ${}", parameters.len()));
    }
    if let Some(since) = filter.since {
        parameters.push(since.into());
        select.push_str(&format!(" and at >= ${}", parameters.len()));
    }
    let paged = Paged { select: &select, key: "seq", order: Order::LowestFirst };
    paged.fetch(db, parameters, page, read_event, |stored| stored.event.seq.to_string())
}

/// The events of a playground after a position, in order, up to a maximum number. Events of the given types have no payload
/// (null).
pub fn events_after(
    db: &mut Db<'_>,
    playground: &PlaygroundId,
    after: Seq,
    without_payload: &[EventType],
    most: i64,
) -> Result<Vec<StoredEvent>, StoreError> {
    let names: Vec<String> = without_payload.iter().map(|kind| format!("'{}'", kind.name())).collect();
    let is_left_out = format!("type in ({})", names.join(", "));
    let sql = format!(
        "select id, sandbox_id, seq, type, at, actor, summary,
            case when {is_left_out} then null else payload end, case when {is_left_out} then null else blob end
        from events where playground_id = $1 and seq > $2 order by seq limit $3"
    );
    db.query(&sql, bind![playground, after, most])?.iter_mut().map(read_event).collect()
}

fn read_event(row: &mut Row) -> Result<StoredEvent, StoreError> {
    let (id, sandbox_id, seq, r#type) = (row.parsed()?, row.parsed()?, row.integer()?, row.parsed()?);
    let (at, actor, summary) = (row.time()?, row.text()?, row.text()?);
    let payload = match Text::read(row)? {
        Some(Text::Inline(text)) => {
            (serde_json::from_str(&text).map_err(|error| StoreError::Corrupt(error.to_string()))?, None)
        }
        Some(Text::Blob(name)) => (serde_json::Value::Null, Some(name)),
        None => (serde_json::Value::Null, None),
    };
    let event = Event { id, sandbox_id, seq, r#type, at, actor, summary, payload: payload.0 };
    Ok(StoredEvent { event, blob: payload.1 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_organization_changes_or_sends_is_a_write_of_it() {
        let entry = |r#type: EventType, actor: &str| Entry {
            id: EventId::from_ulid(model::Ulid(1)),
            sandbox: SandboxId::from_ulid(model::Ulid(1)),
            r#type,
            at: Timestamp(0),
            actor: actor.to_owned(),
            summary: String::new(),
            payload: Text::Inline("{}".into()),
            changes: Vec::new(),
        };
        let key = "key_01K9Z3T5Q8W7N4M2R6V0XBHCDE";
        let sent = [EventType::Hl7Outbound, EventType::VoiceTurn, EventType::FaxOutbound, EventType::MessageOutbound];
        for r#type in EventType::ALL.iter().copied() {
            assert_eq!(entry(r#type, key).is_organization_write(), sent.contains(&r#type), "{}", r#type.name());
            assert!(!entry(r#type, "br_01K9Z3T5Q8W7N4M2R6V0XBHCDE").is_organization_write());
        }
    }
}
