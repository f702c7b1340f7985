//! What the expressions of parameters find in a resource. They are compiled when a resource type is first seen.

mod select;

use std::sync::{LazyLock, OnceLock};

use serde_json::Value;

pub use select::{Selected, select};

use super::Found;
use super::convert::Conversion;
use super::found::Concept;
use super::path::{Kind, Node, Predicate, Trail, absolute, parse, relative};
use crate::ResourceType;
use crate::definitions::{SearchParameter, SearchType};

/// Every value by which the parameter finds the resource, in the resource's order. None if the parameter is not one of
/// the resource's type.
pub fn extract(parameter: &'static SearchParameter, resource: &Value) -> Vec<Found> {
    let plan =
        Plans::of(resource).and_then(|plans| plans.each.iter().find(|plan| std::ptr::eq(plan.parameter, parameter)));
    let mut found = Vec::new();
    if let Some(plan) = plan {
        plan.nodes.walk(resource, resource, &mut |end, value| end.find(value, resource, &mut found));
    }
    found
}

/// The same for all parameters of the resource's type at once, in one walk; those that find nothing are left out.
pub fn extract_all(resource: &Value) -> Vec<(&'static SearchParameter, Vec<Found>)> {
    let Some(plans) = Plans::of(resource) else { return Vec::new() };
    let mut found: Vec<_> = plans.each.iter().map(|plan| (plan.parameter, Vec::new())).collect();
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
    each: Vec<Plan>,
    /// All of them, by their place in `each`.
    together: Node<(usize, End)>,
}

struct Plan {
    parameter: &'static SearchParameter,
    nodes: Node<End>,
}

/// What is done with what a path leads to.
#[derive(Debug, Clone)]
enum End {
    Convert(Conversion),
    /// Whether the whole expression holds.
    Holds(Predicate),
    Parts(Vec<Part>),
}

/// A component of a composite.
#[derive(Debug, Clone)]
struct Part {
    nodes: Node<Conversion>,
    from_resource: bool,
}

impl End {
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
            plans.each.push(Plan { parameter, nodes });
        }
        plans
    }
}

/// Where the parameter's expression leads in a resource of the type, and what it makes of it.
fn ends(parameter: &'static SearchParameter, resource_type: ResourceType) -> Option<Vec<(Trail, End)>> {
    let expression = parse(parameter.expression()?)?;
    if let Some(predicate) = Predicate::absolute(&expression, resource_type) {
        let root = Trail { members: Vec::new(), kind: Kind::of(crate::definitions::Structure::of(resource_type)?) };
        return Some(vec![(root, End::Holds(predicate))]);
    }
    let trails = absolute(&expression, resource_type)?;
    if parameter.search_type() == SearchType::Composite {
        return trails
            .into_iter()
            .map(|trail| Some((trail.clone(), parts(parameter, &trail, resource_type)?)))
            .collect();
    }
    Some(
        conversions(parameter, trails)
            .into_iter()
            .map(|(trail, conversion)| (trail, End::Convert(conversion)))
            .collect(),
    )
}

fn parts(parameter: &'static SearchParameter, trail: &Trail, resource_type: ResourceType) -> Option<End> {
    let part = |component: &crate::definitions::Component| {
        let parameter = SearchParameter::find(resource_type, component.code)?;
        let (trails, from_resource) = relative(&parse(component.expression)?, trail.kind, resource_type)?;
        let mut nodes = Node::default();
        for (trail, conversion) in conversions(parameter, trails) {
            nodes.insert(trail.members, conversion);
        }
        Some(Part { nodes, from_resource })
    };
    parameter.components().iter().map(part).collect::<Option<_>>().map(End::Parts)
}

/// An extension stands for its value: R4 writes `extension('…')` for what it means to be `extension('…').value`.
fn conversions(parameter: &'static SearchParameter, trails: Vec<Trail>) -> Vec<(Trail, Conversion)> {
    let values = trails
        .into_iter()
        .flat_map(|trail| if trail.kind.name == "Extension" { trail.member("value") } else { vec![trail] });
    values.filter_map(|trail| Conversion::of(parameter, trail.kind).map(|conversion| (trail, conversion))).collect()
}

#[cfg(test)]
mod tests;
