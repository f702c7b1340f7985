//! What holds for every text.

use proptest::prelude::*;
use serde_json::json;
use verial_fhir::fhirpath::{Context, FhirPath};

use crate::{now, read};

const WORDS: [&str; 48] = [
    "name",
    "given",
    "Patient",
    "value",
    "$this",
    "$index",
    "$total",
    "%resource",
    "%`ext-x`",
    "'a'",
    "'\\''",
    "1",
    "2.50",
    "@2024-02",
    "@2024-02T",
    "@T10:30",
    "5 'mg'",
    "3 days",
    "{}",
    "true",
    "(",
    ")",
    "(",
    ")",
    "[",
    "]",
    ".",
    ".",
    ".",
    ",",
    "+",
    "-",
    "*",
    "/",
    "div",
    "|",
    "=",
    "!~",
    "<=",
    "in",
    "contains",
    "and",
    "implies",
    "is",
    "as",
    "where(",
    "exists()",
    "ofType(Quantity)",
];

/// Words of expressions in any order: most are refused, some are not.
fn soup() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(WORDS.to_vec()), 0..14).prop_map(|words| words.join(" "))
}

/// Expressions that can be read.
fn expression() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec![
        "name",
        "Patient.name.given",
        "$this",
        "1",
        "'a\\n`'",
        "@2024-02T",
        "{}",
        "4 'g'",
        "2 weeks",
    ]);
    leaf.prop_map(str::to_owned).prop_recursive(4, 24, 3, |inner| {
        prop_oneof![
            (inner.clone(), prop::sample::select(vec!["+", "and", "|", "=", "in", "&", "div", "xor"]), inner.clone())
                .prop_map(|(left, operator, right)| format!("{left} {operator} {right}")),
            inner.clone().prop_map(|inner| format!("({inner})")),
            inner.clone().prop_map(|inner| format!("-({inner}).first()")),
            inner.clone().prop_map(|inner| format!("name.where({inner}).given[0]")),
            (inner.clone(), inner.clone()).prop_map(|(left, right)| format!("iif({left}, {right})")),
            inner.prop_map(|inner| format!("({inner}) is System.Boolean")),
        ]
    })
}

fn check(text: &str) {
    let Ok(path) = FhirPath::parse(text) else { return };
    let printed = path.to_string();
    assert_eq!(FhirPath::parse(&printed).as_ref(), Ok(&path), "{text} printed as {printed}");
    let patient = json!({ "resourceType": "Patient", "name": [{ "given": ["A", "B"] }, { "family": "C" }] });
    let context = Context::at(now());
    let _ = path.evaluate(&patient, &context);
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in any::<String>()) {
        check(&text);
    }

    #[test]
    fn any_words_are_read_or_refused(text in soup()) {
        check(&text);
    }

    #[test]
    fn what_is_read_prints_as_what_reads_the_same(text in expression()) {
        prop_assert!(FhirPath::parse(&text).is_ok(), "{text}");
        check(&text);
    }
}

#[test]
fn the_tables_print_as_what_reads_the_same() {
    read("graders.txt").lines().for_each(check);
    for line in read("hl7/cases.jsonl").lines() {
        let case: serde_json::Value = serde_json::from_str(line).unwrap();
        check(case["expression"].as_str().unwrap());
    }
}
