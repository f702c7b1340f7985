//! Reads a check's parameters from JSON and finds as many faults as it can in one go: what serde refuses is set aside
//! and the rest is read again, so that the second fault is not hidden by the first.

use std::collections::{BTreeMap, BTreeSet};

use model::FieldErrors;
use serde_json::Value;
use serde_path_to_error::Segment;

use crate::Check;

const MOST_FAULTS: usize = 50;
const LONGEST_NAME: usize = 100;
const LONGEST_MESSAGE: usize = 500;

pub(crate) fn read<C: Check>(specification: Value) -> Result<C, FieldErrors> {
    let mut errors = FieldErrors::new();
    let mut draft = Draft { rest: specification, ..Draft::default() };
    for _ in 0..MOST_FAULTS {
        match serde_path_to_error::deserialize::<_, C>(&draft.rest) {
            Ok(check) => {
                let mut meaning = FieldErrors::new();
                check.validate(&mut meaning);
                draft.add_unrelated(&meaning, &mut errors);
                return errors.into_result().map(|()| check);
            }
            Err(error) => {
                if !draft.set_aside(&Fault::from(&error), &mut errors) {
                    break;
                }
            }
        }
    }
    Err(errors)
}

/// Takes over the errors of the same value.
pub(crate) fn merge(errors: &mut FieldErrors, more: &FieldErrors) {
    for (path, messages) in more.iter() {
        for message in messages {
            errors.add(path, message);
        }
    }
}

/// What serde said, and where.
struct Fault {
    path: Vec<Step>,
    message: String,
    /// The last member of the path is named by the message, and not there to be set aside.
    is_missing: bool,
    /// The member should not be there at all.
    is_unknown: bool,
}

#[derive(Clone)]
enum Step {
    Member(String),
    Item(usize),
}

impl From<&serde_path_to_error::Error<serde_json::Error>> for Fault {
    fn from(error: &serde_path_to_error::Error<serde_json::Error>) -> Self {
        let mut path: Vec<Step> = error
            .path()
            .iter()
            .filter_map(|segment| match segment {
                Segment::Map { key } => Some(Step::Member(key.clone())),
                Segment::Seq { index } => Some(Step::Item(*index)),
                Segment::Enum { .. } | Segment::Unknown => None,
            })
            .collect();
        let said = error.inner().to_string();
        let member = |opening: &str| said.strip_prefix(opening).and_then(|rest| rest.strip_suffix('`'));
        let (name, message) = if let Some(name) = member("missing field `") {
            (Some(name), "is required".to_owned())
        } else if let Some(name) = member("duplicate field `") {
            (Some(name), "is given twice, once under another name".to_owned())
        } else {
            (None, shortened(&in_json_words(&said), LONGEST_MESSAGE))
        };
        path.extend(name.map(|name| Step::Member(name.to_owned())));
        Fault { path, message, is_missing: name.is_some(), is_unknown: said.starts_with("unknown field") }
    }
}

/// Serde speaks of its own data model.
fn in_json_words(said: &str) -> String {
    let words = [
        ("expected string or map", "expected a string"),
        ("expected a map", "expected an object"),
        ("expected a sequence", "expected a list"),
    ];
    words.into_iter().fold(said.to_owned(), |said, (serde, json)| said.replace(serde, json))
}

/// The parameters without what was found faulty so far.
#[derive(Default)]
struct Draft {
    rest: Value,
    /// Dotted paths, as the author would count.
    set_aside: Vec<String>,
    /// The objects of which a member was set aside that they should have.
    faulty_parents: BTreeSet<String>,
    /// Which items of which list are no longer in `rest`, by the author's count, in order.
    items: BTreeMap<String, Vec<usize>>,
}

impl Draft {
    /// Notes the fault and makes the draft readable past it. False when that cannot be.
    fn set_aside(&mut self, fault: &Fault, errors: &mut FieldErrors) -> bool {
        let place = self.authored(&dotted(&fault.path));
        // What is missing may have been set aside as faulty, perhaps under another name: that fault is known already.
        let is_known = fault.is_missing && self.faulty_parents.contains(parent(&place));
        if !is_known {
            errors.add(place.clone(), fault.message.clone());
            if !fault.is_unknown {
                self.faulty_parents.insert(parent(&place).to_owned());
            }
            self.set_aside.push(place);
        }
        let mut path = fault.path.as_slice();
        if fault.is_missing {
            while let [shorter @ .., Step::Member(_)] = path {
                path = shorter;
            }
        }
        self.remove(path)
    }

    fn remove(&mut self, path: &[Step]) -> bool {
        let Some((last, parents)) = path.split_last() else {
            return false;
        };
        let list = self.authored(&dotted(parents));
        let mut place = &mut self.rest;
        for step in parents {
            let Some(inner) = (match step {
                Step::Member(name) => place.get_mut(name),
                Step::Item(index) => place.get_mut(index),
            }) else {
                return false;
            };
            place = inner;
        }
        match (place, last) {
            (Value::Object(members), Step::Member(name)) => members.remove(name).is_some(),
            (Value::Array(items), Step::Item(index)) if *index < items.len() => {
                items.remove(*index);
                let gone = self.items.entry(list).or_default();
                gone.push(authored_index(*index, gone));
                gone.sort_unstable();
                true
            }
            _ => false,
        }
    }

    /// The author's path for a path in `rest`: items that were taken out count again.
    fn authored(&self, path: &str) -> String {
        for (list, gone) in &self.items {
            let Some(inside) = path.strip_prefix(list.as_str()).and_then(|rest| rest.strip_prefix('.')) else {
                continue;
            };
            let (index, rest) = inside.split_once('.').map_or((inside, None), |(index, rest)| (index, Some(rest)));
            if let Ok(index) = index.parse() {
                let index = authored_index(index, gone);
                return rest.map_or(format!("{list}.{index}"), |rest| format!("{list}.{index}.{rest}"));
            }
        }
        path.to_owned()
    }

    /// Adds the faults of meaning, except those that may come only from what was set aside beside or below them.
    fn add_unrelated(&self, meaning: &FieldErrors, errors: &mut FieldErrors) {
        for (path, messages) in meaning.iter() {
            let path = self.authored(path);
            if self.set_aside.iter().any(|aside| is_within(parent(aside), parent(&path))) {
                continue;
            }
            for message in messages {
                errors.add(path.clone(), message);
            }
        }
    }
}

/// `gone` in ascending order.
fn authored_index(index: usize, gone: &[usize]) -> usize {
    gone.iter().fold(index, |index, gone| if *gone <= index { index + 1 } else { index })
}

fn parent(path: &str) -> &str {
    path.rsplit_once('.').map_or("", |(parent, _)| parent)
}

fn is_within(path: &str, outer: &str) -> bool {
    outer.is_empty() || path.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

fn dotted(path: &[Step]) -> String {
    let names: Vec<String> = path
        .iter()
        .map(|step| match step {
            Step::Member(name) => shortened(name, LONGEST_NAME),
            Step::Item(index) => index.to_string(),
        })
        .collect();
    names.join(".")
}

fn shortened(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
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
    }
}
