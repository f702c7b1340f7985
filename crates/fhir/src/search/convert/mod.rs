//! Converts elements to indexed values, by the types of the parameter and of the element
//! (<https://hl7.org/fhir/R4/search.html#ptypes>).

mod amount;
mod concept;
mod pointer;
mod text;
mod time;

use serde_json::Value;

use super::path::NodeType;
use super::{IndexedValue, Span};
use crate::definitions::{Primitive, SearchParameter, SearchType, StructureKind, Targets};

/// How an element is converted; chosen once, when a path is compiled.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Conversion {
    Coding,
    CodeableConcept,
    Identifier,
    ContactPoint,
    /// A `code`, with the system implied by its binding.
    Code(Option<Box<str>>),
    /// Any other primitive, as a token.
    Word,
    /// A case-insensitive token.
    Folded(Box<Conversion>),
    Text,
    HumanName,
    Address,
    Reference,
    Canonical,
    /// A resource in a Bundle, treated as a reference to it.
    Resource(Targets),
    DateTime,
    Period,
    Timing,
    Number,
    NumberRange,
    Quantity,
    Money,
    Range,
    SampledData,
    Uri,
}

/// The properties of a parameter that determine the conversion.
#[derive(Debug, Clone, Copy)]
pub(super) struct ParameterRules<'a> {
    pub(super) search_type: SearchType,
    pub(super) targets: &'a Targets,
    pub(super) ignores_case: bool,
}

impl<'a> ParameterRules<'a> {
    pub(super) fn of(parameter: &'a SearchParameter) -> Self {
        let (search_type, targets) = (parameter.search_type(), parameter.targets());
        Self { search_type, targets, ignores_case: parameter.ignores_case() }
    }
}

impl Conversion {
    /// `None` if the parameter cannot be searched by elements of this type.
    pub(super) fn of(rules: ParameterRules<'_>, node: NodeType) -> Option<Self> {
        let primitive = match node.content.kind() {
            StructureKind::Primitive(primitive) => Some(primitive),
            _ => None,
        };
        match rules.search_type {
            SearchType::Token if rules.ignores_case => {
                Self::token(node, primitive).map(|token| Self::Folded(Box::new(token)))
            }
            SearchType::Token => Self::token(node, primitive),
            SearchType::String => Self::string(node, primitive),
            SearchType::Reference => Self::reference(rules.targets, node, primitive),
            SearchType::Date => Self::date(node, primitive),
            SearchType::Number if node.name == "Range" => Some(Self::NumberRange),
            SearchType::Number => primitive.filter(|primitive| is_number(*primitive)).map(|_| Self::Number),
            SearchType::Quantity => Self::quantity(node),
            SearchType::Uri => primitive.map(|_| Self::Uri),
            SearchType::Composite | SearchType::Special => None,
        }
    }

    fn token(node: NodeType, primitive: Option<Primitive>) -> Option<Self> {
        match node.name {
            "Coding" => Some(Self::Coding),
            "CodeableConcept" => Some(Self::CodeableConcept),
            "Identifier" => Some(Self::Identifier),
            "ContactPoint" => Some(Self::ContactPoint),
            "code" => {
                let codes = node.element.and_then(|element| element.codes());
                Some(Self::Code(codes.and_then(concept::implied_system)))
            }
            _ => primitive.map(|_| Self::Word),
        }
    }

    fn string(node: NodeType, primitive: Option<Primitive>) -> Option<Self> {
        match node.name {
            "HumanName" => Some(Self::HumanName),
            "Address" => Some(Self::Address),
            _ => primitive.map(|_| Self::Text),
        }
    }

    fn reference(targets: &Targets, node: NodeType, primitive: Option<Primitive>) -> Option<Self> {
        match node.name {
            "Reference" => Some(Self::Reference),
            "Resource" => Some(Self::Resource(targets.clone())),
            _ => primitive.map(|_| Self::Canonical),
        }
    }

    fn date(node: NodeType, primitive: Option<Primitive>) -> Option<Self> {
        match node.name {
            "Period" => Some(Self::Period),
            "Timing" => Some(Self::Timing),
            _ => primitive
                .filter(|primitive| matches!(primitive, Primitive::Date | Primitive::DateTime | Primitive::Instant))
                .map(|_| Self::DateTime),
        }
    }

    fn quantity(node: NodeType) -> Option<Self> {
        match node.name {
            "Quantity" | "Age" | "Count" | "Distance" | "Duration" | "SimpleQuantity" => Some(Self::Quantity),
            "Money" => Some(Self::Money),
            "Range" => Some(Self::Range),
            "SampledData" => Some(Self::SampledData),
            _ => None,
        }
    }

    /// Adds the values of the element; none if it does not have the form of its type.
    pub(super) fn convert(&self, value: &Value, found: &mut Vec<IndexedValue>) {
        match self {
            Self::Coding => found.extend(concept::coding(value)),
            Self::CodeableConcept => concept::codeable_concept(value, found),
            Self::Identifier => found.extend(concept::identifier(value).map(IndexedValue::Token)),
            Self::ContactPoint => found.extend(concept::contact_point(value)),
            Self::Code(system) => found.extend(concept::code(value, system.as_deref())),
            Self::Word => found.extend(concept::word(value)),
            Self::Folded(token) => {
                let start = found.len();
                token.convert(value, found);
                found[start..].iter_mut().for_each(concept::fold_code);
            }
            Self::Text => found.extend(text::text(value)),
            Self::HumanName => text::parts(value, &text::HUMAN_NAME, found),
            Self::Address => text::parts(value, &text::ADDRESS, found),
            Self::Reference => found.extend(pointer::reference(value)),
            Self::Canonical => found.extend(pointer::canonical(value)),
            Self::Resource(targets) => found.extend(pointer::resource(value, targets)),
            Self::DateTime => found.extend(time::date_time(value).map(IndexedValue::Date)),
            Self::Period => found.extend(time::period(value).map(IndexedValue::Date)),
            Self::Timing => found.extend(time::timing(value).map(IndexedValue::Date)),
            Self::Number => found.extend(amount::number(value)),
            Self::NumberRange => found.extend(amount::limits(value).map(IndexedValue::Number)),
            Self::Quantity => found.extend(amount::quantity(value)),
            Self::Money => found.extend(amount::money(value)),
            Self::Range => found.extend(amount::range(value)),
            Self::SampledData => found.extend(amount::sampled_data(value)),
            Self::Uri => found.extend(text_of(value).map(|text| IndexedValue::Uri(text.into()))),
        }
    }
}

impl Span {
    /// The smallest span that contains both.
    fn with(self, other: Self) -> Self {
        Self { first: self.first.min(other.first), last: self.last.max(other.last) }
    }
}

fn is_number(primitive: Primitive) -> bool {
    matches!(primitive, Primitive::Decimal | Primitive::Integer | Primitive::PositiveInt | Primitive::UnsignedInt)
}

/// A non-empty string.
fn text_of(value: &Value) -> Option<&str> {
    value.as_str().filter(|text| !text.is_empty())
}

fn member<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    text_of(value.get(key)?)
}

fn boxed(value: &Value, key: &str) -> Option<Box<str>> {
    member(value, key).map(Box::from)
}

fn items<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    match value.get(key) {
        Some(Value::Array(items)) => items,
        Some(one) => std::slice::from_ref(one),
        None => &[],
    }
}
