//! Reading faxes.

use clinical::is_same_phone_number;
use model::event::EventType;
use model::page::{Page, PageRequest};
use serde_json::{Value, json};
use world::{Context, NewEvent, Outcome, Sandbox};

use super::rows::{Direction, FaxText, StoredFax, all, find, public_row, text};
use super::steps::FAXES;
use crate::pagination::{self, SortOrder};
use crate::redact::without_secrets;

/// Filters for the list of faxes.
#[derive(Clone, Debug)]
pub struct Filter {
    pub direction: Direction,
    pub status: Option<String>,
    /// The number of the other end, in any notation.
    pub number: Option<String>,
    pub read: Option<bool>,
}

impl Filter {
    fn matches(&self, row: &Value) -> bool {
        let other = if self.direction == Direction::Outbound { "to_number" } else { "from_number" };
        let is_number =
            |expected: &String| text(row, other).is_some_and(|number| is_same_phone_number(number, expected));
        text(row, "direction") == Some(self.direction.name())
            && self.status.as_deref().is_none_or(|status| text(row, "status") == Some(status))
            && self.number.as_ref().is_none_or(is_number)
            && self.read.is_none_or(|read| row.get("read").and_then(Value::as_bool) == Some(read))
    }
}

/// Lists faxes, newest first.
pub fn list(sandbox: &Sandbox, actor: &str, filter: &Filter, request: &PageRequest) -> Outcome<Page<Value>> {
    let rows = all(sandbox).map(|record| (record.key.to_owned(), record.json()));
    let rows = rows.filter(|(_, row)| filter.matches(row)).map(|(key, row)| (key, public_row(&row)));
    let page = pagination::page(rows.collect(), request, SortOrder::Descending);
    let ids: Vec<Value> = page.items.iter().filter_map(|row| row.get("id").cloned()).collect();
    let summary = format!("{} {} faxes were listed", ids.len(), filter.direction.name());
    let payload = json!({"action": "list", "direction": filter.direction.name(), "faxes": ids});
    Outcome { answer: page, changes: Vec::new(), events: vec![event(sandbox, actor, summary, payload)] }
}

/// The part of a fax that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaxPart {
    Row,
    Document,
    Page(usize),
    Text,
}

impl FaxPart {
    fn action(self) -> &'static str {
        match self {
            Self::Row => "get",
            Self::Document => "document",
            Self::Page(_) => "page",
            Self::Text => "text",
        }
    }
}

/// Returns one fax and logs which part of it is read. None if there is no such fax.
pub fn get(
    sandbox: &Sandbox,
    actor: &str,
    (direction, id): (Direction, &str),
    part: FaxPart,
) -> Outcome<Option<StoredFax>> {
    let Some(row) = find(sandbox, direction, id) else {
        return Outcome { answer: None, changes: Vec::new(), events: Vec::new() };
    };
    let page = if let FaxPart::Page(page) = part { Some(page) } else { None };
    let payload = json!({"action": part.action(), "direction": direction.name(), "id": id, "page": page});
    let events = vec![event(sandbox, actor, format!("{} of {id}", part.action()), payload)];
    Outcome { answer: Some(StoredFax(row)), changes: Vec::new(), events }
}

/// Marks a fax as read or unread. None if it is not in the inbox.
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
    Outcome { answer: Some(public_row(&row)), changes, events }
}

/// Stores the text of a fax that had none, so that OCR runs only once.
pub fn store_text(
    sandbox: &Sandbox,
    context: &Context<'_>,
    (direction, id): (Direction, &str),
    fax_text: &FaxText,
) -> Outcome<Option<StoredFax>> {
    let Some(mut row) = find(sandbox, direction, id) else {
        return Outcome { answer: None, changes: Vec::new(), events: Vec::new() };
    };
    let (mut changes, mut events) = (Vec::new(), Vec::new());
    if StoredFax(row.clone()).needs_ocr() {
        if let Some(members) = row.as_object_mut() {
            members.extend(fax_text.members());
        }
        changes.push(sandbox.put(FAXES, id, &row, context.now));
        let payload = json!({"id": id, "ocr_status": fax_text.ocr_status.name(), "ocr_engine": fax_text.ocr_engine});
        let summary = format!("the pages of {id} were read");
        let event = event(sandbox, "line", summary, payload);
        events.push(NewEvent { r#type: EventType::FaxStatus, ..event });
    }
    Outcome { answer: Some(StoredFax(row)), changes, events }
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
