//! The resources that all charts share: organizations, locations, practitioners with valid NPIs, schedules and free slots.

use clinical::Npi;
use serde_json::{Value, json};

use crate::chart::elements::{US_CORE, reference};
use crate::random::Random;
use crate::spec::Spec;
use crate::tables::{Organization, Specialty, Tables};

/// Free half hours of an afternoon, from 13:00. Mornings are for the appointments of patients.
const FREE_SLOTS: i64 = 6;
const FREE_DAYS: i64 = 5;

#[derive(Debug)]
pub(crate) struct Practitioner {
    pub(crate) id: String,
    pub(crate) npi: String,
    pub(crate) name: String,
    pub(crate) given: String,
    pub(crate) family: String,
    /// The index of the specialty.
    pub(crate) specialty: usize,
}

impl Practitioner {
    pub(crate) fn reference(&self) -> Value {
        json!({"reference": format!("Practitioner/{}", self.id), "display": self.name})
    }
}

#[derive(Debug)]
pub(crate) struct Practice {
    tables: &'static Tables,
    pub(crate) practitioners: Vec<Practitioner>,
}

impl Practice {
    pub(crate) fn new(seed: u64, tables: &'static Tables) -> Self {
        let mut random = Random::of(seed, 0, "practice");
        let mut practitioners = Vec::new();
        for (place, Specialty { count, .. }) in tables.practice.specialties.iter().enumerate() {
            for _ in 0..*count {
                let number = practitioners.len() as i64 + 1;
                let names = if random.percent(50) { &tables.names.female } else { &tables.names.male };
                let (given, family) = (random.text(names).to_owned(), random.text(&tables.names.family).to_owned());
                practitioners.push(Practitioner {
                    id: format!("prac-{number:02}"),
                    // The last two of the nine digits are the practitioner's number, so that NPIs are unique.
                    npi: npi(100_000_000 + random.below(899_999) * 100 + number),
                    name: format!("{given} {family}, MD"),
                    given,
                    family,
                    specialty: place,
                });
            }
        }
        Self { tables, practitioners }
    }

    /// The practitioner of a specialty with a number. Unknown specialties fall back to primary care.
    pub(crate) fn of_specialty(&self, id: &str, number: u64) -> &Practitioner {
        let specialties = &self.tables.practice.specialties;
        let place = specialties.iter().position(|specialty| specialty.id == id).unwrap_or(0);
        let mut found = self.practitioners.iter().filter(|practitioner| practitioner.specialty == place);
        let count = specialties.get(place).map_or(1, |specialty| specialty.count).max(1) as u64;
        found.nth((number % count) as usize).unwrap_or(&self.practitioners[0])
    }

    pub(crate) fn resources(&self, spec: &Spec) -> Vec<Value> {
        let practice = &self.tables.practice;
        let mut resources = Vec::new();
        for (place, organization) in practice.organizations.iter().enumerate() {
            resources.push(organization_resource(&organization_npi(place), organization));
        }
        resources.extend(practice.payers.iter().enumerate().map(|(place, payer)| {
            json!({"resourceType": "Organization", "id": payer.id, "meta": {"profile": [format!("{US_CORE}us-core-organization")]},
                "identifier": [{"system": "urn:oid:2.16.840.1.113883.6.300", "value": format!("VER{:02}", place + 1)}],
                "active": true, "type": [kind("ins", "Insurance Company")], "name": payer.name,
                "telecom": [{"system": "phone", "value": "800-555-0199"}],
                "address": [address("1 Insurance Plaza")]})
        }));
        for location in &practice.locations {
            resources.push(json!({"resourceType": "Location", "id": location.id,
                "meta": {"profile": [format!("{US_CORE}us-core-location")]}, "status": "active", "name": location.name,
                "telecom": [{"system": "phone", "value": "608-555-0100"}], "address": address(&location.line),
                "managingOrganization": reference("Organization", &location.organization)}));
        }
        for practitioner in &self.practitioners {
            self.practitioner(practitioner, spec, &mut resources);
        }
        resources
    }

    fn practitioner(&self, practitioner: &Practitioner, spec: &Spec, resources: &mut Vec<Value>) {
        let Practitioner { id, npi, given, family, .. } = practitioner;
        let specialty = &self.tables.practice.specialties[practitioner.specialty];
        let telecom = json!([{"system": "phone", "value": "608-555-0100", "use": "work"}]);
        let taxonomy = json!([{"coding": [{"system": "http://nucc.org/provider-taxonomy", "code": specialty.taxonomy,
            "display": specialty.name}], "text": specialty.name}]);
        resources.push(json!({"resourceType": "Practitioner", "id": id,
            "meta": {"profile": [format!("{US_CORE}us-core-practitioner")]},
            "identifier": [{"system": NPI, "value": npi}], "active": true,
            "name": [{"use": "official", "family": family, "given": [given], "prefix": ["Dr."], "suffix": ["MD"]}],
            "telecom": telecom, "address": [address("400 Lakeshore Drive")]}));
        resources.push(json!({"resourceType": "PractitionerRole", "id": format!("role-{id}"),
            "meta": {"profile": [format!("{US_CORE}us-core-practitionerrole")]}, "active": true,
            "practitioner": practitioner.reference(), "organization": reference("Organization", organization_of(&specialty.id)),
            "code": [{"coding": [{"system": "http://terminology.hl7.org/CodeSystem/practitioner-role", "code": "doctor",
                "display": "Doctor"}]}],
            "specialty": taxonomy, "location": [reference("Location", location_of(&specialty.id))], "telecom": telecom}));
        resources.push(
            json!({"resourceType": "Schedule", "id": format!("sched-{id}"), "active": true, "specialty": taxonomy,
            "actor": [practitioner.reference(), reference("Location", location_of(&specialty.id))],
            "planningHorizon": {"start": spec.as_of.at(480), "end": spec.as_of.plus(90).at(1020)}}),
        );
        let mut day = spec.as_of.plus(1).workday();
        for _ in 0..FREE_DAYS {
            for slot in 0..FREE_SLOTS {
                let start = 780 + slot * 30;
                resources.push(
                    json!({"resourceType": "Slot", "id": format!("slot-{id}-{day}-{start}"), "specialty": taxonomy,
                    "schedule": reference("Schedule", &format!("sched-{id}")), "status": "free",
                    "start": day.at(start), "end": day.at(start + 30)}),
                );
            }
            day = day.plus(1).workday();
        }
    }
}

pub(crate) const NPI: &str = Npi::SYSTEM;

/// The organization that practitioners of a specialty work for.
pub(crate) fn organization_of(specialty: &str) -> &'static str {
    match specialty {
        "hospital" => "org-hospital",
        "radiology" => "org-imaging",
        _ => "org-lakeshore",
    }
}

pub(crate) fn location_of(specialty: &str) -> &'static str {
    match specialty {
        "primary" | "pediatrics" => "loc-downtown",
        "hospital" => "loc-hospital",
        "radiology" => "loc-imaging",
        _ => "loc-west",
    }
}

fn organization_npi(place: usize) -> String {
    npi(199_900_000 + place as i64)
}

fn organization_resource(npi: &str, organization: &Organization) -> Value {
    json!({"resourceType": "Organization", "id": organization.id,
        "meta": {"profile": [format!("{US_CORE}us-core-organization")]},
        "identifier": [{"system": NPI, "value": npi}], "active": true,
        "type": [kind(&organization.kind, "Healthcare Provider")], "name": organization.name,
        "telecom": [{"system": "phone", "value": organization.phone}], "address": [address(&organization.line)]})
}

fn kind(code: &str, display: &str) -> Value {
    json!({"coding": [{"system": "http://terminology.hl7.org/CodeSystem/organization-type", "code": code, "display": display}]})
}

fn address(line: &str) -> Value {
    json!({"use": "work", "line": [line], "city": "Madison", "state": "WI", "postalCode": "53703", "country": "US"})
}

/// The NPI that starts with nine digits.
fn npi(number: i64) -> String {
    Npi::with_check_digit(u32::try_from(number).unwrap_or_default()).to_string()
}
