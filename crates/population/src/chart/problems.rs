//! Conditions and allergies. Problems are written last, when it is known which of them have ended.

use serde_json::{Value, json};

use super::Builder;
use super::elements::{ICD10, SNOMED, hl7, meta, reference};
use super::timeline::Visit;
use crate::date::Date;
use crate::module::{ModuleKind, Stage};

pub(crate) struct Problem {
    pub(crate) id: String,
    pub(crate) icd10: &'static str,
    pub(crate) snomed: Option<&'static (String, String)>,
    pub(crate) name: &'static str,
    pub(crate) onset: Date,
    pub(crate) end: Option<Date>,
    /// The visit at which it was recorded.
    pub(crate) encounter: Option<String>,
    pub(crate) module: Option<usize>,
}

/// Common allergies: code, name, words that a clinician types, reaction.
const ALLERGIES: [(&str, &str, &str, &str); 3] = [
    ("91936005", "Allergy to penicillin", "PCN - hives as a child", "Hives"),
    ("91939003", "Allergy to sulfonamide", "sulfa, rash", "Rash"),
    ("300916003", "Latex allergy", "latex gloves, itching", "Itching"),
];

pub(super) fn write_allergies(builder: &mut Builder<'_>) {
    let rates = builder.population.spec.dirt.clone();
    for (code, name, words, reaction) in ALLERGIES {
        let percent = if code == "91936005" { 9 } else { 3 };
        if !builder.random.percent(percent) {
            continue;
        }
        builder.allergies.push(name.to_owned());
        let free = builder.soils("free_text_allergy", rates.free_text_allergy);
        let code = if free { json!({"text": words}) } else { super::elements::concept(SNOMED, code, name) };
        let id = builder.id("alg");
        let recorded = builder.person.birth.plus_years(6).min(builder.end());
        builder.resources.push(json!({"resourceType": "AllergyIntolerance", "id": id, "meta": meta("us-core-allergyintolerance"),
            "clinicalStatus": hl7("allergyintolerance-clinical", "active", "Active"),
            "verificationStatus": hl7("allergyintolerance-verification", "confirmed", "Confirmed"),
            "type": "allergy", "criticality": "low", "code": code, "patient": builder.subject(),
            "recordedDate": recorded.to_string(), "reaction": [{"manifestation": [{"text": reaction}], "severity": "mild"}]}));
    }
}

/// Adds problems that began before the first visit of the chart.
pub(super) fn write_past(builder: &mut Builder<'_>) {
    let start = builder.population.spec.start();
    let past: Vec<_> = builder.health.onsets.iter().copied().filter(|onset| onset.date < start).collect();
    for onset in past {
        add_module(builder, onset.module, onset.date, None);
    }
    let rate = builder.population.spec.dirt.stale_problem;
    if builder.person.age(builder.as_of()) >= 18 && builder.soils("stale_problem", rate) {
        let onset = start.plus(-builder.random.between(100, 2000)).max(builder.person.birth);
        add(builder, ("J20.9", None, "Acute bronchitis, unspecified"), onset, None, None);
    } else if builder.random.percent(25) {
        let onset = start.plus(-builder.random.between(100, 2000)).max(builder.person.birth);
        add(builder, ("J20.9", None, "Acute bronchitis, unspecified"), onset, None, None);
        let end = onset.plus(21).min(builder.end());
        builder.problems.iter_mut().rev().take(1).for_each(|problem| problem.end = Some(end));
    }
}

/// Adds what is new at a visit: problems whose onset has passed, their stages and complications, and a pregnancy.
pub(super) fn update(builder: &mut Builder<'_>, visit: &Visit, encounter: &str) {
    for onset in builder.health.onsets.clone() {
        if onset.date <= visit.date && !builder.problems.iter().any(|problem| problem.module == Some(onset.module)) {
            add_module(builder, onset.module, onset.date, Some(encounter.to_owned()));
        }
        stage(builder, onset.module, onset.date, visit, encounter);
    }
    let modules = &builder.population.tables.modules;
    let Some(place) = modules.iter().position(|module| module.kind == ModuleKind::Pregnancy) else { return };
    let is_open = |problem: &Problem| problem.module == Some(place) && problem.end.is_none();
    match (builder.health.weeks(visit.date), builder.problems.iter().position(is_open)) {
        (Some(weeks), None) => add_module(builder, place, visit.date.plus(-weeks * 7), Some(encounter.to_owned())),
        (None, Some(open)) => builder.problems[open].end = Some(visit.date),
        _ => {}
    }
}

fn stage(builder: &mut Builder<'_>, place: usize, onset: Date, visit: &Visit, encounter: &str) {
    let module = &builder.population.tables.modules[place];
    if let Some(stage) = module.stages.iter().find(|stage| applies(builder, stage, onset, visit.date)) {
        let open = builder.problems.iter_mut().find(|problem| problem.module == Some(place) && problem.end.is_none());
        let changed = open.filter(|problem| problem.icd10 != stage.icd10);
        if let Some(problem) = changed {
            (problem.icd10, problem.name) = (&stage.icd10, &stage.name);
        }
    }
    for stage in &module.progression {
        let is_there = builder.problems.iter().any(|problem| problem.icd10 == stage.icd10);
        let mut chance = builder.population.random(builder.person.index, &stage.icd10);
        if is_there || !chance.percent(stage.share) || !applies(builder, stage, onset, visit.date) {
            continue;
        }
        let base = module.problem.as_ref().map(|problem| problem.icd10.as_str());
        let is_base = |problem: &&mut Problem| problem.module == Some(place) && Some(problem.icd10) == base;
        if let Some(problem) = builder.problems.iter_mut().find(is_base) {
            (problem.icd10, problem.name) = (&stage.icd10, &stage.name);
        } else {
            add(builder, (&stage.icd10, None, &stage.name), visit.date, Some(encounter.to_owned()), None);
        }
    }
}

fn applies(builder: &Builder<'_>, stage: &Stage, onset: Date, date: Date) -> bool {
    let latest = |name: &str| builder.latest.get(name).copied();
    let by_kidney = stage.egfr_below.is_none_or(|limit| latest("egfr").is_some_and(|egfr| egfr.0 < limit * 1000));
    let by_value = match (&stage.analyte, stage.at_least) {
        (Some(analyte), Some(limit)) => latest(analyte).is_some_and(|value| value >= limit),
        _ => true,
    };
    let modules = &builder.population.tables.modules;
    let has = |id: &String| modules.iter().position(|m| m.id == *id).is_some_and(|m| builder.health.had(m, date));
    date >= onset.plus_years(stage.after_years) && by_kidney && by_value && stage.with.iter().all(has)
}

fn add_module(builder: &mut Builder<'_>, place: usize, onset: Date, encounter: Option<String>) {
    if let Some(diagnosis) = &builder.population.tables.modules[place].problem {
        let code = (diagnosis.icd10.as_str(), diagnosis.snomed.as_ref(), diagnosis.name.as_str());
        add(builder, code, onset, encounter, Some(place));
    }
}

fn add(
    builder: &mut Builder<'_>,
    (icd10, snomed, name): (&'static str, Option<&'static (String, String)>, &'static str),
    onset: Date,
    encounter: Option<String>,
    module: Option<usize>,
) {
    let id = builder.id("cond");
    builder.problems.push(Problem { id, icd10, snomed, name, onset, end: None, encounter, module });
}

/// A diagnosis of one visit, which is not on the problem list.
pub(super) fn of_visit(builder: &mut Builder<'_>, icd10: &str, name: &str, visit: &Visit, encounter: &str) -> String {
    let id = builder.id("dx");
    builder.resources.push(
        json!({"resourceType": "Condition", "id": id, "meta": meta("us-core-condition-encounter-diagnosis"),
        "clinicalStatus": hl7("condition-clinical", "resolved", "Resolved"),
        "verificationStatus": hl7("condition-ver-status", "confirmed", "Confirmed"),
        "category": [hl7("condition-category", "encounter-diagnosis", "Encounter Diagnosis")],
        "code": super::elements::concept(ICD10, icd10, name), "subject": builder.subject(),
        "encounter": reference("Encounter", encounter), "onsetDateTime": visit.date.to_string(),
        "abatementDateTime": visit.date.to_string(), "recordedDate": visit.date.to_string()}),
    );
    id
}

pub(super) fn write_all(builder: &mut Builder<'_>) {
    for problem in std::mem::take(&mut builder.problems) {
        let resource = resource(builder, &problem);
        builder.resources.push(resource);
        builder.problems.push(problem);
    }
}

fn resource(builder: &mut Builder<'_>, problem: &Problem) -> Value {
    let (status, display) = if problem.end.is_some() { ("resolved", "Resolved") } else { ("active", "Active") };
    let recorded = problem.onset.max(builder.person.birth);
    let mut resource = json!({"resourceType": "Condition", "id": problem.id,
        "meta": meta("us-core-condition-problems-health-concerns"),
        "clinicalStatus": hl7("condition-clinical", status, display),
        "verificationStatus": hl7("condition-ver-status", "confirmed", "Confirmed"),
        "category": [hl7("condition-category", "problem-list-item", "Problem List Item")],
        "code": code(builder, problem), "subject": builder.subject(), "onsetDateTime": problem.onset.to_string(),
        "recordedDate": recorded.to_string()});
    if let Some(encounter) = &problem.encounter {
        resource["encounter"] = reference("Encounter", encounter);
    }
    if let Some(end) = problem.end {
        resource["abatementDateTime"] = end.to_string().into();
    }
    resource
}

fn code(builder: &mut Builder<'_>, problem: &Problem) -> Value {
    let rates = builder.population.spec.dirt.clone();
    if builder.soils("missing_code", rates.missing_code) {
        return json!({"text": problem.name});
    }
    let snomed = problem.snomed.map(|(code, name)| json!({"system": SNOMED, "code": code, "display": name}));
    let icd10 = json!({"system": ICD10, "code": problem.icd10, "display": problem.name});
    // Some problem lists use one code system only.
    let only_snomed = snomed.is_some() && builder.soils("code_variant", rates.code_variant);
    let coding: Vec<Value> =
        if only_snomed { snomed.into_iter().collect() } else { std::iter::once(icd10).chain(snomed).collect() };
    json!({"coding": coding, "text": problem.name})
}
