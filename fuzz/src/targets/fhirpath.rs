//! FHIRPath: expressions over fixed resources, fixed expressions over any resource, dates and times.

use std::sync::LazyLock;

use clinical::PartialDateTime;
use fhir::fhirpath::{Context, EvaluationFault, FhirPath, Item, Temporal, TemporalType};
use serde_json::Value;

use crate::{fixture, json};

static RESOURCES: LazyLock<Vec<Value>> =
    LazyLock::new(|| fixture::LINES.lines().filter_map(|line| serde_json::from_str(line).ok()).collect());

/// What graders ask, and what reads every kind of value.
const EXPRESSIONS: [&str; 17] = [
    "descendants().count()",
    "name.where(use = 'official').given.first() + '!'",
    "birthDate + 1 year > today()",
    "(effective as dateTime) <= now() - 3 days",
    "value.value * 2 > 1 and value.unit.matches('^g')",
    "value > 12 'g/dL'",
    "children().select(toString().length()).aggregate($this + $total, 0)",
    "descendants().ofType(Quantity).value.toInteger()",
    "extension('http://example.org/x').value.exists()",
    "(name | telecom | identifier).distinct().count()",
    "descendants().where($this is string).select(upper().replace('A', 'b').substring(1, 2))",
    "subject.resolve().name.family",
    "code.coding.exists(system = 'http://loinc.org' and code in ('718-7' | '8480-6'))",
    "Observation.component.value.ofType(Quantity).aggregate($this.value + $total, 0)",
    "descendants().select($this ~ $this)",
    "descendants().toQuantity()",
    "descendants().toDateTime()",
];

fn context() -> Option<Context<'static>> {
    let mut context = Context::at(PartialDateTime::parse_fhir("2026-11-16T02:00:00.000Z")?);
    context.budget = 20_000;
    Some(context)
}

/// What it finds, as JSON.
fn found(path: &FhirPath, resource: &Value) -> Option<Result<Vec<Value>, EvaluationFault>> {
    let context = context()?;
    let found = path.evaluate(resource, &context);
    Some(found.map(|items| items.iter().map(Item::to_json).collect()))
}

/// It prints as an expression that is the same and finds the same.
pub(crate) fn fhirpath_expression(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(path) = FhirPath::parse(text) else { return };
    let printed = path.to_string();
    let again = FhirPath::parse(&printed);
    assert_eq!(again.as_ref(), Ok(&path), "{printed}");
    for resource in RESOURCES.iter() {
        let first = found(&path, resource);
        assert_eq!(again.as_ref().ok().and_then(|again| found(again, resource)), first);
    }
}

pub(crate) fn fhirpath_resource(bytes: &[u8]) {
    let Some(resource) = json::read(bytes) else { return };
    for expression in EXPRESSIONS {
        let path = FhirPath::parse(expression);
        assert!(path.is_ok(), "{expression}: {path:?}");
        let Ok(path) = path else { return };
        assert_eq!(found(&path, &resource), found(&path, &resource));
    }
}

pub(crate) fn fhirpath_temporal(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    for temporal_type in [TemporalType::Date, TemporalType::DateTime, TemporalType::Time] {
        if let Some(temporal) = Temporal::parse(temporal_type, text) {
            assert_eq!(temporal.temporal_type(), temporal_type);
            let printed = temporal.to_string();
            assert_eq!(Temporal::parse(temporal_type, &printed), Some(temporal), "{printed}");
        }
    }
}
