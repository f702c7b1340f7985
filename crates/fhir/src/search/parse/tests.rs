//! Tests of accepted, ignored and rejected searches.

use proptest::prelude::*;

use super::*;
use crate::search::{Clause, IncludeTarget, Modifier, SearchValue, Summary, Total};

fn read(resource_type: &str, pairs: &[(&str, &str)]) -> Result<Query, SearchError> {
    let pairs: Vec<_> = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    parse(resource_type.parse().unwrap(), "http://me/fhir/", &pairs)
}

fn clause(resource_type: &str, name: &str, value: &str) -> Clause {
    let query = read(resource_type, &[(name, value)]).unwrap();
    assert_eq!(query.applied, [(name.to_owned(), value.to_owned())], "{name}: {:?}", query.ignored);
    query.clauses.into_iter().next().unwrap()
}

/// A short form of a clause: `subject→(Patient.name/1)`.
fn outline(clause: &Clause) -> String {
    match clause {
        Clause::Simple(condition) => format!("{}/{}", condition.parameter.code(), condition.alternatives.len()),
        Clause::Chain { parameter, targets } => {
            let targets = targets.iter().map(|(target, clause)| format!("{target}.{}", outline(clause)));
            format!("{}→({})", parameter.code(), targets.collect::<Vec<_>>().join(" "))
        }
        Clause::ReverseChain { source, parameter, clause } => {
            format!("{source}:{}←{}", parameter.code(), outline(clause))
        }
    }
}

#[track_caller]
fn assert_rejected(resource_type: &str, name: &str, value: &str, message: &str) {
    let error = read(resource_type, &[(name, value)]).expect_err(name);
    assert_eq!(error.parameter, name);
    assert!(error.reason.contains(message), "{error}");
}

#[test]
fn repeated_parameters_are_clauses_and_commas_separate_alternatives() {
    let query = read("Patient", &[("name", "a,b\\,c"), ("name", "d"), ("_id", "1"), ("birthdate", "")]).unwrap();
    let outlines: Vec<_> = query.clauses.iter().map(outline).collect();
    assert_eq!(outlines, ["name/2", "name/1", "_id/1"]);
    assert_eq!((query.applied.len(), query.ignored.len()), (3, 0));
}

#[test]
fn tokens_have_four_forms() {
    let some = |text: &str| Some(text.to_owned());
    for (value, system, code) in [
        ("c", None, some("c")),
        ("s|c", some("s"), some("c")),
        ("|c", some(""), some("c")),
        ("s|", some("s"), None),
        ("a\\|b", None, some("a|b")),
        ("s|a|b", some("s"), some("a|b")),
    ] {
        let Clause::Simple(condition) = clause("Patient", "identifier", value) else { panic!() };
        assert_eq!(condition.alternatives, [SearchValue::Token { system, code }], "{value}");
    }
}

#[test]
fn modifiers_depend_on_the_search_type() {
    for (name, value, modifier) in [
        ("name:exact", "x", Modifier::Exact),
        ("name:contains", "x", Modifier::Contains),
        ("gender:not", "x", Modifier::Not),
        ("language:text", "x", Modifier::Text),
        ("identifier:of-type", "s|c|v", Modifier::OfType),
        ("birthdate:missing", "true", Modifier::Missing),
        ("general-practitioner:Organization", "1", Modifier::Type("Organization".parse().unwrap())),
        ("organization:identifier", "s|1", Modifier::Identifier),
        ("_profile:below", "http://a", Modifier::Below),
        ("_profile:above", "http://a", Modifier::Above),
    ] {
        let Clause::Simple(condition) = clause("Patient", name, value) else { panic!() };
        assert_eq!(condition.modifier, Some(modifier), "{name}");
    }
    for (name, message) in [
        ("name:not", "exact, contains"),
        ("gender:exact", "of-type"),
        ("gender:in", "not supported"),
        ("birthdate:exact", "only missing"),
        ("organization:below", "not supported"),
        ("organization:Organisation", "did you mean \"Organization\""),
        ("_profile:exact", "above, below"),
        ("name:", "exact, contains"),
    ] {
        assert_rejected("Patient", name, "x", message);
    }
}

#[test]
fn invalid_values_are_rejected_with_the_expected_form() {
    for (resource_type, name, value, message) in [
        ("Patient", "birthdate", "gt2024-13", "2024-02-29"),
        ("Patient", "birthdate", "xx2024", "eq, ne"),
        ("Patient", "birthdate", "gt", "is not a valid date"),
        ("Patient", "name:missing", "yes", "true or false"),
        ("Patient", "identifier:of-type", "a|b", "system|code|value"),
        ("Patient", "identifier", "|", "system|code"),
        ("Patient", "organization", "Organisation/1", "did you mean"),
        ("Patient", "organization", "a b", "Type/id"),
        ("Patient", "organization:Organization", "Patient/1", "different resource types"),
        ("RiskAssessment", "probability", "much", "is not a valid number"),
        ("RiskAssessment", "probability", "1e99", "is not a valid number"),
        ("Observation", "value-quantity", "5|a|b|c", "5.4||mg"),
        ("Observation", "code-value-quantity", "a", "code$value-quantity"),
        ("Observation", "code-value-quantity", "a$b", "is not a valid quantity"),
        ("Observation", "code-value-quantity", "a$1$2", "code$value-quantity"),
        ("Patient", "_count", "-1", "whole number from 0"),
        ("Patient", "_count", "many", "whole number from 0"),
        ("Patient", "_count", "+5", "whole number from 0"),
        ("Patient", "_count", "99999999999999999999999", "whole number from 0"),
        ("Patient", "_summary", "yes", "count"),
        ("Patient", "_total", "some", "estimate"),
        ("Patient", "_elements", "name.family", "top-level"),
        ("Patient", "_include", "Patient", "Type:parameter"),
        ("Patient", "_include", "Patient:a:b:c", "Type:parameter"),
        ("Patient", "_include", "Pateint:organization", "did you mean"),
        ("Patient", "_include", "Patient:name", "not a reference"),
        ("Patient", "_include", "Patient:organization:Patient", "cannot reference"),
        ("Patient", "name.family", "x", "not a reference"),
        ("Patient", "organization:Patient.name", "x", "cannot reference"),
        ("Patient", "_has:Observation:patient", "x", "_has:Type"),
        ("Patient", "_has:Observation:code:code", "x", "not a reference"),
        ("Patient", "_has:Observation:device:code", "x", "cannot reference"),
    ] {
        assert_rejected(resource_type, name, value, message);
    }
}

#[test]
fn chains_and_reverse_chains_are_parsed() {
    for (resource_type, name, expected) in [
        ("Observation", "subject:Patient.organization.name", "subject→(Patient.organization→(Organization.name/1))"),
        ("Observation", "patient.name:exact", "patient→(Patient.name/1)"),
        ("Observation", "subject.name", "subject→(Location.name/1 Patient.name/1)"),
        ("Patient", "_has:Observation:patient:code", "Observation:patient←code/1"),
        (
            "Patient",
            "_has:Observation:patient:_has:AuditEvent:entity:agent-name",
            "Observation:patient←AuditEvent:entity←agent-name/1",
        ),
        ("Encounter", "patient._has:Group:member:_id", "patient→(Group.Group:member←_id/1 Patient.Group:member←_id/1)"),
        (
            "Patient",
            "_has:Observation:patient:performer:Practitioner.name",
            "Observation:patient←performer→(Practitioner.name/1)",
        ),
    ] {
        assert_eq!(outline(&clause(resource_type, name, "x")), expected);
    }
}

#[test]
fn a_chain_without_type_uses_the_types_that_accept_the_value() {
    let any = clause("Provenance", "target.birthdate", "2000");
    assert_eq!(outline(&any), "target→(Patient.birthdate/1 Person.birthdate/1 RelatedPerson.birthdate/1)");
    assert_rejected("Provenance", "target.birthdate", "x", "is not a valid date");
}

#[test]
fn unknown_parameters_are_ignored() {
    let names = [
        "nmae",
        "_text",
        "_filter",
        "_content",
        "organization.nmae",
        "_has:Observation:nope:code",
        "_sort:desc",
        "_include:wide",
        "",
    ];
    let pairs: Vec<_> = names.iter().map(|name| (*name, "x")).collect();
    let query = read("Patient", &pairs).unwrap();
    assert_eq!(query.ignored.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), names);
    assert!(query.applied.is_empty() && query.clauses.is_empty());
    assert_eq!(read("Location", &[("near", "1|2")]).unwrap().ignored[0].0, "near");
}

#[test]
fn result_parameters_are_parsed() {
    let query = read(
        "Patient",
        &[
            ("_sort", "-birthdate,_id,_score,nope"),
            ("_count", "0"),
            ("_summary", "count"),
            ("_elements", "name, gender"),
            ("_total", "none"),
            ("_format", "json"),
            ("_pretty", "true"),
        ],
    )
    .unwrap();
    let sorts: Vec<_> = query.sort.iter().map(|sort| (sort.parameter.code(), sort.descending)).collect();
    assert_eq!(sorts, [("birthdate", true), ("_id", false)]);
    assert_eq!((query.count, query.summary, query.total), (Some(0), Summary::Count, Total::None));
    assert_eq!((query.elements, query.applied.len()), (vec!["name".to_owned(), "gender".to_owned()], 5));
    assert_eq!(query.ignored[0].0, "_sort=nope");
    assert_eq!(read("Patient", &[("_total", "estimate")]).unwrap().total, Total::Accurate);
}

#[test]
fn includes_are_parsed() {
    let query = read(
        "Observation",
        &[
            ("_include", "Observation:subject:Patient"),
            ("_include:iterate", "Patient:organization"),
            ("_include", "*"),
            ("_include:recurse", "Patient:*"),
            ("_revinclude", "Provenance:target"),
        ],
    )
    .unwrap();
    let includes = query.includes.iter().map(|include| {
        let code = include.parameter.as_ref().map_or("*", |parameter| parameter.code());
        (include.reverse, include.iterate, include.source.as_str(), code)
    });
    let includes: Vec<_> = includes.collect();
    assert_eq!(
        includes,
        [
            (false, false, "Observation", "subject"),
            (false, true, "Patient", "organization"),
            (false, false, "Observation", "*"),
            (false, true, "Patient", "*"),
            (true, false, "Provenance", "target"),
        ]
    );
    assert_eq!(query.includes[0].target, IncludeTarget::Only("Patient".parse().unwrap()));
    let backward = read("Group", &[("_revinclude", "*")]).unwrap().includes;
    assert!(backward.iter().any(|include| include.source.as_str() == "Observation"));
    assert!(backward.iter().all(|include| include.source.as_str() != "Slot"));
}

#[test]
fn limits_are_enforced() {
    let many = vec!["1"; 10_000].join(",");
    assert_rejected("Patient", "_id", &many, "at most 1000 values");
    let list = vec!["1"; 1_000].join(",");
    assert!(read("Patient", &[("_id", &list)]).is_ok());
    assert!(read("Patient", &[("_id", list.as_str()); 11]).is_err());
    assert!(read("Patient", &[("name", "x"); 101]).is_err());
    assert!(read("Patient", &[(&"x".repeat(501), "x")]).is_err());
    assert_rejected("Observation", "patient.link.link.link.link.link", "x", "at most 4 steps");
    assert_rejected("Provenance", "target.subject.subject.subject", "x", "name the type of each step");
    assert_rejected("Patient", "_sort", &vec!["_id"; 21].join(","), "at most 20");
}

proptest! {
    #[test]
    fn any_text_is_parsed_or_rejected(
        name in "[a-z_:.]{0,12}|[a-z-]{1,12}:[A-Za-z.:_]{0,30}|.{0,20}",
        value in "(eq|gt|ap|xx)?[0-9eE.T:+|$,\\\\-]{0,20}|.{0,40}",
        resource_type in proptest::sample::select(ResourceType::all().collect::<Vec<_>>()),
    ) {
        let _ = parse(resource_type, "http://me", &[(name, value)]);
    }

    #[test]
    fn any_value_of_any_parameter_is_parsed_or_rejected(at: proptest::sample::Index, value in "(eq|gt|ap|xx)?[0-9eE.T:+|$,\\\\-]{0,20}|.{0,40}") {
        let all: Vec<_> = crate::definitions::SearchParameter::all().collect();
        let parameter = all[at.index(all.len())];
        let resource_type = parameter.bases()[0].parse().unwrap_or_else(|_| "Patient".parse().unwrap());
        for modifier in ["", ":missing", ":text", ":of-type", ":identifier", ":not"] {
            let _ = parse(resource_type, "", &[(format!("{}{modifier}", parameter.code()), value.clone())]);
        }
    }
}
