//! Extracts the elements of a resource that compiled paths select.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::definitions::{Element, ElementType};
use crate::{Reference, ResourceType};

/// One step of a path: a member of a JSON object, optionally limited to some of its items.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::search) struct PathSegment {
    /// The JSON key: `valueQuantity`.
    pub(in crate::search) key: Box<str>,
    /// The name of the element: `value`.
    name: &'static str,
    pub(in crate::search) at: Option<usize>,
    pub(in crate::search) filters: Vec<Predicate>,
}

/// A condition on an element.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::search) enum Predicate {
    All(Vec<Self>),
    Any(Vec<Self>),
    Exists(PathTree<()>),
    /// `path = value`, or `path != value` if `negated`; both are false if the path selects nothing. The path selects at
    /// most one value.
    Compares {
        path: PathTree<()>,
        value: String,
        negated: bool,
    },
    /// A member has this text.
    Member {
        key: &'static str,
        value: String,
    },
    /// `resolve() is Patient`, decided by the reference itself.
    RefersTo(ResourceType),
}

/// Paths with a common start, merged into a tree. `leaves` belong to the paths that end here.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::search) struct PathTree<T> {
    leaves: Vec<T>,
    /// Sorted by key. Segments with the same key and different conditions are separate children.
    children: Vec<(PathSegment, Self)>,
}

impl<T> Default for PathTree<T> {
    fn default() -> Self {
        Self { leaves: Vec::new(), children: Vec::new() }
    }
}

impl PathSegment {
    pub(in crate::search) fn of(element: &Element, element_type: &ElementType) -> Self {
        let mut key = element.name().to_owned();
        if element.is_choice() {
            let (first, rest) = element_type.name().split_at(1);
            key.push_str(&first.to_ascii_uppercase());
            key.push_str(rest);
        }
        Self { key: key.into_boxed_str(), name: element.name(), at: None, filters: Vec::new() }
    }
}

impl<T> PathTree<T> {
    pub(in crate::search) fn insert(&mut self, segments: Vec<PathSegment>, leaf: T) {
        let mut tree = self;
        for member in segments {
            let start = tree.children.partition_point(|(other, _)| other.key < member.key);
            let same = tree.children[start..].iter().position(|(other, _)| *other == member);
            let at = match same {
                Some(after) => start + after,
                None => {
                    tree.children.insert(start, (member, Self::default()));
                    start
                }
            };
            tree = &mut tree.children[at].1;
        }
        tree.leaves.push(leaf);
    }

    /// Calls `visit` for every element that a path selects in `value`, in document order. `resource` is the resource
    /// that fragment references point into.
    pub(in crate::search) fn walk<'a>(
        &self,
        value: &'a Value,
        resource: &'a Value,
        visit: &mut dyn FnMut(&T, &'a Value),
    ) {
        self.leaves.iter().for_each(|leaf| visit(leaf, value));
        let Value::Object(members) = value else { return };
        if self.children.is_empty() {
            return;
        }
        for (key, value) in members {
            let start = self.children.partition_point(|(member, _)| *member.key < **key);
            for (member, tree) in self.children[start..].iter().take_while(|(member, _)| *member.key == **key) {
                member.walk(value, resource, &mut |item| tree.walk(item, resource, visit));
            }
        }
    }

    /// About how often a walk reads a value: once for each leaf, and once for each condition on the way. Only one type
    /// of a choice element can be present.
    pub(in crate::search) fn read_count(&self, leaf: &dyn Fn(&T) -> usize) -> usize {
        let mut by_element: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
        for (member, tree) in &self.children {
            let filters: usize = member.filters.iter().map(Predicate::read_count).sum();
            *by_element.entry(member.name).or_default().entry(&member.key).or_default() +=
                filters + tree.read_count(leaf);
        }
        let members = by_element.values().filter_map(|by_key| by_key.values().max());
        self.leaves.iter().map(leaf).chain(members.copied()).sum()
    }

    /// The number of segments, leaves and conditions, as a measure of the memory.
    fn size(&self) -> usize {
        let children = self.children.iter().map(|(member, tree)| member.size() + tree.size());
        self.leaves.len() + children.sum::<usize>()
    }

    fn any(&self, value: &Value, resource: &Value, holds: impl Fn(&Value) -> bool) -> bool {
        let mut found = false;
        self.walk(value, resource, &mut |_, value| found = found || holds(value));
        found
    }
}

impl PathSegment {
    pub(in crate::search) fn size(&self) -> usize {
        1 + self.filters.iter().map(Predicate::size).sum::<usize>()
    }

    fn walk<'a>(&self, value: &'a Value, resource: &Value, visit: &mut dyn FnMut(&'a Value)) {
        let items = match value {
            Value::Array(items) => items.as_slice(),
            one => std::slice::from_ref(one),
        };
        let items = match self.at {
            Some(at) => items.get(at..=at).unwrap_or_default(),
            None => items,
        };
        let passes = |item: &&Value| !item.is_null() && self.filters.iter().all(|filter| filter.holds(item, resource));
        items.iter().filter(passes).for_each(visit);
    }
}

impl Predicate {
    pub(in crate::search) fn read_count(&self) -> usize {
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().map(Self::read_count).sum(),
            Self::Exists(path) | Self::Compares { path, .. } => path.read_count(&|()| 1),
            Self::Member { .. } | Self::RefersTo(_) => 1,
        }
    }

    pub(in crate::search) fn size(&self) -> usize {
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().map(Self::size).sum(),
            Self::Exists(path) | Self::Compares { path, .. } => 1 + path.size(),
            Self::Member { .. } | Self::RefersTo(_) => 1,
        }
    }

    pub(in crate::search) fn holds(&self, value: &Value, resource: &Value) -> bool {
        match self {
            Self::All(parts) => parts.iter().all(|part| part.holds(value, resource)),
            Self::Any(parts) => parts.iter().any(|part| part.holds(value, resource)),
            Self::Exists(path) => path.any(value, resource, |_| true),
            Self::Compares { path, value: expected, negated } => {
                path.any(value, resource, |found| is_literal(found, expected) != *negated)
            }
            Self::Member { key, value: expected } => value.get(key).is_some_and(|found| is_literal(found, expected)),
            Self::RefersTo(expected) => referenced_type(value, resource) == Some(expected.as_str()),
        }
    }
}

fn is_literal(found: &Value, expected: &str) -> bool {
    match found {
        Value::String(text) => text == expected,
        Value::Bool(true) => expected == "true",
        Value::Bool(false) => expected == "false",
        _ => false,
    }
}

/// The type of the resource that a Reference points to, by its `reference`, the contained resource, or its `type`.
fn referenced_type<'a>(reference: &'a Value, resource: &'a Value) -> Option<&'a str> {
    let text = reference.get("reference").and_then(Value::as_str).unwrap_or_default();
    let by_reference = match text.strip_prefix('#') {
        Some(id) => contained_type(id, resource),
        None => Reference::parse(text).resource_type().map(ResourceType::as_str),
    };
    by_reference.or_else(|| reference.get("type").and_then(Value::as_str))
}

/// The type of a contained resource. `#` alone refers to the resource itself.
fn contained_type<'a>(id: &str, resource: &'a Value) -> Option<&'a str> {
    let contained = resource.get("contained").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let has_id = |candidate: &&Value| candidate.get("id").and_then(Value::as_str) == Some(id);
    let target = if id.is_empty() { Some(resource) } else { contained.iter().find(has_id) };
    target?.get("resourceType")?.as_str()
}
