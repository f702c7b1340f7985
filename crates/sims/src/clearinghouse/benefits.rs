//! The EB segments of a 271: an author's benefits, or what the record's Coverage says.

use serde_json::Value;
use x12::draft::{ElementDraft, SegmentDraft, composite, repeated};

use super::config::{Benefit, Rule, Status};
use super::coverage::{Cost, costs, insurance_type, is_active, plan_name};
use super::inquiry::{Inquiry, Item};
use super::text::{plain, segment};

/// The service types that a question for the plan (30) is answered with as well, as CAQH CORE asks.
const OF_A_PLAN: [&str; 10] = ["1", "33", "35", "47", "86", "88", "98", "AL", "MH", "UC"];

pub(super) fn segments(rule: Option<&Rule>, coverage: Option<&Value>, inquiry: &Inquiry) -> Vec<SegmentDraft> {
    let benefits = rule.map_or(&[][..], |rule| rule.benefits.as_slice());
    let is_active = match rule.and_then(|rule| rule.status) {
        Some(Status::Inactive | Status::Denied) => false,
        Some(_) => true,
        None => coverage.map_or(!benefits.is_empty(), |coverage| is_active(coverage, &inquiry.day)),
    };
    let is_stated =
        benefits.iter().any(|benefit| matches!(benefit.code.as_str(), "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8"));
    let mut segments = Vec::new();
    if !is_stated {
        segments.extend(inquiry.items.iter().flat_map(|item| stated(item, is_active, coverage)));
    }
    if benefits.is_empty() {
        let own = coverage.filter(|_| is_active).map(costs).unwrap_or_default();
        segments.extend(own.iter().filter(|cost| is_asked(cost.service_type, inquiry)).map(cost_segment));
    }
    segments.extend(benefits.iter().flat_map(|benefit| authored(benefit, inquiry)));
    segments
}

/// `EB*1*IND*30*HM*GOLD`, or `EB*6` for who is not insured.
fn stated(item: &Item, is_active: bool, coverage: Option<&Value>) -> Vec<SegmentDraft> {
    let code = if is_active { "1" } else { "6" };
    let kind = coverage.map_or("", insurance_type);
    let plan = coverage.map(plan_name).unwrap_or_default();
    match item {
        Item::Procedure(qualifier, procedure) => {
            let empty = ["", "", "", "", "", "", ""];
            let start = SegmentDraft::of("EB", [code, "IND", "", kind, &plan].into_iter().chain(empty));
            vec![start.with(composite([qualifier.as_str(), procedure]))]
        }
        Item::ServiceType(asked) => {
            let mut segments = vec![segment("EB", [code, "IND", asked, kind, &plan])];
            if is_active && asked == "30" {
                segments.push(SegmentDraft::of("EB", [code, "IND"]).with(repeated(OF_A_PLAN)));
            }
            segments
        }
    }
}

fn is_asked(service_type: &str, inquiry: &Inquiry) -> bool {
    let of_plan = |asked: &str| {
        asked == "30" && (service_type == "30" || OF_A_PLAN.contains(&service_type) || service_type == "48")
    };
    inquiry.items.iter().any(|item| match item {
        Item::ServiceType(asked) => asked == service_type || service_type == "30" || of_plan(asked),
        Item::Procedure(..) => service_type == "30",
    })
}

fn cost_segment(cost: &Cost) -> SegmentDraft {
    let amount = cost.amount.map_or_else(String::new, |amount| amount.to_string());
    let percent = cost.percent.as_deref().unwrap_or_default();
    segment("EB", [cost.code, "IND", cost.service_type, "", "", cost.period, &amount, percent])
}

fn authored(benefit: &Benefit, inquiry: &Inquiry) -> Vec<SegmentDraft> {
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    let service_type: ElementDraft = match &benefit.service_type {
        Some(code) => code.as_str().into(),
        None => repeated(inquiry.service_types().iter().map(String::as_str)),
    };
    let yes_or_no = |value: Option<bool>| value.map_or("", |yes| if yes { "Y" } else { "N" });
    let [amount, percent] =
        [&benefit.amount, &benefit.percent].map(|value| value.as_ref().map(written).unwrap_or_default());
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

/// A decimal as its author wrote it.
fn written(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
