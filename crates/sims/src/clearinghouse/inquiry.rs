//! The inquiry of a 270 about one patient: service types or procedures, and the date (EQ, DTP).

use clinical::PartialDateTime;
use x12::loops::Loop;
use x12::query::{Position, values};

use super::text::plain;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Inquiry {
    pub(super) items: Vec<InquiryItem>,
    /// The first day of the service, or today, as `CCYYMMDD`.
    pub(super) day: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum InquiryItem {
    /// EQ01.
    ServiceType(String),
    /// EQ02: qualifier and code.
    Procedure(String, String),
}

/// Further items are ignored.
const MAX_ITEMS: usize = 99;

impl Inquiry {
    /// Reads the loop of a patient and its EQ loops. The default is service type 30 (health benefit plan).
    pub(super) fn read(patient: &Loop<'_, '_, '_>, within: &str, today: &str) -> Self {
        let mut items = Vec::new();
        let mut days: Vec<String> = patient.segments().filter_map(|segment| service_day(&segment)).collect();
        for item in patient.all(within) {
            days.extend(item.segments().filter_map(|segment| service_day(&segment)));
            let Some(eq) = item.segment("EQ") else { continue };
            let service_types = values(&eq, Position::element(1));
            items.extend(service_types.map(|code| InquiryItem::ServiceType(plain(&code, 2))));
            let [qualifier, code] = [1, 2].map(|part| eq.element(2).and_then(|element| element.component(part)));
            if let Some(code) = code.filter(|code| !code.is_empty()) {
                items.push(InquiryItem::Procedure(plain(qualifier.unwrap_or_default(), 2), plain(code, 48)));
            }
        }
        items.dedup();
        items.truncate(MAX_ITEMS);
        if items.is_empty() {
            items.push(InquiryItem::ServiceType("30".to_owned()));
        }
        Self { items, day: days.into_iter().next().unwrap_or_else(|| today.to_owned()) }
    }

    pub(super) fn service_types(&self) -> Vec<String> {
        let code = |item: &InquiryItem| match item {
            InquiryItem::ServiceType(code) => Some(code.clone()),
            InquiryItem::Procedure(..) => None,
        };
        self.items.iter().filter_map(code).collect()
    }

    pub(super) fn procedures(&self) -> Vec<String> {
        let code = |item: &InquiryItem| match item {
            InquiryItem::Procedure(_, code) => Some(code.clone()),
            InquiryItem::ServiceType(_) => None,
        };
        self.items.iter().filter_map(code).collect()
    }
}

/// The first day in a DTP segment with qualifier 291, 307 or 472.
fn service_day(segment: &x12::Segment<'_>) -> Option<String> {
    let is_service = segment.name() == "DTP" && matches!(segment.text_at(1), "291" | "307" | "472");
    let first = segment.text_at(3).split('-').next().unwrap_or_default();
    (is_service && PartialDateTime::parse_x12_date(first).is_some()).then(|| first.to_owned())
}
