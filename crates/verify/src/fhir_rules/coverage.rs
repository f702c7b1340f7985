//! The elements of a record that an assertion covers with its fields, its search and `ignore`.

use fhir::Reference;
use fhir::search::{
    Clause, Concept, Condition, IndexedValue, Modifier, Query, SearchValue, SelectedElement, fold, select,
};
use serde_json::Value;
use world::Records;

use super::{codings, prose, units};
use crate::checks::fhir_resource_state::{FhirFieldAssertion, FhirResourceState};
use crate::closed_world::Coverage;
use crate::compare::Typing;
use crate::evidence::EvaluationContext;
use crate::path::fhirpath::FhirPath;
use crate::quantifier::Quantifier;

/// The coverage of a record, and of the version before the agent's change.
pub(super) fn of(
    check: &FhirResourceState,
    query: &Query,
    resource: &Value,
    baseline: Option<&Value>,
    context: &EvaluationContext<'_>,
) -> Result<Coverage, String> {
    let mut coverage = Coverage::default();
    for field in &check.fields {
        cover_field(&mut coverage, field, resource, baseline, context)?;
    }
    for path in &check.ignore {
        for document in baseline.into_iter().chain([resource]) {
            coverage.cover_path(path.ready()?, document, &context.budget)?;
        }
    }
    for clause in &query.clauses {
        cover_clause(&mut coverage, clause, resource);
        if let Some(baseline) = baseline {
            cover_clause(&mut coverage, clause, baseline);
        }
    }
    cover_equivalents(&mut coverage, resource, &check.equivalents);
    Ok(coverage)
}

fn cover_field(
    coverage: &mut Coverage,
    field: &FhirFieldAssertion,
    resource: &Value,
    baseline: Option<&Value>,
    context: &EvaluationContext<'_>,
) -> Result<(), String> {
    match (&field.path, &field.fhirpath) {
        (Some(path), _) => {
            let path = path.ready()?;
            let comparison = field.comparison().map_err(|errors| errors.to_string())?;
            let found = path.find(resource, &context.budget)?;
            let quantifier = field.quantifier.unwrap_or(Quantifier::All);
            coverage.cover_field(&found, &comparison, (quantifier, Typing::Typed), &context.budget)?;
            path.selector_values(resource, &context.budget)?
                .into_iter()
                .for_each(|value| coverage.cover_asserted(value));
            baseline.map_or(Ok(()), |baseline| coverage.cover_path(path, baseline, &context.budget))
        }
        (None, Some(expression)) => {
            let expression = expression.ready()?;
            cover_expression(coverage, expression, field.expected.as_ref(), resource);
            if let Some(baseline) = baseline {
                cover_expression(coverage, expression, None, baseline);
            }
            Ok(())
        }
        (None, None) => Ok(()),
    }
}

/// An expression covers the elements that it names. A text counts as asserted if the expression or its expected value
/// contains the same text.
fn cover_expression(coverage: &mut Coverage, expression: &FhirPath, expected: Option<&Value>, resource: &Value) {
    let mentions = expression.mentions();
    for path in &mentions.paths {
        for value in named(resource, path) {
            match value {
                Value::Array(_) | Value::Object(_) => {}
                Value::String(text) => {
                    let is_expected = expected.and_then(Value::as_str) == Some(text.as_str());
                    if is_expected || mentions.literals.contains(text) {
                        coverage.cover_asserted(value)
                    } else {
                        coverage.cover(value)
                    }
                }
                _ => coverage.cover_asserted(value),
            }
        }
    }
}

/// The values at a list of FHIRPath names, through lists and choice types.
fn named<'v>(value: &'v Value, path: &[String]) -> Vec<&'v Value> {
    match (value, path.split_first()) {
        (Value::Array(items), _) => items.iter().flat_map(|item| named(item, path)).collect(),
        (value, None) => vec![value],
        (Value::Object(members), Some((name, rest))) => {
            let is_named = |key: &str| {
                key == name
                    || key
                        .strip_prefix(name.as_str())
                        .is_some_and(|end| end.starts_with(|c: char| c.is_ascii_uppercase()))
            };
            // `value` selects `valueQuantity`, unless there is a member `value`.
            let exact = members.get(name).map(|member| named(member, rest));
            exact.unwrap_or_else(|| {
                let members = members.iter().filter(|(key, _)| is_named(key));
                members.flat_map(|(_, member)| named(member, rest)).collect()
            })
        }
        _ => Vec::new(),
    }
}

/// A search covers the elements that its conditions match.
fn cover_clause(coverage: &mut Coverage, clause: &Clause, resource: &Value) {
    match clause {
        Clause::Simple(Condition { parameter, modifier, alternatives }) => {
            if *modifier == Some(Modifier::Not) {
                return;
            }
            for selected in select(parameter, resource) {
                for wanted in alternatives {
                    cover_selected(coverage, &selected, wanted, modifier.as_ref());
                }
            }
        }
        Clause::Chain { parameter, .. } => {
            if let [selected] = select(parameter, resource).as_slice()
                && let Some(reference) = selected.element.get("reference")
            {
                coverage.cover_asserted(reference);
            }
        }
        Clause::ReverseChain { .. } => {}
    }
}

fn cover_selected(
    coverage: &mut Coverage,
    selected: &SelectedElement<'_>,
    wanted: &SearchValue,
    modifier: Option<&Modifier>,
) {
    if !selected.values.iter().any(|found| wanted.matches(modifier, found)) {
        return;
    }
    if let SearchValue::Composite(parts) = wanted {
        for (component, wanted) in selected.components.iter().zip(parts) {
            component.iter().for_each(|selected| cover_selected(coverage, selected, wanted, None));
        }
        return;
    }
    let Value::Object(members) = selected.element else { return coverage.cover_asserted(selected.element) };
    // A condition on the whole record covers no element.
    if members.contains_key("resourceType") {
        return;
    }
    let mut assert = |names: &[&str]| {
        names.iter().filter_map(|name| members.get(*name)).for_each(|value| coverage.cover_asserted(value))
    };
    match wanted {
        SearchValue::Token { .. } | SearchValue::OfType { .. } if members.contains_key("coding") => {
            cover_concept(coverage, selected.element, wanted, modifier);
        }
        SearchValue::Token { .. } if members.contains_key("code") => assert(&["system", "code"]),
        SearchValue::Token { .. } | SearchValue::OfType { .. } => assert(&["system", "value"]),
        SearchValue::Reference { .. } | SearchValue::Address(_) => assert(&["reference"]),
        SearchValue::Date { .. } => assert(&["start", "end"]),
        SearchValue::Quantity { code: Some(_), .. } => assert(&["value", "system", "code"]),
        SearchValue::Quantity { .. } | SearchValue::Number { .. } => assert(&["value"]),
        SearchValue::String(text) => {
            let text = fold(text);
            let is_found = |value: &&Value| value.as_str().is_some_and(|value| fold(value).starts_with(&text));
            members.values().filter(is_found).for_each(|value| coverage.cover(value));
        }
        SearchValue::Uri(_) | SearchValue::Missing(_) | SearchValue::Composite(_) => {}
    }
}

fn cover_concept(coverage: &mut Coverage, concept: &Value, wanted: &SearchValue, modifier: Option<&Modifier>) {
    let boxed = |coding: &Value, name: &str| coding.get(name).and_then(Value::as_str).map(Box::from);
    for coding in concept.get("coding").and_then(Value::as_array).into_iter().flatten() {
        let found = Concept {
            system: boxed(coding, "system"),
            code: boxed(coding, "code"),
            text: boxed(coding, "display"),
            ..Concept::default()
        };
        if wanted.matches(modifier, &IndexedValue::Token(found)) {
            ["system", "code"]
                .iter()
                .filter_map(|name| coding.get(name))
                .for_each(|value| coverage.cover_asserted(value));
        }
    }
}

/// Covers the codings that the author lists as equivalent.
fn cover_equivalents(coverage: &mut Coverage, value: &Value, equivalents: &[String]) {
    match value {
        _ if equivalents.is_empty() => {}
        Value::Object(members) => {
            if codings::is_listed(value, equivalents) {
                ["system", "code"].iter().filter_map(|name| value.get(name)).for_each(|value| coverage.cover(value));
            }
            members.values().for_each(|member| cover_equivalents(coverage, member, equivalents));
        }
        Value::Array(items) => items.iter().for_each(|item| cover_equivalents(coverage, item, equivalents)),
        _ => {}
    }
}

/// Whether an element of a record is always allowed: elements that the server maintains, and a generated narrative.
pub(super) fn is_built_in(
    record: &Value,
    key: &str,
    value: &Value,
    baseline: Option<&Value>,
    records: &Records,
) -> bool {
    match key {
        "resourceType" | "id" => true,
        "meta" => prose::is_plain_meta(value, baseline.and_then(|baseline| baseline.get("meta"))),
        "text" => prose::is_generated(value, record, records),
        _ => false,
    }
}

/// Whether a member is allowed because it says the same as an asserted sibling: the display of a code, the type and name of
/// the target of a reference, the unit of a UCUM code.
pub(super) fn is_companion(object: &Value, key: &str, value: &Value, coverage: &Coverage, records: &Records) -> bool {
    let is_asserted = |name: &str| object.get(name).is_some_and(|value| coverage.covers(value));
    let text = |name: &str| object.get(name).and_then(Value::as_str);
    let has_asserted_coding = || {
        let codings = object.get("coding").and_then(Value::as_array).into_iter().flatten();
        codings.filter_map(|coding| coding.get("code")).any(|code| coverage.covers(code))
    };
    match (key, value) {
        // A display that belongs to another code is reported separately.
        ("display", Value::String(display)) if object.get("code").is_some() => {
            is_asserted("code") && !prose::retracts_apart_from_code(display, text("code").unwrap_or_default())
        }
        ("version", Value::String(version)) if object.get("code").is_some() => {
            let is_version = version.chars().all(|c| c.is_ascii_digit() || c == '.');
            let is_uri = version.starts_with("http") && version.len() <= 200 && !version.contains(char::is_whitespace);
            is_asserted("code") && (is_version || is_uri)
        }
        ("userSelected", Value::Bool(_)) if object.get("code").is_some() => is_asserted("code"),
        ("text", Value::String(display)) => has_asserted_coding() && !prose::retracts(display),
        ("type", Value::String(of)) => {
            let target = text("reference").and_then(|reference| Reference::parse(reference).resource_type());
            is_asserted("reference") && target.is_some_and(|target| target.as_str() == of)
        }
        ("display", Value::String(display)) => {
            is_asserted("reference")
                && text("reference").is_some_and(|reference| prose::is_name(display, reference, records))
        }
        ("unit", Value::String(unit)) => {
            is_asserted("code") && text("code").is_some_and(|code| units::is_same(unit, code))
        }
        ("code", Value::String(code)) => {
            is_asserted("unit") && text("unit").is_some_and(|unit| units::is_same(unit, code))
        }
        ("system", Value::String(system)) => {
            let is_quantity = object.get("value").is_some();
            is_quantity && system == units::UCUM && (is_asserted("unit") || is_asserted("code"))
        }
        _ => false,
    }
}
