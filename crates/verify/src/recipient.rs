//! The recipient of a message, given as an address or as the patient who has that address.

use std::collections::BTreeSet;
use std::fmt;

use clinical::{PhoneNumber, normalized_phone_number};
use model::event::EventType;
use model::simulator::SimulatorType;
use serde_json::Value;

use crate::authored::Notation;
use crate::baseline::Baselines;
use crate::evidence::{EvaluationContext, is_of_scenario, text};

/// The parameter `to`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recipient {
    /// An address that the patient has on file.
    Patient,
    Phone(PhoneNumber),
    /// In lower case.
    Email(String),
}

impl Notation for Recipient {
    const LONGEST: usize = 254;

    fn read(written: &str) -> Result<Self, String> {
        if written == "patient" {
            return Ok(Self::Patient);
        }
        if let Some((person, host)) = written.rsplit_once('@') {
            let is_plausible = !person.is_empty() && !host.is_empty() && !written.contains(char::is_whitespace);
            return Some(Self::Email(written.to_lowercase())).filter(|_| is_plausible).ok_or_else(expected);
        }
        written.parse().map(Self::Phone).map_err(|_| expected())
    }
}

fn expected() -> String {
    "must be a phone number, an e-mail address or `patient`".to_owned()
}

impl fmt::Display for Recipient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Patient => "patient",
            Self::Phone(number) => number.as_str(),
            Self::Email(address) => address,
        })
    }
}

/// A phone number or e-mail address in the form that is compared.
pub(crate) fn normalized(address: &str) -> String {
    if address.contains('@') { address.trim().to_lowercase() } else { normalized_phone_number(address) }
}

/// The addresses that a patient has on file: those in the FHIR data, and those from which the patient writes in the scenario.
/// Excludes addresses that the agent wrote into the patient's record.
#[derive(Debug, Default)]
pub(crate) struct PatientAddresses {
    addresses: BTreeSet<String>,
}

impl PatientAddresses {
    /// None if the playground has no FHIR data with this patient.
    pub(crate) fn of(patient: &str, context: &EvaluationContext<'_>) -> Result<Option<Self>, String> {
        let baselines = Baselines::new(context)?;
        let stores = context.whole.world.sandboxes.values().filter(|sandbox| sandbox.kind == SimulatorType::Fhir);
        let records = stores.map(|store| baselines.given_or_current(&store.records, "Patient", patient));
        let Some(resource) = records.into_iter().flatten().next() else { return Ok(None) };
        let points = resource.get("telecom").and_then(Value::as_array).into_iter().flatten();
        let mut addresses: BTreeSet<String> = points.filter_map(|point| text(point, "value")).map(normalized).collect();
        let written = context.whole.events.iter().filter(|event| {
            event.r#type == EventType::MessageInbound
                && is_of_scenario(event)
                && text(&event.payload, "patient_id") == Some(patient)
        });
        addresses.extend(written.filter_map(|event| text(&event.payload, "from")).map(normalized));
        Ok(Some(Self { addresses }))
    }

    pub(crate) fn has(&self, address: &str) -> bool {
        self.addresses.contains(&normalized(address))
    }

    /// Whether the patient has any address of the same kind (phone or e-mail).
    pub(crate) fn has_kind_of(&self, address: &str) -> bool {
        self.addresses.iter().any(|known| known.contains('@') == address.contains('@'))
    }
}
