//! The authored value without the members found invalid so far, and the mapping of its paths to the authored paths.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::Value;

use super::Hints;
use super::error::{LONGEST_NAME, ReadError, ReadErrorKind, shortened};
use super::strict::PathStep;
use crate::FieldErrors;

/// The part of the authored value that is still to be read.
pub(super) struct Draft<'a> {
    rest: Cow<'a, Value>,
    pub(super) removed: RemovedParts,
}

impl<'a> Draft<'a> {
    pub(super) fn new(rest: Cow<'a, Value>) -> Self {
        Self { rest, removed: RemovedParts::default() }
    }

    pub(super) fn rest(&self) -> &Value {
        &self.rest
    }

    /// Records the error and removes the invalid part. False if nothing is left to read.
    pub(super) fn remove_invalid(&mut self, error: &ReadError, hints: Hints<'_>, errors: &mut FieldErrors) -> bool {
        let path = self.removed.authored_path(&dotted(&error.path));
        match &error.kind {
            ReadErrorKind::Missing(name) => self.add_missing(name, &path, error.path.is_empty(), hints, errors),
            ReadErrorKind::Duplicate(name) => {
                errors.add(joined(&path, name), "is given twice, once under another name");
            }
            ReadErrorKind::Unknown(message) | ReadErrorKind::Invalid(message) => errors.add(path.as_str(), message),
        }
        self.remove(&error.path, path, matches!(error.kind, ReadErrorKind::Unknown(_)))
    }

    /// Reports missing members, except those that were removed as invalid, perhaps under another name.
    fn add_missing(&self, name: &str, path: &str, is_root: bool, hints: Hints<'_>, errors: &mut FieldErrors) {
        let was_removed = |name: &str| {
            let others = hints.aliases.iter().filter(|(_, first)| *first == name).map(|(other, _)| *other);
            others.chain([name]).any(|name| self.removed.contains(&joined(path, name)))
        };
        let also = hints.required.iter().map(String::as_str).filter(|also| *also != name);
        let also = also.filter(|also| is_root && self.rest.get(also).is_none());
        for name in also.chain([name]).filter(|name| !was_removed(name)) {
            errors.add(joined(path, name), "is required");
        }
    }

    fn remove(&mut self, steps: &[PathStep], path: String, is_unknown: bool) -> bool {
        let Some((last, container)) = steps.split_last() else {
            return false;
        };
        let list = self.removed.authored_path(&dotted(container));
        let is_removed = match (find_mut(self.rest.to_mut(), container), last) {
            (Some(Value::Object(members)), PathStep::Member(key)) => members.shift_remove(key).is_some(),
            (Some(Value::Array(items)), PathStep::Item(index)) if *index < items.len() => {
                items.remove(*index);
                self.removed.add_item(list, *index);
                true
            }
            _ => false,
        };
        self.removed.parts.push(RemovedPart { path, is_unknown });
        is_removed
    }
}

/// The removed parts, by their authored paths.
#[derive(Debug, Default)]
pub(super) struct RemovedParts {
    parts: Vec<RemovedPart>,
    /// The authored indices of the removed items of each list, in ascending order.
    items: BTreeMap<String, Vec<usize>>,
}

#[derive(Debug)]
struct RemovedPart {
    path: String,
    is_unknown: bool,
}

impl RemovedParts {
    /// Whether only unknown members were removed.
    pub(super) fn are_all_unknown(&self) -> bool {
        self.parts.iter().all(|part| part.is_unknown)
    }

    /// Whether an error at this path can be caused by a removed part next to or below it.
    pub(super) fn may_affect(&self, path: &str) -> bool {
        self.parts.iter().any(|part| is_within(parent(&part.path), parent(path)))
    }

    fn contains(&self, path: &str) -> bool {
        self.parts.iter().any(|part| part.path == path)
    }

    /// Converts a path in the rest to the authored path, where removed list items count.
    pub(super) fn authored_path(&self, path: &str) -> String {
        path.split('.').enumerate().fold(String::new(), |authored, (depth, step)| match depth {
            0 => step.to_owned(),
            _ => match (step.parse(), self.items.get(&authored)) {
                (Ok(index), Some(removed)) => joined(&authored, &authored_index(index, removed).to_string()),
                _ => joined(&authored, step),
            },
        })
    }

    /// Records the removal of a list item, given its index in the rest.
    fn add_item(&mut self, list: String, index: usize) {
        let removed = self.items.entry(list).or_default();
        removed.push(authored_index(index, removed));
        removed.sort_unstable();
    }
}

/// Converts an index in the rest to the authored index. `removed` must be in ascending order.
fn authored_index(index: usize, removed: &[usize]) -> usize {
    removed.iter().fold(index, |index, removed| if *removed <= index { index + 1 } else { index })
}

fn find_mut<'a>(value: &'a mut Value, path: &[PathStep]) -> Option<&'a mut Value> {
    path.iter().try_fold(value, |value, step| match step {
        PathStep::Member(key) => value.get_mut(key),
        PathStep::Item(index) => value.get_mut(index),
    })
}

fn dotted(path: &[PathStep]) -> String {
    let names: Vec<String> = path
        .iter()
        .map(|step| match step {
            PathStep::Member(name) => shortened(name, LONGEST_NAME),
            PathStep::Item(index) => index.to_string(),
        })
        .collect();
    names.join(".")
}

fn joined(path: &str, step: &str) -> String {
    if path.is_empty() { step.to_owned() } else { format!("{path}.{step}") }
}

fn parent(path: &str) -> &str {
    path.rsplit_once('.').map_or("", |(parent, _)| parent)
}

fn is_within(path: &str, outer: &str) -> bool {
    outer.is_empty() || path.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removed_items_count_in_authored_paths() {
        for (index, removed, authored) in
            [(0, &[][..], 0), (0, &[0], 1), (0, &[1], 0), (1, &[1], 2), (0, &[0, 1], 2), (2, &[0, 3], 4)]
        {
            assert_eq!(authored_index(index, removed), authored, "{index} without {removed:?}");
        }
        let mut removed = RemovedParts::default();
        removed.add_item("rows".to_owned(), 0);
        removed.add_item("rows.1.cells".to_owned(), 2);
        for (path, authored) in
            [("rows.0.cells.2", "rows.1.cells.3"), ("rows.1.cells.2", "rows.2.cells.2"), ("", ""), ("rows", "rows")]
        {
            assert_eq!(removed.authored_path(path), authored);
        }
    }
}
