//! FHIRPath (<https://hl7.org/fhirpath/N1/>) against HL7's suite for R4, what graders ask, and what nobody should write.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic, also in the functions that its tests share")]

mod properties;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use clinical::PartialDateTime;
use serde_json::{Value, json};
use verial_fhir::fhirpath::{Context, EvaluationFault, FhirPath, Item, Resolver};

fn now() -> PartialDateTime {
    PartialDateTime::parse_fhir("2026-11-16T02:00:00.000Z").unwrap()
}

fn read(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fhirpath").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// What an expression finds, as JSON; or the fault, as text.
fn find(expression: &str, resource: &Value) -> Result<Value, String> {
    let path = FhirPath::parse(expression).map_err(|fault| fault.to_string())?;
    let context = Context::at(now());
    let found = path.evaluate(resource, &context).map_err(|fault| fault.to_string())?;
    Ok(found.iter().map(Item::to_json).collect())
}

#[test]
fn graders_find_what_they_ask_for() {
    let chart: Value = serde_json::from_str(&read("chart.json")).unwrap();
    let table = read("graders.txt");
    let lines: Vec<&str> = table.lines().filter(|line| !line.starts_with('#')).collect();
    assert!(lines.len() > 300);
    for pair in lines.chunks(2) {
        let [expression, expected] = pair else { panic!("{pair:?}") };
        let found = find(expression, &chart).map_or_else(|fault| format!("fault: {fault}"), |found| found.to_string());
        let expected = expected.trim();
        let expected = match expected.strip_prefix("fault") {
            Some(_) => expected.to_owned(),
            None => serde_json::from_str::<Value>(expected).unwrap().to_string(),
        };
        assert_eq!(found, expected, "{expression}");
    }
}

/// The suite goes beyond N1; `differences.txt` has every case that fails, with the reason.
#[test]
fn the_suite_of_hl7_passes_but_for_the_differences_that_are_listed() {
    let mut files: BTreeMap<String, Value> = BTreeMap::new();
    let mut failed = BTreeSet::new();
    let mut count = 0;
    for line in read("hl7/cases.jsonl").lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let file = case["file"].as_str().unwrap();
        let resource = files
            .entry(file.to_owned())
            .or_insert_with(|| serde_json::from_str(&read(&format!("hl7/{file}"))).unwrap());
        count += 1;
        if !passes(&case, resource) {
            failed.insert(case["name"].as_str().unwrap().to_owned());
        }
    }
    let listed = read("hl7/differences.txt");
    let listed: BTreeSet<String> = listed
        .lines()
        .filter(|line| line.starts_with(' '))
        .flat_map(str::split_whitespace)
        .map(str::to_owned)
        .collect();
    assert_eq!(count, 935);
    assert_eq!(failed, listed);
}

fn passes(case: &Value, resource: &Value) -> bool {
    let Ok(path) = FhirPath::parse(case["expression"].as_str().unwrap()) else { return case["invalid"] == true };
    let context = Context::at(now());
    let Ok(found) = path.evaluate(resource, &context) else { return case["invalid"] == true };
    if case["invalid"] == true {
        return false;
    }
    if case["predicate"] == true {
        return !found.is_empty();
    }
    let mut expected: Vec<&str> = case["outputs"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let mut found: Vec<String> = found.iter().map(text).collect();
    found.sort();
    expected.sort_unstable();
    found.len() == expected.len() && found.iter().zip(expected).all(|(found, expected)| is_same(found, expected))
}

fn text(item: &Item<'_>) -> String {
    match item {
        Item::Quantity(quantity) => quantity.to_string(),
        item => match item.to_json() {
            Value::String(text) => text,
            other => other.to_string(),
        },
    }
}

fn is_same(found: &str, expected: &str) -> bool {
    let expected = expected.trim_start_matches('@');
    let time = expected.strip_prefix('T').filter(|time| time.contains(':'));
    let numbers = (found.parse::<rust_decimal::Decimal>(), expected.parse::<rust_decimal::Decimal>());
    found == expected || time == Some(found) || matches!(numbers, (Ok(found), Ok(expected)) if found == expected)
}

#[test]
fn texts_that_are_no_expression_say_where() {
    let deep = format!("{}1", "(".repeat(10_000));
    let long = "a".repeat(20_000);
    let signs = "-".repeat(10_000);
    let typed = "1".to_owned() + &" is Integer + 1".repeat(900);
    for (expression, place, reason) in [
        ("", 0, "expected an expression"),
        ("name.", 5, "expected a name"),
        ("name.given1", 5, "no element of R4 is named given1"),
        ("effectiveDateTime", 0, "no element of R4 is named effectiveDateTime; write effective.ofType(dateTime)"),
        ("name.frist()", 5, "unknown function frist()"),
        ("name.where()", 5, "where() takes 1 to 1 arguments, not 0"),
        ("name.memberOf('x')", 5, "memberOf() is not supported: there is no terminology service here"),
        ("conformsTo('x')", 0, "conformsTo() is not supported: profiles are checked by the validator"),
        ("value.ofType(Quantty)", 13, "unknown type Quantty"),
        ("name and", 8, "expected an expression"),
        ("name 'x'", 5, "expected an operator or the end"),
        ("'x", 0, "the quote is not closed"),
        ("\"x\"", 0, "strings are written between single quotes"),
        ("@2024-02-30", 0, "no such date or time: @2024-02-30"),
        ("%unknown", 1, "unknown constant %unknown"),
        ("$that", 0, "unknown variable $that"),
        ("(1", 2, "expected )"),
        ("1 # 2", 2, "unexpected character '#'"),
        ("/* x", 0, "the comment does not end"),
        (&deep, 64, "nested deeper than 64"),
        (&long, 16_384, "longer than 16384 bytes"),
        (&signs, 64, "nested deeper than 64"),
        (&typed, 13, "expected an operator or the end"),
    ] {
        let fault = FhirPath::parse(expression).unwrap_err();
        assert_eq!(
            (fault.place, fault.reason.as_str()),
            (place, reason),
            "{}",
            &expression[..expression.len().min(60)]
        );
    }
}

#[test]
fn faults_are_not_empty_answers() {
    let patient = json!({ "resourceType": "Patient", "name": [{ "family": "A" }, { "family": "B" }], "active": true });
    for (expression, fault) in [
        ("active and name.family", "and needs one value at most, and there are 2"),
        ("name.family.upper()", "upper needs one value at most, and there are 2"),
        ("active > 3", ">: no order between Boolean and Integer"),
        ("name.first() + 1", "+ cannot take HumanName"),
        ("'a' - 'b'", "-: not between String and String"),
        ("'x'.matches('(')", "matches: the pattern is no regular expression that can be used"),
        ("iif('x', 1, 2)", "iif cannot take String"),
        ("today() + 1 'mo'", "+: 1 'mo' is no time of the calendar"),
    ] {
        assert_eq!(find(expression, &patient), Err(fault.to_owned()), "{expression}");
    }
    assert_eq!(find("name", &json!({})), Err("the resource: resourceType is missing or unknown".to_owned()));
}

#[test]
fn a_budget_ends_what_would_not_end() {
    let patient = json!({ "resourceType": "Patient", "name": [{ "family": "A" }] });
    let many = "(0|1|2|3|4|5|6|7|8|9)";
    let bomb = format!("{many}{}", format!(".select({many}").repeat(8) + &")".repeat(8));
    for expression in [
        "repeat($this.count() | (count() + 1))",
        "1.repeat($this + 1)",
        "'x'.repeat($this + $this)",
        bomb.as_str(),
        "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'.repeat($this.replace('a', 'aaaaaaaaaaaaaaaa'))",
    ] {
        let Ok(path) = FhirPath::parse(expression) else { panic!("{expression}") };
        let context = Context::at(now());
        match path.evaluate(&patient, &context) {
            Err(EvaluationFault::OverBudget { .. } | EvaluationFault::Unusable { .. }) => {}
            other => assert!(expression.starts_with("repeat"), "{expression}: {other:?}"),
        }
    }
}

struct Store(Value);

impl Resolver for Store {
    fn resolve(&self, reference: &str) -> Option<Cow<'_, Value>> {
        match reference {
            "Organization/1" => Some(Cow::Borrowed(&self.0)),
            "Practitioner/2" => Some(Cow::Owned(json!({ "resourceType": "Practitioner", "id": "2" }))),
            _ => None,
        }
    }
}

#[test]
fn references_lead_through_the_resolver() {
    let patient = json!({
        "resourceType": "Patient",
        "managingOrganization": { "reference": "Organization/1" },
        "generalPractitioner": [{ "reference": "Practitioner/2" }, { "reference": "Practitioner/3" }]
    });
    let store = Store(json!({ "resourceType": "Organization", "name": "Clinic" }));
    let context = Context::at(now()).resolving(&store);
    for (expression, expected) in [
        ("managingOrganization.resolve().name", json!(["Clinic"])),
        ("generalPractitioner.resolve().id", json!(["2"])),
        ("generalPractitioner.resolve() is Practitioner", json!([true])),
        ("'Organization/1'.resolve().name", json!(["Clinic"])),
    ] {
        let path = FhirPath::parse(expression).unwrap();
        let found: Value = path.evaluate(&patient, &context).unwrap().iter().map(Item::to_json).collect();
        assert_eq!(found, expected, "{expression}");
    }
}

#[test]
fn decimals_keep_their_digits() {
    let text = r#"{"resourceType":"Observation","valueQuantity":{"value":0.1000000000000000000000001}}"#;
    let observation: Value = serde_json::from_str(text).unwrap();
    for (expression, expected) in [
        ("value.value", "[0.1000000000000000000000001]"),
        ("value.value = 0.1", "[false]"),
        ("value.value + 0.2", "[0.3000000000000000000000001]"),
        ("0.1 + 0.2 = 0.3", "[true]"),
        ("16.log(2)", "[4]"),
        ("2.sqrt() * 2.sqrt() ~ 2.00", "[true]"),
        ("1.exp().ln() ~ 1.000", "[true]"),
    ] {
        assert_eq!(find(expression, &observation).unwrap().to_string(), expected, "{expression}");
    }
}
