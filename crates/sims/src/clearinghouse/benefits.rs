//! The EB segments of a 271, from an authored rule or from the FHIR Coverage.

use serde_json::Value;
use x12::draft::{ElementDraft, SegmentDraft, composite, repeated};

use super::config::{Benefit, Rule, Status};
use super::coverage::{CostShare, costs, insurance_type, is_active, plan_name};
use super::inquiry::{Inquiry, InquiryItem};
use super::text::{plain, segment};

/// The service types that a 271 must list in response to service type 30 (health benefit plan), as CAQH CORE requires.
const PLAN_SERVICE_TYPES: [&str; 10] = ["1", "33", "35", "47", "86", "88", "98", "AL", "MH", "UC"];

pub(super) fn segments(rule: Option<&Rule>, coverage: Option<&Value>, inquiry: &Inquiry) -> Vec<SegmentDraft> {
    let benefits = rule.map_or(&[][..], |rule| rule.benefits.as_slice());
    let is_active = match rule.and_then(|rule| rule.status) {
        Some(Status::Inactive | Status::Denied) => false,
        Some(_) => true,
        None => coverage.map_or(!benefits.is_empty(), |coverage| is_active(coverage, &inquiry.day)),
    };
    let has_coverage_status =
        benefits.iter().any(|benefit| matches!(benefit.code.as_str(), "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8"));
    let mut segments = Vec::new();
    if !has_coverage_status {
        segments.extend(inquiry.items.iter().flat_map(|item| coverage_status(item, is_active, coverage)));
    }
    if benefits.is_empty() {
        let cost_shares = coverage.filter(|_| is_active).map(costs).unwrap_or_default();
        segments.extend(cost_shares.iter().filter(|cost| is_requested(cost.service_type, inquiry)).map(cost_segment));
    }
    segments.extend(benefits.iter().flat_map(|benefit| authored_benefit(benefit, inquiry)));
    segments
}

/// `EB*1*IND*30*HM*GOLD`, or `EB*6` for inactive coverage.
fn coverage_status(item: &InquiryItem, is_active: bool, coverage: Option<&Value>) -> Vec<SegmentDraft> {
    let code = if is_active { "1" } else { "6" };
    let insurance_type = coverage.map_or("", insurance_type);
    let plan = coverage.map(plan_name).unwrap_or_default();
    match item {
        InquiryItem::Procedure(qualifier, procedure) => {
            let unused = [""; 7];
            let start = SegmentDraft::of("EB", [code, "IND", "", insurance_type, &plan].into_iter().chain(unused));
            vec![start.with(composite([qualifier.as_str(), procedure]))]
        }
        InquiryItem::ServiceType(requested) => {
            let mut segments = vec![segment("EB", [code, "IND", requested, insurance_type, &plan])];
            if is_active && requested == "30" {
                segments.push(SegmentDraft::of("EB", [code, "IND"]).with(repeated(PLAN_SERVICE_TYPES)));
            }
            segments
        }
    }
}

fn is_requested(service_type: &str, inquiry: &Inquiry) -> bool {
    let is_part_of_plan = |requested: &str| {
        requested == "30"
            && (service_type == "30" || PLAN_SERVICE_TYPES.contains(&service_type) || service_type == "48")
    };
    inquiry.items.iter().any(|item| match item {
        InquiryItem::ServiceType(requested) => {
            requested == service_type || service_type == "30" || is_part_of_plan(requested)
        }
        InquiryItem::Procedure(..) => service_type == "30",
    })
}

fn cost_segment(cost: &CostShare) -> SegmentDraft {
    let amount = cost.amount.map_or_else(String::new, |amount| amount.to_string());
    let percent = cost.percent.as_deref().unwrap_or_default();
    segment("EB", [cost.code, "IND", cost.service_type, "", "", cost.period, &amount, percent])
}

fn authored_benefit(benefit: &Benefit, inquiry: &Inquiry) -> Vec<SegmentDraft> {
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    let service_type: ElementDraft = match &benefit.service_type {
        Some(code) => code.as_str().into(),
        None => repeated(inquiry.service_types().iter().map(String::as_str)),
    };
    let yes_or_no = |value: Option<bool>| value.map_or("", |yes| if yes { "Y" } else { "N" });
    let [amount, percent] =
        [&benefit.amount, &benefit.percent].map(|value| value.as_ref().map(decimal_text).unwrap_or_default());
    let eb = SegmentDraft::of("EB", [benefit.code.as_str(), &text(&benefit.coverage_level)])
        .with(service_type)
        .with("")
        .with("")
        .with(text(&benefit.period))
        .with(amount)
        .with(percent)
        .with("")
        .with("")
        .with(yes_or_no(benefit.authorization_required))
        .with(yes_or_no(benefit.in_network));
    let message = benefit.message.as_deref().map(|message| segment("MSG", [&plain(message, 264)]));
    std::iter::once(eb).chain(message).collect()
}

/// A decimal exactly as authored.
fn decimal_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
