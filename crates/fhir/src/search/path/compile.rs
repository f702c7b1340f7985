//! Compiles parsed expressions to element paths, with the types that the definitions give them.

use std::cell::Cell;

use super::PathSegment;
use super::path_tree::{PathTree, Predicate};
use crate::ResourceType;
use crate::definitions::{Element, ElementType, Max, Structure, StructureKind};
use crate::fhirpath::is_resource_constant;
use crate::fhirpath::syntax::{
    Call, CallArguments, Expression, Literal, Operator, PathStep, Start, TypeOperator, Variable,
};

/// One sequence of JSON members from the start of an expression to an element that it selects.
#[derive(Debug, Clone)]
pub(in crate::search) struct ElementPath {
    pub(in crate::search) segments: Vec<PathSegment>,
    pub(in crate::search) node_type: NodeType,
    /// How many of the segments, or unions on the way, can give several values.
    repeating: usize,
}

/// The type of the elements that a path selects.
#[derive(Debug, Clone, Copy)]
pub(in crate::search) struct NodeType {
    /// `Patient`, `HumanName`, `code`; `BackboneElement` for structures that are defined inline.
    pub(in crate::search) name: &'static str,
    pub(in crate::search) content: &'static Structure,
    /// The definition of the element; `None` for the resource itself.
    pub(in crate::search) element: Option<&'static Element>,
}

impl NodeType {
    pub(in crate::search) fn of(structure: &'static Structure) -> Self {
        Self { name: structure.path(), content: structure, element: None }
    }

    fn of_element(element: &'static Element, element_type: &'static ElementType) -> Self {
        Self { name: element_type.name(), content: element_type.content(), element: Some(element) }
    }

    /// Whether `as type_name` keeps it. Ignores case because one expression of R4 writes `DateTime`.
    fn is(self, type_name: &str) -> bool {
        self.name.eq_ignore_ascii_case(type_name)
    }

    fn repeats(self) -> bool {
        self.element.is_some_and(|element| element.max() == Max::Many)
    }
}

/// Compiles a parameter's expression for resources of one type. Union operands for other types give no paths. Returns
/// `None` if search cannot evaluate the expression.
pub(in crate::search) fn compile_paths(
    expression: &Expression,
    resource_type: ResourceType,
) -> Option<Vec<ElementPath>> {
    let root = NodeType::of(Structure::of(resource_type)?);
    PathCompiler::new(root).paths(expression, root)
}

/// Compiles the expression of a composite's component, which starts at an element of type `context`. Also returns whether
/// the paths start at the resource instead (`%resource`).
pub(in crate::search) fn compile_component(
    expression: &Expression,
    context: NodeType,
    resource_type: ResourceType,
) -> Option<(Vec<ElementPath>, bool)> {
    let root = NodeType::of(Structure::of(resource_type)?);
    let from_resource = starts_at_resource(expression);
    let start = if from_resource { root } else { context };
    Some((PathCompiler::new(root).paths(expression, start)?, from_resource))
}

impl Predicate {
    /// Compiles an expression that is a condition on the resource; `None` if it is not a condition.
    pub(in crate::search) fn compile(expression: &Expression, resource_type: ResourceType) -> Option<Self> {
        let root = NodeType::of(Structure::of(resource_type)?);
        PathCompiler::new(root).predicate(expression, root)
    }
}

fn starts_at_resource(expression: &Expression) -> bool {
    match expression {
        Expression::Path { start: Start::Constant(name), .. } => is_resource_constant(name),
        Expression::Path { start: Start::Nested(inner), .. } | Expression::Typed { operand: inner, .. } => {
            starts_at_resource(inner)
        }
        _ => false,
    }
}

/// The limit for segments and conditions of all paths that are followed for one expression, added up over its steps. A
/// step into a choice element continues with one path per type.
const MAX_WORK: usize = 5_000;
/// The most steps of one path.
const MAX_STEPS: usize = 32;

struct PathCompiler {
    root: NodeType,
    work_left: Cell<usize>,
}

impl PathCompiler {
    fn new(root: NodeType) -> Self {
        Self { root, work_left: Cell::new(MAX_WORK) }
    }

    fn paths(&self, expression: &Expression, context: NodeType) -> Option<Vec<ElementPath>> {
        match expression {
            Expression::Path { start, steps } => self.path(Some(start), steps, context),
            Expression::Chain { first, rest } => {
                let is_union = rest.iter().all(|(operator, _)| *operator == Operator::Union);
                let operands = std::iter::once(&**first).chain(rest.iter().map(|(_, operand)| operand));
                let operands = operands.map(|operand| self.paths(operand, context)).collect::<Option<Vec<_>>>();
                let paths = operands.filter(|_| is_union)?.into_iter().flatten();
                self.charge(paths.map(|path| ElementPath { repeating: path.repeating + 1, ..path }).collect())
            }
            Expression::Typed { operand, tests } => {
                let is_cast = tests.iter().all(|(operator, _)| *operator == TypeOperator::As);
                let paths = self.paths(operand, context).filter(|_| is_cast)?.into_iter();
                let has_type = |path: &ElementPath| tests.iter().all(|(_, cast)| path.node_type.is(&cast.name));
                Some(paths.filter(has_type).collect())
            }
            Expression::Sign { .. } => None,
        }
    }

    /// The paths of `start` and the steps after it. Without a start, the steps begin at the context (`$this`).
    fn path(&self, start: Option<&Start>, steps: &[PathStep], context: NodeType) -> Option<Vec<ElementPath>> {
        if steps.len() > MAX_STEPS {
            return None;
        }
        let here = || vec![ElementPath::start(context)];
        let mut paths = self.charge(match start {
            None | Some(Start::Variable(Variable::This)) => here(),
            // Inside a condition on an element, the resource is not reachable.
            Some(Start::Constant(name)) if is_resource_constant(name) && context.element.is_none() => here(),
            Some(Start::Nested(inner)) => self.paths(inner, context)?,
            Some(Start::Member(name)) if name.starts_with(|first: char| first.is_ascii_uppercase()) => {
                if self.is_root_type(name) { here() } else { Vec::new() }
            }
            Some(Start::Member(name)) => members(&here(), name)?,
            Some(Start::Call(call)) => self.call(here(), call)?,
            Some(_) => return None,
        })?;
        for step in steps {
            paths = self.charge(match step {
                PathStep::Member(name) => members(&paths, name)?,
                PathStep::Call(call) => self.call(paths, call)?,
                PathStep::At(index) => {
                    let index = integer(index)?;
                    paths.into_iter().map(|path| path.at(index)).collect::<Option<_>>()?
                }
            })?;
        }
        Some(paths)
    }

    /// Subtracts the size of the paths from the work that is left.
    fn charge(&self, paths: Vec<ElementPath>) -> Option<Vec<ElementPath>> {
        let work = paths.iter().map(ElementPath::size).sum();
        self.work_left.set(self.work_left.get().checked_sub(work)?);
        Some(paths)
    }

    /// Whether the name is the resource's type, or one of its base types (`Resource`, `DomainResource`).
    fn is_root_type(&self, name: &str) -> bool {
        let mut lineage = std::iter::successors(Some(self.root.content), |structure| structure.base());
        lineage.any(|structure| structure.path() == name)
    }

    fn call(&self, paths: Vec<ElementPath>, call: &Call) -> Option<Vec<ElementPath>> {
        match (call.function.name(), &call.arguments) {
            ("as" | "ofType", CallArguments::Type(type_name)) => {
                Some(paths.into_iter().filter(|path| path.node_type.is(&type_name.name)).collect())
            }
            ("where", CallArguments::Expressions(arguments)) => {
                let condition = arguments.first()?;
                let filter = |path: ElementPath| {
                    let predicate = self.predicate(condition, path.node_type)?;
                    path.filtered(predicate)
                };
                paths.into_iter().map(filter).collect()
            }
            ("extension", CallArguments::Expressions(arguments)) => extension(&paths, arguments.first()?),
            _ => None,
        }
    }

    fn predicate(&self, expression: &Expression, context: NodeType) -> Option<Predicate> {
        match expression {
            Expression::Chain { first, rest } => self.operation(first, rest, context),
            Expression::Typed { operand, tests } => match tests.as_slice() {
                [(TypeOperator::Is, type_name)] => self.type_test(operand, &type_name.name, context),
                _ => None,
            },
            Expression::Path { start: Start::Nested(inner), steps } if steps.is_empty() => {
                self.predicate(inner, context)
            }
            Expression::Path { start, steps } => {
                let (call, start, steps) = last_call(start, steps)?;
                match (call.function.name(), &call.arguments) {
                    ("exists", CallArguments::Expressions(arguments)) if arguments.is_empty() => {
                        Some(Predicate::Exists(tree(self.path(start, steps, context)?)))
                    }
                    ("hasExtension", CallArguments::Expressions(arguments)) => {
                        let extensions = extension(&self.path(start, steps, context)?, arguments.first()?)?;
                        Some(Predicate::Exists(tree(self.charge(extensions)?)))
                    }
                    ("is", CallArguments::Type(type_name)) => {
                        let start = start.cloned().unwrap_or(Start::Variable(Variable::This));
                        let operand = Expression::Path { start, steps: steps.to_vec() };
                        self.type_test(&operand, &type_name.name, context)
                    }
                    _ => None,
                }
            }
            Expression::Sign { .. } => None,
        }
    }

    /// `and`, `or`, `=` and `!=`.
    fn operation(&self, first: &Expression, rest: &[(Operator, Expression)], context: NodeType) -> Option<Predicate> {
        let operator = rest.first()?.0;
        if let (Operator::Equal | Operator::Unequal, [(_, right)]) = (operator, rest) {
            let (value, negated) = (literal(right)?, operator == Operator::Unequal);
            return Some(Predicate::Compares { path: tree(self.single(first, context)?), value, negated });
        }
        let operands = std::iter::once(first).chain(rest.iter().map(|(_, operand)| operand));
        let operands = operands.map(|operand| self.predicate(operand, context)).collect::<Option<Vec<_>>>();
        match operator {
            _ if rest.iter().any(|(other, _)| *other != operator) => None,
            Operator::And => Some(Predicate::All(operands?)),
            Operator::Or => Some(Predicate::Any(operands?)),
            _ => None,
        }
    }

    /// `path is Type` and `resolve() is Patient`.
    fn type_test(&self, operand: &Expression, type_name: &str, context: NodeType) -> Option<Predicate> {
        if is_resolve(operand) {
            return Some(Predicate::RefersTo(ResourceType::named(type_name)?));
        }
        let paths = self.single(operand, context)?.into_iter().filter(|path| path.node_type.is(type_name));
        Some(Predicate::Exists(tree(paths.collect())))
    }

    /// The paths of an expression that selects at most one value: FHIRPath compares collections as a whole, or not at
    /// all.
    fn single(&self, expression: &Expression, context: NodeType) -> Option<Vec<ElementPath>> {
        self.paths(expression, context).filter(|paths| paths.iter().all(|path| path.repeating == 0))
    }
}

/// Splits the last function call off a path. The rest has no start if the call is the whole path.
fn last_call<'e>(start: &'e Start, steps: &'e [PathStep]) -> Option<(&'e Call, Option<&'e Start>, &'e [PathStep])> {
    match (start, steps.split_last()) {
        (start, Some((PathStep::Call(call), steps))) => Some((call, Some(start), steps)),
        (Start::Call(call), None) => Some((call, None, &[])),
        _ => None,
    }
}

/// `resolve()` or `$this.resolve()`.
fn is_resolve(expression: &Expression) -> bool {
    let Expression::Path { start, steps } = expression else { return false };
    match last_call(start, steps) {
        Some((call, None | Some(Start::Variable(Variable::This)), [])) => call.function.name() == "resolve",
        _ => false,
    }
}

/// The extensions with the URL, which must be a literal.
fn extension(paths: &[ElementPath], url: &Expression) -> Option<Vec<ElementPath>> {
    let url = literal(url)?;
    let extensions = members(paths, "extension")?.into_iter();
    extensions.map(|path| path.filtered(Predicate::Member { key: "url", value: url.clone() })).collect()
}

/// The text of a string or Boolean literal.
fn literal(expression: &Expression) -> Option<String> {
    match expression {
        Expression::Path { start: Start::Literal(Literal::Text(text)), steps } if steps.is_empty() => {
            Some(text.clone())
        }
        Expression::Path { start: Start::Literal(Literal::Boolean(value)), steps } if steps.is_empty() => {
            Some(value.to_string())
        }
        _ => None,
    }
}

fn integer(expression: &Expression) -> Option<usize> {
    match expression {
        Expression::Path { start: Start::Literal(Literal::Integer(value)), steps } if steps.is_empty() => {
            usize::try_from(*value).ok()
        }
        _ => None,
    }
}

fn tree(paths: Vec<ElementPath>) -> PathTree<()> {
    let mut tree = PathTree::default();
    paths.into_iter().for_each(|path| tree.insert(path.segments, ()));
    tree
}

fn members(paths: &[ElementPath], name: &str) -> Option<Vec<ElementPath>> {
    let found: Option<Vec<_>> = paths.iter().map(|path| path.member(name)).collect();
    Some(found?.into_iter().flatten().collect())
}

impl ElementPath {
    pub(in crate::search) fn start(node_type: NodeType) -> Self {
        Self { segments: Vec::new(), node_type, repeating: 0 }
    }

    /// The number of segments and conditions.
    pub(in crate::search) fn size(&self) -> usize {
        1 + self.segments.iter().map(PathSegment::size).sum::<usize>()
    }

    /// Extends the path by one member: one path for each type of a choice element. Returns `None` if the member cannot be
    /// followed in JSON.
    pub(in crate::search) fn member(&self, name: &str) -> Option<Vec<Self>> {
        let Some(element) = self.node_type.content.elements().find(|element| element.name() == name) else {
            return Some(Vec::new());
        };
        let mut before = self.segments.clone();
        if let StructureKind::Primitive(_) = self.node_type.content.kind() {
            // `_birthDate` holds the extensions of `birthDate`; those of a list have the same index.
            let last = before.last_mut().filter(|last| last.filters.is_empty())?;
            last.key = format!("_{}", last.key).into_boxed_str();
        }
        let extended = |element_type: &'static ElementType| {
            let mut segments = before.clone();
            segments.push(PathSegment::of(element, element_type));
            let node_type = NodeType::of_element(element, element_type);
            Self { segments, node_type, repeating: self.repeating + usize::from(node_type.repeats()) }
        };
        Some(element.types().iter().map(extended).collect())
    }

    fn filtered(mut self, predicate: Predicate) -> Option<Self> {
        self.segments.last_mut()?.filters.push(predicate);
        Some(self)
    }

    /// Selects the value at an index. Returns `None` unless all values are in one array, because an index counts all values
    /// that a path selects.
    fn at(mut self, index: usize) -> Option<Self> {
        let is_one_array = self.repeating == usize::from(self.node_type.repeats());
        let last =
            self.segments.last_mut().filter(|last| is_one_array && last.at.is_none() && last.filters.is_empty())?;
        last.at = Some(index);
        self.repeating = 0;
        Some(self)
    }
}

#[cfg(test)]
mod tests {
    use crate::definitions::SearchParameter;
    use crate::fhirpath::FhirPath;

    #[test]
    fn every_r4_search_expression_is_valid_fhirpath() {
        for parameter in SearchParameter::all() {
            let components = parameter.components().iter().map(|component| component.expression);
            for text in components.chain(parameter.expression()) {
                assert_eq!(FhirPath::parse(text).err(), None, "{}: {text}", parameter.id());
            }
        }
    }
}
