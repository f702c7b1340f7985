//! Expressions made into the members to follow, with the types of the definitions.

use std::cell::Cell;

use super::walk::{Node, Predicate};
use super::{Expression, Member};
use crate::ResourceType;
use crate::definitions::{Element, ElementType, Kind as StructureKind, Max, Structure};

/// One way from where an expression starts to something that it finds.
#[derive(Debug, Clone)]
pub(in crate::search) struct Trail {
    pub(in crate::search) members: Vec<Member>,
    pub(in crate::search) kind: Kind,
    /// How many of the members, or unions on the way, can give several values.
    repeating: usize,
}

/// The type of what a trail leads to.
#[derive(Debug, Clone, Copy)]
pub(in crate::search) struct Kind {
    /// `Patient`, `HumanName`, `code`; `BackboneElement` for what is defined in place.
    pub(in crate::search) name: &'static str,
    pub(in crate::search) content: &'static Structure,
    /// The element that it was found in, none for the resource itself.
    pub(in crate::search) element: Option<&'static Element>,
}

impl Kind {
    pub(in crate::search) fn of(structure: &'static Structure) -> Self {
        Self { name: structure.path(), content: structure, element: None }
    }

    fn used(element: &'static Element, used: &'static ElementType) -> Self {
        Self { name: used.name(), content: used.content(), element: Some(element) }
    }

    /// Whether `as wanted` keeps it. One expression of R4 writes `DateTime`, hence without case.
    fn is(self, wanted: &str) -> bool {
        self.name.eq_ignore_ascii_case(wanted)
    }

    fn repeats(self) -> bool {
        self.element.is_some_and(|element| element.max() == Max::Many)
    }
}

/// The trails of a parameter's expression from a resource of the type. Parts for other types have none.
pub(in crate::search) fn absolute(expression: &Expression, resource_type: ResourceType) -> Option<Vec<Trail>> {
    let root = Kind::of(Structure::of(resource_type)?);
    Planner::new(root).trails(expression, root)
}

/// What to follow from an element of the kind, for a part of a composite, and whether it starts at the resource instead.
pub(in crate::search) fn relative(
    expression: &Expression,
    here: Kind,
    resource_type: ResourceType,
) -> Option<(Vec<Trail>, bool)> {
    let root = Kind::of(Structure::of(resource_type)?);
    let from_resource = starts_at_resource(expression);
    let start = if from_resource { root } else { here };
    Some((Planner::new(root).trails(expression, start)?, from_resource))
}

impl Predicate {
    /// A condition on a resource of the type, if the expression is one.
    pub(in crate::search) fn absolute(expression: &Expression, resource_type: ResourceType) -> Option<Self> {
        let root = Kind::of(Structure::of(resource_type)?);
        Planner::new(root).predicate(expression, root)
    }
}

fn starts_at_resource(expression: &Expression) -> bool {
    match expression {
        Expression::Resource => true,
        Expression::Member(of, _) | Expression::Call(of, ..) | Expression::At(of, _) | Expression::As(of, _) => {
            starts_at_resource(of)
        }
        _ => false,
    }
}

/// Members and conditions of all trails that are followed for one expression, at each of its steps. A step into a choice
/// goes on in as many ways as it has types.
const MAX_WORK: usize = 5_000;

struct Planner {
    root: Kind,
    work_left: Cell<usize>,
}

impl Planner {
    fn new(root: Kind) -> Self {
        Self { root, work_left: Cell::new(MAX_WORK) }
    }

    fn trails(&self, expression: &Expression, here: Kind) -> Option<Vec<Trail>> {
        let found = self.ways(expression, here)?;
        let work = found.iter().map(Trail::size).sum();
        self.work_left.set(self.work_left.get().checked_sub(work)?);
        Some(found)
    }

    fn ways(&self, expression: &Expression, here: Kind) -> Option<Vec<Trail>> {
        match expression {
            Expression::Here => Some(vec![Trail::start(here)]),
            // Within a condition on an element, the resource is somewhere else.
            Expression::Resource => here.element.is_none().then(|| vec![Trail::start(here)]),
            Expression::Type(name) => Some(self.resource(name, here)),
            Expression::Member(of, name) => members(&self.trails(of, here)?, name),
            Expression::As(of, wanted) => {
                Some(self.trails(of, here)?.into_iter().filter(|trail| trail.kind.is(wanted)).collect())
            }
            Expression::At(of, at) => self.trails(of, here)?.into_iter().map(|trail| trail.at(*at)).collect(),
            Expression::Union(parts) => {
                let parts: Option<Vec<_>> = parts.iter().map(|part| self.trails(part, here)).collect();
                let trails = parts?.into_iter().flatten();
                Some(trails.map(|trail| Trail { repeating: trail.repeating + 1, ..trail }).collect())
            }
            Expression::Call(of, name, arguments) => self.call(of, name, arguments, here),
            _ => None,
        }
    }

    /// `Patient`, or a type that it is made from; a part for any other type finds nothing here.
    fn resource(&self, name: &str, here: Kind) -> Vec<Trail> {
        let mut lineage = std::iter::successors(Some(self.root.content), |structure| structure.base());
        let is_root = lineage.any(|structure| structure.path() == name);
        if is_root { vec![Trail::start(here)] } else { Vec::new() }
    }

    fn call(&self, of: &Expression, name: &str, arguments: &[Expression], here: Kind) -> Option<Vec<Trail>> {
        let trails = self.trails(of, here)?;
        match (name, arguments) {
            ("where", [condition]) => {
                trails.into_iter().map(|trail| self.filtered(trail, |kind| self.predicate(condition, kind))).collect()
            }
            ("extension", [Expression::Literal(url)]) => {
                let extensions = members(&trails, "extension")?.into_iter();
                let is_wanted = |_: Kind| Some(Predicate::Member { key: "url", value: url.clone() });
                extensions.map(|trail| self.filtered(trail, is_wanted)).collect()
            }
            _ => None,
        }
    }

    fn filtered(&self, mut trail: Trail, filter: impl Fn(Kind) -> Option<Predicate>) -> Option<Trail> {
        let filter = filter(trail.kind)?;
        trail.members.last_mut()?.filters.push(filter);
        Some(trail)
    }

    fn predicate(&self, expression: &Expression, here: Kind) -> Option<Predicate> {
        let all = |parts: &[Expression]| parts.iter().map(|part| self.predicate(part, here)).collect::<Option<_>>();
        match expression {
            Expression::And(parts) => Some(Predicate::All(all(parts)?)),
            Expression::Or(parts) => Some(Predicate::Any(all(parts)?)),
            Expression::Equal { left, right, negated } => self.equality(left, right, *negated, here),
            Expression::Is(of, wanted) => match &**of {
                Expression::Call(here, name, _) if name == "resolve" && **here == Expression::Here => {
                    Some(Predicate::PointsTo(ResourceType::named(wanted)?))
                }
                path => {
                    self.single(path, here)?;
                    self.exists(&Expression::As(Box::new(path.clone()), wanted.clone()), here)
                }
            },
            Expression::Call(of, name, arguments) => match (name.as_str(), arguments.as_slice()) {
                ("exists", []) => self.exists(of, here),
                ("hasExtension", [Expression::Literal(_)]) => {
                    let extension = Expression::Call(of.clone(), "extension".to_owned(), arguments.clone());
                    self.exists(&extension, here)
                }
                _ => None,
            },
            _ => None,
        }
    }

    fn exists(&self, path: &Expression, here: Kind) -> Option<Predicate> {
        Some(Predicate::Exists(nodes(self.trails(path, here)?)))
    }

    fn equality(&self, left: &Expression, right: &Expression, negated: bool, here: Kind) -> Option<Predicate> {
        let Expression::Literal(value) = right else { return None };
        Some(Predicate::Compares { path: nodes(self.single(left, here)?), value: value.clone(), negated })
    }

    /// Of a path that leads to one value at most: FHIRPath compares collections as a whole, or not at all.
    fn single(&self, path: &Expression, here: Kind) -> Option<Vec<Trail>> {
        self.trails(path, here).filter(|trails| trails.iter().all(|trail| trail.repeating == 0))
    }
}

fn nodes(trails: Vec<Trail>) -> Node<()> {
    let mut node = Node::default();
    trails.into_iter().for_each(|trail| node.insert(trail.members, ()));
    node
}

fn members(trails: &[Trail], name: &str) -> Option<Vec<Trail>> {
    let found: Option<Vec<_>> = trails.iter().map(|trail| trail.member(name)).collect();
    Some(found?.into_iter().flatten().collect())
}

impl Trail {
    pub(in crate::search) fn start(kind: Kind) -> Self {
        Self { members: Vec::new(), kind, repeating: 0 }
    }

    /// Members and conditions.
    pub(in crate::search) fn size(&self) -> usize {
        1 + self.members.iter().map(Member::size).sum::<usize>()
    }

    /// The trail with one more member: one for each type of a choice. None if it cannot be followed in JSON.
    pub(in crate::search) fn member(&self, name: &str) -> Option<Vec<Self>> {
        let Some(element) = self.kind.content.elements().find(|element| element.name() == name) else {
            return Some(Vec::new());
        };
        let mut before = self.members.clone();
        if let StructureKind::Primitive(_) = self.kind.content.kind() {
            // `_birthDate` has the extensions of `birthDate`; those of a list have the same index.
            let last = before.last_mut().filter(|last| last.filters.is_empty())?;
            last.key = format!("_{}", last.key).into_boxed_str();
        }
        let further = |used: &'static ElementType| {
            let mut members = before.clone();
            members.push(Member::of(element, used));
            let kind = Kind::used(element, used);
            Self { members, kind, repeating: self.repeating + usize::from(kind.repeats()) }
        };
        Some(element.types().iter().map(further).collect())
    }

    /// The value at an index. None unless all values are in one array: an index counts all that a path finds.
    fn at(mut self, at: usize) -> Option<Self> {
        let is_one_array = self.repeating == usize::from(self.kind.repeats());
        let last =
            self.members.last_mut().filter(|last| is_one_array && last.at.is_none() && last.filters.is_empty())?;
        last.at = Some(at);
        self.repeating = 0;
        Some(self)
    }
}
