//! What a clinician, a coder or a payer would object to does not occur.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use verial_population::{Chart, DIRT, Population, Spec};

/// Without dirt; `more` has further members of the specification.
fn clean(more: &str) -> Population {
    let rates: Vec<String> = DIRT.iter().map(|(name, ..)| format!("{name}: 0")).collect();
    Population::new(11, Spec::parse(&format!("dirt: {{{}}}\n{more}", rates.join(", "))).unwrap()).unwrap()
}

const CHILDREN: &str = "ages: {under_18: 1, from_18_to_64: 0, from_65: 0}";
const SICK: &str = "ages: {under_18: 0, from_18_to_64: 1, from_65: 3}
modules: {hypertension: 200, diabetes: 300, ckd: 300, heart-failure: 900, atrial-fibrillation: 600, copd: 600, asthma: 600, rheumatoid-arthritis: 1000}";

fn of_kind<'a>(chart: &'a Chart, kind: &'a str) -> impl DoubleEndedIterator<Item = &'a Value> {
    chart.resources.iter().filter(move |resource| resource["resourceType"] == kind)
}

fn text<'a>(value: &'a Value, path: &str) -> &'a str {
    value.pointer(path).and_then(Value::as_str).unwrap_or_default()
}

/// Days of a date since the year 0, near enough to compare.
fn days(date: &str) -> i64 {
    let part = |range: std::ops::Range<usize>| date[range].parse::<i64>().unwrap();
    let (year, month, day) = (part(0..4), part(5..7), part(8..10));
    let (year, month) = if month <= 2 { (year - 1, month + 9) } else { (year, month - 3) };
    year * 365 + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day
}

#[test]
fn children_have_the_diseases_and_tests_of_children() {
    let population = clean(CHILDREN);
    for index in 0..80 {
        let chart = population.chart(index);
        let birth = days(text(&chart.resources[0], "/birthDate"));
        for condition in of_kind(&chart, "Condition") {
            let age = (days(text(condition, "/onsetDateTime")) - birth) / 365;
            let code = text(condition, "/code/coding/0/code");
            let is_usual = ["J45", "J20", "Z", "O"].iter().any(|start| code.starts_with(start));
            assert!(is_usual || age >= 11, "{index}: {code} at {age}");
        }
        for result in of_kind(&chart, "Observation") {
            let age = (days(text(result, "/effectiveDateTime")) - birth) / 365;
            match text(result, "/code/coding/0/code") {
                "98979-8" => assert!(age >= 17, "{index}: eGFR at {age}"),
                "19926-5" => assert!(age >= 5, "{index}: spirometry at {age}"),
                _ => {}
            }
        }
    }
}

#[test]
fn vaccines_keep_their_ages_and_intervals() {
    // CVX, doses of the series, least age of the first in days, least interval.
    let series = [
        ("03", 2, 365, 28),
        ("21", 2, 365, 84),
        ("20", 5, 56, 28),
        ("165", 2, 365 * 11, 150),
        ("83", 2, 365, 180),
        ("116", 3, 56, 28),
    ];
    let population = clean(CHILDREN);
    let mut seen = BTreeSet::new();
    for index in 0..80 {
        let chart = population.chart(index);
        let birth = days(text(&chart.resources[0], "/birthDate"));
        let mut doses: BTreeMap<&str, Vec<i64>> = BTreeMap::new();
        for dose in of_kind(&chart, "Immunization") {
            let (cvx, date) = (text(dose, "/vaccineCode/coding/0/code"), text(dose, "/occurrenceDateTime"));
            let month: i64 = date[5..7].parse().unwrap();
            assert!(cvx != "140" || !(3..=8).contains(&month), "{index}: influenza vaccine on {date}");
            doses.entry(cvx).or_default().push(days(date) - birth);
        }
        for (cvx, most, first, interval) in series {
            let ages = doses.get(cvx).cloned().unwrap_or_default();
            assert!(ages.len() <= most && ages.first().is_none_or(|age| *age >= first), "{index}: {cvx} at {ages:?}");
            assert!(ages.windows(2).all(|pair| pair[1] - pair[0] >= interval), "{index}: {cvx} at {ages:?}");
            seen.extend((!ages.is_empty()).then_some(cvx));
        }
    }
    assert_eq!(seen.len(), series.len(), "{seen:?}");
}

#[test]
fn adults_get_two_zoster_doses_and_one_influenza_dose_a_season() {
    let population = clean("ages: {under_18: 0, from_18_to_64: 0, from_65: 1}");
    let mut complete = 0;
    for index in 0..25 {
        let chart = population.chart(index);
        let of = |cvx: &'static str| {
            of_kind(&chart, "Immunization").filter(move |i| text(i, "/vaccineCode/coding/0/code") == cvx)
        };
        let dates = |cvx| of(cvx).map(|dose| days(text(dose, "/occurrenceDateTime"))).collect::<Vec<_>>();
        let zoster = dates("187");
        assert!(zoster.len() <= 2 && zoster.windows(2).all(|pair| pair[1] - pair[0] >= 60), "{index}: {zoster:?}");
        complete += usize::from(zoster.len() == 2);
        assert!(dates("140").windows(2).all(|pair| pair[1] - pair[0] > 180), "{index}");
        for claim in of_kind(&chart, "Claim") {
            let code = |item: &&Value| text(item, "/productOrService/coding/0/code") == "90471";
            assert!(claim["item"].as_array().unwrap().iter().filter(code).count() <= 1, "{claim}");
        }
    }
    assert!(complete > 0);
}

#[test]
fn no_two_drugs_of_a_group_are_taken_together() {
    let groups: [&[&str]; 5] = [
        &["lisinopril", "losartan"],
        &["metoprolol", "carvedilol"],
        &["fluticasone"],
        &["apixaban", "warfarin"],
        &["atorvastatin"],
    ];
    let population = clean(SICK);
    for index in 0..40 {
        let chart = population.chart(index);
        for group in groups {
            let is_of = |m: &&Value| {
                let name = text(m, "/medicationCodeableConcept/text");
                m["status"] == "active" && group.iter().any(|start| name.starts_with(start))
            };
            let taken = of_kind(&chart, "MedicationRequest").filter(is_of).count();
            assert!(taken <= 1, "{index}: {taken} of {group:?}");
        }
    }
}

#[test]
fn fills_keep_to_their_prescriptions() {
    let population = clean(SICK);
    let (mut weekly, mut refills) = (0, 0);
    for index in 0..20 {
        let chart = population.chart(index);
        for request in of_kind(&chart, "MedicationRequest") {
            let reference = format!("MedicationRequest/{}", text(request, "/id"));
            let is_own = |fill: &&Value| text(fill, "/authorizingPrescription/0/reference") == reference;
            let fills: Vec<&Value> = of_kind(&chart, "MedicationDispense").filter(is_own).collect();
            let repeats = request["dispenseRequest"]["numberOfRepeatsAllowed"].as_u64().unwrap();
            assert!(fills.len() as u64 <= repeats + 1, "{index}: {} fills of {request}", fills.len());
            for (number, fill) in fills.iter().enumerate() {
                assert_eq!(text(fill, "/type/coding/0/code"), if number == 0 { "FF" } else { "RF" });
                refills += number;
            }
            if text(request, "/medicationCodeableConcept/text").starts_with("methotrexate") {
                assert_eq!(request["dispenseRequest"]["quantity"]["value"], 24);
                weekly += 1;
            }
        }
    }
    assert!(weekly > 0 && refills > 0);
}

#[test]
fn the_inr_is_not_one_of_a_few_steps() {
    let population = clean("ages: {under_18: 0, from_18_to_64: 0, from_65: 1}\nmodules: {atrial-fibrillation: 1000}");
    let is_inr = |o: &&Value| text(o, "/code/coding/0/code") == "6301-6";
    let of = |index: u64| -> Vec<String> {
        let chart = population.chart(index);
        let found = of_kind(&chart, "Observation").filter(is_inr);
        found.map(|o| o["valueQuantity"]["value"].to_string()).collect()
    };
    let values: BTreeSet<String> = (0..40).flat_map(of).collect();
    assert!(values.len() > 6, "{values:?}");
}

#[test]
fn medicaid_pays_last_and_a_spouse_is_the_subscriber() {
    let population = clean("history_years: 1\nages: {under_18: 0, from_18_to_64: 1, from_65: 0}");
    let (mut spouses, mut last) = (0, 0);
    for index in 0..250 {
        let chart = population.chart(index);
        let current: Vec<&Value> = of_kind(&chart, "Coverage").filter(|c| c["status"] == "active").collect();
        for coverage in current.iter().filter(|_| current.len() > 1) {
            let is_medicaid = text(coverage, "/payor/0/reference").ends_with("medicaid");
            assert!(!is_medicaid || coverage["order"] == 2, "{index}: {coverage}");
            last += usize::from(is_medicaid);
            let spouse = text(coverage, "/relationship/coding/0/code") == "spouse";
            assert_eq!(spouse, text(coverage, "/subscriber/reference").starts_with("RelatedPerson/"), "{coverage}");
            spouses += usize::from(spouse);
        }
    }
    assert!(spouses > 0 && last > 0, "{spouses} {last}");
}

#[test]
fn denials_have_their_reason_in_the_claim() {
    let population = clean("denied_percent: 100\nages: {under_18: 0, from_18_to_64: 1, from_65: 1}");
    let mut seen = BTreeSet::new();
    for index in 0..40 {
        let chart = population.chart(index);
        let claims: BTreeMap<String, &Value> =
            of_kind(&chart, "Claim").map(|claim| (format!("Claim/{}", text(claim, "/id")), claim)).collect();
        for benefit in of_kind(&chart, "ExplanationOfBenefit") {
            let claim = claims[text(benefit, "/claim/reference")];
            let encounter = text(claim, "/item/0/encounter/0/reference");
            let code = text(claim, "/item/0/productOrService/coding/0/code");
            let adjudications = benefit["item"][0]["adjudication"].as_array().unwrap();
            let carc = adjudications.iter().map(|a| text(a, "/reason/coding/0/code")).find(|code| !code.is_empty());
            match carc.unwrap_or_default() {
                "29" => assert!(days(text(claim, "/created")) - days(text(claim, "/billablePeriod/start")) > 365),
                "18" => {
                    let same = |c: &&&Value| {
                        text(c, "/item/0/encounter/0/reference") == encounter
                            && text(c, "/created") < text(claim, "/created")
                    };
                    assert_eq!(claims.values().filter(same).count(), 1, "{claim}");
                }
                "197" => assert_eq!(code, "72148", "{claim}"),
                _ => continue,
            }
            seen.extend(carc.map(str::to_owned));
        }
    }
    assert_eq!(seen.len(), 3, "{seen:?}");
}

#[test]
fn problem_lists_follow_the_rules_of_icd_10_cm() {
    let population = clean(SICK);
    let mut combined = 0;
    for index in 0..40 {
        let chart = population.chart(index);
        let is_active = |c: &&Value| text(c, "/clinicalStatus/coding/0/code") == "active";
        let codes: Vec<&str> =
            of_kind(&chart, "Condition").filter(is_active).map(|c| text(c, "/code/coding/0/code")).collect();
        let has = |start: &str| codes.iter().any(|code| code.starts_with(start));
        assert!(!(codes.contains(&"E11.9") && (has("E11.2") || has("E11.4") || has("E11.6"))), "{index}: {codes:?}");
        assert!(!(has("I10") && (has("N18") || has("I50"))), "{index}: {codes:?}");
        combined += usize::from(has("I11") || has("I12") || has("I13"));
    }
    assert!(combined > 0);
}

#[test]
fn a_delivery_is_in_the_hospital_and_billed_once() {
    let population =
        clean("ages: {under_18: 0, from_18_to_64: 1, from_65: 0}\nfemale_percent: 100\nmodules: {pregnancy: 1000}");
    let mut billed = 0;
    for index in 0..30 {
        let chart = population.chart(index);
        for encounter in of_kind(&chart, "Encounter").filter(|e| e["class"]["code"] == "IMP") {
            assert_eq!(text(encounter, "/location/0/location/reference"), "Location/loc-hospital");
            assert_eq!(text(encounter, "/serviceProvider/reference"), "Organization/org-hospital");
        }
        for claim in of_kind(&chart, "Claim") {
            let code = text(claim, "/item/0/productOrService/coding/0/code");
            assert_ne!(code, "59425");
            let reference = text(claim, "/item/0/encounter/0/reference");
            let encounter = of_kind(&chart, "Encounter").find(|e| reference.ends_with(text(e, "/id"))).unwrap();
            let expected = match text(encounter, "/reasonCode/0/coding/0/code") {
                "O80" => "59400",
                "O82" => "59510",
                _ => continue,
            };
            assert_eq!(code, expected);
            billed += 1;
        }
    }
    assert!(billed > 0);
}

#[test]
fn nobody_is_seen_elsewhere_during_a_stay() {
    let population = clean(SICK);
    let mut stays = 0;
    for index in 0..20 {
        let chart = population.chart(index);
        let encounters: Vec<&Value> = of_kind(&chart, "Encounter").collect();
        for stay in encounters.iter().filter(|e| e["class"]["code"] == "IMP") {
            let day = |e: &Value, path: &str| text(e, path)[..10].to_owned();
            let (start, end) = (day(stay, "/period/start"), day(stay, "/period/end"));
            let during = encounters.iter().filter(|e| (&start..=&end).contains(&&day(e, "/period/start")));
            assert_eq!(during.count(), 1, "{index}: {start} to {end}");
            stays += 1;
        }
        for order in of_kind(&chart, "ServiceRequest") {
            let reference = text(order, "/encounter/reference");
            let encounter = encounters.iter().find(|e| reference.ends_with(text(e, "/id"))).unwrap();
            assert_eq!(text(order, "/authoredOn")[..10], text(encounter, "/period/start")[..10], "{order}");
        }
    }
    assert!(stays > 0);
}

#[test]
fn notes_agree_with_the_chart() {
    let population = clean(SICK);
    for index in 0..20 {
        let chart = population.chart(index);
        let takes = |drug: &str| {
            of_kind(&chart, "MedicationRequest").any(|m| text(m, "/medicationCodeableConcept/text").starts_with(drug))
        };
        for note in of_kind(&chart, "DocumentReference") {
            let note = String::from_utf8(STANDARD.decode(text(note, "/content/0/attachment/data")).unwrap()).unwrap();
            for wrong in [" 1 years", "not measured %", "measured/", "lifestyle measures", "{", "TB screening"] {
                assert!(!note.contains(wrong), "{index}: {wrong} in {note}");
            }
            assert!(!note.contains("on the statin") || takes("atorvastatin"), "{index}: {note}");
        }
    }
}

#[test]
fn nothing_is_active_after_death() {
    let population = clean("ages: {under_18: 0, from_18_to_64: 0, from_65: 1}");
    let mut deceased = 0;
    for index in 0..150 {
        let chart = population.chart(index);
        if chart.resources[0]["deceasedDateTime"].is_null() {
            continue;
        }
        deceased += 1;
        for kind in ["CarePlan", "CareTeam", "Coverage", "MedicationRequest", "ServiceRequest", "Appointment"] {
            assert!(of_kind(&chart, kind).all(|resource| resource["status"] != "active"), "{index}: {kind}");
        }
    }
    assert!(deceased > 0);
}

#[test]
fn appointments_are_within_the_schedule() {
    let population = clean("history_years: 1");
    for index in [0, 5_000, 60_000, 99_999].into_iter().flat_map(|first| first..first + 4) {
        for appointment in of_kind(&population.chart(index), "Appointment") {
            assert!(text(appointment, "/start") < "2026-09-28", "{appointment}");
        }
    }
}
