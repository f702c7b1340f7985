//! The list of prior authorization requests and its filters.

use model::event::EventType;
use model::page::{Page, PageRequest};
use serde_json::{Value, json};
use world::Outcome;

use super::context::{PortalContext, PortalOutcome};
use super::event::PortalAction;
use super::pagination::{self, SortOrder};
use super::rows::{REQUESTS, display_record, text};

/// Members that are given must match.
#[derive(Clone, Debug, Default)]
pub struct RequestFilter {
    pub status: Option<String>,
    pub determination: Option<String>,
    pub patient_member_id: Option<String>,
    pub procedure_code: Option<String>,
    pub drug: Option<String>,
}

impl RequestFilter {
    fn matches(&self, row: &Value) -> bool {
        let determination = row.get("determination").and_then(|determination| text(determination, "status"));
        let equals = |condition: &Option<String>, value: Option<&str>| match condition {
            None => true,
            Some(expected) => value.is_some_and(|value| value.eq_ignore_ascii_case(expected)),
        };
        equals(&self.status, text(row, "status"))
            && equals(&self.determination, determination)
            && equals(&self.patient_member_id, text(row, "patient_member_id"))
            && equals(&self.procedure_code, text(row, "procedure_code"))
            && equals(&self.drug, text(row, "drug"))
    }

    fn json(&self) -> Value {
        let Self { status, determination, patient_member_id, procedure_code, drug } = self;
        json!({"status": status, "determination": determination, "patient_member_id": patient_member_id,
            "procedure_code": procedure_code, "drug": drug})
    }
}

/// Lists requests, newest first.
pub fn list(portal: &PortalContext<'_>, filter: &RequestFilter, request: &PageRequest) -> PortalOutcome<Page<Value>> {
    let rows = portal.sandbox.records.own(REQUESTS).filter(|record| filter.matches(&record.json()));
    let keyed = |record: world::Record<'_>| {
        let row = display_record(&record);
        (format!("{}/{}", text(&row, "submitted_at").unwrap_or_default(), record.key), row)
    };
    let page = pagination::page(rows.map(keyed).collect(), request, SortOrder::Descending);
    let action = PortalAction { r#type: EventType::PortalView, name: "list requests", request: filter.json() };
    let event = action.count_event(portal, page.items.len());
    Outcome { answer: Ok(page), changes: Vec::new(), events: vec![event] }
}
