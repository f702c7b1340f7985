//! What is true of every FHIR record that counts as a match, beside its fields.
//!
//! A record whose own status takes it back is not a match unless the assertion asks for that status. In what the agent
//! added or changed, modifier elements that nobody asserts must be without effect, a concept must not have another code
//! of a system that the assertion asks for, and a code must not contradict its display, nor a unit its code. With `only`
//! the record has nothing beyond what is asserted.

mod codings;
mod covered;
mod modifiers;
mod prose;
mod status;
mod units;

use fhir::definitions::Structure;
use fhir::{ResourceType, search::Query};
use serde_json::Value;
use world::Records;

use crate::baseline::Baselines;
use crate::checks::fhir_resource_state::FhirResourceState;
use crate::closed_world::{ClosedWorld, Coverage};
use crate::compare::{Typing, is_equal, size};
use crate::evidence::Case;
use crate::judge::FieldResult;

/// The rules for the candidates of one assertion.
pub(crate) struct FhirRules<'a> {
    check: &'a FhirResourceState,
    query: &'a Query,
    resource_type: ResourceType,
    case: &'a Case<'a>,
    baselines: Baselines,
}

/// What the rules say about one candidate.
#[derive(Debug, Default)]
pub(crate) struct Ruling {
    /// The record's own status takes it back.
    pub(crate) withdrawn: Option<FieldResult>,
    pub(crate) violations: Vec<FieldResult>,
    /// Whether the agent wrote the record.
    pub(crate) is_changed: bool,
}

impl<'a> FhirRules<'a> {
    pub(crate) fn new(
        check: &'a FhirResourceState,
        query: &'a Query,
        resource_type: ResourceType,
        case: &'a Case<'a>,
    ) -> Result<Self, String> {
        Ok(Self { check, query, resource_type, case, baselines: Baselines::new(case)? })
    }

    pub(crate) fn judge(&self, records: &Records, key: &str, resource: &Value) -> Result<Ruling, String> {
        let Some(structure) = Structure::of(self.resource_type) else { return Ok(Ruling::default()) };
        let is_changed = self.baselines.is_changed(records, self.resource_type.as_str(), key);
        if !is_changed && !status::is_withdrawn(structure, resource) {
            return Ok(Ruling::default());
        }
        let baseline = self.baselines.of(records, self.resource_type.as_str(), key);
        let baseline = baseline.as_deref();
        self.case.budget.spend(2 * size(resource) + baseline.map_or(0, size))?;
        let coverage = covered::coverage(self.check, self.query, resource, baseline, self.case)?;
        let withdrawn = status::withdrawn(structure, resource, &coverage);
        if !is_changed {
            return Ok(Ruling { withdrawn, violations: Vec::new(), is_changed });
        }
        let mut violations = modifiers::violations(structure, resource, baseline, &coverage);
        let mut codings = codings::Codings::new(&coverage, &self.check.equivalents, records, self.case);
        each_changed(resource, baseline, "", &mut |object, path| codings.look(object, path))?;
        violations.extend(codings.violations);
        each_changed(resource, baseline, "", &mut |object, path| {
            violations.extend(units::contradiction(object, path));
            Ok(())
        })?;
        violations.sort_by(|left, right| left.path().cmp(right.path()));
        if self.check.only {
            violations.extend(self.extras(records, resource, baseline, &coverage)?);
        }
        Ok(Ruling { withdrawn, violations, is_changed })
    }

    fn extras(
        &self,
        records: &Records,
        resource: &Value,
        baseline: Option<&Value>,
        coverage: &Coverage,
    ) -> Result<Vec<FieldResult>, String> {
        let allows = |object: &Value, key: &str, value: &Value| {
            // Contained resources are content like any other.
            let is_record = std::iter::once(resource).chain(baseline).any(|record| std::ptr::eq(record, object));
            (is_record && covered::is_built_in(object, key, value, baseline, records))
                || covered::is_companion(object, key, value, coverage, records)
        };
        ClosedWorld { coverage, baseline, allows: &allows }.violations(resource, &self.case.budget)
    }
}

/// Calls `look` for every object that differs from the baseline, with its path.
fn each_changed(
    value: &Value,
    baseline: Option<&Value>,
    path: &str,
    look: &mut dyn FnMut(&Value, &str) -> Result<(), String>,
) -> Result<(), String> {
    if baseline.is_some_and(|baseline| is_equal(value, baseline, Typing::Typed)) {
        return Ok(());
    }
    let inner = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    match value {
        Value::Object(members) => {
            look(value, path)?;
            for (key, member) in members {
                each_changed(member, baseline.and_then(|baseline| baseline.get(key)), &inner(key), look)?;
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                each_changed(item, counterpart(item, index, baseline), &inner(&index.to_string()), look)?;
            }
        }
        _ => {}
    }
    Ok(())
}

/// What an item of a list was before: an equal item wherever it is, else the one at its place.
fn counterpart<'b>(item: &Value, index: usize, baseline: Option<&'b Value>) -> Option<&'b Value> {
    match baseline? {
        Value::Array(before) => {
            before.iter().find(|other| is_equal(item, other, Typing::Typed)).or_else(|| before.get(index))
        }
        other => Some(other),
    }
}

/// The items of a list, or the value itself.
fn items(value: &Value) -> &[Value] {
    match value {
        Value::Array(items) => items,
        one => std::slice::from_ref(one),
    }
}
