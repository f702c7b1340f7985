//! Extracts the values of search parameters from resources. The expressions of a resource type are compiled on first
//! use.

mod select_elements;

use std::sync::{LazyLock, OnceLock};

use serde_json::Value;

pub use select_elements::{SelectedElement, select};

use super::IndexedValue;
use super::convert::{Conversion, ParameterRules};
use super::indexed_value::Concept;
use super::path::{ElementPath, NodeType, PathTree, Predicate, compile_component, compile_paths};
use crate::ResourceType;
use crate::definitions::{SearchParameter, SearchType, Targets};
use crate::fhirpath::FhirPath;
use crate::fhirpath::syntax::Expression;

/// All values of a parameter in a resource, in document order. Empty if the parameter does not belong to the resource's
/// type.
pub fn extract(parameter: &SearchParameter, resource: &Value) -> Vec<IndexedValue> {
    let mut found = Vec::new();
    if let Some(path_tree) = path_tree(parameter, resource) {
        path_tree.walk(resource, resource, &mut |extractor, value| extractor.extract(value, resource, &mut found));
    }
    found
}

/// The compiled expression of the parameter; `None` if it does not belong to the resource's type.
fn path_tree<'p>(parameter: &'p SearchParameter, resource: &Value) -> Option<&'p PathTree<Extractor>> {
    if let Some(compiled) = parameter.compiled() {
        return (resource.get("resourceType")? == compiled.resource_type.as_str()).then_some(&compiled.path_tree);
    }
    let mut each = TypeParameters::of(resource)?.each.iter();
    each.find(|(known, _)| std::ptr::eq(*known, parameter)).map(|(_, path_tree)| path_tree)
}

/// The values of all parameters of the resource's type, extracted in one walk. Parameters without values are left out.
pub fn extract_all(resource: &Value) -> Vec<(&'static SearchParameter, Vec<IndexedValue>)> {
    let Some(parameters) = TypeParameters::of(resource) else { return Vec::new() };
    let mut found: Vec<_> = parameters.each.iter().map(|(parameter, _)| (*parameter, Vec::new())).collect();
    parameters.combined.walk(resource, resource, &mut |(at, extractor), value| {
        if let Some((_, found)) = found.get_mut(*at) {
            extractor.extract(value, resource, found);
        }
    });
    found.retain(|(_, found)| !found.is_empty());
    found
}

/// The compiled parameters of a resource type.
struct TypeParameters {
    each: Vec<(&'static SearchParameter, PathTree<Extractor>)>,
    /// The paths of all parameters, each with the parameter's index in `each`.
    combined: PathTree<(usize, Extractor)>,
}

/// The expression of a stored parameter, compiled for one resource type.
#[derive(Debug)]
pub(crate) struct CompiledExpression {
    resource_type: ResourceType,
    path_tree: PathTree<Extractor>,
    reads_per_resource: usize,
}

/// The limit for segments and conditions of one stored parameter. All stored parameters of a search are in memory at
/// once.
const MAX_COMPILED_SIZE: usize = 1_000;

impl CompiledExpression {
    /// Compiles an expression. Returns `None` if it is not in the subset that search evaluates, or takes too much work.
    /// Only a token parameter can be a condition, whose value is `true` or `false`.
    pub(crate) fn compile(
        resource_type: ResourceType,
        search_type: SearchType,
        targets: &Targets,
        code: &str,
        expression: &FhirPath,
    ) -> Option<Self> {
        let rules = ParameterRules {
            search_type,
            targets,
            ignores_case: SearchParameter::is_case_insensitive(search_type, code),
        };
        let extractors = expression_extractors(expression.syntax(), rules, resource_type)?;
        let is_condition = extractors.iter().any(|(_, extractor)| matches!(extractor, Extractor::Test(_)));
        let size: usize = extractors.iter().map(|(path, extractor)| path.size() + extractor.size()).sum();
        if size > MAX_COMPILED_SIZE || (is_condition && search_type != SearchType::Token) {
            return None;
        }
        let mut path_tree = PathTree::default();
        extractors.into_iter().for_each(|(path, extractor)| path_tree.insert(path.segments, extractor));
        let reads_per_resource = path_tree.read_count(&Extractor::read_count);
        Some(Self { resource_type, path_tree, reads_per_resource })
    }

    /// How often a resource is read at most: once for each path of the expression, and once for each condition on it.
    pub(crate) fn reads_per_resource(&self) -> usize {
        self.reads_per_resource
    }
}

/// Whether an expression selects the same elements as a standard parameter, in any order.
pub(crate) fn is_same(standard: &'static SearchParameter, resource_type: ResourceType, expression: &FhirPath) -> bool {
    let rules = ParameterRules::of(standard);
    let Some(ours) = expression_extractors(expression.syntax(), rules, resource_type) else { return false };
    let theirs = extractors(standard, resource_type).unwrap_or_default();
    let is_found = |(theirs, their_extractor): &(ElementPath, Extractor)| {
        ours.iter().any(|(ours, our_extractor)| ours.segments == theirs.segments && our_extractor == their_extractor)
    };
    ours.len() == theirs.len() && theirs.iter().all(is_found)
}

/// What is extracted from an element that a path selects.
#[derive(Debug, Clone, PartialEq)]
enum Extractor {
    Convert(Conversion),
    /// The value of an expression that is a condition.
    Test(Predicate),
    Composite(Vec<CompositePart>),
}

/// A component of a composite.
#[derive(Debug, Clone, PartialEq)]
struct CompositePart {
    path_tree: PathTree<Conversion>,
    from_resource: bool,
}

impl Extractor {
    fn read_count(&self) -> usize {
        if let Self::Test(predicate) = self { predicate.read_count() } else { 1 }
    }

    fn size(&self) -> usize {
        if let Self::Test(predicate) = self { predicate.size() } else { 1 }
    }

    fn extract(&self, value: &Value, resource: &Value, found: &mut Vec<IndexedValue>) {
        match self {
            Self::Convert(conversion) => conversion.convert(value, found),
            Self::Test(predicate) => {
                let code = if predicate.holds(value, resource) { "true" } else { "false" };
                found.push(IndexedValue::Token(Concept { code: Some(code.into()), ..Concept::default() }));
            }
            Self::Composite(parts) => found.extend(composite(parts, value, resource)),
        }
    }
}

/// `None` unless every component has a value, because no search value could match it.
fn composite(parts: &[CompositePart], value: &Value, resource: &Value) -> Option<IndexedValue> {
    let find = |part: &CompositePart| {
        let start = if part.from_resource { resource } else { value };
        let mut found = Vec::new();
        part.path_tree.walk(start, resource, &mut |conversion, value| conversion.convert(value, &mut found));
        (!found.is_empty()).then_some(found)
    };
    parts.iter().map(find).collect::<Option<_>>().map(IndexedValue::Composite)
}

static PARAMETERS_BY_TYPE: LazyLock<Vec<(&'static str, OnceLock<TypeParameters>)>> =
    LazyLock::new(|| ResourceType::all().map(|resource_type| (resource_type.as_str(), OnceLock::new())).collect());

impl TypeParameters {
    fn of(resource: &Value) -> Option<&'static Self> {
        let name = resource.get("resourceType")?.as_str()?;
        let at = PARAMETERS_BY_TYPE.binary_search_by(|(known, _)| (*known).cmp(name)).ok()?;
        let resource_type = ResourceType::named(name)?;
        Some(PARAMETERS_BY_TYPE[at].1.get_or_init(|| Self::compile(resource_type)))
    }

    fn compile(resource_type: ResourceType) -> Self {
        let mut parameters = Self { each: Vec::new(), combined: PathTree::default() };
        for parameter in SearchParameter::of(resource_type) {
            let mut path_tree = PathTree::default();
            for (path, extractor) in extractors(parameter, resource_type).unwrap_or_default() {
                parameters.combined.insert(path.segments.clone(), (parameters.each.len(), extractor.clone()));
                path_tree.insert(path.segments, extractor);
            }
            parameters.each.push((parameter, path_tree));
        }
        parameters
    }
}

/// The paths of a parameter's expression in a resource of the type, and what is extracted from each.
fn extractors(
    parameter: &'static SearchParameter,
    resource_type: ResourceType,
) -> Option<Vec<(ElementPath, Extractor)>> {
    let parsed = FhirPath::parse(parameter.expression()?).ok()?;
    let expression = parsed.syntax();
    if parameter.search_type() != SearchType::Composite {
        return expression_extractors(expression, ParameterRules::of(parameter), resource_type);
    }
    let paths = compile_paths(expression, resource_type)?;
    paths.into_iter().map(|path| Some((path.clone(), parts(parameter, &path, resource_type)?))).collect()
}

/// The same for the expression of a parameter that is not a composite.
fn expression_extractors(
    expression: &Expression,
    rules: ParameterRules<'_>,
    resource_type: ResourceType,
) -> Option<Vec<(ElementPath, Extractor)>> {
    if let Some(predicate) = Predicate::compile(expression, resource_type) {
        let root = ElementPath::start(NodeType::of(crate::definitions::Structure::of(resource_type)?));
        return Some(vec![(root, Extractor::Test(predicate))]);
    }
    let conversions = conversions(rules, compile_paths(expression, resource_type)?).take(MAX_EXTRACTORS + 1);
    let extractors: Vec<_> = conversions.map(|(path, conversion)| (path, Extractor::Convert(conversion))).collect();
    (extractors.len() <= MAX_EXTRACTORS).then_some(extractors)
}

/// The most paths of one expression.
const MAX_EXTRACTORS: usize = 256;

fn parts(parameter: &'static SearchParameter, path: &ElementPath, resource_type: ResourceType) -> Option<Extractor> {
    let part = |component: &crate::definitions::Component| {
        let parameter = SearchParameter::find(resource_type, component.code)?;
        let expression = FhirPath::parse(component.expression).ok()?;
        let (paths, from_resource) = compile_component(expression.syntax(), path.node_type, resource_type)?;
        let mut path_tree = PathTree::default();
        for (path, conversion) in conversions(ParameterRules::of(parameter), paths) {
            path_tree.insert(path.segments, conversion);
        }
        Some(CompositePart { path_tree, from_resource })
    };
    parameter.components().iter().map(part).collect::<Option<_>>().map(Extractor::Composite)
}

/// Adds the conversion for each path. An extension is replaced by its value: R4 writes `extension('…')` where it means
/// `extension('…').value`.
fn conversions(rules: ParameterRules<'_>, paths: Vec<ElementPath>) -> impl Iterator<Item = (ElementPath, Conversion)> {
    let values = paths.into_iter().flat_map(|path| match path.node_type.name {
        "Extension" => path.member("value").unwrap_or_default(),
        _ => vec![path],
    });
    values.filter_map(move |path| Conversion::of(rules, path.node_type).map(|conversion| (path, conversion)))
}

#[cfg(test)]
mod tests;
