//! Claim, ClaimResponse and ExplanationOfBenefit whose amounts add up, with CARC and RARC.

use serde_json::{Value, json};

use super::Builder;
use super::coverage;
use super::elements::{ICD10, concept, hl7, money, reference, service};
use super::timeline::Visit;
use crate::date::Date;
use crate::practice::organization_of;
use crate::tables::{Denial, Fits};

const CARC: &str = "https://x12.org/codes/claim-adjustment-reason-codes";
const RARC: &str = "https://x12.org/codes/remittance-advice-remark-codes";

/// Days after which no payer of the population takes a claim.
const FILING_LIMIT: i64 = 365;

/// One billed line.
pub(crate) struct Service {
    pub(crate) code: String,
    pub(crate) name: String,
    pub(crate) cents: i64,
    /// MRI, CT and nuclear medicine, which payers authorize.
    pub(crate) advanced_imaging: bool,
}

/// Ids of what the three resources have in common, and the payer's decision.
struct Case {
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
    let fits = denial.and_then(|denial| denial.when);
    let delay = if fits == Some(Fits::Late) { FILING_LIMIT + 10 } else { 0 };
    let sent = visit.date.plus(delay + builder.random.between(1, 5));
    if fits == Some(Fits::Duplicate) {
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
    let case = Case {
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
        .map(|(place, line)| {
            json!({"sequence": place + 1, "careTeamSequence": [1], "diagnosisSequence": [1],
            "productOrService": service(&line.code, &line.name), "servicedDate": visit.date.to_string(),
            "locationCodeableConcept": place_of_service(visit.is_inpatient()),
            "quantity": {"value": 1}, "unitPrice": money(line.cents), "net": money(line.cents),
            "encounter": [reference("Encounter", encounter)]})
        })
        .collect();
    builder.resources.push(json!({"resourceType": "Claim", "id": case.claim, "status": "active",
        "identifier": [{"system": "urn:verial:claim", "value": case.claim}], "type": case.kind, "use": "claim",
        "patient": builder.subject(), "billablePeriod": {"start": visit.date.to_string(), "end": visit.date.to_string()},
        "created": case.submitted, "insurer": case.insurer, "provider": case.provider,
        "priority": hl7("processpriority", "normal", "Normal"), "insurance": case.insurance,
        "careTeam": [{"sequence": 1, "provider": who, "role": hl7("claimcareteamrole", "primary", "Primary provider")}],
        "diagnosis": [{"sequence": 1, "diagnosisCodeableConcept": concept(ICD10, &diagnosis.0, &diagnosis.1)}],
        "item": lines, "total": money(total)}));
    // What is not decided yet has no answer.
    if decided <= builder.as_of() {
        answer(builder, &case, visit, &who, diagnosis, services);
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
    // What is late or sent again is decided within the chart.
    let age = builder.as_of().since(visit.date);
    let denials = &builder.population.tables.denials;
    let weight = |denial: &Denial| {
        let fits = match denial.when {
            Some(Fits::CoverageEnded) => !covered,
            Some(Fits::SecondCoverage) => covered && second,
            Some(Fits::AdvancedImaging) => covered && imaging,
            Some(Fits::Late) => covered && age > FILING_LIMIT + 45,
            Some(Fits::Duplicate) => covered && age > 75,
            None => covered,
        };
        i64::from(fits) * denial.weight
    };
    denials.get(builder.random.weighted(denials.iter().map(weight)))
}

/// Charge, what the contract takes off, what the patient pays and what the payer pays.
struct Split {
    charge: i64,
    contract: i64,
    copay: i64,
    paid: i64,
}

impl Split {
    fn of(charge: i64, first: bool, denied: bool) -> Self {
        if denied {
            return Self { charge, contract: 0, copay: 0, paid: 0 };
        }
        let allowed = charge * 68 / 100;
        let copay = if first { 2500.min(allowed) } else { 0 };
        Self { charge, contract: charge - allowed, copay, paid: allowed - copay }
    }
}

fn adjudication(split: &Split, denial: Option<&Denial>) -> Value {
    let amount = |code: &str, display: &str, cents: i64| json!({"category": hl7("adjudication", code, display), "amount": money(cents)});
    let adjusted = |group: &str, carc: &str, text: &str, cents: i64| {
        json!({"category": concept("https://x12.org/codes/claim-adjustment-group-codes", group, group_name(group)),
            "reason": concept(CARC, carc, text), "amount": money(cents)})
    };
    let mut made = vec![amount("submitted", "Submitted Amount", split.charge)];
    match denial {
        Some(denial) => made.push(adjusted(&denial.group, &denial.carc, &denial.text, split.charge)),
        None => {
            made.push(amount("eligible", "Eligible Amount", split.charge - split.contract));
            made.push(adjusted("CO", "45", "Charge exceeds the contracted fee", split.contract));
            if split.copay > 0 {
                made.push(adjusted("PR", "3", "Co-payment", split.copay));
            }
        }
    }
    made.push(amount("benefit", "Benefit Amount", split.paid));
    Value::Array(made)
}

fn group_name(group: &str) -> &'static str {
    if group == "PR" { "Patient Responsibility" } else { "Contractual Obligations" }
}

fn answer(
    builder: &mut Builder<'_>,
    case: &Case,
    visit: &Visit,
    who: &Value,
    diagnosis: &(String, String),
    services: &[Service],
) {
    let splits: Vec<Split> = services
        .iter()
        .enumerate()
        .map(|(place, line)| Split::of(line.cents, place == 0, case.denial.is_some()))
        .collect();
    let lines = |with_service: bool| -> Vec<Value> {
        let made = services.iter().zip(&splits).enumerate().map(|(place, (line, split))| {
            let decisions = adjudication(split, case.denial);
            if with_service {
                json!({"sequence": place + 1, "diagnosisSequence": [1], "productOrService": service(&line.code, &line.name),
                    "servicedDate": visit.date.to_string(), "net": money(line.cents), "adjudication": decisions})
            } else {
                json!({"itemSequence": place + 1, "adjudication": decisions})
            }
        });
        made.collect()
    };
    let sum = |pick: fn(&Split) -> i64| splits.iter().map(pick).sum::<i64>();
    let totals = json!([
        {"category": hl7("adjudication", "submitted", "Submitted Amount"), "amount": money(sum(|split| split.charge))},
        {"category": hl7("adjudication", "benefit", "Benefit Amount"), "amount": money(sum(|split| split.paid))}]);
    let disposition = if case.denial.is_some() { "Denied" } else { "Paid" };
    let payment = json!({"type": hl7("ex-paymenttype", "complete", "Complete"), "date": case.decided,
        "amount": money(sum(|split| split.paid))});
    let mut response = json!({"resourceType": "ClaimResponse", "id": case.response, "status": "active", "type": case.kind,
        "use": "claim", "patient": builder.subject(), "created": case.decided, "insurer": case.insurer,
        "requestor": case.provider, "request": reference("Claim", &case.claim), "outcome": "complete",
        "disposition": disposition, "item": lines(false), "total": totals, "payment": payment});
    let id = builder.id("eob");
    let mut benefit = json!({"resourceType": "ExplanationOfBenefit", "id": id, "status": "active", "type": case.kind,
        "use": "claim", "patient": builder.subject(),
        "billablePeriod": {"start": visit.date.to_string(), "end": visit.date.to_string()}, "created": case.decided,
        "insurer": case.insurer, "provider": case.provider, "claim": reference("Claim", &case.claim),
        "claimResponse": reference("ClaimResponse", &case.response), "outcome": "complete", "disposition": disposition,
        "careTeam": [{"sequence": 1, "provider": who}],
        "diagnosis": [{"sequence": 1, "diagnosisCodeableConcept": concept(ICD10, &diagnosis.0, &diagnosis.1)}],
        "insurance": [{"focal": true, "coverage": case.insurance[0]["coverage"]}], "item": lines(true), "total": totals,
        "payment": payment});
    if let Some((rarc, note)) = case.denial.and_then(|denial| denial.rarc.as_ref().zip(denial.note.as_ref())) {
        let remark = json!([{"number": 1, "type": "display", "text": format!("{rarc}: {note}")}]);
        response["processNote"] = remark.clone();
        benefit["processNote"] = remark;
        let coded =
            json!({"category": hl7("adjudication", "benefit", "Benefit Amount"), "reason": concept(RARC, rarc, note)});
        if let Some(items) = benefit["item"][0]["adjudication"].as_array_mut() {
            items.push(coded);
        }
    }
    builder.resources.push(response);
    builder.resources.push(benefit);
}
