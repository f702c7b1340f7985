//! Patient and RelatedPerson, and the duplicate chart that some people have.

use serde_json::{Value, json};

use super::Builder;
use super::elements::{US_CORE, hl7, meta, reference};
use crate::person::{Person, RACES};

pub(super) const MRN: &str = "urn:oid:2.16.840.1.113883.19.5.99999.1";
const OMB: &str = "urn:oid:2.16.840.1.113883.6.238";

pub(super) fn write(builder: &mut Builder<'_>) {
    let rates = builder.population.spec.dirt.clone();
    if builder.person.is_namesake {
        builder.dirt.push("namesake");
    }
    if builder.person.former.is_some() {
        builder.dirt.push("married_name");
    }
    let mut resource = resource(&builder.person, &builder.person.id(), &builder.person.mrn);
    let pcp = builder.population.practice.of_specialty(primary(builder), builder.person.index);
    resource["generalPractitioner"] = json!([pcp.reference()]);
    resource["managingOrganization"] = reference("Organization", "org-lakeshore");
    let since = builder.end().plus(-builder.random.between(60, 900));
    if since > builder.person.birth && builder.soils("moved", rates.moved) {
        let old = json!({"use": "old", "line": [format!("{} Second Street", builder.random.between(1, 999))],
            "city": "Beloit", "state": "WI", "postalCode": "53511", "country": "US", "period": {"end": since.to_string()}});
        resource["address"][0]["period"] = json!({"start": since.to_string()});
        if let Some(addresses) = resource["address"].as_array_mut() {
            addresses.push(old);
        }
    }
    builder.resources.push(resource);
    if builder.person.age(builder.as_of()) < 18 {
        related(builder);
    }
}

/// The specialty of the patient's primary care.
pub(super) fn primary(builder: &Builder<'_>) -> &'static str {
    if builder.person.age(builder.as_of()) < 18 { "pediatrics" } else { "primary" }
}

pub(super) fn parent_id(person: &Person) -> String {
    format!("{:06}-parent", person.index)
}

fn related(builder: &mut Builder<'_>) {
    let names = &builder.population.tables.names;
    let given = builder.random.text(&names.female).to_owned();
    let person = &builder.person;
    builder.resources.push(json!({"resourceType": "RelatedPerson", "id": parent_id(person),
        "meta": meta("us-core-relatedperson"), "active": true, "patient": builder.subject(),
        "relationship": [hl7("v3-RoleCode", "MTH", "mother")], "name": [{"family": person.family, "given": [given]}],
        "telecom": [{"system": "phone", "value": person.phone, "use": "mobile"}],
        "address": [address(person)]}));
}

pub(super) fn address(person: &Person) -> Value {
    json!({"use": "home", "line": [person.line], "city": person.city.city, "state": "WI", "postalCode": person.city.zip,
        "country": "US"})
}

fn resource(person: &Person, id: &str, mrn: &str) -> Value {
    let (gender, birth_sex) = if person.female { ("female", "F") } else { ("male", "M") };
    let language = if person.spanish { ("es", "Spanish") } else { ("en", "English") };
    let mut names = vec![json!({"use": "official", "family": person.family,
        "given": [person.given, person.middle]})];
    names.extend(
        person.former.as_ref().map(|(former, until)| {
            json!({"use": "maiden", "family": former, "given": [person.given], "period": {"end": until.to_string()}})
        }),
    );
    let mut identifier = hl7("v2-0203", "MR", "Medical record number");
    identifier["text"] = "Medical record number".into();
    let mut resource = json!({"resourceType": "Patient", "id": id, "meta": meta("us-core-patient"),
        "extension": extensions(person, birth_sex),
        "identifier": [{"use": "usual", "type": identifier, "system": MRN, "value": mrn}],
        "active": true, "name": names,
        "telecom": [{"system": "phone", "value": person.phone, "use": "mobile"},
            {"system": "email", "value": format!("{}.{}{}@example.com", person.given, person.family, person.index).to_lowercase()}],
        "gender": gender, "birthDate": person.birth.to_string(), "address": [address(person)],
        "communication": [{"language": {"coding": [{"system": "urn:ietf:bcp:47", "code": language.0, "display": language.1}]},
            "preferred": true}]});
    if let Some(death) = person.death {
        resource["deceasedDateTime"] = death.to_string().into();
    }
    resource
}

fn extensions(person: &Person, birth_sex: &str) -> Value {
    let (race, race_name, _) = RACES[person.race];
    let (ethnicity, ethnicity_name) =
        if person.hispanic { ("2135-2", "Hispanic or Latino") } else { ("2186-5", "Not Hispanic or Latino") };
    let category = |name: &str, code: &str, display: &str| {
        json!({"url": format!("{US_CORE}{name}"), "extension": [
            {"url": "ombCategory", "valueCoding": {"system": OMB, "code": code, "display": display}},
            {"url": "text", "valueString": display}]})
    };
    json!([category("us-core-race", race, race_name), category("us-core-ethnicity", ethnicity, ethnicity_name),
        {"url": format!("{US_CORE}us-core-birthsex"), "valueCode": birth_sex}])
}

/// An undetected duplicate, or an old record number that still gets results.
pub(super) fn write_other_charts(builder: &mut Builder<'_>) {
    let rates = builder.population.spec.dirt.clone();
    if builder.soils("duplicate_chart", rates.duplicate_chart) {
        let mut other = builder.person.clone();
        let nicknames = &builder.population.tables.names.nicknames;
        match builder.dirty.below(4) {
            0 => std::mem::swap(&mut other.given, &mut other.family),
            1 => other.family = misspelled(&other.family),
            2 => other.given = nicknames.get(&other.given).cloned().unwrap_or_else(|| misspelled(&other.given)),
            _ => other.middle = String::from("X"),
        }
        other.former = None;
        let id = format!("{}-dup", builder.person.id());
        let resource = resource(&other, &id, &format!("9{}", &builder.person.mrn[1..]));
        builder.resources.push(resource);
        refile(builder, &id, 2);
    }
    if builder.resources.iter().any(is_lab) && builder.soils("old_mrn_results", rates.old_mrn_results) {
        let id = format!("{}-old", builder.person.id());
        let mut resource = resource(&builder.person, &id, &format!("8{}", &builder.person.mrn[1..]));
        resource["active"] = false.into();
        resource["link"] = json!([{"other": reference("Patient", &builder.person.id()), "type": "replaced-by"}]);
        builder.resources.push(resource);
        refile(builder, &id, 3);
    }
}

/// Moves the last results to another chart.
fn refile(builder: &mut Builder<'_>, id: &str, count: usize) {
    for resource in builder.resources.iter_mut().rev().filter(|resource| is_lab(resource)).take(count) {
        resource["subject"] = reference("Patient", id);
    }
}

fn is_lab(resource: &Value) -> bool {
    resource["resourceType"] == "Observation" && resource["category"][0]["coding"][0]["code"] == "laboratory"
}

/// Swaps two adjacent letters after the first, or doubles the last one.
fn misspelled(name: &str) -> String {
    let mut chars: Vec<char> = name.chars().collect();
    match (1..chars.len().saturating_sub(1)).rfind(|&place| chars[place] != chars[place + 1]) {
        Some(place) => chars.swap(place, place + 1),
        None => chars.extend(chars.last().copied()),
    }
    chars.into_iter().collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_misspelled_name_differs() {
        for (name, wrong) in [("Bell", "Blel"), ("Lee", "Leee"), ("Emma", "Emam"), ("Jo", "Joo"), ("Smith", "Smiht")] {
            assert_eq!(super::misspelled(name), wrong);
        }
    }
}
