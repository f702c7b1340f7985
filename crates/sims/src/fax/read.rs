//! Faxes as the agent looks at them.

use model::event::EventType;
use model::page::{Page, PageRequest};
use model::phone;
use serde_json::{Value, json};
use world::{Context, NewEvent, Outcome, Sandbox};

use super::rows::{Direction, Kept, Words, all, find, shown, text};
use super::steps::FAXES;
use crate::pagination::{self, SortOrder};
use crate::redact::without_secrets;

/// Which faxes are listed.
#[derive(Clone, Debug)]
pub struct Filter {
    pub direction: Direction,
    pub status: Option<String>,
    /// The other end, however it is written.
    pub number: Option<String>,
    pub read: Option<bool>,
}

impl Filter {
    fn admits(&self, row: &Value) -> bool {
        let other = if self.direction == Direction::Outbound { "to_number" } else { "from_number" };
        let is_number = |wanted: &String| text(row, other).map(phone::same) == Some(phone::same(wanted));
        text(row, "direction") == Some(self.direction.name())
            && self.status.as_deref().is_none_or(|status| text(row, "status") == Some(status))
            && self.number.as_ref().is_none_or(is_number)
            && self.read.is_none_or(|read| row.get("read").and_then(Value::as_bool) == Some(read))
    }
}

/// Newest first.
pub fn list(sandbox: &Sandbox, actor: &str, filter: &Filter, request: &PageRequest) -> Outcome<Page<Value>> {
    let rows = all(sandbox).map(|record| (record.key.to_owned(), record.json()));
    let rows = rows.filter(|(_, row)| filter.admits(row)).map(|(key, row)| (key, shown(&row)));
    let page = pagination::page(rows.collect(), request, SortOrder::Descending);
    let ids: Vec<Value> = page.items.iter().filter_map(|row| row.get("id").cloned()).collect();
    let summary = format!("{} {} faxes were listed", ids.len(), filter.direction.name());
    let told = json!({"action": "list", "direction": filter.direction.name(), "faxes": ids});
    Outcome { answer: page, changes: Vec::new(), events: vec![event(sandbox, actor, summary, told)] }
}

/// What somebody wants of a fax.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    Row,
    Document,
    Page(usize),
    Text,
}

impl Look {
    fn action(self) -> &'static str {
        match self {
            Self::Row => "get",
            Self::Document => "document",
            Self::Page(_) => "page",
            Self::Text => "text",
        }
    }
}

/// One fax; none if there is no such.
pub fn get(sandbox: &Sandbox, actor: &str, (direction, id): (Direction, &str), look: Look) -> Outcome<Option<Kept>> {
    let Some(row) = find(sandbox, direction, id) else {
        return Outcome { answer: None, changes: Vec::new(), events: Vec::new() };
    };
    let page = if let Look::Page(page) = look { Some(page) } else { None };
    let told = json!({"action": look.action(), "direction": direction.name(), "id": id, "page": page});
    let events = vec![event(sandbox, actor, format!("{} of {id}", look.action()), told)];
    Outcome { answer: Some(Kept(row)), changes: Vec::new(), events }
}

/// Says that a fax was read, or was not. None if there is no such in the inbox.
pub fn mark(sandbox: &Sandbox, actor: &str, context: &Context<'_>, (id, read): (&str, bool)) -> Outcome<Option<Value>> {
    let Some(mut row) = find(sandbox, Direction::Inbound, id) else {
        return Outcome { answer: None, changes: Vec::new(), events: Vec::new() };
    };
    let mut changes = Vec::new();
    if row["read"] != read {
        row["read"] = read.into();
        changes.push(sandbox.put(FAXES, id, &row, context.now));
    }
    let action = if read { "mark_read" } else { "mark_unread" };
    let events = vec![event(sandbox, actor, format!("{action} {id}"), json!({"action": action, "id": id}))];
    Outcome { answer: Some(shown(&row)), changes, events }
}

/// Keeps what was read in a fax that nobody had read, so that it is read once.
pub fn keep_words(
    sandbox: &Sandbox,
    context: &Context<'_>,
    (direction, id): (Direction, &str),
    words: &Words,
) -> Outcome<Option<Kept>> {
    let Some(mut row) = find(sandbox, direction, id) else {
        return Outcome { answer: None, changes: Vec::new(), events: Vec::new() };
    };
    let (mut changes, mut events) = (Vec::new(), Vec::new());
    if Kept(row.clone()).is_unread() {
        if let Some(members) = row.as_object_mut() {
            members.extend(words.members());
        }
        changes.push(sandbox.put(FAXES, id, &row, context.now));
        let told = json!({"id": id, "ocr_status": words.ocr_status.name(), "ocr_engine": words.ocr_engine});
        let summary = format!("the pages of {id} were read");
        let event = event(sandbox, "line", summary, told);
        events.push(NewEvent { r#type: EventType::FaxStatus, ..event });
    }
    Outcome { answer: Some(Kept(row)), changes, events }
}

fn event(sandbox: &Sandbox, actor: &str, summary: String, payload: Value) -> NewEvent {
    NewEvent {
        sandbox: sandbox.id.clone(),
        r#type: EventType::FaxRead,
        actor: actor.to_owned(),
        summary,
        payload: without_secrets(payload).into(),
    }
}
