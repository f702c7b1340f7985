//! Charts are valid FHIR, refer to what is there, and hold together.

use std::collections::{BTreeMap, BTreeSet};

use clinical::PartialDateTime;
use fhir::validate::{Profile, conformance};
use serde_json::Value;
use verial_population::{Chart, Population, Spec};

fn population() -> Population {
    Population::new(3, Spec::default()).unwrap()
}

fn of_kind<'a>(chart: &'a Chart, kind: &'a str) -> impl DoubleEndedIterator<Item = &'a Value> {
    chart.resources.iter().filter(move |resource| resource["resourceType"] == kind)
}

fn text<'a>(value: &'a Value, path: &str) -> &'a str {
    value.pointer(path).and_then(Value::as_str).unwrap_or_default()
}

/// Every reference in a resource.
fn references<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| references(item, found)),
        Value::Object(members) => {
            found.extend(members.get("reference").and_then(Value::as_str));
            members.values().for_each(|member| references(member, found));
        }
        _ => {}
    }
}

fn names(resources: &[Value]) -> BTreeSet<String> {
    resources.iter().map(|r| format!("{}/{}", text(r, "/resourceType"), text(r, "/id"))).collect()
}

#[test]
fn every_resource_is_valid_and_every_reference_resolves() {
    let population = population();
    let shared = population.shared();
    let known = names(&shared);
    let mut seen = BTreeMap::new();
    for index in 0..30 {
        let resources = population.chart(index).resources;
        let own = names(&resources);
        assert_eq!(own.len(), resources.len(), "patient {index} has an id twice");
        for resource in resources.iter().chain(shared.iter().filter(|_| index == 0)) {
            let name = format!("{}/{}", text(resource, "/resourceType"), text(resource, "/id"));
            if let Err(faults) = fhir::validate(resource) {
                panic!("{name}: {faults:?}");
            }
            let mut found = Vec::new();
            references(resource, &mut found);
            for reference in found {
                assert!(own.contains(reference) || known.contains(reference), "{name} refers to {reference}");
            }
            *seen.entry(text(resource, "/resourceType").to_owned()).or_insert(0) += 1;
        }
    }
    assert!(seen.len() >= 26, "{seen:?}");
}

/// Invariants, required value sets, and the rules of the US Core profile that a resource claims.
#[test]
fn resources_keep_their_invariants_and_profiles() {
    let now = PartialDateTime::parse_fhir("2026-06-30T12:00:00Z").unwrap();
    let spec = Spec::parse("history_years: 2\nages: {under_18: 1, from_18_to_64: 1, from_65: 2}").unwrap();
    let population = Population::new(3, spec).unwrap();
    let is_shared = |resource: &Value| resource["resourceType"] != "Slot";
    let shared = population.shared().into_iter().filter(is_shared);
    for resource in shared.chain((0..8).flat_map(|index| population.chart(index).resources)) {
        let mut findings = conformance(&resource, now);
        let profile = text(&resource, "/meta/profile/0");
        if !profile.is_empty() {
            findings.extend(Profile::find(profile).unwrap_or_else(|| panic!("{profile}")).check(&resource, now));
        }
        findings.retain(|finding| !finding.is_warning);
        assert!(findings.is_empty(), "{resource}: {findings:?}");
    }
}

#[test]
fn nothing_happens_before_birth_or_after_death() {
    let population = population();
    for index in 0..40 {
        let chart = population.chart(index);
        let patient = &chart.resources[0];
        let (birth, death) = (text(patient, "/birthDate"), text(patient, "/deceasedDateTime"));
        for resource in &chart.resources {
            let paths =
                ["/effectiveDateTime", "/period/start", "/authoredOn", "/whenHandedOver", "/occurrenceDateTime"];
            let clinical = !matches!(text(resource, "/resourceType"), "Coverage" | "ServiceRequest" | "CarePlan");
            for date in paths.iter().map(|path| text(resource, path)).filter(|date| clinical && !date.is_empty()) {
                let day = &date[..10];
                assert!(day >= birth, "{index}: {resource} before {birth}");
                assert!(death.is_empty() || day <= death, "{index}: {resource} after {death}");
                assert!(day <= "2026-06-30", "{index}: {resource}");
            }
        }
    }
}

/// Luhn with the prefix 80840.
fn is_npi(npi: &str) -> bool {
    let digits = format!("80840{npi}");
    let sum: u32 = digits
        .bytes()
        .rev()
        .enumerate()
        .map(|(place, byte)| {
            let digit = u32::from(byte - b'0') * if place % 2 == 1 { 2 } else { 1 };
            digit / 10 + digit % 10
        })
        .sum();
    npi.len() == 10 && sum.is_multiple_of(10)
}

#[test]
fn npis_are_valid_and_unique() {
    let mut npis = BTreeSet::new();
    for resource in population().shared() {
        let npi = text(&resource, "/identifier/0/value").to_owned();
        if text(&resource, "/identifier/0/system").ends_with("us-npi") {
            assert!(is_npi(&npi), "{npi}");
            assert!(npis.insert(npi), "{resource}");
        }
    }
    assert!(npis.len() > 20);
}

/// The last value of a LOINC code in the chart, in thousandths.
fn last(chart: &Chart, loinc: &str) -> Option<(f64, String)> {
    let found = of_kind(chart, "Observation").filter(|o| text(o, "/code/coding/0/code") == loinc);
    let last = found.max_by_key(|o| text(o, "/effectiveDateTime").to_owned())?;
    Some((last["valueQuantity"]["value"].as_f64()?, text(last, "/effectiveDateTime")[..10].to_owned()))
}

fn takes(chart: &Chart, drug: &str) -> bool {
    of_kind(chart, "MedicationRequest")
        .any(|m| m["status"] == "active" && text(m, "/medicationCodeableConcept/text") == drug)
}

/// Without dirt, so that every result has its code and unit.
fn clean(modules: &str) -> Population {
    let rates: Vec<String> = verial_population::DIRT.iter().map(|(name, ..)| format!("{name}: 0")).collect();
    let text = format!(
        "ages: {{under_18: 0, from_18_to_64: 1, from_65: 3}}\nmodules: {modules}\ndirt: {{{}}}",
        rates.join(", ")
    );
    Population::new(11, Spec::parse(&text).unwrap()).unwrap()
}

#[test]
fn kidney_function_and_anticoagulants_change_treatment() {
    let population =
        clean("{diabetes: 400, ckd: 400, atrial-fibrillation: 1000, low-back-pain: 200, colon-screening: 130}");
    let (mut halved, mut reduced, mut held) = (0, 0, 0);
    for index in 0..60 {
        let chart = population.chart(index);
        if let Some((egfr, _)) = last(&chart, "98979-8") {
            assert!(!takes(&chart, "metformin 1000 mg") || egfr >= 45.0, "{index}: eGFR {egfr}");
            assert!(!takes(&chart, "metformin 500 mg") || egfr >= 30.0, "{index}: eGFR {egfr}");
            halved += usize::from(takes(&chart, "metformin 500 mg"));
        }
        let apixaban = (takes(&chart, "apixaban 5 mg"), takes(&chart, "apixaban 2.5 mg"));
        assert_ne!(apixaban, (true, true));
        assert!(apixaban == (false, false) || !takes(&chart, "warfarin 5 mg"));
        if let (true, Some((weight, day)), Some((creatinine, _))) =
            (apixaban.0 || apixaban.1, last(&chart, "29463-7"), last(&chart, "2160-0"))
        {
            let born = text(&chart.resources[0], "/birthDate");
            let years =
                day[..4].parse::<i64>().unwrap() - born[..4].parse::<i64>().unwrap() - i64::from(day[5..] < born[5..]);
            let criteria = [years >= 80, weight <= 60.0, creatinine >= 1.5].into_iter().filter(|holds| *holds).count();
            assert_eq!(criteria >= 2, apixaban.1, "{index}: {years} years, {weight} kg, creatinine {creatinine}");
            reduced += usize::from(apixaban.1);
        }
        held += of_kind(&chart, "Procedure").filter(|p| text(p, "/note/0/text").contains("last dose")).count();
    }
    assert!(halved > 0 && reduced > 0 && held > 0, "{halved} {reduced} {held}");
}

#[test]
fn no_nsaid_starts_under_an_anticoagulant() {
    let population = clean("{atrial-fibrillation: 1000, low-back-pain: 250}");
    let mut courses = 0;
    for index in 0..25 {
        let chart = population.chart(index);
        let requests: Vec<&Value> = of_kind(&chart, "MedicationRequest").collect();
        let name = |request: &Value| text(request, "/medicationCodeableConcept/text").to_owned();
        let first = requests.iter().filter(|m| name(m).starts_with("apixaban")).map(|m| text(m, "/authoredOn")).min();
        for nsaid in requests.iter().filter(|m| name(m).starts_with("naproxen")) {
            assert!(first.is_none_or(|first| text(nsaid, "/authoredOn") <= first), "{index}: {nsaid}");
        }
        courses += requests.iter().filter(|m| name(m).starts_with("acetaminophen")).count();
    }
    assert!(courses > 0);
}

#[test]
fn amounts_of_a_claim_add_up() {
    let population = population();
    let cents = |value: &Value| (value["value"].as_f64().unwrap_or(0.0) * 100.0).round() as i64;
    let mut denied = 0;
    for index in 0..20 {
        for benefit in of_kind(&population.chart(index), "ExplanationOfBenefit") {
            for item in benefit["item"].as_array().unwrap() {
                let parts = item["adjudication"].as_array().unwrap();
                let of = |code: &str| parts.iter().find(|part| text(part, "/category/coding/0/code") == code);
                let adjusted: i64 = parts.iter().filter(|p| p["reason"].is_object()).map(|p| cents(&p["amount"])).sum();
                let paid = of("benefit").map_or(0, |part| cents(&part["amount"]));
                assert_eq!(of("submitted").map(|part| cents(&part["amount"])), Some(adjusted + paid), "{item}");
            }
            denied += usize::from(benefit["disposition"] == "Denied");
        }
    }
    assert!(denied > 5);
}
