//! FHIR data about a member's insurance, as other systems read it.

use std::fmt;

use serde_json::Value;

use crate::json::{filled, has_code, items, text};
use crate::{Identifier, PartialDateTime};

/// The number on a member's card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemberId<'a>(&'a str);

impl<'a> MemberId<'a> {
    /// Reads the number of a coverage: `subscriberId`, else an identifier of type `MB`, else the first identifier. If the
    /// coverage has none, reads the identifiers of the person in the same order.
    pub fn of(coverage: &'a Value, person: &'a Value) -> Option<Self> {
        let subscriber_id = filled(coverage, "subscriberId");
        let identified = |resource: &'a Value| {
            let of_type = Identifier::all(resource).filter(|identifier| identifier.has_type("MB"));
            of_type.chain(Identifier::all(resource)).find_map(|identifier| identifier.value())
        };
        subscriber_id.or_else(|| identified(coverage)).or_else(|| identified(person)).map(Self)
    }

    pub fn as_str(&self) -> &'a str {
        self.0
    }
}

impl fmt::Display for MemberId<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// A Coverage resource.
#[derive(Clone, Copy, Debug)]
pub struct Coverage<'a>(&'a Value);

impl<'a> Coverage<'a> {
    pub fn new(resource: &'a Value) -> Self {
        Self(resource)
    }

    pub fn status(&self) -> Option<&'a str> {
        text(self.0, "status")
    }

    /// The start and end of the insurance, as they are written.
    pub fn period(&self) -> (Option<&'a str>, Option<&'a str>) {
        let edge = |name: &str| self.0.get("period").and_then(|period| text(period, name));
        (edge("start"), edge("end"))
    }

    /// Whether the coverage is active and the day is within its period. A missing start or end is open.
    pub fn is_in_force_on(&self, day: &PartialDateTime) -> bool {
        let (start, end) = self.period();
        let [start, end] = [start, end].map(|edge| edge.and_then(PartialDateTime::parse_fhir));
        self.status() == Some("active")
            && start.is_none_or(|start| !start.starts_after(day))
            && end.is_none_or(|end| !end.ends_before(day))
    }

    /// The position of the coverage that counts on a day: the first that is in force, else the first that is active, else
    /// the first.
    pub fn position_in_force<'c>(coverages: impl Iterator<Item = &'c Value>, day: &PartialDateTime) -> Option<usize> {
        let coverages: Vec<Coverage<'_>> = coverages.map(Coverage).collect();
        let in_force = coverages.iter().position(|coverage| coverage.is_in_force_on(day));
        let active = || coverages.iter().position(|coverage| coverage.status() == Some("active"));
        in_force.or_else(active).or_else(|| (!coverages.is_empty()).then_some(0))
    }

    /// A class of the coverage, such as `group` or `plan`.
    pub fn class(&self, code: &str) -> Option<CoverageClass<'a>> {
        items(self.0, "class").iter().find(|class| has_code(class.get("type"), code)).map(CoverageClass)
    }

    /// The name or number of the plan: of the class `plan`, else of a class without a coded type, else the type of the
    /// coverage.
    pub fn plan_name(&self) -> Option<&'a str> {
        let is_coded = |class: &&Value| class.get("type").is_some_and(|kind| !items(kind, "coding").is_empty());
        let uncoded = || items(self.0, "class").iter().find(|class| !is_coded(class)).map(CoverageClass);
        let class = self.class("plan").or_else(uncoded).and_then(|class| class.name().or_else(|| class.value()));
        class.or_else(|| {
            let kind = self.0.get("type")?;
            filled(kind, "text").or_else(|| filled(items(kind, "coding").first()?, "display"))
        })
    }

    /// The name of the first payer, as the coverage shows it.
    pub fn payer_name(&self) -> Option<&'a str> {
        filled(items(self.0, "payor").first()?, "display")
    }
}

/// An element of `Coverage.class`.
#[derive(Clone, Copy, Debug)]
pub struct CoverageClass<'a>(&'a Value);

impl<'a> CoverageClass<'a> {
    pub fn name(&self) -> Option<&'a str> {
        filled(self.0, "name")
    }

    pub fn value(&self) -> Option<&'a str> {
        filled(self.0, "value")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn day(text: &str) -> PartialDateTime {
        PartialDateTime::parse_fhir(text).unwrap()
    }

    #[test]
    fn the_member_id_is_the_number_on_the_card() {
        let number = |value: &str| json!({"value": value});
        let member = |value: &str| json!({"type": {"coding": [{"code": "x"}, {"code": "MB"}]}, "value": value});
        let nobody = json!({});
        let patient = json!({"identifier": [number("mrn"), member("of patient")]});
        for (coverage, person, expected) in [
            (json!({"subscriberId": "s", "identifier": [member("m")]}), &patient, Some("s")),
            (json!({"identifier": [number("x"), member("m")]}), &patient, Some("m")),
            (json!({"identifier": [number("x")]}), &patient, Some("x")),
            (json!({"subscriberId": " ", "identifier": [{"system": "only"}]}), &patient, Some("of patient")),
            (json!({}), &json!({"identifier": [number("mrn")]}), Some("mrn")),
            (json!({}), &nobody, None),
        ] {
            assert_eq!(MemberId::of(&coverage, person).map(|id| id.as_str()), expected, "{coverage}");
        }
    }

    #[test]
    fn a_coverage_is_in_force_within_its_period() {
        let coverage = json!({"status": "active", "period": {"start": "2026-01-01", "end": "2026-12"}});
        for (text, expected) in
            [("2025-12-31", false), ("2026-01-01", true), ("2026-12-31", true), ("2027-01-01", false)]
        {
            assert_eq!(Coverage::new(&coverage).is_in_force_on(&day(text)), expected, "{text}");
        }
        assert!(!Coverage::new(&json!({"status": "cancelled"})).is_in_force_on(&day("2026-01-01")));
        assert!(Coverage::new(&json!({"status": "active"})).is_in_force_on(&day("2026-01-01")));
    }

    #[test]
    fn the_coverage_in_force_counts() {
        let ended = json!({"status": "active", "period": {"end": "2025-12-31"}});
        let current = json!({"status": "active"});
        let cancelled = json!({"status": "cancelled"});
        let position =
            |coverages: &[&Value]| Coverage::position_in_force(coverages.iter().copied(), &day("2026-04-23"));
        assert_eq!(position(&[&cancelled, &ended, &current]), Some(2));
        assert_eq!(position(&[&cancelled, &ended]), Some(1));
        assert_eq!((position(&[&cancelled]), position(&[])), (Some(0), None));
    }

    #[test]
    fn the_plan_is_not_the_group() {
        let class = |code: &str, name: &str| json!({"type": {"coding": [{"code": code}]}, "name": name, "value": "v"});
        let plan = |coverage: Value| Coverage::new(&coverage).plan_name().map(str::to_owned);
        assert_eq!(plan(json!({"class": [class("group", "G"), class("plan", "P")]})).as_deref(), Some("P"));
        assert_eq!(plan(json!({"class": [class("plan", "")]})).as_deref(), Some("v"));
        assert_eq!(plan(json!({"class": [class("group", "G")], "type": {"text": "HMO"}})).as_deref(), Some("HMO"));
        assert_eq!(plan(json!({"class": [{"name": "N"}]})).as_deref(), Some("N"));
        assert_eq!(plan(json!({"class": [{"type": {"text": "plan"}, "name": "T"}]})).as_deref(), Some("T"));
        assert_eq!(plan(json!({"type": {"coding": [{"display": "D"}]}})).as_deref(), Some("D"));
        assert_eq!(plan(json!({})), None);
    }
}
