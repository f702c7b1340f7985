//! Resolves the recipient of a message.

use std::sync::Arc;

use clinical::is_same_phone_number;
use model::FieldErrors;
use model::channel::Channel;
use model::message::NewMessage;
use model::simulator::SimulatorType;
use serde_json::Value;
use world::{Sandbox, World};

use super::rows::{all, text};
use crate::contact_points;

#[derive(Debug, PartialEq)]
pub(super) struct Recipient {
    pub(super) patient_id: Option<String>,
    pub(super) address: String,
}

/// Resolves the recipient from `to` and `patient_id`.
pub(super) fn resolve(world: &World, sandbox: &Sandbox, new: &NewMessage) -> Result<Recipient, FieldErrors> {
    let mut errors = FieldErrors::new();
    if let Some(to) = &new.to {
        match new.channel {
            Channel::Sms => contact_points::check_phone_number(&mut errors, "to", to),
            Channel::Email => contact_points::check_email_address(&mut errors, "to", to),
        }
    }
    let patient = new.patient_id.as_deref().map(|id| find_patient(world, id));
    match (&patient, &new.to) {
        (None, None) => errors.add("patient_id", "`patient_id` or `to` is required"),
        (Some(PatientLookup::Unknown), _) => errors.add("patient_id", "is not a patient of the FHIR data"),
        _ => {}
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let address_in_record = || patient.as_ref().and_then(|patient| address(patient, new.channel));
    match new.to.clone().or_else(address_in_record) {
        Some(address) => {
            let patient_id = new.patient_id.clone().or_else(|| find_sender(sandbox, new.channel, &address));
            Ok(Recipient { patient_id, address })
        }
        None => {
            let what = if new.channel == Channel::Sms { "phone number" } else { "e-mail address" };
            Err(FieldErrors::one("to", format!("is required, because the patient has no {what} in the FHIR data")))
        }
    }
}

enum PatientLookup {
    Found(Arc<Value>),
    Unknown,
    /// The playground has no FHIR sandbox.
    NoFhirData,
}

fn find_patient(world: &World, id: &str) -> PatientLookup {
    let mut stores = world.sandboxes.values().filter(|sandbox| sandbox.kind == SimulatorType::Fhir).peekable();
    if stores.peek().is_none() {
        return PatientLookup::NoFhirData;
    }
    let found = stores.find_map(|store| store.records.get("Patient", id).live());
    found.map_or(PatientLookup::Unknown, |record| PatientLookup::Found(record.json()))
}

/// The patient's phone number or e-mail address. Mobile numbers are preferred.
fn address(patient: &PatientLookup, channel: Channel) -> Option<String> {
    let PatientLookup::Found(patient) = patient else { return None };
    let system = if channel == Channel::Sms { "phone" } else { "email" };
    let points = patient["telecom"].as_array()?.iter().filter(|point| text(point, "system") == Some(system));
    let points: Vec<&Value> = points.filter(|point| text(point, "value").is_some()).collect();
    let mobile = points.iter().find(|point| text(point, "use") == Some("mobile"));
    text(mobile.or(points.first())?, "value").map(ToOwned::to_owned)
}

/// The patient who has sent a message from the address before.
fn find_sender(sandbox: &Sandbox, channel: Channel, address: &str) -> Option<String> {
    let is_address = |from: &str| match channel {
        Channel::Sms => is_same_phone_number(from, address),
        Channel::Email => from.eq_ignore_ascii_case(address),
    };
    let rows = all(sandbox).map(|record| record.json());
    let mut from_address = rows.filter(|row| text(row, "from").is_some_and(is_address));
    from_address.find_map(|row| text(&row, "patient_id").map(ToOwned::to_owned))
}
