//! Eligibility by patient id: builds a 270 from the FHIR data, processes it like any other, and summarizes the 271.

use std::sync::Arc;

use clinical::Npi;
use model::clearinghouse::{Eligibility, EligibilityInquiry};
use model::{FieldErrors, SandboxId};
use serde_json::Value;
use world::{Context, Outcome, World};
use x12::Delimiters;
use x12::draft::{Lines, Party, SegmentDraft, TransactionDraft, Usage, repeated};
use x12::envelope::Envelope;

use super::chart::{Chart, identifiers, is_same_reference, items, text};
use super::coverage::{member_number, position_in_force};
use super::eligibility::VERSION;
use super::eligibility_summary;
use super::event;
use super::exchange::{ExchangeError, ExchangeResponses, Sender, events_only, exchange};
use super::hl_writer::HlWriter;
use super::person::{demographics_segment, name_segment};
use super::text::{date, date_and_time, plain, segment, uppercase};

/// Why there is no 271.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EligibilityError {
    NoPatient,
    Exchange(ExchangeError),
}

/// Validates an inquiry.
pub fn check(inquiry: &EligibilityInquiry) -> Result<(), FieldErrors> {
    let mut errors = FieldErrors::new();
    errors.length("patient_id", &inquiry.patient_id, 1..=100);
    errors.each("service_types", &inquiry.service_types, 20, |code, errors| {
        let is_code = (1..=2).contains(&code.len()) && code.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if !is_code {
            errors.add("", "must be a service type code of one or two letters or digits");
        }
    });
    if inquiry.date.as_ref().is_some_and(|day| day.len() != 10 || date(day).is_none()) {
        errors.add("date", "must be a date such as 2026-04-23");
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

pub fn eligibility(
    world: &World,
    sandbox: &SandboxId,
    sender: &Sender,
    inquiry: &EligibilityInquiry,
    context: &Context<'_>,
) -> Outcome<Result<Eligibility, EligibilityError>> {
    let id = inquiry.patient_id.strip_prefix("Patient/").unwrap_or(&inquiry.patient_id);
    let chart = Chart::of(world);
    let Some(patient) = chart.get(&format!("Patient/{id}")) else {
        return events_only(Err(EligibilityError::NoPatient), vec![event::unknown_patient(sandbox, sender, id)]);
    };
    let Some(request) = build_request(&chart, &patient, inquiry, world.seq, context) else {
        let error = ExchangeError::Unreadable("the patient's data cannot be written as a 270".to_owned());
        let events = vec![event::unknown_patient(sandbox, sender, id)];
        return events_only(Err(EligibilityError::Exchange(error)), events);
    };
    let Outcome { answer, changes, events } = exchange(world, sandbox, sender, request.as_bytes(), context);
    let answer = answer.map_err(EligibilityError::Exchange).map(|exchange| read_response(id, request, exchange));
    Outcome { answer, changes, events }
}

fn read_response(id: &str, request: String, exchange: ExchangeResponses) -> Eligibility {
    let response = exchange.responses.into_iter().next();
    let (response_id, response) = response.map(|response| (response.id, response.payload)).unwrap_or_default();
    Eligibility {
        patient_id: id.to_owned(),
        response_id,
        request,
        response: response.clone(),
        ..eligibility_summary::summarize(&response)
    }
}

/// The patient's coverage: one in force on the day, or else the first.
fn coverage_on(chart: &Chart<'_>, patient: &Value, day: &str) -> Option<Arc<Value>> {
    let coverages = chart.coverages_of_patient(patient);
    let at = position_in_force(coverages.iter().map(|coverage| &**coverage), day);
    coverages.into_iter().nth(at)
}

/// Writes the 270.
fn build_request(
    chart: &Chart<'_>,
    patient: &Value,
    inquiry: &EligibilityInquiry,
    seq: i64,
    context: &Context<'_>,
) -> Option<String> {
    let (today, time) = date_and_time(context.now);
    let control = u32::try_from((seq + 1).rem_euclid(500_000_000)).unwrap_or(1);
    let mut writer = HlWriter::default();
    writer.push(segment("BHT", ["0022", "13", &format!("ELIG{control:09}"), &today, &time]));
    let day = inquiry.date.as_deref().and_then(date).unwrap_or_else(|| today.clone());
    let trace = segment("TRN", ["1", &format!("{control:09}"), "9VERIALSIM"]);
    push_hierarchy(&mut writer, chart, patient, &day, trace);
    writer.push(segment("DTP", ["291", "D8", &day]));
    let default_codes = ["30".to_owned()];
    let codes = if inquiry.service_types.is_empty() { &default_codes[..] } else { &inquiry.service_types };
    writer.push(SegmentDraft::new("EQ").with(repeated(codes.iter().map(String::as_str))));
    let set = TransactionDraft {
        set: "270".to_owned(),
        control: "0001".to_owned(),
        version: Some(VERSION.to_owned()),
        segments: writer.segments,
    };
    let envelope = Envelope {
        sender: Party::agreed("PROVIDER"),
        receiver: Party::agreed("VERIAL"),
        date: today,
        time,
        usage: Usage::Test,
    };
    let draft = envelope.interchange(control, Vec::new(), vec![envelope.group("HS", VERSION, 1, vec![set])]);
    draft.write(Delimiters::USUAL, Lines::One).ok().or_else(|| draft.write(draft.free_delimiters()?, Lines::One).ok())
}

/// Writes the levels of payer, provider, subscriber and dependent, up to the patient's demographics.
fn push_hierarchy(writer: &mut HlWriter, chart: &Chart<'_>, patient: &Value, day: &str, trace: SegmentDraft) {
    let coverage = coverage_on(chart, patient, day);
    let source = writer.begin(None, "20", true);
    writer.push(payer_segment(chart, coverage.as_deref()));
    let receiver = writer.begin(Some(source), "21", true);
    writer.push(provider_segment(chart, patient));
    let number = member_number(coverage.as_deref().unwrap_or(&Value::Null), patient).unwrap_or_default();
    match coverage.as_deref().and_then(|coverage| other_subscriber(chart, coverage)) {
        None => {
            writer.begin(Some(receiver), "22", false);
            writer.push(trace);
            writer.push(name_segment("IL", patient, number));
        }
        Some(subscriber) => {
            let level = writer.begin(Some(receiver), "22", true);
            writer.push(name_segment("IL", &subscriber, number));
            writer.extend(demographics_segment(&subscriber));
            writer.begin(Some(level), "23", false);
            writer.push(trace);
            writer.push(name_segment("03", patient, ""));
        }
    }
    writer.extend(demographics_segment(patient));
}

/// NM1*PR with the paying organization.
fn payer_segment(chart: &Chart<'_>, coverage: Option<&Value>) -> SegmentDraft {
    let payor = coverage.and_then(|coverage| items(coverage, "payor").first());
    let organization = payor.and_then(|payor| chart.follow(payor));
    let name = organization.as_deref().and_then(|found| text(found, "name")).or_else(|| text(payor?, "display"));
    let id = organization.as_deref().and_then(|found| identifiers(found).next().or_else(|| text(found, "id")));
    let (name, id) = (uppercase(name.unwrap_or("UNKNOWN PAYER"), 60), plain(id.unwrap_or("UNKNOWN"), 80));
    segment("NM1", ["PR", "2", &name, "", "", "", "", "PI", &id])
}

/// NM1*1P with the patient's managing organization.
fn provider_segment(chart: &Chart<'_>, patient: &Value) -> SegmentDraft {
    let organization = patient.get("managingOrganization").and_then(|found| chart.follow(found));
    let name = organization.as_deref().and_then(|found| text(found, "name")).unwrap_or("PROVIDER");
    let npi = organization.as_deref().and_then(|found| identifiers(found).find(|number| number.parse::<Npi>().is_ok()));
    let (qualifier, id) = npi.map_or(("SV", "PROVIDER"), |npi| ("XX", npi));
    segment("NM1", ["1P", "2", &uppercase(name, 60), "", "", "", "", qualifier, id])
}

/// The subscriber, if that is not the patient.
fn other_subscriber(chart: &Chart<'_>, coverage: &Value) -> Option<Arc<Value>> {
    let subscriber = coverage.get("subscriber")?;
    let beneficiary = coverage.get("beneficiary").and_then(|found| text(found, "reference")).unwrap_or_default();
    let is_same = is_same_reference(text(subscriber, "reference").unwrap_or_default(), beneficiary);
    if is_same { None } else { chart.follow(subscriber) }
}
