//! Rules that every FHIR record must meet to count as a match, in addition to its fields.
//!
//! A record whose status withdraws it is not a match unless the assertion asks for that status. In the elements that the
//! agent added or changed, modifier elements that are not asserted must have no effect, a concept must not have a second
//! code of an asserted code system, a display must not contradict its code, and a unit must not contradict its code. With
//! `only`, the record contains nothing other than the asserted values.

mod codings;
mod coverage;
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
use crate::evidence::EvaluationContext;
use crate::scoring::FieldResult;

/// The rules for the candidates of one assertion.
pub(crate) struct FhirRules<'a> {
    check: &'a FhirResourceState,
    query: &'a Query,
    resource_type: ResourceType,
    context: &'a EvaluationContext<'a>,
    baselines: Baselines,
}

/// The result of the rules for one candidate.
#[derive(Debug, Default)]
pub(crate) struct RuleResult {
    /// The violation for a status that withdraws the record.
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
        context: &'a EvaluationContext<'a>,
    ) -> Result<Self, String> {
        Ok(Self { check, query, resource_type, context, baselines: Baselines::new(context)? })
    }

    pub(crate) fn apply(&self, records: &Records, key: &str, resource: &Value) -> Result<RuleResult, String> {
        let Some(structure) = Structure::of(self.resource_type) else { return Ok(RuleResult::default()) };
        let is_changed = self.baselines.is_changed(records, self.resource_type.as_str(), key);
        if !is_changed && !status::is_withdrawn(structure, resource) {
            return Ok(RuleResult::default());
        }
        let baseline = self.baselines.of(records, self.resource_type.as_str(), key);
        let baseline = baseline.as_deref();
        self.context.budget.spend(2 * size(resource) + baseline.map_or(0, size))?;
        let coverage = coverage::of(self.check, self.query, resource, baseline, self.context)?;
        let withdrawn = status::withdrawn(structure, resource, &coverage);
        if !is_changed {
            return Ok(RuleResult { withdrawn, violations: Vec::new(), is_changed });
        }
        let mut violations = modifiers::violations(structure, resource, baseline, &coverage);
        let mut codings = codings::Codings::new(&coverage, &self.check.equivalents, records, self.context);
        each_changed(resource, baseline, "", &mut |object, path| codings.check(object, path))?;
        violations.extend(codings.violations);
        each_changed(resource, baseline, "", &mut |object, path| {
            violations.extend(units::contradiction(object, path));
            Ok(())
        })?;
        violations.sort_by(|left, right| left.path().cmp(right.path()));
        if self.check.only {
            violations.extend(self.extras(records, resource, baseline, &coverage)?);
        }
        Ok(RuleResult { withdrawn, violations, is_changed })
    }

    fn extras(
        &self,
        records: &Records,
        resource: &Value,
        baseline: Option<&Value>,
        coverage: &Coverage,
    ) -> Result<Vec<FieldResult>, String> {
        let allows = |object: &Value, key: &str, value: &Value| {
            // Only the record itself has built-in elements. Contained resources have not.
            let is_record = std::iter::once(resource).chain(baseline).any(|record| std::ptr::eq(record, object));
            (is_record && coverage::is_built_in(object, key, value, baseline, records))
                || coverage::is_companion(object, key, value, coverage, records)
        };
        ClosedWorld { coverage, baseline, allows: &allows }.violations(resource, &self.context.budget)
    }
}

/// Calls `visit` for every object that differs from the baseline, with its path.
fn each_changed(
    value: &Value,
    baseline: Option<&Value>,
    path: &str,
    visit: &mut dyn FnMut(&Value, &str) -> Result<(), String>,
) -> Result<(), String> {
    if baseline.is_some_and(|baseline| is_equal(value, baseline, Typing::Typed)) {
        return Ok(());
    }
    let inner = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    match value {
        Value::Object(members) => {
            visit(value, path)?;
            for (key, member) in members {
                each_changed(member, baseline.and_then(|baseline| baseline.get(key)), &inner(key), visit)?;
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                each_changed(item, counterpart(item, index, baseline), &inner(&index.to_string()), visit)?;
            }
        }
        _ => {}
    }
    Ok(())
}

/// The earlier version of a list item: an equal item at any index, else the item at the same index.
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
