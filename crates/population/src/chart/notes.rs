//! Notes as text: visits, discharge summaries, referral letters and reports, each as a DocumentReference.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::Builder;
use super::elements::{LOINC, concept, meta, reference};
use super::timeline::{Visit, VisitReason};
use crate::date::Date;
use crate::module::{Sentence, StudyPlan};
use crate::person::Person;

/// Fills in the placeholders (`{name}`) of a template.
pub(super) fn filled(template: &str, values: &[(&str, &str)]) -> String {
    let mut text = template.to_owned();
    for (name, value) in values {
        let place = format!("{{{name}}}");
        if text.contains(&place) {
            text = text.replace(&place, value);
        }
    }
    text
}

pub(super) fn write(builder: &mut Builder<'_>, visit: &Visit, encounter: &str, reason: &str) {
    let (kind, text) = match visit.reason {
        VisitReason::Admission { module } => {
            (("18842-5", "Discharge summary"), discharge(builder, visit, module, reason))
        }
        VisitReason::Delivery => (("57057-2", "Labor and delivery summary note"), delivery(builder, visit, reason)),
        _ if visit.specialty == "primary" || visit.specialty == "pediatrics" => {
            (("11506-3", "Progress note"), progress(builder, visit, reason))
        }
        _ => (("11488-4", "Consult note"), progress(builder, visit, reason)),
    };
    document(builder, visit, encounter, kind, text);
}

fn heading(person: &Person, date: Date, title: &str) -> String {
    let former = person.former.as_ref().filter(|(_, until)| date < *until);
    let name = former.map_or(&person.family, |(former, _)| former);
    format!(
        "{title}\nPatient: {} {}\nDate of birth: {}\nMRN: {}\nDate: {date}\n\n",
        person.given, name, person.birth, person.mrn
    )
}

fn progress(builder: &mut Builder<'_>, visit: &Visit, reason: &str) -> String {
    let title = if visit.specialty == "primary" { "PROGRESS NOTE" } else { "CLINIC NOTE" };
    let mut text = heading(&builder.person, visit.date, title);
    let (count, unit) = age(builder, visit.date);
    let opening = format!("{count}-{unit}-old {} seen for: {reason}.\n\nSUBJECTIVE\n", builder.person.word(visit.date));
    text.push_str(&opening);
    let modules = &builder.population.tables.modules;
    let mut plan = String::new();
    for place in &visit.modules {
        let module = &modules[*place];
        let values = values(builder, visit, *place);
        if let Some(subjective) = sentence(builder, &module.notes.subjective, &values) {
            text.push_str(&format!("{subjective}\n"));
        }
        if let Some(planned) = sentence(builder, &module.notes.plan, &values) {
            plan.push_str(&format!("- {planned}\n"));
        }
    }
    if visit.modules.is_empty() {
        text.push_str("Feels well. No complaints.\n");
        plan.push_str("- Healthy adult. Screening and vaccines reviewed.\n");
    }
    text.push_str(&lists(builder, visit.date));
    text.push_str(&format!("\nASSESSMENT AND PLAN\n{plan}"));
    text
}

/// One of the sentences that apply to the patient.
fn sentence(builder: &mut Builder<'_>, sentences: &[Sentence], values: &[(&str, String)]) -> Option<String> {
    let values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let text_of = |sentence: &Sentence| match sentence {
        Sentence::Always(text) => Some(filled(text, &values)),
        Sentence::With { text, if_group } => {
            super::medications::takes_group(builder, if_group).then(|| filled(text, &values))
        }
    };
    let usable: Vec<String> = sentences.iter().filter_map(text_of).filter(|text| !text.contains('{')).collect();
    builder.random.pick(&usable).cloned()
}

/// Medications, allergies and vital signs, sometimes with a drug that the patient does not take.
fn lists(builder: &mut Builder<'_>, date: Date) -> String {
    let mut drugs = super::medications::of_module(builder, None);
    let rate = builder.population.spec.dirt.medication_contradiction;
    // The rate is for patients, not for notes. A chart has about a dozen notes.
    if !drugs.is_empty() && builder.soils("medication_contradiction", crate::milli::Milli(rate.0 / 12)) {
        if builder.dirty.percent(50) {
            drugs.pop();
        } else {
            drugs.push("metoprolol tartrate 25 mg twice daily (patient reports)");
        }
    }
    let list = |items: &[&str], none: &str| if items.is_empty() { none.to_owned() } else { items.join("; ") };
    let allergies: Vec<&str> = builder.allergies.iter().map(String::as_str).collect();
    format!(
        "\nMEDICATIONS\n{}\n\nALLERGIES\n{}\n\nOBJECTIVE\nBP {} | Pulse {} | Weight {} kg\nAge {}. Alert, no distress.\n",
        list(&drugs, "None"),
        list(&allergies, "No known allergies"),
        pressure(builder),
        latest(builder, "pulse", 0),
        latest(builder, "weight", 1),
        age_text(builder, date),
    )
}

fn pressure(builder: &Builder<'_>) -> String {
    let systolic = latest(builder, "systolic", 0);
    if !builder.latest.contains_key("diastolic") {
        return systolic;
    }
    format!("{systolic}/{}", latest(builder, "diastolic", 0))
}

fn latest(builder: &Builder<'_>, name: &str, digits: u32) -> String {
    builder.latest.get(name).map_or_else(|| "not measured".to_owned(), |value| value.text(digits))
}

fn age_text(builder: &Builder<'_>, date: Date) -> String {
    let (count, unit) = age(builder, date);
    counted(count, unit)
}

/// An age in days, months or years, as in a note.
fn age(builder: &Builder<'_>, date: Date) -> (i64, &'static str) {
    match date.months_since(builder.person.birth) {
        0 => (date.since(builder.person.birth), "day"),
        months @ 1..24 => (months, "month"),
        _ => (builder.person.age(date), "year"),
    }
}

fn counted(count: i64, unit: &str) -> String {
    format!("{count} {unit}{}", if count == 1 { "" } else { "s" })
}

/// The values for placeholders at a visit, by name.
fn values(builder: &Builder<'_>, visit: &Visit, place: usize) -> Vec<(&'static str, String)> {
    let onset = builder.health.onsets.iter().find(|onset| onset.module == place);
    let years = match onset.map_or(0, |onset| visit.date.years_since(onset.date)) {
        ..1 => "less than a year".to_owned(),
        years => counted(years, "year"),
    };
    let drugs = super::medications::of_module(builder, Some(place));
    let anticoagulant = super::medications::of_group(builder, "anticoagulant");
    let anticoagulant = anticoagulant.and_then(|drug| builder.population.tables.drugs.get(drug));
    let mut values = vec![
        ("years", years),
        ("bp", pressure(builder)),
        ("weight", latest(builder, "weight", 1)),
        ("age_text", age_text(builder, visit.date)),
    ];
    values.extend(builder.health.weeks(visit.date).map(|weeks| ("weeks", weeks.to_string())));
    values.extend((!drugs.is_empty()).then(|| ("drugs", drugs.join(", "))));
    values.extend(anticoagulant.map(|drug| ("anticoagulant", drug.short.clone())));
    for (name, analyte) in &builder.population.tables.analytes {
        let value = builder.latest.get(name.as_str());
        values.extend(value.map(|value| (name.as_str(), value.text(analyte.digits))));
    }
    values
}

fn delivery(builder: &mut Builder<'_>, visit: &Visit, reason: &str) -> String {
    let mut text = heading(&builder.person, visit.date, "DELIVERY NOTE");
    let cesarean = super::studies::is_cesarean(builder, visit);
    let course = if cesarean {
        "Cesarean delivery under spinal anesthesia. Estimated blood loss 700 mL."
    } else {
        "Vaginal delivery after spontaneous labor. Estimated blood loss 250 mL."
    };
    text.push_str(&format!(
        "Admitted at 40 weeks.\nDiagnosis: {reason}\n\nDELIVERY\n{course} Mother and newborn are stable.\n"
    ));
    text.push_str(&lists(builder, visit.date));
    text.push_str("\nASSESSMENT AND PLAN\n- Routine postpartum care. Postpartum visit in 6 weeks.\n");
    text
}

fn discharge(builder: &mut Builder<'_>, visit: &Visit, module: usize, reason: &str) -> String {
    let Some(admission) = &builder.population.tables.modules[module].admission else { return String::new() };
    let mut text = heading(&builder.person, visit.date.plus(admission.days), "DISCHARGE SUMMARY");
    let results = format!(
        "Potassium {}, creatinine {}, hemoglobin {} on admission.",
        latest(builder, "potassium", 1),
        latest(builder, "creatinine", 2),
        latest(builder, "hemoglobin", 1)
    );
    let drugs = super::medications::of_module(builder, None);
    text.push_str(&format!(
        "Admitted: {}\nDischarged: {}\nPrincipal diagnosis: {reason}\n\nHOSPITAL COURSE\n{}\n\nRESULTS\n{results}\n\n\
         DISCHARGE MEDICATIONS\n{}\n\nFOLLOW-UP\nPrimary care within 7 days. Repeat basic metabolic panel.\n",
        visit.date,
        visit.date.plus(admission.days),
        admission.course,
        if drugs.is_empty() { "None".to_owned() } else { drugs.join("\n") },
    ));
    text
}

/// A report of imaging or endoscopy.
pub(super) fn report(
    builder: &Builder<'_>,
    visit: &Visit,
    test: &StudyPlan,
    indication: &str,
    findings: &str,
    impression: &str,
    interruption: Option<&str>,
) -> String {
    let title = if test.procedure { "ENDOSCOPY REPORT" } else { "RADIOLOGY REPORT" };
    let mut text = heading(&builder.person, visit.date, title);
    text.push_str(&format!("Examination: {}\nIndication: {indication}\n", test.name));
    if let Some(interruption) = interruption {
        text.push_str(&format!("Anticoagulation: {interruption}\n"));
    }
    text.push_str(&format!("\nFINDINGS\n{findings}\n\nIMPRESSION\n{impression}\n"));
    text
}

pub(super) fn letter(builder: &mut Builder<'_>, visit: &Visit, specialty: &str, question: &str) -> String {
    let practice = &builder.population.practice;
    let from = practice.of_specialty(visit.specialty, builder.person.index).name.clone();
    let to = practice.of_specialty(specialty, builder.person.index).name.clone();
    let mut text = heading(&builder.person, visit.date, "REFERRAL LETTER");
    let problems: Vec<&str> = builder.problems.iter().filter(|p| p.end.is_none()).map(|p| p.name).collect();
    text.push_str(&format!(
        "To: {to} ({specialty})\nFrom: {from}\nPhone of patient: {}\n\nREASON\n{question}\n\nPROBLEMS\n{}\n",
        builder.person.phone,
        problems.join("\n"),
    ));
    text.push_str(&lists(builder, visit.date));
    text
}

pub(super) fn attachment(text: &str, title: &str, date: Date) -> Value {
    json!({"contentType": "text/plain; charset=utf-8", "language": "en", "data": STANDARD.encode(text), "title": title,
        "creation": date.to_string()})
}

/// A note in the chart. It is signed by its author, unless there is a deliberate error.
pub(super) fn document(
    builder: &mut Builder<'_>,
    visit: &Visit,
    encounter: &str,
    (code, display): (&str, &str),
    mut text: String,
) {
    let rates = builder.population.spec.dirt.clone();
    let id = builder.id("doc");
    let author = builder.population.practice.of_specialty(visit.specialty, builder.person.index);
    if builder.person.index > 0 && builder.soils("misfiled_document", rates.misfiled_document) {
        let other = Person::of(builder.population, builder.person.index - 1);
        text = heading(&other, visit.date, "PROGRESS NOTE") + "Seen for a cold. Supportive care.\n";
    }
    let unsigned = builder.soils("unsigned_document", rates.unsigned_document);
    if !unsigned {
        text.push_str(&format!("\nElectronically signed by {} (NPI {})\n", author.name, author.npi));
    }
    let mut resource = json!({"resourceType": "DocumentReference", "id": id, "meta": meta("us-core-documentreference"),
        "identifier": [{"system": "urn:verial:document", "value": id}], "status": "current",
        "docStatus": if unsigned { "preliminary" } else { "final" }, "type": concept(LOINC, code, display),
        "category": [concept("http://hl7.org/fhir/us/core/CodeSystem/us-core-documentreference-category", "clinical-note",
            "Clinical Note")],
        "subject": builder.subject(), "date": visit.date.at(visit.minute + 60), "author": [author.reference()],
        "content": [{"attachment": attachment(&text, display, visit.date),
            "format": {"system": "http://ihe.net/fhir/ihe.formatcode.fhir/CodeSystem/formatcode",
                "code": "urn:ihe:iti:xds:2017:mimeTypeSufficient", "display": "mimeType Sufficient"}}],
        "context": {"encounter": [reference("Encounter", encounter)], "period": {"start": visit.date.at(visit.minute)}}});
    if !unsigned {
        resource["authenticator"] = author.reference();
    }
    builder.resources.push(resource);
}
