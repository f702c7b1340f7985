//! Reads a FHIR Coverage: status on a day, plan and cost sharing, as a 271 needs them.

use serde_json::Value;

use super::chart::{codes, identifiers, items, text};
use super::money::Cents;
use super::text::{date, plain, uppercase};

/// The number on the member's card.
pub(super) fn member_number(coverage: &Value) -> Option<&str> {
    let is_member =
        |identifier: &&Value| identifier.get("type").is_some_and(|kind| codes(kind).any(|code| code == "MB"));
    let by_type = || items(coverage, "identifier").iter().find(is_member).and_then(|found| text(found, "value"));
    text(coverage, "subscriberId").or_else(by_type).or_else(|| identifiers(coverage).next())
}

/// Start and end as `CCYYMMDD`, if present.
pub(super) fn period(coverage: &Value) -> (Option<String>, Option<String>) {
    let edge = |name: &str| coverage.get("period").and_then(|period| text(period, name)).and_then(date);
    (edge("start"), edge("end"))
}

/// Whether the coverage is in force on a day (`CCYYMMDD`).
pub(super) fn is_active(coverage: &Value, day: &str) -> bool {
    let (start, end) = period(coverage);
    let is_in_force = text(coverage, "status") == Some("active");
    is_in_force && start.is_none_or(|start| *start <= *day) && end.is_none_or(|end| *end >= *day)
}

/// Value and name of a class of the coverage, such as `group` or `plan`.
pub(super) fn class(coverage: &Value, kind: &str) -> Option<(String, String)> {
    let is_class = |class: &&Value| class.get("type").is_some_and(|kinds| codes(kinds).any(|code| code == kind));
    let class = items(coverage, "class").iter().find(is_class)?;
    let value = plain(text(class, "value").unwrap_or_default(), 50);
    Some((value, uppercase(text(class, "name").unwrap_or_default(), 50)))
}

/// The name of the plan (EB05).
pub(super) fn plan_name(coverage: &Value) -> String {
    let plan = class(coverage, "plan").map(|(value, name)| if name.is_empty() { uppercase(&value, 50) } else { name });
    plan.or_else(|| coverage.get("type").and_then(|kind| text(kind, "text")).map(|text| uppercase(text, 50)))
        .unwrap_or_default()
}

/// The insurance type code (EB04) for the coverage's type, or empty.
pub(super) fn insurance_type(coverage: &Value) -> &'static str {
    let x12_code = |code: &str| match code {
        "HMO" => Some("HM"),
        "PPO" => Some("PR"),
        "POS" => Some("PS"),
        "EPO" => Some("EP"),
        _ => None,
    };
    coverage.get("type").and_then(|kind| codes(kind).find_map(x12_code)).unwrap_or_default()
}

/// A cost share of the member. Becomes an EB segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CostShare {
    /// EB01: `A` co-insurance, `B` co-payment, `C` deductible, `G` out of pocket.
    pub(super) code: &'static str,
    /// EB03.
    pub(super) service_type: &'static str,
    /// EB06: `23` calendar year, `27` visit.
    pub(super) period: &'static str,
    /// EB07.
    pub(super) amount: Option<Cents>,
    /// EB08.
    pub(super) percent: Option<String>,
}

/// Reads `costToBeneficiary`, by the codes of HL7's copay types.
pub(super) fn costs(coverage: &Value) -> Vec<CostShare> {
    items(coverage, "costToBeneficiary").iter().filter_map(cost).collect()
}

fn cost(cost: &Value) -> Option<CostShare> {
    let benefit_codes = |code: &str| match code {
        "copay" => Some(("B", "30", "27")),
        "gpvisit" | "spvisit" => Some(("B", "98", "27")),
        "emergency" => Some(("B", "86", "27")),
        "inpthosp" => Some(("B", "48", "27")),
        "urgentcare" => Some(("B", "UC", "27")),
        "deductible" => Some(("C", "30", "23")),
        "maxoutofpocket" => Some(("G", "30", "23")),
        "copaypct" => Some(("A", "30", "27")),
        _ => None,
    };
    let (code, service_type, period) = cost.get("type").and_then(|kind| codes(kind).find_map(benefit_codes))?;
    let value = ["valueMoney", "valueQuantity"].into_iter().find_map(|name| cost.get(name)?.get("value"))?;
    let (amount, percent) = match code {
        "A" => (None, Some(decimal_fraction(value)?)),
        _ => (Some(Cents::from_json(value)?), None),
    };
    Some(CostShare { code, service_type, period, amount, percent })
}

/// Converts 20 percent to `0.2`.
fn decimal_fraction(value: &Value) -> Option<String> {
    let whole = value.to_string().parse::<u32>().ok().filter(|percent| *percent <= 100)?;
    Some(match whole {
        100 => "1".to_owned(),
        percent => format!("0.{percent:02}").trim_end_matches('0').trim_end_matches('.').to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_coverage_is_in_force_within_its_period() {
        let coverage = json!({"status": "active", "period": {"start": "2026-01-01", "end": "2026-12-31"}});
        for (day, active) in [("20251231", false), ("20260101", true), ("20261231", true), ("20270101", false)] {
            assert_eq!(is_active(&coverage, day), active, "{day}");
        }
        assert!(!is_active(&json!({"status": "cancelled"}), "20260101"));
        assert!(is_active(&json!({"status": "active"}), "20260101"));
    }

    #[test]
    fn costs_are_read_from_the_coverage() {
        let kind = |code: &str| json!({"coding": [{"code": code}]});
        let coverage = json!({"costToBeneficiary": [
            {"type": kind("gpvisit"), "valueMoney": {"value": 25.50}},
            {"type": kind("copaypct"), "valueQuantity": {"value": 20}},
            {"type": kind("deductible"), "valueMoney": {"value": 1500}},
            {"type": kind("unknown"), "valueMoney": {"value": 1}},
        ]});
        let costs = costs(&coverage);
        assert_eq!(costs.len(), 3);
        assert_eq!((costs[0].code, costs[0].service_type, costs[0].amount), ("B", "98", Some(Cents(2550))));
        assert_eq!((costs[1].code, costs[1].percent.as_deref()), ("A", Some("0.2")));
        assert_eq!((costs[2].code, costs[2].period), ("C", "23"));
    }

    #[test]
    fn the_member_number_is_on_the_card() {
        let typed = json!({"identifier": [{"value": "x"}, {"type": {"coding": [{"code": "MB"}]}, "value": "m"}]});
        assert_eq!(member_number(&typed), Some("m"));
        assert_eq!(member_number(&json!({"subscriberId": "s", "identifier": [{"value": "x"}]})), Some("s"));
        assert_eq!(member_number(&json!({"identifier": [{"value": "x"}]})), Some("x"));
    }
}
