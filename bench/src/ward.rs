//! Synthetic patients with their encounters and observations, about 400 bytes each and the same in every run.

use bytes::Bytes;
use futures_util::stream::{self, Stream};
use serde_json::json;

/// Lines are handed on in pieces of about so many patients.
const PATIENTS_A_PIECE: usize = 10;
/// Observations of a patient come in so many kinds; one of each kind a day.
const KINDS: usize = 10;

#[derive(Clone, Copy)]
pub struct Ward {
    pub patients: usize,
    /// Of each patient.
    pub encounters: usize,
    /// Of each patient.
    pub observations: usize,
}

impl Ward {
    /// So many resources, of which each hundred is one patient's.
    pub fn of(resources: usize) -> Self {
        Self { patients: resources / 100, encounters: 9, observations: 90 }
    }

    pub fn resources(&self) -> usize {
        self.patients * (1 + self.encounters + self.observations)
    }

    /// NDJSON, one patient after the other.
    pub fn lines<E>(self) -> impl Stream<Item = Result<Bytes, E>> + Unpin {
        let firsts = (0..self.patients).step_by(PATIENTS_A_PIECE);
        stream::iter(firsts.map(move |first| Ok(self.piece(first..self.patients.min(first + PATIENTS_A_PIECE)))))
    }

    fn piece(&self, patients: std::ops::Range<usize>) -> Bytes {
        let mut text = String::new();
        for patient in patients {
            text.push_str(&patient_line(patient));
            (0..self.encounters).for_each(|number| text.push_str(&encounter_line(patient, number)));
            (0..self.observations).for_each(|number| text.push_str(&observation_line(patient, number)));
        }
        text.into()
    }

    /// A query by token, reference and date that finds three observations of one patient, if each has 100.
    pub fn three_hits(patient: usize) -> String {
        format!("code=http://loinc.org|8003-3&subject=Patient/p{patient}&date=ge2026-03-08")
    }

    /// One more observation, without an id.
    pub fn new_observation() -> &'static str {
        r#"{"resourceType":"Observation","status":"final","category":[{"coding":[{"system":"http://terminology.hl7.org/CodeSystem/observation-category","code":"vital-signs"}]}],"code":{"coding":[{"system":"http://loinc.org","code":"8003-3"}]},"subject":{"reference":"Patient/p0"},"effectiveDateTime":"2026-04-01","valueQuantity":{"value":72,"unit":"/min","system":"http://unitsofmeasure.org","code":"/min"}}"#
    }

    pub fn observation_id(patient: usize, number: usize) -> String {
        format!("p{patient}-o{number}")
    }
}

fn patient_line(patient: usize) -> String {
    let value = json!({
        "resourceType": "Patient",
        "id": format!("p{patient}"),
        "identifier": [{"system": "https://hospital.example/mrn", "value": format!("MRN-{patient:08}")}],
        "active": true,
        "name": [{"use": "official", "family": format!("Family{}", patient % 997), "given": [format!("Given{}", patient % 89)]}],
        "telecom": [{"system": "phone", "value": format!("+1-555-{:07}", patient % 10_000_000), "use": "home"}],
        "gender": if patient.is_multiple_of(2) { "female" } else { "male" },
        "birthDate": format!("{}-{:02}-{:02}", 1930 + patient % 90, 1 + patient % 12, 1 + patient % 28),
    });
    format!("{value}\n")
}

fn encounter_line(patient: usize, number: usize) -> String {
    let value = json!({
        "resourceType": "Encounter",
        "id": format!("p{patient}-e{number}"),
        "status": "finished",
        "class": {"system": "http://terminology.hl7.org/CodeSystem/v3-ActCode", "code": "AMB", "display": "ambulatory"},
        "type": [{"coding": [{"system": "http://snomed.info/sct", "code": format!("18534900{}", number % 10)}]}],
        "subject": {"reference": format!("Patient/p{patient}")},
        "period": {
            "start": format!("2026-02-{:02}T09:00:00Z", 1 + number % 28),
            "end": format!("2026-02-{:02}T09:30:00Z", 1 + number % 28),
        },
    });
    format!("{value}\n")
}

fn observation_line(patient: usize, number: usize) -> String {
    let value = json!({
        "resourceType": "Observation",
        "id": Ward::observation_id(patient, number),
        "status": "final",
        "category": [{"coding": [{
            "system": "http://terminology.hl7.org/CodeSystem/observation-category", "code": "vital-signs",
        }]}],
        "code": {"coding": [{"system": "http://loinc.org", "code": format!("800{}-3", number % KINDS)}]},
        "subject": {"reference": format!("Patient/p{patient}")},
        "effectiveDateTime": format!("2026-03-{:02}", 1 + number / KINDS),
        "valueQuantity": {
            "value": 60 + (patient * 31 + number * 7) % 60, "unit": "/min",
            "system": "http://unitsofmeasure.org", "code": "/min",
        },
    });
    format!("{value}\n")
}
