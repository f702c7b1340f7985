//! From elements to what is compared, by the type of the parameter and of the element
//! (<https://hl7.org/fhir/R4/search.html#ptypes>).

mod amount;
mod concept;
mod pointer;
mod text;
mod time;

use serde_json::Value;

use super::path::Kind;
use super::{Found, Span};
use crate::definitions::Kind as StructureKind;
use crate::definitions::{Primitive, SearchParameter, SearchType, Targets};

/// How an element becomes what is compared; chosen once, when a path is compiled.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Conversion {
    Coding,
    CodeableConcept,
    Identifier,
    ContactPoint,
    /// A `code`, with the system that its binding implies.
    Code(Option<Box<str>>),
    /// Any other primitive as a token.
    Word,
    /// A token whose case does not matter.
    Folded(Box<Conversion>),
    Text,
    HumanName,
    Address,
    Reference,
    Canonical,
    /// A resource within a Bundle, as if it were pointed to.
    Resource(Targets),
    Moment,
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

/// What a parameter says of how its values are compared.
#[derive(Debug, Clone, Copy)]
pub(super) struct Compared<'a> {
    pub(super) search_type: SearchType,
    pub(super) targets: &'a Targets,
    pub(super) ignores_case: bool,
}

impl<'a> Compared<'a> {
    pub(super) fn by(parameter: &'a SearchParameter) -> Self {
        let (search_type, targets) = (parameter.search_type(), parameter.targets());
        Self { search_type, targets, ignores_case: parameter.ignores_case() }
    }
}

impl Conversion {
    /// None if the parameter cannot be searched by elements of this kind.
    pub(super) fn of(by: Compared<'_>, kind: Kind) -> Option<Self> {
        let primitive = match kind.content.kind() {
            StructureKind::Primitive(primitive) => Some(primitive),
            _ => None,
        };
        match by.search_type {
            SearchType::Token if by.ignores_case => {
                Self::token(kind, primitive).map(|token| Self::Folded(Box::new(token)))
            }
            SearchType::Token => Self::token(kind, primitive),
            SearchType::String => Self::string(kind, primitive),
            SearchType::Reference => Self::reference(by.targets, kind, primitive),
            SearchType::Date => Self::date(kind, primitive),
            SearchType::Number if kind.name == "Range" => Some(Self::NumberRange),
            SearchType::Number => primitive.filter(|primitive| is_number(*primitive)).map(|_| Self::Number),
            SearchType::Quantity => Self::quantity(kind),
            SearchType::Uri => primitive.map(|_| Self::Uri),
            SearchType::Composite | SearchType::Special => None,
        }
    }

    fn token(kind: Kind, primitive: Option<Primitive>) -> Option<Self> {
        match kind.name {
            "Coding" => Some(Self::Coding),
            "CodeableConcept" => Some(Self::CodeableConcept),
            "Identifier" => Some(Self::Identifier),
            "ContactPoint" => Some(Self::ContactPoint),
            "code" => {
                let codes = kind.element.and_then(|element| element.codes());
                Some(Self::Code(codes.and_then(concept::implied_system)))
            }
            _ => primitive.map(|_| Self::Word),
        }
    }

    fn string(kind: Kind, primitive: Option<Primitive>) -> Option<Self> {
        match kind.name {
            "HumanName" => Some(Self::HumanName),
            "Address" => Some(Self::Address),
            _ => primitive.map(|_| Self::Text),
        }
    }

    fn reference(targets: &Targets, kind: Kind, primitive: Option<Primitive>) -> Option<Self> {
        match kind.name {
            "Reference" => Some(Self::Reference),
            "Resource" => Some(Self::Resource(targets.clone())),
            _ => primitive.map(|_| Self::Canonical),
        }
    }

    fn date(kind: Kind, primitive: Option<Primitive>) -> Option<Self> {
        match kind.name {
            "Period" => Some(Self::Period),
            "Timing" => Some(Self::Timing),
            _ => primitive
                .filter(|primitive| matches!(primitive, Primitive::Date | Primitive::DateTime | Primitive::Instant))
                .map(|_| Self::Moment),
        }
    }

    fn quantity(kind: Kind) -> Option<Self> {
        match kind.name {
            "Quantity" | "Age" | "Count" | "Distance" | "Duration" | "SimpleQuantity" => Some(Self::Quantity),
            "Money" => Some(Self::Money),
            "Range" => Some(Self::Range),
            "SampledData" => Some(Self::SampledData),
            _ => None,
        }
    }

    /// Adds what the element says; nothing if it is not of the form that its type has.
    pub(super) fn convert(&self, value: &Value, found: &mut Vec<Found>) {
        match self {
            Self::Coding => found.extend(concept::coding(value)),
            Self::CodeableConcept => concept::codeable_concept(value, found),
            Self::Identifier => found.extend(concept::identifier(value).map(Found::Token)),
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
            Self::Moment => found.extend(time::moment(value).map(Found::Date)),
            Self::Period => found.extend(time::period(value).map(Found::Date)),
            Self::Timing => found.extend(time::timing(value).map(Found::Date)),
            Self::Number => found.extend(amount::number(value)),
            Self::NumberRange => found.extend(amount::ends(value).map(Found::Number)),
            Self::Quantity => found.extend(amount::quantity(value)),
            Self::Money => found.extend(amount::money(value)),
            Self::Range => found.extend(amount::range(value)),
            Self::SampledData => found.extend(amount::sampled_data(value)),
            Self::Uri => found.extend(text_of(value).map(|text| Found::Uri(text.into()))),
        }
    }
}

impl Span {
    /// The least time that covers both.
    fn with(self, other: Self) -> Self {
        Self { first: self.first.min(other.first), last: self.last.max(other.last) }
    }
}

fn is_number(primitive: Primitive) -> bool {
    matches!(primitive, Primitive::Decimal | Primitive::Integer | Primitive::PositiveInt | Primitive::UnsignedInt)
}

/// A text that is not empty.
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
