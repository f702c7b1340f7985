//! To whom a message goes.

use model::FieldErrors;
use model::channel::Channel;
use model::message::NewMessage;
use model::simulator::SimulatorType;
use serde_json::Value;
use world::{Sandbox, World};

use super::opt_out::digits;
use super::rows::{all, text};
use crate::contact_points;

#[derive(Debug, PartialEq)]
pub(super) struct Recipient {
    pub(super) patient_id: Option<String>,
    pub(super) address: String,
}

/// Who is meant, or what is wrong with how they are named.
pub(super) fn recipient(world: &World, sandbox: &Sandbox, new: &NewMessage) -> Result<Recipient, FieldErrors> {
    let mut errors = FieldErrors::new();
    if let Some(to) = &new.to {
        match new.channel {
            Channel::Sms => contact_points::check_phone_number(&mut errors, "to", to),
            Channel::Email => contact_points::check_email_address(&mut errors, "to", to),
        }
    }
    let known = new.patient_id.as_deref().map(|id| (id, patient(world, id)));
    match (&known, &new.to) {
        (None, None) => errors.add("patient_id", "must be given, or `to`"),
        (Some((_, Patient::Unknown)), _) => errors.add("patient_id", "is no patient of the FHIR data"),
        _ => {}
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let reached = || known.as_ref().and_then(|(_, patient)| address(patient, new.channel));
    match new.to.clone().or_else(reached) {
        Some(address) => {
            let patient_id = new.patient_id.clone().or_else(|| writer(sandbox, new.channel, &address));
            Ok(Recipient { patient_id, address })
        }
        None => {
            let what = if new.channel == Channel::Sms { "phone number" } else { "e-mail address" };
            Err(FieldErrors::one("to", format!("must be given: the patient has no {what} in the FHIR data")))
        }
    }
}

enum Patient {
    Found(std::sync::Arc<Value>),
    Unknown,
    /// The playground has no FHIR data that could know.
    Untold,
}

fn patient(world: &World, id: &str) -> Patient {
    let mut stores = world.sandboxes.values().filter(|sandbox| sandbox.kind == SimulatorType::Fhir).peekable();
    if stores.peek().is_none() {
        return Patient::Untold;
    }
    let found = stores.find_map(|store| store.records.get("Patient", id).live());
    found.map_or(Patient::Unknown, |record| Patient::Found(record.json()))
}

/// The mobile phone before others.
fn address(patient: &Patient, channel: Channel) -> Option<String> {
    let Patient::Found(patient) = patient else { return None };
    let system = if channel == Channel::Sms { "phone" } else { "email" };
    let points = patient["telecom"].as_array()?.iter().filter(|point| text(point, "system") == Some(system));
    let points: Vec<&Value> = points.filter(|point| text(point, "value").is_some()).collect();
    let mobile = points.iter().find(|point| text(point, "use") == Some("mobile"));
    text(mobile.or(points.first())?, "value").map(ToOwned::to_owned)
}

/// The patient who wrote from there.
fn writer(sandbox: &Sandbox, channel: Channel, address: &str) -> Option<String> {
    let is_there = |from: &str| match channel {
        Channel::Sms => digits(from) == digits(address),
        Channel::Email => from.eq_ignore_ascii_case(address),
    };
    let rows = all(sandbox).map(|record| record.json());
    let mut from_there = rows.filter(|row| text(row, "from").is_some_and(is_there));
    from_there.find_map(|row| text(&row, "patient_id").map(ToOwned::to_owned))
}
