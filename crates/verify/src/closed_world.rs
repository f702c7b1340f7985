//! `only: true`: a candidate contains nothing other than the asserted values and those that `ignore` lists.
//!
//! A [`Coverage`] collects the values of one document that fields, searches and `ignore` paths cover, by their address in
//! memory. [`ClosedWorld`] walks the document and reports the values that are not covered, and the values of the version
//! before the agent's change that were removed.

pub(crate) mod hl7;

use std::collections::HashSet;

use model::FieldErrors;
use serde_json::{Map, Value};

use crate::authored::Authored;
use crate::bounds::MOST_LISTED;
use crate::budget::Budget;
use crate::compare::{Typing, is_equal, satisfies, size};
use crate::comparison::Comparison;
use crate::field::FieldAssertion;
use crate::limits::LONGEST_LIST;
use crate::path::json::JsonPath;
use crate::quantifier::Quantifier;
use crate::scoring::FieldResult;

/// Rejects `ignore` without `only`.
pub(crate) fn check_ignore(only: bool, count: usize, errors: &mut FieldErrors) {
    errors.size("ignore", count, LONGEST_LIST);
    if !only && count > 0 {
        errors.add("ignore", "has no effect without `only: true`");
    }
}

/// The values of a document that the assertion covers.
#[derive(Debug, Default)]
pub(crate) struct Coverage {
    /// Covered values, with everything in them.
    covered: HashSet<*const Value>,
    /// The values that satisfy a comparison of the assertion.
    asserted: HashSet<*const Value>,
}

impl Coverage {
    pub(crate) fn cover(&mut self, value: &Value) {
        self.covered.insert(std::ptr::from_ref(value));
    }

    /// Covers a value that satisfies a comparison of the assertion.
    pub(crate) fn cover_asserted(&mut self, value: &Value) {
        self.cover(value);
        self.asserted.insert(std::ptr::from_ref(value));
    }

    pub(crate) fn covers(&self, value: &Value) -> bool {
        self.covered.contains(&std::ptr::from_ref(value))
    }

    /// Whether the value, or a value in it, is asserted.
    pub(crate) fn asserts_within(&self, value: &Value) -> bool {
        self.asserted.contains(&std::ptr::from_ref(value))
            || match value {
                Value::Array(items) => items.iter().any(|item| self.asserts_within(item)),
                Value::Object(members) => members.values().any(|member| self.asserts_within(member)),
                _ => false,
            }
    }

    /// Covers the values that a field compares. An object or a list is covered only if it is compared completely.
    pub(crate) fn cover_field(
        &mut self,
        found: &[&Value],
        comparison: &Comparison<'_>,
        (quantifier, typing): (Quantifier, Typing),
        budget: &Budget,
    ) -> Result<(), String> {
        let max = if quantifier == Quantifier::First { 1 } else { usize::MAX };
        for value in found.iter().take(max) {
            let is_satisfied = satisfies(comparison, value, typing, budget) == Ok(true);
            // Fails here if the comparison has exceeded the budget.
            budget.spend(0)?;
            let is_container = value.is_array() || value.is_object();
            match comparison {
                _ if quantifier == Quantifier::Any && !is_satisfied => {}
                Comparison::Exists | Comparison::Absent | Comparison::NotEquals(_) if is_container => {}
                Comparison::Exists | Comparison::Absent | Comparison::NotEquals(_) => self.cover(value),
                Comparison::Contains(expected) if is_container => self.cover_contained(value, expected, typing),
                _ if is_satisfied => self.cover_asserted(value),
                _ => self.cover(value),
            }
        }
        Ok(())
    }

    /// Covers the values that `contains` finds in a list or an object.
    fn cover_contained(&mut self, value: &Value, expected: &Value, typing: Typing) {
        match (value, expected) {
            (Value::Array(items), expected) => {
                for item in items {
                    if is_equal(item, expected, typing) {
                        self.cover_asserted(item);
                    } else {
                        self.cover_contained(item, expected, typing);
                    }
                }
            }
            (Value::Object(members), Value::Object(wanted)) => self.cover_members(members, wanted, typing),
            _ => {}
        }
    }

    fn cover_members(&mut self, members: &Map<String, Value>, wanted: &Map<String, Value>, typing: Typing) {
        for (key, wanted) in wanted {
            match (members.get(key), wanted) {
                (Some(member), wanted) if is_equal(member, wanted, typing) => self.cover_asserted(member),
                (Some(Value::Object(members)), Value::Object(wanted)) => self.cover_members(members, wanted, typing),
                _ => {}
            }
        }
    }

    /// Covers everything that a JSON path selects in a document, regardless of its value.
    pub(crate) fn cover_path(&mut self, path: &JsonPath, document: &Value, budget: &Budget) -> Result<(), String> {
        path.find(document, budget)?.into_iter().for_each(|value| self.cover(value));
        Ok(())
    }
}

/// Finds the values of a document that are not covered.
pub(crate) struct ClosedWorld<'a> {
    pub(crate) coverage: &'a Coverage,
    /// The version before the agent's change.
    pub(crate) baseline: Option<&'a Value>,
    /// Whether a member is always allowed: the object, the name and the value.
    pub(crate) allows: &'a dyn Fn(&Value, &str, &Value) -> bool,
}

impl ClosedWorld<'_> {
    /// The violations of a document, ordered by path.
    pub(crate) fn violations(&self, document: &Value, budget: &Budget) -> Result<Vec<FieldResult>, String> {
        budget.spend(size(document) + self.baseline.map_or(0, size))?;
        let mut walk = Walk { world: self, extras: Vec::new() };
        walk.visit(document, self.baseline, "");
        let mut extras = walk.extras;
        extras.sort_by(|left, right| left.path.cmp(&right.path));
        extras.truncate(MOST_LISTED);
        Ok(extras.into_iter().map(Extra::into_violation).collect())
    }
}

struct Extra {
    path: String,
    value: Value,
    is_removed: bool,
}

impl Extra {
    fn into_violation(self) -> FieldResult {
        let Self { path, value, is_removed } = self;
        if is_removed {
            let reason = "was there before the agent's change, and `only` does not allow removing it".to_owned();
            FieldResult::violation(path, crate::bounds::bounded(&value), &Value::Null, reason)
        } else {
            let reason = "is not asserted, and `only` allows nothing else".to_owned();
            FieldResult::violation(path, Value::Null, &value, reason)
        }
    }
}

struct Walk<'w, 'a> {
    world: &'w ClosedWorld<'a>,
    extras: Vec<Extra>,
}

impl Walk<'_, '_> {
    /// Reports the uncovered parts of a value. Returns whether anything in it is covered. If not, it is reported as a whole.
    fn visit(&mut self, value: &Value, baseline: Option<&Value>, path: &str) -> bool {
        let is_kept = baseline.is_some_and(|baseline| is_equal(value, baseline, Typing::Typed));
        if is_kept || self.world.coverage.covers(value) {
            return true;
        }
        let start = self.extras.len();
        let is_covered = match value {
            Value::Object(members) => self.visit_object(value, members, baseline, path),
            Value::Array(items) => self.visit_array(items, baseline, path),
            Value::Null => return false,
            _ => false,
        };
        let is_leaf = !value.is_object() && !value.is_array();
        let has_new = self.extras[start..].iter().any(|extra| !extra.is_removed);
        if !path.is_empty() && !is_covered && (is_leaf || has_new) {
            // Removed values keep their own entries.
            let (removed, _): (Vec<Extra>, Vec<Extra>) = self.extras.drain(start..).partition(|extra| extra.is_removed);
            self.extras.extend(removed);
            self.extras.push(Extra { path: path.to_owned(), value: value.clone(), is_removed: false });
        }
        is_covered
    }

    fn visit_object(
        &mut self,
        object: &Value,
        members: &Map<String, Value>,
        baseline: Option<&Value>,
        path: &str,
    ) -> bool {
        let mut is_covered = false;
        for (key, member) in members {
            let before = baseline.and_then(|baseline| baseline.get(key));
            if (self.world.allows)(object, key, member) {
                continue;
            }
            is_covered |= self.visit(member, before, &join(path, key));
        }
        for (key, member) in baseline.and_then(Value::as_object).into_iter().flatten() {
            let is_gone = members.get(key).is_none_or(Value::is_null);
            let baseline = baseline.unwrap_or(&Value::Null);
            if is_gone && !(self.world.allows)(baseline, key, member) {
                self.report_removed(member, &join(path, key));
            }
        }
        is_covered
    }

    fn visit_array(&mut self, items: &[Value], baseline: Option<&Value>, path: &str) -> bool {
        let before: &[Value] = baseline.and_then(Value::as_array).map_or(&[], Vec::as_slice);
        let is_in = |item: &Value, items: &[Value]| items.iter().any(|other| is_equal(item, other, Typing::Typed));
        let mut is_covered = false;
        for (index, item) in items.iter().enumerate() {
            is_covered |= is_in(item, before) || self.visit(item, before.get(index), &join(path, &index.to_string()));
        }
        for (index, item) in before.iter().enumerate() {
            // A replaced item is already reported as a new one.
            let is_replaced = items.get(index).is_some_and(|now| !is_in(now, before));
            if !is_replaced && !is_in(item, items) {
                self.report_removed(item, &join(path, &index.to_string()));
            }
        }
        is_covered
    }

    fn report_removed(&mut self, value: &Value, path: &str) {
        if !value.is_null() && !self.is_fully_covered(value) {
            self.extras.push(Extra { path: path.to_owned(), value: value.clone(), is_removed: true });
        }
    }

    fn is_fully_covered(&self, value: &Value) -> bool {
        self.world.coverage.covers(value)
            || match value {
                Value::Array(items) => !items.is_empty() && items.iter().all(|item| self.is_fully_covered(item)),
                Value::Object(members) => {
                    !members.is_empty() && members.values().all(|member| self.is_fully_covered(member))
                }
                _ => false,
            }
    }
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// `only: true` for JSON documents.
pub(crate) struct OnlyJson<'a> {
    pub(crate) fields: &'a [FieldAssertion<JsonPath>],
    pub(crate) ignore: &'a [Authored<JsonPath>],
    pub(crate) quantifier: Quantifier,
    pub(crate) typing: Typing,
}

impl OnlyJson<'_> {
    /// The values of the document that neither the fields nor `ignore` cover.
    pub(crate) fn violations(
        &self,
        document: &Value,
        baseline: Option<&Value>,
        allows: &dyn Fn(&Value, &str, &Value) -> bool,
        budget: &Budget,
    ) -> Result<Vec<FieldResult>, String> {
        let mut coverage = Coverage::default();
        for path in self.ignore {
            for document in baseline.into_iter().chain([document]) {
                coverage.cover_path(path.ready()?, document, budget)?;
            }
        }
        for field in self.fields {
            let path = field.path.ready()?;
            let comparison = field.comparison().map_err(|errors| errors.to_string())?;
            let quantifier = field.quantifier.unwrap_or(self.quantifier);
            coverage.cover_field(&path.find(document, budget)?, &comparison, (quantifier, self.typing), budget)?;
            path.selector_values(document, budget)?.into_iter().for_each(|value| coverage.cover_asserted(value));
            baseline.map_or(Ok(()), |baseline| coverage.cover_path(path, baseline, budget))?;
        }
        ClosedWorld { coverage: &coverage, baseline, allows }.violations(document, budget)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::authored::Notation;
    use proptest::prelude::*;
    use serde::Deserialize;
    use serde_json::json;

    /// The paths of the values that are not covered.
    fn uncovered(fields: &Value, ignore: &[&str], document: &Value, baseline: Option<&Value>) -> Vec<String> {
        let fields = Vec::<FieldAssertion<JsonPath>>::deserialize(fields).expect("fields");
        let ignore: Vec<_> = ignore.iter().map(|path| Authored::Ready(JsonPath::read(path).expect("a path"))).collect();
        let only = OnlyJson { fields: &fields, ignore: &ignore, quantifier: Quantifier::All, typing: Typing::Typed };
        let violations = only.violations(document, baseline, &|_, _, _| false, &Budget::new()).expect("violations");
        violations.iter().map(|violation| violation.path().to_owned()).collect()
    }

    #[test]
    fn unasserted_values_are_reported() {
        let document = json!({"status": "ok", "note": [], "gone": null, "items": [{"a": 1, "b": 2}, {"a": 3}],
            "whole": {"x": {"y": 1}}, "tags": ["p", "q"]});
        for (fields, ignore, paths) in [
            (json!([]), vec![], vec!["items", "status", "tags", "whole"]),
            (json!([{"path": "status", "expected": "ok"}]), vec!["items", "tags"], vec!["whole"]),
            (
                json!([{"path": "status", "op": "exists"}, {"path": "whole", "op": "exists"}]),
                vec!["items", "tags"],
                vec!["whole"],
            ),
            (json!([{"path": "whole", "expected": {"x": {"y": 1}}}]), vec!["items", "tags", "status"], vec![]),
            (
                json!([{"path": "items.0.a", "expected": 1}]),
                vec!["whole", "tags", "status"],
                vec!["items.0.b", "items.1"],
            ),
            (
                json!([{"path": "items.*.a", "op": "gte", "expected": 1}]),
                vec!["whole", "tags", "status"],
                vec!["items.0.b"],
            ),
            (
                json!([{"path": "items.*.a", "expected": 1, "quantifier": "any"}]),
                vec!["whole", "tags", "status"],
                vec!["items.0.b", "items.1"],
            ),
            (json!([{"path": "items[a=1].b", "expected": 2}]), vec!["whole", "tags", "status"], vec!["items.1"]),
            (
                json!([{"path": "tags", "op": "contains", "expected": "p"}]),
                vec!["whole", "items", "status"],
                vec!["tags.1"],
            ),
            (
                json!([{"path": "items", "op": "contains", "expected": {"a": 1}}]),
                vec!["whole", "tags", "status"],
                vec!["items.0.b", "items.1"],
            ),
        ] {
            assert_eq!(uncovered(&fields, &ignore, &document, None), paths, "{fields} {ignore:?}");
        }
    }

    #[test]
    fn earlier_values_may_stay_and_must_not_be_removed() {
        let before = json!({"a": 1, "list": [{"x": 1}, {"x": 2}], "b": {"c": 1, "d": 2}});
        for (now, paths) in [
            (json!({"a": 1, "list": [{"x": 1}, {"x": 2}], "b": {"c": 1, "d": 2}}), vec![]),
            (json!({"a": 1, "list": [{"x": 2}, {"x": 1}], "b": {"c": 1, "d": 2}}), vec![]),
            (json!({"a": 2, "list": [{"x": 1}, {"x": 2}], "b": {"c": 1, "d": 2}}), vec!["a"]),
            (json!({"a": 1, "list": [{"x": 1}, {"x": 2}, {"x": 3}], "b": {"c": 1, "d": 2}}), vec!["list.2"]),
            (json!({"a": 1, "list": [{"x": 1}], "b": {"c": 1}}), vec!["b.d", "list.1"]),
            (json!({"list": [{"x": 1}, {"x": 2}], "b": {"c": 1, "d": 2}}), vec!["a"]),
        ] {
            assert_eq!(uncovered(&json!([]), &[], &now, Some(&before)), paths, "{now}");
        }
        let absent = json!([{"path": "a", "expected": null}]);
        let now = json!({"list": [{"x": 1}, {"x": 2}], "b": {"c": 1, "d": 2}});
        assert!(uncovered(&absent, &[], &now, Some(&before)).is_empty());
    }

    fn documents() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![any::<bool>().prop_map(Value::from), (0..3).prop_map(Value::from), Just(Value::Null)];
        let inner = leaf.prop_recursive(3, 16, 3, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(Value::Array),
                prop::collection::btree_map("[abc]", inner, 0..3)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        });
        prop::collection::btree_map("[abc]", inner, 0..4).prop_map(|map| Value::Object(map.into_iter().collect()))
    }

    proptest! {
        /// A document equals its own baseline, and every reported path exists.
        #[test]
        fn reported_paths_exist(document in documents(), other in documents()) {
            prop_assert!(uncovered(&json!([]), &[], &document, Some(&document)).is_empty());
            prop_assert!(uncovered(&json!([]), &["a", "b", "c"], &document, Some(&other)).is_empty());
            for path in uncovered(&json!([]), &[], &document, None) {
                let read = JsonPath::read(&path).expect("a path");
                let found = read.find(&document, &Budget::new()).expect("values");
                prop_assert_eq!(found.len(), 1, "{}", path);
            }
        }
    }
}
