//! The author's value without what was found faulty so far, and the author's paths into it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::Value;

use super::Hints;
use super::fault::{Cause, Fault, LONGEST_NAME, shortened};
use super::strict::Step;
use crate::FieldErrors;

pub(super) struct Draft<'a> {
    rest: Cow<'a, Value>,
    pub(super) gaps: Gaps,
}

impl<'a> Draft<'a> {
    pub(super) fn new(rest: Cow<'a, Value>) -> Self {
        Self { rest, gaps: Gaps::default() }
    }

    pub(super) fn rest(&self) -> &Value {
        &self.rest
    }

    /// Notes the fault and makes the draft readable past it. False when nothing would be left to read.
    pub(super) fn set_aside(&mut self, fault: &Fault, hints: Hints<'_>, errors: &mut FieldErrors) -> bool {
        let path = self.gaps.authored(&dotted(&fault.place));
        match &fault.cause {
            Cause::Missing(name) => self.note_missing(name, &path, fault.place.is_empty(), hints, errors),
            Cause::Twice(name) => errors.add(joined(&path, name), "is given twice, once under another name"),
            Cause::Unknown(message) | Cause::Wrong(message) => errors.add(path.as_str(), message),
        }
        self.take_out(&fault.place, path, matches!(fault.cause, Cause::Unknown(_)))
    }

    /// What is missing may have been taken out as faulty, perhaps under another name: that fault is known already.
    fn note_missing(&self, name: &str, path: &str, is_root: bool, hints: Hints<'_>, errors: &mut FieldErrors) {
        let is_known = |name: &str| {
            let others = hints.aliases.iter().filter(|(_, first)| *first == name).map(|(other, _)| *other);
            others.chain([name]).any(|name| self.gaps.has(&joined(path, name)))
        };
        let also = hints.required.iter().map(String::as_str).filter(|also| *also != name);
        let also = also.filter(|also| is_root && self.rest.get(also).is_none());
        for name in also.chain([name]).filter(|name| !is_known(name)) {
            errors.add(joined(path, name), "is required");
        }
    }

    fn take_out(&mut self, place: &[Step], path: String, is_unknown: bool) -> bool {
        let Some((last, container)) = place.split_last() else {
            return false;
        };
        let list = self.gaps.authored(&dotted(container));
        let is_out = match (find_mut(self.rest.to_mut(), container), last) {
            (Some(Value::Object(members)), Step::Member(key)) => members.shift_remove(key).is_some(),
            (Some(Value::Array(items)), Step::Item(index)) if *index < items.len() => {
                items.remove(*index);
                self.gaps.close_up(list, *index);
                true
            }
            _ => false,
        };
        self.gaps.taken.push(Taken { path, is_unknown });
        is_out
    }
}

/// What was taken out, by the author's paths.
#[derive(Debug, Default)]
pub(super) struct Gaps {
    taken: Vec<Taken>,
    /// Of which list which items are gone, in ascending order.
    items: BTreeMap<String, Vec<usize>>,
}

#[derive(Debug)]
struct Taken {
    path: String,
    is_unknown: bool,
}

impl Gaps {
    pub(super) fn are_all_unknown(&self) -> bool {
        self.taken.iter().all(|taken| taken.is_unknown)
    }

    /// Whether a fault at this path may come only from what was taken out beside or below it.
    pub(super) fn touch(&self, path: &str) -> bool {
        self.taken.iter().any(|taken| is_within(parent(&taken.path), parent(path)))
    }

    fn has(&self, path: &str) -> bool {
        self.taken.iter().any(|taken| taken.path == path)
    }

    /// The author's path for a path in the rest: items that were taken out count again.
    pub(super) fn authored(&self, path: &str) -> String {
        path.split('.').enumerate().fold(String::new(), |authored, (depth, step)| match depth {
            0 => step.to_owned(),
            _ => match (step.parse(), self.items.get(&authored)) {
                (Ok(index), Some(gone)) => joined(&authored, &authored_index(index, gone).to_string()),
                _ => joined(&authored, step),
            },
        })
    }

    /// The items after this one, by its index in the rest, move up.
    fn close_up(&mut self, list: String, index: usize) {
        let gone = self.items.entry(list).or_default();
        gone.push(authored_index(index, gone));
        gone.sort_unstable();
    }
}

/// `gone` in ascending order.
fn authored_index(index: usize, gone: &[usize]) -> usize {
    gone.iter().fold(index, |index, gone| if *gone <= index { index + 1 } else { index })
}

fn find_mut<'a>(value: &'a mut Value, place: &[Step]) -> Option<&'a mut Value> {
    place.iter().try_fold(value, |value, step| match step {
        Step::Member(key) => value.get_mut(key),
        Step::Item(index) => value.get_mut(index),
    })
}

fn dotted(place: &[Step]) -> String {
    let names: Vec<String> = place
        .iter()
        .map(|step| match step {
            Step::Member(name) => shortened(name, LONGEST_NAME),
            Step::Item(index) => index.to_string(),
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
    fn items_that_were_taken_out_count_again() {
        for (index, gone, authored) in
            [(0, &[][..], 0), (0, &[0], 1), (0, &[1], 0), (1, &[1], 2), (0, &[0, 1], 2), (2, &[0, 3], 4)]
        {
            assert_eq!(authored_index(index, gone), authored, "{index} without {gone:?}");
        }
        let mut gaps = Gaps::default();
        gaps.close_up("rows".to_owned(), 0);
        gaps.close_up("rows.1.cells".to_owned(), 2);
        for (path, authored) in
            [("rows.0.cells.2", "rows.1.cells.3"), ("rows.1.cells.2", "rows.2.cells.2"), ("", ""), ("rows", "rows")]
        {
            assert_eq!(gaps.authored(path), authored);
        }
    }
}
