//! What R4 adds (<https://hl7.org/fhir/R4/fhirpath.html#functions>).

use serde_json::Value;

use super::{EvaluationResult, Given, boolean};
use crate::ResourceReference;
use crate::fhirpath::item::{Item, Node};

pub(in crate::fhirpath) fn extension<'v>(given: &Given<'_, 'v>, input: Vec<Item<'v>>) -> EvaluationResult<'v> {
    let Some(url) = given.text(0)? else { return Ok(Vec::new()) };
    let mut found = given.evaluator.member(&input, "extension")?;
    found.retain(|item| matches!(item, Item::Node(node) if node.text("url") == Some(&url)));
    Ok(found)
}

/// `extension(url).exists()`. The specification does not define it, but the search parameters of R4 use it.
pub(in crate::fhirpath) fn has_extension<'v>(given: &Given<'_, 'v>, input: Vec<Item<'v>>) -> EvaluationResult<'v> {
    boolean(!extension(given, input)?.is_empty())
}

pub(in crate::fhirpath) fn has_value<'v>(_: &Given<'_, 'v>, input: Vec<Item<'v>>) -> EvaluationResult<'v> {
    boolean(matches!(input.as_slice(), [Item::Node(node)] if node.is_primitive() && node.value().is_some()))
}

pub(in crate::fhirpath) fn get_value<'v>(_: &Given<'_, 'v>, input: Vec<Item<'v>>) -> EvaluationResult<'v> {
    match input.as_slice() {
        [Item::Node(node)] if node.is_primitive() => Ok(input[0].atom().into_iter().collect()),
        _ => Ok(Vec::new()),
    }
}

/// Resolves references: contained resources, then entries of the Bundle, then the resolver. Unresolved ones are dropped.
pub(in crate::fhirpath) fn resolve<'v>(given: &Given<'_, 'v>, input: Vec<Item<'v>>) -> EvaluationResult<'v> {
    let mut found = Vec::new();
    for item in &input {
        given.evaluator.spend(10)?;
        let (reference, owner) = match item {
            Item::Node(node) if node.is_primitive() => (node.value().and_then(Value::as_str), node.owner()),
            Item::Node(node) => (node.text("reference"), node.owner()),
            Item::Text(text) => (Some(text.as_ref()), given.evaluator.root),
            _ => (None, given.evaluator.root),
        };
        let Some(reference) = reference else { continue };
        found.extend(target(given, reference, owner)?.map(Item::Node));
    }
    Ok(found)
}

fn target<'v>(
    given: &Given<'_, 'v>,
    reference: &str,
    owner: &'v Value,
) -> Result<Option<Node<'v>>, crate::fhirpath::EvaluationFault> {
    if let Some(id) = reference.strip_prefix('#') {
        return Ok(contained(owner, id));
    }
    let root = given.evaluator.root;
    if let Some(entry) = in_bundle(given, root, reference)? {
        return Ok(Node::resource(entry, entry));
    }
    let resolved = given.evaluator.context.resolve(reference);
    let resolved = resolved.map_err(|most| given.unusable(format!("more than {most} references")))?;
    Ok(resolved.and_then(|value| Node::resource(value, value)))
}

fn contained<'v>(owner: &'v Value, id: &str) -> Option<Node<'v>> {
    if id.is_empty() {
        return Node::resource(owner, owner);
    }
    let contained = owner.get("contained")?.as_array()?;
    let found = contained.iter().find(|resource| resource.get("id").and_then(Value::as_str) == Some(id))?;
    Node::resource(found, owner)
}

fn in_bundle<'v>(
    given: &Given<'_, 'v>,
    root: &'v Value,
    reference: &str,
) -> Result<Option<&'v Value>, crate::fhirpath::EvaluationFault> {
    let is_bundle = root.get("resourceType").and_then(Value::as_str) == Some("Bundle");
    let Some(entries) = root.get("entry").and_then(Value::as_array).filter(|_| is_bundle) else { return Ok(None) };
    given.evaluator.spend(entries.len())?;
    let unversioned = reference.split_once("/_history/").map_or(reference, |(current, _)| current);
    let found = entries.iter().find(|entry| {
        entry.get("fullUrl").and_then(Value::as_str) == Some(unversioned) || is_named(entry.get("resource"), reference)
    });
    Ok(found.and_then(|entry| entry.get("resource")))
}

/// Whether a relative reference is one to the resource.
fn is_named(resource: Option<&Value>, reference: &str) -> bool {
    let part = |key: &str| resource?.get(key)?.as_str();
    ResourceReference::parse(reference).is_some_and(|reference| {
        let (resource_type, id) = (reference.resource_type().as_str(), reference.id());
        reference.is_relative() && (part("resourceType"), part("id")) == (Some(resource_type), Some(id))
    })
}

/// Whether two quantities measure the same thing.
pub(in crate::fhirpath) fn comparable<'v>(given: &Given<'_, 'v>, input: Vec<Item<'v>>) -> EvaluationResult<'v> {
    match (given.input(&input)?, given.input(&given.argument(0)?)?) {
        (Some(Item::Quantity(left)), Some(Item::Quantity(right))) => boolean(left.is_comparable(&right)),
        _ => Ok(Vec::new()),
    }
}
