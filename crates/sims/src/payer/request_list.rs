//! The list of requests, with what it can be narrowed by.

use model::event::EventType;
use model::page::{Page, PageRequest};
use serde_json::{Value, json};
use world::Outcome;

use super::call::{Call, Done};
use super::event::Told;
use super::pagination::{self, SortOrder};
use super::rows::{REQUESTS, shown_record, text};

/// Which requests are listed.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    pub status: Option<String>,
    pub determination: Option<String>,
    pub patient_member_id: Option<String>,
    pub procedure_code: Option<String>,
    pub drug: Option<String>,
}

impl Filter {
    fn admits(&self, row: &Value) -> bool {
        let determination = row.get("determination").and_then(|known| text(known, "status"));
        let is = |wanted: &Option<String>, found: Option<&str>| match wanted {
            None => true,
            Some(wanted) => found.is_some_and(|found| found.eq_ignore_ascii_case(wanted)),
        };
        is(&self.status, text(row, "status"))
            && is(&self.determination, determination)
            && is(&self.patient_member_id, text(row, "patient_member_id"))
            && is(&self.procedure_code, text(row, "procedure_code"))
            && is(&self.drug, text(row, "drug"))
    }

    fn json(&self) -> Value {
        let Self { status, determination, patient_member_id, procedure_code, drug } = self;
        json!({"status": status, "determination": determination, "patient_member_id": patient_member_id,
            "procedure_code": procedure_code, "drug": drug})
    }
}

/// Newest first.
pub fn list(call: &Call<'_>, filter: &Filter, request: &PageRequest) -> Done<Page<Value>> {
    let rows = call.sandbox.records.own(REQUESTS).filter(|record| filter.admits(&record.json()));
    let placed = |record: world::Record<'_>| {
        let row = shown_record(&record);
        (format!("{}/{}", text(&row, "submitted_at").unwrap_or_default(), record.key), row)
    };
    let page = pagination::page(rows.map(placed).collect(), request, SortOrder::Descending);
    let told = Told { r#type: EventType::PortalView, action: "list requests", asked: filter.json() };
    let event = told.with_count(call, page.items.len());
    Outcome { answer: Ok(page), changes: Vec::new(), events: vec![event] }
}
