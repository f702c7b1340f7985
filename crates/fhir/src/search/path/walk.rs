//! Walks over a resource along the members of compiled paths.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::ResourceType;
use crate::definitions::{Element, ElementType};

/// One step: a member of a JSON object, perhaps only some of its items.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::search) struct Member {
    /// As it stands in JSON: `valueQuantity`.
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
    Exists(Node<()>),
    /// `path = value`, or with `negated` `path != value`; neither holds if there is nothing at the path. The path leads
    /// to one value at most.
    Compares {
        path: Node<()>,
        value: String,
        negated: bool,
    },
    /// A member with this text.
    Member {
        key: &'static str,
        value: String,
    },
    /// `resolve() is Patient`, told by the reference itself.
    PointsTo(ResourceType),
}

/// Paths that start at the same place, merged; `ends` is what is found here.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::search) struct Node<T> {
    ends: Vec<T>,
    /// By key; members that differ in their conditions stand beside each other.
    next: Vec<(Member, Self)>,
}

impl<T> Default for Node<T> {
    fn default() -> Self {
        Self { ends: Vec::new(), next: Vec::new() }
    }
}

impl Member {
    pub(in crate::search) fn of(element: &Element, used: &ElementType) -> Self {
        let mut key = element.name().to_owned();
        if element.is_choice() {
            let (first, rest) = used.name().split_at(1);
            key.push_str(&first.to_ascii_uppercase());
            key.push_str(rest);
        }
        Self { key: key.into_boxed_str(), name: element.name(), at: None, filters: Vec::new() }
    }
}

impl<T> Node<T> {
    pub(in crate::search) fn insert(&mut self, members: Vec<Member>, end: T) {
        let mut node = self;
        for member in members {
            let start = node.next.partition_point(|(other, _)| other.key < member.key);
            let same = node.next[start..].iter().position(|(other, _)| *other == member);
            let at = match same {
                Some(after) => start + after,
                None => {
                    node.next.insert(start, (member, Self::default()));
                    start
                }
            };
            node = &mut node.next[at].1;
        }
        node.ends.push(end);
    }

    /// Calls `visit` for everything that is found in `value`, in the order of the resource. `resource` is what
    /// fragments point into.
    pub(in crate::search) fn walk<'a>(
        &self,
        value: &'a Value,
        resource: &'a Value,
        visit: &mut dyn FnMut(&T, &'a Value),
    ) {
        self.ends.iter().for_each(|end| visit(end, value));
        let Value::Object(members) = value else { return };
        if self.next.is_empty() {
            return;
        }
        for (key, value) in members {
            let start = self.next.partition_point(|(member, _)| *member.key < **key);
            for (member, node) in self.next[start..].iter().take_while(|(member, _)| *member.key == **key) {
                member.walk(value, resource, &mut |item| node.walk(item, resource, visit));
            }
        }
    }

    /// About how often a walk reads a value: once for each end, and for each condition on the way. Only one type of a
    /// choice can be present.
    pub(in crate::search) fn weight(&self, end: &dyn Fn(&T) -> usize) -> usize {
        let mut by_element: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
        for (member, node) in &self.next {
            let filters: usize = member.filters.iter().map(Predicate::weight).sum();
            *by_element.entry(member.name).or_default().entry(&member.key).or_default() += filters + node.weight(end);
        }
        let members = by_element.values().filter_map(|by_key| by_key.values().max());
        self.ends.iter().map(end).chain(members.copied()).sum()
    }

    /// Members, ends and conditions: what it takes to keep it.
    fn size(&self) -> usize {
        let next = self.next.iter().map(|(member, node)| member.size() + node.size());
        self.ends.len() + next.sum::<usize>()
    }

    fn any(&self, value: &Value, resource: &Value, holds: impl Fn(&Value) -> bool) -> bool {
        let mut found = false;
        self.walk(value, resource, &mut |_, value| found = found || holds(value));
        found
    }
}

impl Member {
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
    pub(in crate::search) fn weight(&self) -> usize {
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().map(Self::weight).sum(),
            Self::Exists(path) | Self::Compares { path, .. } => path.weight(&|()| 1),
            Self::Member { .. } | Self::PointsTo(_) => 1,
        }
    }

    pub(in crate::search) fn size(&self) -> usize {
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().map(Self::size).sum(),
            Self::Exists(path) | Self::Compares { path, .. } => 1 + path.size(),
            Self::Member { .. } | Self::PointsTo(_) => 1,
        }
    }

    pub(in crate::search) fn holds(&self, value: &Value, resource: &Value) -> bool {
        match self {
            Self::All(parts) => parts.iter().all(|part| part.holds(value, resource)),
            Self::Any(parts) => parts.iter().any(|part| part.holds(value, resource)),
            Self::Exists(path) => path.any(value, resource, |_| true),
            Self::Compares { path, value: wanted, negated } => {
                path.any(value, resource, |found| is_literal(found, wanted) != *negated)
            }
            Self::Member { key, value: wanted } => value.get(key).is_some_and(|found| is_literal(found, wanted)),
            Self::PointsTo(wanted) => target_type(value, resource) == Some(wanted.as_str()),
        }
    }
}

fn is_literal(found: &Value, wanted: &str) -> bool {
    match found {
        Value::String(text) => text == wanted,
        Value::Bool(true) => wanted == "true",
        Value::Bool(false) => wanted == "false",
        _ => false,
    }
}

/// The type of the resource that a Reference points to: by its text, the contained resource, or its `type`.
fn target_type<'a>(reference: &'a Value, resource: &'a Value) -> Option<&'a str> {
    let text = reference.get("reference").and_then(Value::as_str).unwrap_or_default();
    let by_text = match text.strip_prefix('#') {
        Some(id) => contained_type(id, resource),
        None => local_type(text).map(ResourceType::as_str),
    };
    by_text.or_else(|| reference.get("type").and_then(Value::as_str))
}

/// `#` alone is the resource itself.
fn contained_type<'a>(id: &str, resource: &'a Value) -> Option<&'a str> {
    let contained = resource.get("contained").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let has_id = |candidate: &&Value| candidate.get("id").and_then(Value::as_str) == Some(id);
    let target = if id.is_empty() { Some(resource) } else { contained.iter().find(has_id) };
    target?.get("resourceType")?.as_str()
}

/// The type in `Patient/1`, also with an address before it and a version behind it.
fn local_type(text: &str) -> Option<ResourceType> {
    let unversioned = text.split_once("/_history/").map_or(text, |(before, _)| before);
    let (before, _) = unversioned.rsplit_once('/')?;
    ResourceType::named(before.rsplit_once('/').map_or(before, |(_, name)| name))
}
