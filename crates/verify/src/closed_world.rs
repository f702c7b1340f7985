//! `only: true`: a candidate contains nothing beyond what the assertion looks at and what `ignore` lists.
//!
//! A [`Coverage`] collects the values of one document that fields, searches and `ignore` paths account for, by their
//! address in that document. [`extras`] walks the document and reports what is left, and, against the version that the
//! dataset or the scenario brought, what was taken away.

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
use crate::judge::FieldResult;
use crate::limits::LONGEST_LIST;
use crate::path::json::JsonPath;
use crate::quantifier::Quantifier;

/// Rejects `ignore` where nothing reads it.
pub(crate) fn check_ignore(only: bool, count: usize, errors: &mut FieldErrors) {
    errors.size("ignore", count, LONGEST_LIST);
    if !only && count > 0 {
        errors.add("ignore", "has no effect without `only: true`");
    }
}

/// Which values of a document are accounted for.
#[derive(Debug, Default)]
pub(crate) struct Coverage {
    /// With everything below them.
    whole: HashSet<*const Value>,
    /// Those that a comparison asks for and that satisfy it.
    asked: HashSet<*const Value>,
}

impl Coverage {
    pub(crate) fn cover(&mut self, value: &Value) {
        self.whole.insert(std::ptr::from_ref(value));
    }

    /// Covers a value that the assertion asks for.
    pub(crate) fn ask(&mut self, value: &Value) {
        self.cover(value);
        self.asked.insert(std::ptr::from_ref(value));
    }

    pub(crate) fn covers(&self, value: &Value) -> bool {
        self.whole.contains(&std::ptr::from_ref(value))
    }

    /// Whether the value, or something in it, is asked for.
    pub(crate) fn asks_within(&self, value: &Value) -> bool {
        self.asked.contains(&std::ptr::from_ref(value))
            || match value {
                Value::Array(items) => items.iter().any(|item| self.asks_within(item)),
                Value::Object(members) => members.values().any(|member| self.asks_within(member)),
                _ => false,
            }
    }

    /// Covers what a field compares. An object or a list is covered only if all of it is compared.
    pub(crate) fn field(
        &mut self,
        found: &[&Value],
        comparison: &Comparison<'_>,
        (quantifier, typing): (Quantifier, Typing),
        budget: &Budget,
    ) -> Result<(), String> {
        let most = if quantifier == Quantifier::First { 1 } else { usize::MAX };
        for value in found.iter().take(most) {
            let is_satisfied = satisfies(comparison, value, typing, budget) == Ok(true);
            // What could not be looked at to its end is not accounted for.
            budget.spend(0)?;
            let is_container = value.is_array() || value.is_object();
            match comparison {
                _ if quantifier == Quantifier::Any && !is_satisfied => {}
                Comparison::Exists | Comparison::Absent | Comparison::NotEquals(_) if is_container => {}
                Comparison::Exists | Comparison::Absent | Comparison::NotEquals(_) => self.cover(value),
                Comparison::Contains(expected) if is_container => self.contained(value, expected, typing),
                _ if is_satisfied => self.ask(value),
                _ => self.cover(value),
            }
        }
        Ok(())
    }

    /// Covers what `contains` finds in a list or an object.
    fn contained(&mut self, value: &Value, expected: &Value, typing: Typing) {
        match (value, expected) {
            (Value::Array(items), expected) => {
                for item in items {
                    if is_equal(item, expected, typing) {
                        self.ask(item);
                    } else {
                        self.contained(item, expected, typing);
                    }
                }
            }
            (Value::Object(members), Value::Object(wanted)) => self.members(members, wanted, typing),
            _ => {}
        }
    }

    fn members(&mut self, members: &Map<String, Value>, wanted: &Map<String, Value>, typing: Typing) {
        for (key, wanted) in wanted {
            match (members.get(key), wanted) {
                (Some(member), wanted) if is_equal(member, wanted, typing) => self.ask(member),
                (Some(Value::Object(members)), Value::Object(wanted)) => self.members(members, wanted, typing),
                _ => {}
            }
        }
    }

    /// Covers what a JSON path of a field or of `ignore` names in a document, whatever its value.
    pub(crate) fn path(&mut self, path: &JsonPath, document: &Value, budget: &Budget) -> Result<(), String> {
        path.find(document, budget)?.into_iter().for_each(|value| self.cover(value));
        Ok(())
    }
}

/// The part of a document that is not accounted for.
pub(crate) struct ClosedWorld<'a> {
    pub(crate) coverage: &'a Coverage,
    /// What the dataset or the scenario brought.
    pub(crate) baseline: Option<&'a Value>,
    /// Whether a member of an object is harmless where it is: the object, the member's name and its value.
    pub(crate) allows: &'a dyn Fn(&Value, &str, &Value) -> bool,
}

impl ClosedWorld<'_> {
    /// The lines of evidence for a document, by path.
    pub(crate) fn violations(&self, document: &Value, budget: &Budget) -> Result<Vec<FieldResult>, String> {
        budget.spend(size(document) + self.baseline.map_or(0, size))?;
        let mut walk = Walk { world: self, extras: Vec::new() };
        walk.value(document, self.baseline, "");
        let mut extras = walk.extras;
        extras.sort_by(|left, right| left.path.cmp(&right.path));
        extras.truncate(MOST_LISTED);
        Ok(extras.into_iter().map(Extra::line).collect())
    }
}

struct Extra {
    path: String,
    value: Value,
    is_removed: bool,
}

impl Extra {
    fn line(self) -> FieldResult {
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
    /// Reports what is left in a value. True if something in it is accounted for; else it is reported as a whole.
    fn value(&mut self, value: &Value, baseline: Option<&Value>, path: &str) -> bool {
        let is_kept = baseline.is_some_and(|baseline| is_equal(value, baseline, Typing::Typed));
        if is_kept || self.world.coverage.covers(value) {
            return true;
        }
        let start = self.extras.len();
        let is_known = match value {
            Value::Object(members) => self.object(value, members, baseline, path),
            Value::Array(items) => self.array(items, baseline, path),
            Value::Null => return false,
            _ => false,
        };
        let is_leaf = !value.is_object() && !value.is_array();
        let has_new = self.extras[start..].iter().any(|extra| !extra.is_removed);
        if !path.is_empty() && !is_known && (is_leaf || has_new) {
            // What was removed keeps its own lines.
            let (removed, _): (Vec<Extra>, Vec<Extra>) = self.extras.drain(start..).partition(|extra| extra.is_removed);
            self.extras.extend(removed);
            self.extras.push(Extra { path: path.to_owned(), value: value.clone(), is_removed: false });
        }
        is_known
    }

    fn object(&mut self, object: &Value, members: &Map<String, Value>, baseline: Option<&Value>, path: &str) -> bool {
        let mut is_known = false;
        for (key, member) in members {
            let before = baseline.and_then(|baseline| baseline.get(key));
            if (self.world.allows)(object, key, member) {
                continue;
            }
            is_known |= self.value(member, before, &step(path, key));
        }
        for (key, member) in baseline.and_then(Value::as_object).into_iter().flatten() {
            let is_gone = members.get(key).is_none_or(Value::is_null);
            let baseline = baseline.unwrap_or(&Value::Null);
            if is_gone && !(self.world.allows)(baseline, key, member) {
                self.removed(member, &step(path, key));
            }
        }
        is_known
    }

    fn array(&mut self, items: &[Value], baseline: Option<&Value>, path: &str) -> bool {
        let before: &[Value] = baseline.and_then(Value::as_array).map_or(&[], Vec::as_slice);
        let is_in = |item: &Value, items: &[Value]| items.iter().any(|other| is_equal(item, other, Typing::Typed));
        let mut is_known = false;
        for (index, item) in items.iter().enumerate() {
            is_known |= is_in(item, before) || self.value(item, before.get(index), &step(path, &index.to_string()));
        }
        for (index, item) in before.iter().enumerate() {
            // An item that was replaced by a new one is reported by what is new in it.
            let is_replaced = items.get(index).is_some_and(|now| !is_in(now, before));
            if !is_replaced && !is_in(item, items) {
                self.removed(item, &step(path, &index.to_string()));
            }
        }
        is_known
    }

    fn removed(&mut self, value: &Value, path: &str) {
        if !value.is_null() && !self.is_accounted(value) {
            self.extras.push(Extra { path: path.to_owned(), value: value.clone(), is_removed: true });
        }
    }

    fn is_accounted(&self, value: &Value) -> bool {
        self.world.coverage.covers(value)
            || match value {
                Value::Array(items) => !items.is_empty() && items.iter().all(|item| self.is_accounted(item)),
                Value::Object(members) => {
                    !members.is_empty() && members.values().all(|member| self.is_accounted(member))
                }
                _ => false,
            }
    }
}

fn step(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// What `only` and `ignore` of a check over JSON say.
pub(crate) struct OnlyJson<'a> {
    pub(crate) fields: &'a [FieldAssertion<JsonPath>],
    pub(crate) ignore: &'a [Authored<JsonPath>],
    pub(crate) quantifier: Quantifier,
    pub(crate) typing: Typing,
}

impl OnlyJson<'_> {
    /// What the document has beyond the fields.
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
                coverage.path(path.ready()?, document, budget)?;
            }
        }
        for field in self.fields {
            let path = field.path.ready()?;
            let comparison = field.comparison().map_err(|faults| faults.to_string())?;
            let quantifier = field.quantifier.unwrap_or(self.quantifier);
            coverage.field(&path.find(document, budget)?, &comparison, (quantifier, self.typing), budget)?;
            path.selecting(document, budget)?.into_iter().for_each(|value| coverage.ask(value));
            baseline.map_or(Ok(()), |baseline| coverage.path(path, baseline, budget))?;
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

    /// The paths of what is left of the document.
    fn left(fields: &Value, ignore: &[&str], document: &Value, baseline: Option<&Value>) -> Vec<String> {
        let fields = Vec::<FieldAssertion<JsonPath>>::deserialize(fields).expect("fields");
        let ignore: Vec<_> = ignore.iter().map(|path| Authored::Ready(JsonPath::read(path).expect("a path"))).collect();
        let only = OnlyJson { fields: &fields, ignore: &ignore, quantifier: Quantifier::All, typing: Typing::Typed };
        let lines = only.violations(document, baseline, &|_, _, _| false, &Budget::new()).expect("lines");
        lines.iter().map(|line| line.path().to_owned()).collect()
    }

    #[test]
    fn what_is_not_asserted_is_left() {
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
            assert_eq!(left(&fields, &ignore, &document, None), paths, "{fields} {ignore:?}");
        }
    }

    #[test]
    fn what_was_there_before_may_stay_and_must_not_go() {
        let before = json!({"a": 1, "list": [{"x": 1}, {"x": 2}], "b": {"c": 1, "d": 2}});
        for (now, paths) in [
            (json!({"a": 1, "list": [{"x": 1}, {"x": 2}], "b": {"c": 1, "d": 2}}), vec![]),
            (json!({"a": 1, "list": [{"x": 2}, {"x": 1}], "b": {"c": 1, "d": 2}}), vec![]),
            (json!({"a": 2, "list": [{"x": 1}, {"x": 2}], "b": {"c": 1, "d": 2}}), vec!["a"]),
            (json!({"a": 1, "list": [{"x": 1}, {"x": 2}, {"x": 3}], "b": {"c": 1, "d": 2}}), vec!["list.2"]),
            (json!({"a": 1, "list": [{"x": 1}], "b": {"c": 1}}), vec!["b.d", "list.1"]),
            (json!({"list": [{"x": 1}, {"x": 2}], "b": {"c": 1, "d": 2}}), vec!["a"]),
        ] {
            assert_eq!(left(&json!([]), &[], &now, Some(&before)), paths, "{now}");
        }
        let absent = json!([{"path": "a", "expected": null}]);
        let now = json!({"list": [{"x": 1}, {"x": 2}], "b": {"c": 1, "d": 2}});
        assert!(left(&absent, &[], &now, Some(&before)).is_empty());
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
        /// A document is never beyond itself, and every member of it is either asserted or left.
        #[test]
        fn nothing_is_lost_on_the_way(document in documents(), other in documents()) {
            prop_assert!(left(&json!([]), &[], &document, Some(&document)).is_empty());
            prop_assert!(left(&json!([]), &["a", "b", "c"], &document, Some(&other)).is_empty());
            for path in left(&json!([]), &[], &document, None) {
                let read = JsonPath::read(&path).expect("a path");
                let found = read.find(&document, &Budget::new()).expect("values");
                prop_assert_eq!(found.len(), 1, "{}", path);
            }
        }
    }
}
