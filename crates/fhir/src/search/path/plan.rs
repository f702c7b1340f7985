//! Expressions made into the members to follow, with the types of the definitions.

use super::walk::{Node, Predicate};
use super::{Expression, Member};
use crate::ResourceType;
use crate::definitions::{Element, ElementType, Structure};

/// One way from where an expression starts to something that it finds.
#[derive(Debug, Clone)]
pub(in crate::search) struct Trail {
    pub(in crate::search) members: Vec<Member>,
    pub(in crate::search) kind: Kind,
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
}

/// The trails of a parameter's expression from a resource of the type. Parts for other types have none.
pub(in crate::search) fn absolute(expression: &Expression, resource_type: ResourceType) -> Option<Vec<Trail>> {
    let root = Kind::of(Structure::of(resource_type)?);
    Planner { root }.trails(expression, root)
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
    Some((Planner { root }.trails(expression, start)?, from_resource))
}

impl Predicate {
    /// A condition on a resource of the type, if the expression is one.
    pub(in crate::search) fn absolute(expression: &Expression, resource_type: ResourceType) -> Option<Self> {
        let root = Kind::of(Structure::of(resource_type)?);
        Planner { root }.predicate(expression, root)
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

struct Planner {
    root: Kind,
}

impl Planner {
    fn trails(&self, expression: &Expression, here: Kind) -> Option<Vec<Trail>> {
        match expression {
            Expression::Here | Expression::Resource => Some(vec![Trail { members: Vec::new(), kind: here }]),
            Expression::Type(name) => Some(self.resource(name, here)),
            Expression::Member(of, name) => {
                Some(self.trails(of, here)?.iter().flat_map(|trail| trail.member(name)).collect())
            }
            Expression::As(of, wanted) => {
                Some(self.trails(of, here)?.into_iter().filter(|trail| trail.kind.is(wanted)).collect())
            }
            Expression::At(of, at) => {
                let mut trails = self.trails(of, here)?;
                trails.iter_mut().filter_map(|trail| trail.members.last_mut()).for_each(|last| last.at = Some(*at));
                Some(trails)
            }
            Expression::Union(parts) => {
                let parts: Option<Vec<_>> = parts.iter().map(|part| self.trails(part, here)).collect();
                Some(parts?.into_iter().flatten().collect())
            }
            Expression::Call(of, name, arguments) => self.call(of, name, arguments, here),
            _ => None,
        }
    }

    /// `Patient`, or a type that it is made from; a part for any other type finds nothing here.
    fn resource(&self, name: &str, here: Kind) -> Vec<Trail> {
        let mut lineage = std::iter::successors(Some(self.root.content), |structure| structure.base());
        let is_root = lineage.any(|structure| structure.path() == name);
        if is_root { vec![Trail { members: Vec::new(), kind: here }] } else { Vec::new() }
    }

    fn call(&self, of: &Expression, name: &str, arguments: &[Expression], here: Kind) -> Option<Vec<Trail>> {
        let trails = self.trails(of, here)?;
        match (name, arguments) {
            ("where", [condition]) => {
                trails.into_iter().map(|trail| self.filtered(trail, |kind| self.predicate(condition, kind))).collect()
            }
            ("extension", [Expression::Literal(url)]) => {
                let extensions = trails.iter().flat_map(|trail| trail.member("extension"));
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
                path => self.exists(&Expression::As(Box::new(path.clone()), wanted.clone()), here),
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
        Some(Predicate::Exists(self.nodes(path, here)?))
    }

    fn equality(&self, left: &Expression, right: &Expression, negated: bool, here: Kind) -> Option<Predicate> {
        let Expression::Literal(value) = right else { return None };
        Some(Predicate::Compares { path: self.nodes(left, here)?, value: value.clone(), negated })
    }

    fn nodes(&self, path: &Expression, here: Kind) -> Option<Node<()>> {
        let mut node = Node::default();
        self.trails(path, here)?.into_iter().for_each(|trail| node.insert(trail.members, ()));
        Some(node)
    }
}

impl Trail {
    /// The trail with one more member: one for each type of a choice.
    pub(in crate::search) fn member(&self, name: &str) -> Vec<Self> {
        let Some(element) = self.kind.content.elements().find(|element| element.name() == name) else {
            return Vec::new();
        };
        let further = |used: &'static ElementType| {
            let mut members = self.members.clone();
            members.push(Member::of(element, used));
            Self { members, kind: Kind::used(element, used) }
        };
        element.types().iter().map(further).collect()
    }
}
