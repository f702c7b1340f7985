//! What the expressions of parameters find in a resource. They are compiled when a resource type is first seen.

mod select;

use std::sync::{LazyLock, OnceLock};

use serde_json::Value;

pub use select::{Selected, select};

use super::Found;
use super::convert::{Compared, Conversion};
use super::found::Concept;
use super::path::{Expression, Kind, Node, Predicate, Trail, absolute, parse, relative};
use crate::ResourceType;
use crate::definitions::{SearchParameter, SearchType, Targets};

/// Every value by which the parameter finds the resource, in the resource's order. None if the parameter is not one of
/// the resource's type.
pub fn extract(parameter: &SearchParameter, resource: &Value) -> Vec<Found> {
    let mut found = Vec::new();
    if let Some(nodes) = nodes(parameter, resource) {
        nodes.walk(resource, resource, &mut |end, value| end.find(value, resource, &mut found));
    }
    found
}

/// Where the parameter leads in a resource of this type; none if it is not one of the type.
fn nodes<'p>(parameter: &'p SearchParameter, resource: &Value) -> Option<&'p Node<End>> {
    if let Some(plan) = parameter.plan() {
        return (resource.get("resourceType")? == plan.resource_type.as_str()).then_some(&plan.nodes);
    }
    let mut each = Plans::of(resource)?.each.iter();
    each.find(|(known, _)| std::ptr::eq(*known, parameter)).map(|(_, nodes)| nodes)
}

/// The same for all parameters of the resource's type at once, in one walk; those that find nothing are left out.
pub fn extract_all(resource: &Value) -> Vec<(&'static SearchParameter, Vec<Found>)> {
    let Some(plans) = Plans::of(resource) else { return Vec::new() };
    let mut found: Vec<_> = plans.each.iter().map(|(parameter, _)| (*parameter, Vec::new())).collect();
    plans.together.walk(resource, resource, &mut |(at, end), value| {
        if let Some((_, found)) = found.get_mut(*at) {
            end.find(value, resource, found);
        }
    });
    found.retain(|(_, found)| !found.is_empty());
    found
}

/// The parameters of a resource type.
struct Plans {
    each: Vec<(&'static SearchParameter, Node<End>)>,
    /// All of them, by their place in `each`.
    together: Node<(usize, End)>,
}

/// Where the expression of a stored parameter leads in resources of one type.
#[derive(Debug)]
pub(crate) struct Plan {
    resource_type: ResourceType,
    nodes: Node<End>,
    ways: usize,
}

/// Members and conditions of the plan of one stored parameter: the plans of all stored parameters of a search are in
/// memory at once.
const MAX_PLAN_SIZE: usize = 1_000;

impl Plan {
    /// None if the expression is not of the subset that search evaluates, or takes too much work. Only a token can be a
    /// condition, which finds `true` or `false`.
    pub(crate) fn compile(
        resource_type: ResourceType,
        search_type: SearchType,
        targets: &Targets,
        code: &str,
        expression: &str,
    ) -> Option<Self> {
        let by = Compared { search_type, targets, ignores_case: SearchParameter::is_without_case(search_type, code) };
        let ends = ends_of(&parse(expression)?, by, resource_type)?;
        let is_condition = ends.iter().any(|(_, end)| matches!(end, End::Holds(_)));
        let size: usize = ends.iter().map(|(trail, end)| trail.size() + end.size()).sum();
        if size > MAX_PLAN_SIZE || (is_condition && search_type != SearchType::Token) {
            return None;
        }
        let mut nodes = Node::default();
        ends.into_iter().for_each(|(trail, end)| nodes.insert(trail.members, end));
        let ways = nodes.weight(&End::weight);
        Some(Self { resource_type, nodes, ways })
    }

    /// How often a resource is read at most: for each way that the expression leads, and each condition on it.
    pub(crate) fn ways(&self) -> usize {
        self.ways
    }
}

/// Whether an expression leads to the same as a parameter of the standards, in whatever order.
pub(crate) fn is_same(standard: &'static SearchParameter, resource_type: ResourceType, expression: &str) -> bool {
    let by = Compared::by(standard);
    let Some(ours) = parse(expression).and_then(|parsed| ends_of(&parsed, by, resource_type)) else { return false };
    let theirs = ends(standard, resource_type).unwrap_or_default();
    let is_found = |(theirs, their_end): &(Trail, End)| {
        ours.iter().any(|(ours, our_end)| ours.members == theirs.members && our_end == their_end)
    };
    ours.len() == theirs.len() && theirs.iter().all(is_found)
}

/// What is done with what a path leads to.
#[derive(Debug, Clone, PartialEq)]
enum End {
    Convert(Conversion),
    /// Whether the whole expression holds.
    Holds(Predicate),
    Parts(Vec<Part>),
}

/// A component of a composite.
#[derive(Debug, Clone, PartialEq)]
struct Part {
    nodes: Node<Conversion>,
    from_resource: bool,
}

impl End {
    fn weight(&self) -> usize {
        if let Self::Holds(predicate) = self { predicate.weight() } else { 1 }
    }

    fn size(&self) -> usize {
        if let Self::Holds(predicate) = self { predicate.size() } else { 1 }
    }

    fn find(&self, value: &Value, resource: &Value, found: &mut Vec<Found>) {
        match self {
            Self::Convert(conversion) => conversion.convert(value, found),
            Self::Holds(predicate) => {
                let code = if predicate.holds(value, resource) { "true" } else { "false" };
                found.push(Found::Token(Concept { code: Some(code.into()), ..Concept::default() }));
            }
            Self::Parts(parts) => found.extend(composite(parts, value, resource)),
        }
    }
}

/// None unless every part finds something: nothing could be equal to it.
fn composite(parts: &[Part], value: &Value, resource: &Value) -> Option<Found> {
    let find = |part: &Part| {
        let start = if part.from_resource { resource } else { value };
        let mut found = Vec::new();
        part.nodes.walk(start, resource, &mut |conversion, value| conversion.convert(value, &mut found));
        (!found.is_empty()).then_some(found)
    };
    parts.iter().map(find).collect::<Option<_>>().map(Found::Composite)
}

static PLANS: LazyLock<Vec<(&'static str, OnceLock<Plans>)>> =
    LazyLock::new(|| ResourceType::all().map(|resource_type| (resource_type.as_str(), OnceLock::new())).collect());

impl Plans {
    fn of(resource: &Value) -> Option<&'static Self> {
        let name = resource.get("resourceType")?.as_str()?;
        let at = PLANS.binary_search_by(|(known, _)| (*known).cmp(name)).ok()?;
        let resource_type = ResourceType::named(name)?;
        Some(PLANS[at].1.get_or_init(|| Self::compile(resource_type)))
    }

    fn compile(resource_type: ResourceType) -> Self {
        let mut plans = Self { each: Vec::new(), together: Node::default() };
        for parameter in SearchParameter::of(resource_type) {
            let mut nodes = Node::default();
            for (trail, end) in ends(parameter, resource_type).unwrap_or_default() {
                plans.together.insert(trail.members.clone(), (plans.each.len(), end.clone()));
                nodes.insert(trail.members, end);
            }
            plans.each.push((parameter, nodes));
        }
        plans
    }
}

/// Where the parameter's expression leads in a resource of the type, and what it makes of it.
fn ends(parameter: &'static SearchParameter, resource_type: ResourceType) -> Option<Vec<(Trail, End)>> {
    let expression = parse(parameter.expression()?)?;
    if parameter.search_type() != SearchType::Composite {
        return ends_of(&expression, Compared::by(parameter), resource_type);
    }
    let trails = absolute(&expression, resource_type)?;
    trails.into_iter().map(|trail| Some((trail.clone(), parts(parameter, &trail, resource_type)?))).collect()
}

/// The same for an expression that is not that of a composite.
fn ends_of(expression: &Expression, by: Compared<'_>, resource_type: ResourceType) -> Option<Vec<(Trail, End)>> {
    if let Some(predicate) = Predicate::absolute(expression, resource_type) {
        let root = Trail::start(Kind::of(crate::definitions::Structure::of(resource_type)?));
        return Some(vec![(root, End::Holds(predicate))]);
    }
    let conversions = conversions(by, absolute(expression, resource_type)?).take(MAX_ENDS + 1);
    let ends: Vec<_> = conversions.map(|(trail, conversion)| (trail, End::Convert(conversion))).collect();
    (ends.len() <= MAX_ENDS).then_some(ends)
}

/// Of one expression.
const MAX_ENDS: usize = 256;

fn parts(parameter: &'static SearchParameter, trail: &Trail, resource_type: ResourceType) -> Option<End> {
    let part = |component: &crate::definitions::Component| {
        let parameter = SearchParameter::find(resource_type, component.code)?;
        let (trails, from_resource) = relative(&parse(component.expression)?, trail.kind, resource_type)?;
        let mut nodes = Node::default();
        for (trail, conversion) in conversions(Compared::by(parameter), trails) {
            nodes.insert(trail.members, conversion);
        }
        Some(Part { nodes, from_resource })
    };
    parameter.components().iter().map(part).collect::<Option<_>>().map(End::Parts)
}

/// An extension stands for its value: R4 writes `extension('…')` for what it means to be `extension('…').value`.
fn conversions(by: Compared<'_>, trails: Vec<Trail>) -> impl Iterator<Item = (Trail, Conversion)> {
    let values = trails.into_iter().flat_map(|trail| match trail.kind.name {
        "Extension" => trail.member("value").unwrap_or_default(),
        _ => vec![trail],
    });
    values.filter_map(move |trail| Conversion::of(by, trail.kind).map(|conversion| (trail, conversion)))
}

#[cfg(test)]
mod tests;
