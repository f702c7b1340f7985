//! Claim, ClaimResponse and ExplanationOfBenefit with consistent amounts, CARC and RARC.

use serde_json::{Value, json};

use super::Builder;
use super::coverage;
use super::elements::{ICD10, concept, hl7, money, reference, service};
use super::timeline::Visit;
use crate::date::Date;
use crate::practice::organization_of;
use crate::tables::{Denial, DenialCondition};

const CARC: &str = "https://x12.org/codes/claim-adjustment-reason-codes";
const RARC: &str = "https://x12.org/codes/remittance-advice-remark-codes";

/// Days after which payers reject a claim.
const FILING_LIMIT: i64 = 365;

/// One billed line.
pub(crate) struct Service {
    pub(crate) code: String,
    pub(crate) name: String,
    pub(crate) cents: i64,
    /// MRI, CT and nuclear medicine, which payers authorize.
    pub(crate) advanced_imaging: bool,
}

/// The values that the three resources share, and the payer's decision.
struct ClaimContext {
    claim: String,
    response: String,
    insurance: Value,
    insurer: Value,
    provider: Value,
    kind: Value,
    denial: Option<&'static Denial>,
    submitted: String,
    decided: String,
}

pub(super) fn write(
    builder: &mut Builder<'_>,
    visit: &Visit,
    encounter: &str,
    diagnosis: &(String, String),
    services: &[Service],
) {
    let covered = coverage::of_day(builder, visit.date).is_some_and(|(_, covered)| covered);
    let denial = denial(builder, visit, covered, services);
    let condition = denial.and_then(|denial| denial.when);
    let delay = if condition == Some(DenialCondition::Late) { FILING_LIMIT + 10 } else { 0 };
    let sent = visit.date.plus(delay + builder.random.between(1, 5));
    if condition == Some(DenialCondition::Duplicate) {
        // The payer has accepted the same claim before.
        submit(builder, visit, encounter, diagnosis, services, (sent, None));
        let again = sent.plus(builder.random.between(25, 40));
        submit(builder, visit, encounter, diagnosis, services, (again, denial));
    } else {
        submit(builder, visit, encounter, diagnosis, services, (sent, denial));
    }
}

fn submit(
    builder: &mut Builder<'_>,
    visit: &Visit,
    encounter: &str,
    diagnosis: &(String, String),
    services: &[Service],
    (sent, denial): (Date, Option<&'static Denial>),
) {
    let decided = sent.plus(builder.random.between(9, 30));
    let Some((coverage, _)) = coverage::of_day(builder, visit.date).filter(|_| !services.is_empty()) else { return };
    let insurance = json!([{"sequence": 1, "focal": true, "coverage": reference("Coverage", &coverage.id)}]);
    let insurer = json!({"reference": format!("Organization/{}", coverage.payer.id), "display": coverage.payer.name});
    let context = ClaimContext {
        insurance,
        insurer,
        provider: reference("Organization", organization_of(visit.specialty)),
        kind: hl7("claim-type", "professional", "Professional"),
        denial,
        claim: builder.id("claim"),
        response: builder.id("resp"),
        submitted: sent.to_string(),
        decided: decided.to_string(),
    };
    let who = builder.population.practice.of_specialty(visit.specialty, builder.person.index).reference();
    let total: i64 = services.iter().map(|service| service.cents).sum();
    let lines: Vec<Value> = services
        .iter()
        .enumerate()
        .map(|(index, line)| {
            json!({"sequence": index + 1, "careTeamSequence": [1], "diagnosisSequence": [1],
            "productOrService": service(&line.code, &line.name), "servicedDate": visit.date.to_string(),
            "locationCodeableConcept": place_of_service(visit.is_inpatient()),
            "quantity": {"value": 1}, "unitPrice": money(line.cents), "net": money(line.cents),
            "encounter": [reference("Encounter", encounter)]})
        })
        .collect();
    builder.resources.push(json!({"resourceType": "Claim", "id": context.claim, "status": "active",
        "identifier": [{"system": "urn:verial:claim", "value": context.claim}], "type": context.kind, "use": "claim",
        "patient": builder.subject(), "billablePeriod": {"start": visit.date.to_string(), "end": visit.date.to_string()},
        "created": context.submitted, "insurer": context.insurer, "provider": context.provider,
        "priority": hl7("processpriority", "normal", "Normal"), "insurance": context.insurance,
        "careTeam": [{"sequence": 1, "provider": who, "role": hl7("claimcareteamrole", "primary", "Primary provider")}],
        "diagnosis": [{"sequence": 1, "diagnosisCodeableConcept": concept(ICD10, &diagnosis.0, &diagnosis.1)}],
        "item": lines, "total": money(total)}));
    // An undecided claim has no response.
    if decided <= builder.as_of() {
        add_responses(builder, &context, visit, &who, diagnosis, services);
    }
}

fn place_of_service(inpatient: bool) -> Value {
    let (code, display) = if inpatient { ("21", "Inpatient Hospital") } else { ("11", "Office") };
    concept("https://www.cms.gov/Medicare/Coding/place-of-service-codes/Place_of_Service_Code_Set", code, display)
}

fn denial(builder: &mut Builder<'_>, visit: &Visit, covered: bool, services: &[Service]) -> Option<&'static Denial> {
    let percent = builder.population.spec.denied_percent;
    if covered && !builder.random.percent(percent) {
        return None;
    }
    let second = coverage::has_second(builder, visit.date);
    let imaging = services.iter().any(|service| service.advanced_imaging);
    // Late and duplicate claims must be old enough to be decided within the chart.
    let age = builder.as_of().since(visit.date);
    let denials = &builder.population.tables.denials;
    let weight = |denial: &Denial| {
        let condition = match denial.when {
            Some(DenialCondition::CoverageEnded) => !covered,
            Some(DenialCondition::SecondCoverage) => covered && second,
            Some(DenialCondition::AdvancedImaging) => covered && imaging,
            Some(DenialCondition::Late) => covered && age > FILING_LIMIT + 45,
            Some(DenialCondition::Duplicate) => covered && age > 75,
            None => covered,
        };
        i64::from(condition) * denial.weight
    };
    denials.get(builder.random.weighted(denials.iter().map(weight)))
}

/// The charge, the contractual adjustment, and the payments of the patient and the payer.
struct AmountSplit {
    charge: i64,
    contract: i64,
    copay: i64,
    paid: i64,
}

impl AmountSplit {
    fn of(charge: i64, first: bool, denied: bool) -> Self {
        if denied {
            return Self { charge, contract: 0, copay: 0, paid: 0 };
        }
        let allowed = charge * 68 / 100;
        let copay = if first { 2500.min(allowed) } else { 0 };
        Self { charge, contract: charge - allowed, copay, paid: allowed - copay }
    }
}

fn adjudication(split: &AmountSplit, denial: Option<&Denial>) -> Value {
    let amount = |code: &str, display: &str, cents: i64| json!({"category": hl7("adjudication", code, display), "amount": money(cents)});
    let adjusted = |group: &str, carc: &str, text: &str, cents: i64| {
        json!({"category": concept("https://x12.org/codes/claim-adjustment-group-codes", group, group_name(group)),
            "reason": concept(CARC, carc, text), "amount": money(cents)})
    };
    let mut amounts = vec![amount("submitted", "Submitted Amount", split.charge)];
    match denial {
        Some(denial) => amounts.push(adjusted(&denial.group, &denial.carc, &denial.text, split.charge)),
        None => {
            amounts.push(amount("eligible", "Eligible Amount", split.charge - split.contract));
            amounts.push(adjusted("CO", "45", "Charge exceeds the contracted fee", split.contract));
            if split.copay > 0 {
                amounts.push(adjusted("PR", "3", "Co-payment", split.copay));
            }
        }
    }
    amounts.push(amount("benefit", "Benefit Amount", split.paid));
    Value::Array(amounts)
}

fn group_name(group: &str) -> &'static str {
    if group == "PR" { "Patient Responsibility" } else { "Contractual Obligations" }
}

fn add_responses(
    builder: &mut Builder<'_>,
    context: &ClaimContext,
    visit: &Visit,
    who: &Value,
    diagnosis: &(String, String),
    services: &[Service],
) {
    let splits: Vec<AmountSplit> = services
        .iter()
        .enumerate()
        .map(|(index, line)| AmountSplit::of(line.cents, index == 0, context.denial.is_some()))
        .collect();
    let sum = |pick: fn(&AmountSplit) -> i64| splits.iter().map(pick).sum::<i64>();
    let totals = json!([
        {"category": hl7("adjudication", "submitted", "Submitted Amount"), "amount": money(sum(|split| split.charge))},
        {"category": hl7("adjudication", "benefit", "Benefit Amount"), "amount": money(sum(|split| split.paid))}]);
    let disposition = if context.denial.is_some() { "Denied" } else { "Paid" };
    let payment = json!({"type": hl7("ex-paymenttype", "complete", "Complete"), "date": context.decided,
        "amount": money(sum(|split| split.paid))});
    let mut response = json!({"resourceType": "ClaimResponse", "id": context.response, "status": "active", "type": context.kind,
        "use": "claim", "patient": builder.subject(), "created": context.decided, "insurer": context.insurer,
        "requestor": context.provider, "request": reference("Claim", &context.claim), "outcome": "complete",
        "disposition": disposition, "item": response_items(services, &splits, context), "total": totals, "payment": payment});
    let id = builder.id("eob");
    let mut benefit = json!({"resourceType": "ExplanationOfBenefit", "id": id, "status": "active", "type": context.kind,
        "use": "claim", "patient": builder.subject(),
        "billablePeriod": {"start": visit.date.to_string(), "end": visit.date.to_string()}, "created": context.decided,
        "insurer": context.insurer, "provider": context.provider, "claim": reference("Claim", &context.claim),
        "claimResponse": reference("ClaimResponse", &context.response), "outcome": "complete", "disposition": disposition,
        "careTeam": [{"sequence": 1, "provider": who}],
        "diagnosis": [{"sequence": 1, "diagnosisCodeableConcept": concept(ICD10, &diagnosis.0, &diagnosis.1)}],
        "insurance": [{"focal": true, "coverage": context.insurance[0]["coverage"]}], "item": benefit_items(visit, services, &splits, context), "total": totals,
        "payment": payment});
    add_remark(context, &mut response, &mut benefit);
    builder.resources.push(response);
    builder.resources.push(benefit);
}

fn response_items(services: &[Service], splits: &[AmountSplit], context: &ClaimContext) -> Vec<Value> {
    let items = services.iter().zip(splits).zip(1..);
    items
        .map(|((_, split), sequence)| {
            json!({"itemSequence": sequence, "adjudication": adjudication(split, context.denial)})
        })
        .collect()
}

fn benefit_items(visit: &Visit, services: &[Service], splits: &[AmountSplit], context: &ClaimContext) -> Vec<Value> {
    let items = services.iter().zip(splits).zip(1..);
    items
        .map(|((line, split), sequence)| {
            json!({"sequence": sequence, "diagnosisSequence": [1], "productOrService": service(&line.code, &line.name),
                "servicedDate": visit.date.to_string(), "net": money(line.cents),
                "adjudication": adjudication(split, context.denial)})
        })
        .collect()
}

/// Adds the remark of a denial to both resources.
fn add_remark(context: &ClaimContext, response: &mut Value, benefit: &mut Value) {
    let Some((rarc, note)) = context.denial.and_then(|denial| denial.rarc.as_ref().zip(denial.note.as_ref())) else {
        return;
    };
    let remark = json!([{"number": 1, "type": "display", "text": format!("{rarc}: {note}")}]);
    response["processNote"] = remark.clone();
    benefit["processNote"] = remark;
    let coded =
        json!({"category": hl7("adjudication", "benefit", "Benefit Amount"), "reason": concept(RARC, rarc, note)});
    if let Some(items) = benefit["item"][0]["adjudication"].as_array_mut() {
        items.push(coded);
    }
}
