//! What a 270 asks about one patient: service types or procedures, and the day (EQ, DTP).

use x12::loops::Loop;
use x12::query::{Position, values};

use super::text::{is_date, plain};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Inquiry {
    pub(super) items: Vec<Item>,
    /// `CCYYMMDD`: the first day of the service, or today.
    pub(super) day: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Item {
    /// EQ01.
    ServiceType(String),
    /// EQ02: qualifier and code.
    Procedure(String, String),
}

/// Of what is asked at once; whoever asks more is answered for the first.
const MOST_ITEMS: usize = 99;

impl Inquiry {
    /// From a patient's loop and the EQ loops below it. Who asks for nothing asks for the plan.
    pub(super) fn read(about: &Loop<'_, '_, '_>, within: &str, today: &str) -> Self {
        let mut items = Vec::new();
        let mut days: Vec<String> = about.segments().filter_map(|segment| day(&segment)).collect();
        for asked in about.all(within) {
            days.extend(asked.segments().filter_map(|segment| day(&segment)));
            let Some(question) = asked.segment("EQ") else { continue };
            let service_types = values(&question, Position::element(1));
            items.extend(service_types.map(|code| Item::ServiceType(plain(&code, 2))));
            let [qualifier, code] = [1, 2].map(|part| question.element(2).and_then(|element| element.component(part)));
            if let Some(code) = code.filter(|code| !code.is_empty()) {
                items.push(Item::Procedure(plain(qualifier.unwrap_or_default(), 2), plain(code, 48)));
            }
        }
        items.dedup();
        items.truncate(MOST_ITEMS);
        if items.is_empty() {
            items.push(Item::ServiceType("30".to_owned()));
        }
        Self { items, day: days.into_iter().next().unwrap_or_else(|| today.to_owned()) }
    }

    pub(super) fn service_types(&self) -> Vec<String> {
        let code = |item: &Item| match item {
            Item::ServiceType(code) => Some(code.clone()),
            Item::Procedure(..) => None,
        };
        self.items.iter().filter_map(code).collect()
    }

    pub(super) fn procedures(&self) -> Vec<String> {
        let code = |item: &Item| match item {
            Item::Procedure(_, code) => Some(code.clone()),
            Item::ServiceType(_) => None,
        };
        self.items.iter().filter_map(code).collect()
    }
}

/// The first day of a DTP with qualifier 291, 307 or 472.
fn day(segment: &x12::Segment<'_>) -> Option<String> {
    let is_service = segment.name() == "DTP" && matches!(segment.text_at(1), "291" | "307" | "472");
    let first = segment.text_at(3).split('-').next().unwrap_or_default();
    (is_service && is_date(first)).then(|| first.to_owned())
}
