//! Reads a FHIR Coverage: status on a day, plan and cost sharing, as a 271 needs them.

use clinical::{Coverage, MemberId, PartialDateTime};
use serde_json::Value;

use super::chart::{codes, items};
use super::money::Cents;
use super::text::{date, plain, uppercase};

/// The number on the card of a member.
pub(super) fn member_number<'v>(coverage: &'v Value, person: &'v Value) -> Option<&'v str> {
    MemberId::of(coverage, person).map(|id| id.as_str())
}

/// Start and end as `CCYYMMDD`, as far as they are days.
pub(super) fn period(coverage: &Value) -> (Option<String>, Option<String>) {
    let (start, end) = Coverage::new(coverage).period();
    (start.and_then(date), end.and_then(date))
}

/// Whether the coverage is in force on a day (`CCYYMMDD`).
pub(super) fn is_active(coverage: &Value, day: &str) -> bool {
    PartialDateTime::parse_x12_date(day).is_some_and(|day| Coverage::new(coverage).is_in_force_on(&day))
}

/// The position of the coverage that counts on a day, `CCYYMMDD`; 0 if there is none.
pub(super) fn position_in_force<'c>(coverages: impl Iterator<Item = &'c Value>, day: &str) -> usize {
    let day = PartialDateTime::parse_x12_date(day);
    day.and_then(|day| Coverage::position_in_force(coverages, &day)).unwrap_or_default()
}

/// A class of the coverage, such as `group`: its value and its name.
pub(super) fn class(coverage: &Value, code: &str) -> Option<(String, String)> {
    let class = Coverage::new(coverage).class(code)?;
    Some((plain(class.value().unwrap_or_default(), 50), uppercase(class.name().unwrap_or_default(), 50)))
}

/// The name of the plan: EB05.
pub(super) fn plan_name(coverage: &Value) -> String {
    uppercase(Coverage::new(coverage).plan_name().unwrap_or_default(), 50)
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
}
