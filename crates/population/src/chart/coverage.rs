//! Coverage: history, a second payer in the right order, and deliberate errors.

use serde_json::json;

use super::Builder;
use super::elements::{hl7, meta, reference};
use super::patient::{address, parent_id};
use crate::date::Date;
use crate::tables::Payer;

pub(crate) struct Coverage {
    pub(crate) id: String,
    pub(crate) payer: &'static Payer,
    pub(crate) start: Date,
    pub(crate) end: Option<Date>,
    /// The order of payment, from 1.
    pub(crate) order: u32,
}

impl Coverage {
    fn covers(&self, date: Date) -> bool {
        self.start <= date && self.end.is_none_or(|end| date <= end)
    }
}

/// The coverage to which a claim of this day is sent: the one that pays first, or the last one if all have ended.
pub(super) fn of_day<'b>(builder: &'b Builder<'_>, date: Date) -> Option<(&'b Coverage, bool)> {
    let current = builder.coverages.iter().filter(|coverage| coverage.covers(date)).min_by_key(|c| c.order);
    current.map(|coverage| (coverage, true)).or_else(|| builder.coverages.last().map(|coverage| (coverage, false)))
}

pub(super) fn has_second(builder: &Builder<'_>, date: Date) -> bool {
    builder.coverages.iter().filter(|coverage| coverage.covers(date)).count() > 1
}

pub(super) fn write(builder: &mut Builder<'_>) {
    let spec = &builder.population.spec;
    let (start, as_of, age) =
        (spec.start().plus(-400).max(builder.person.birth), spec.as_of, builder.person.age(spec.as_of));
    let rates = spec.dirt.clone();
    let turns_65 = builder.person.birth.plus_years(65);
    let changes = builder.random.percent(35).then(|| as_of.plus(-builder.random.between(200, 1500)));
    let changed = if turns_65 > start && turns_65 <= as_of { Some(turns_65) } else { changes };
    let changed = changed.filter(|date| *date > start.plus(30));
    if let Some(date) = changed {
        let overlaps = builder.soils("coverage_overlap", rates.coverage_overlap);
        let end = if overlaps { date.plus(75) } else { date.plus(-1) };
        let payer = pick(builder, builder.person.age(start));
        add(builder, payer, start, Some(end.min(as_of)), 1, None);
    }
    let first = changed.unwrap_or(start);
    let end = as_of.plus(-builder.random.between(20, 150));
    let ended = age < 65 && end > first && builder.soils("coverage_ended", rates.coverage_ended);
    let payer = pick(builder, age);
    let payers = &builder.population.tables.practice.payers;
    // The plan of a spouse or the other parent, or one in addition to Medicare. Patients of 18 to 25 have a parent's plan.
    let has_second = builder.random.percent(8) && !ended && !(18..26).contains(&age);
    let second = payers.iter().find(|other| has_second && other.id != payer.id && other.kind == "EHCPOL");
    // Medicaid pays last.
    let (order, other_order) = if second.is_some() && payer.kind == "SUBSIDIZ" { (2, 1) } else { (1, 2) };
    add(builder, payer, first, ended.then_some(end), order, None);
    if let Some(second) = second {
        let spouse = (26..65).contains(&age).then(|| write_spouse(builder));
        add(builder, second, first.max(as_of.plus(-700)), None, other_order, spouse.as_deref());
    }
}

/// The spouse who is the subscriber of a second plan.
fn write_spouse(builder: &mut Builder<'_>) -> String {
    let names = &builder.population.tables.names;
    let given = builder.random.text(if builder.person.female { &names.male } else { &names.female }).to_owned();
    let id = builder.id("spouse");
    builder.resources.push(json!({"resourceType": "RelatedPerson", "id": id, "meta": meta("us-core-relatedperson"),
        "active": true, "patient": builder.subject(), "relationship": [hl7("v3-RoleCode", "SPS", "spouse")],
        "name": [{"family": builder.person.family, "given": [given]}],
        "telecom": [{"system": "phone", "value": builder.person.phone, "use": "home"}],
        "address": [address(&builder.person)]}));
    id
}

fn pick(builder: &mut Builder<'_>, age: i64) -> &'static Payer {
    let payers = &builder.population.tables.practice.payers;
    let weight = |payer: &Payer| if (payer.ages[0]..=payer.ages[1]).contains(&age) { payer.weight } else { 0 };
    &payers[builder.random.weighted(payers.iter().map(weight))]
}

/// `spouse` is the id of the subscriber, if that is the patient's spouse.
fn add(
    builder: &mut Builder<'_>,
    payer: &'static Payer,
    start: Date,
    end: Option<Date>,
    order: u32,
    spouse: Option<&str>,
) {
    let end = end.or(builder.person.death);
    let id = builder.id("cov");
    let member = format!("{}{:09}", payer.prefix, builder.random.below(1_000_000_000));
    let is_child = builder.person.age(builder.as_of()) < 18;
    let (relationship, relationship_name, subscriber) = match spouse {
        Some(spouse) => ("spouse", "Spouse", reference("RelatedPerson", spouse)),
        None if is_child => ("child", "Child", reference("RelatedPerson", &parent_id(&builder.person))),
        None => ("self", "Self", builder.subject()),
    };
    let mut period = json!({"start": start.to_string()});
    if let Some(end) = end {
        period["end"] = end.to_string().into();
    }
    let mut kind = hl7("v3-ActCode", &payer.kind, "");
    kind["coding"][0]["display"] = plan_name(&payer.kind).into();
    let class = |code: &str, display: &str, value: &str| json!({"type": hl7("coverage-class", code, display), "value": value, "name": payer.plan});
    let group = format!("G{:05}", builder.random.below(100_000));
    builder.resources.push(json!({"resourceType": "Coverage", "id": id, "meta": meta("us-core-coverage"),
        "identifier": [{"type": hl7("v2-0203", "MB", "Member Number"), "system": format!("urn:verial:{}", payer.id), "value": member}],
        "status": if end.is_some_and(|end| end < builder.as_of()) { "cancelled" } else { "active" }, "type": kind,
        "subscriber": subscriber, "subscriberId": member, "beneficiary": builder.subject(), "dependent": "01",
        "relationship": hl7("subscriber-relationship", relationship, relationship_name), "period": period,
        "payor": [{"reference": format!("Organization/{}", payer.id), "display": payer.name}],
        "class": [class("group", "Group", &group), class("plan", "Plan", &payer.plan)], "order": order}));
    builder.coverages.push(Coverage { id, payer, start, end, order });
}

fn plan_name(kind: &str) -> &'static str {
    match kind {
        "SUBSIDIZ" => "subsidized health program",
        "MCPOL" => "managed care policy",
        _ => "extended healthcare",
    }
}
