//! What R4 says that resources and data types are made of, read once from the tables in `definitions/`.

mod code_set;
mod compartment;
mod load;
mod search_parameter;

use std::sync::LazyLock;

pub use code_set::CodeSet;
pub use compartment::Compartment;
pub(crate) use load::lines;
pub(crate) use search_parameter::lineage;
pub use search_parameter::{Comparators, Component, Parameter, SearchParameter, SearchType, Targets};

use crate::resource_type::ResourceType;

/// A type (`Patient`, `HumanName`, `code`) or the content of an element that has no type of its own
/// (`Patient.contact`).
#[derive(Debug)]
pub struct Structure {
    path: &'static str,
    kind: StructureKind,
    base: Option<StructureId>,
    /// Own and inherited, by name.
    elements: Box<[ElementId]>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StructureKind {
    Resource,
    /// `Resource` and `DomainResource`: any resource may stand here.
    AbstractResource,
    /// A JSON object.
    Complex,
    Primitive(Primitive),
}

#[derive(Debug)]
pub struct Element {
    path: &'static str,
    /// The last part of the path, without the `[x]` of a choice.
    name: &'static str,
    is_choice: bool,
    is_required: bool,
    max: Max,
    is_summary: bool,
    is_modifier: bool,
    types: Box<[ElementType]>,
    codes: Option<u16>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Max {
    Zero,
    One,
    Many,
}

/// One of the types that an element can have.
#[derive(Debug)]
pub struct ElementType {
    name: &'static str,
    content: StructureId,
    targets: Box<[&'static str]>,
}

type StructureId = u16;
type ElementId = u16;

impl Structure {
    /// Finds a type or a path, without inherited parts: `Patient.contact`, not `Patient.text.div`.
    pub fn find(path: &str) -> Option<&'static Self> {
        let structures = &DEFINITIONS.structures;
        structures.binary_search_by(|structure| structure.path.cmp(path)).ok().map(|at| &structures[at])
    }

    pub fn of(resource_type: ResourceType) -> Option<&'static Self> {
        Self::find(resource_type.as_str())
    }

    /// All of them, by path.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        DEFINITIONS.structures.iter()
    }

    pub fn path(&self) -> &'static str {
        self.path
    }

    pub fn kind(&self) -> StructureKind {
        self.kind
    }

    pub fn base(&self) -> Option<&'static Self> {
        self.base.map(structure)
    }

    /// Own and inherited elements, by name.
    pub fn elements(&self) -> impl ExactSizeIterator<Item = &'static Element> {
        self.elements.iter().map(|id| element(*id))
    }

    /// The element that a JSON key without its underscore stands for, its place among the elements, and its type:
    /// for `valueQuantity` the element `value[x]` and Quantity.
    pub fn element(&self, key: &str) -> Option<(usize, &'static Element, &'static ElementType)> {
        // A choice sorts by its name without the type, hence before its keys.
        let after = self.elements.partition_point(|id| element(*id).name <= key);
        let mut before = self.elements[..after].iter().enumerate().rev().map(|(at, id)| (at, element(*id)));
        let (at, nearest) = before.next()?;
        if nearest.name == key && !nearest.is_choice {
            return Some((at, nearest, nearest.types.first()?));
        }
        let choice = |(at, element): (usize, &'static Element)| Some((at, element, element.choice(key)?));
        let shares_start = |(_, element): &(usize, &'static Element)| element.name.as_bytes()[0] == key.as_bytes()[0];
        std::iter::once((at, nearest)).chain(before).take_while(shares_start).find_map(choice)
    }
}

impl Element {
    pub fn path(&self) -> &'static str {
        self.path
    }

    /// The name in FHIRPath: `value` for `value[x]`.
    pub fn name(&self) -> &'static str {
        self.name
    }

    pub fn is_choice(&self) -> bool {
        self.is_choice
    }

    pub fn is_required(&self) -> bool {
        self.is_required
    }

    pub fn max(&self) -> Max {
        self.max
    }

    /// Whether it belongs to the summary of its resource.
    pub fn is_summary(&self) -> bool {
        self.is_summary
    }

    pub fn is_modifier(&self) -> bool {
        self.is_modifier
    }

    pub fn types(&self) -> &[ElementType] {
        &self.types
    }

    /// The codes that an element of type `code` must take its value from.
    pub fn codes(&self) -> Option<&'static CodeSet> {
        self.codes.map(|id| &DEFINITIONS.code_sets[usize::from(id)])
    }

    /// The type that the key of a choice ends with: `valueQuantity`, `valueDateTime`.
    fn choice(&self, key: &str) -> Option<&ElementType> {
        let suffix = key.strip_prefix(self.name).filter(|_| self.is_choice)?;
        let (first, rest) = suffix.split_at_checked(1)?;
        let is_capital = first.as_bytes()[0].is_ascii_uppercase();
        let is_suffix = |name: &str| {
            name.split_at_checked(1).is_some_and(|(head, tail)| tail == rest && head.eq_ignore_ascii_case(first))
        };
        self.types.iter().find(|used| is_capital && is_suffix(used.name))
    }
}

impl ElementType {
    /// The name of the type; `BackboneElement` or `Element` if the content is defined in place.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// What a value of this type is made of.
    pub fn content(&self) -> &'static Structure {
        structure(self.content)
    }

    /// The types that a Reference or canonical may point to; none, or `Resource`, for any.
    pub fn targets(&self) -> &[&'static str] {
        &self.targets
    }
}

/// The primitive types (<https://hl7.org/fhir/R4/datatypes.html#primitive>).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Primitive {
    Base64Binary,
    Boolean,
    Canonical,
    Code,
    Date,
    DateTime,
    Decimal,
    Id,
    Instant,
    Integer,
    Markdown,
    Oid,
    PositiveInt,
    String,
    Time,
    UnsignedInt,
    Uri,
    Url,
    Uuid,
    Xhtml,
}

impl Primitive {
    const NAMES: [(&'static str, Self); 20] = [
        ("base64Binary", Self::Base64Binary),
        ("boolean", Self::Boolean),
        ("canonical", Self::Canonical),
        ("code", Self::Code),
        ("date", Self::Date),
        ("dateTime", Self::DateTime),
        ("decimal", Self::Decimal),
        ("id", Self::Id),
        ("instant", Self::Instant),
        ("integer", Self::Integer),
        ("markdown", Self::Markdown),
        ("oid", Self::Oid),
        ("positiveInt", Self::PositiveInt),
        ("string", Self::String),
        ("time", Self::Time),
        ("unsignedInt", Self::UnsignedInt),
        ("uri", Self::Uri),
        ("url", Self::Url),
        ("uuid", Self::Uuid),
        ("xhtml", Self::Xhtml),
    ];

    pub fn named(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, primitive)| *primitive)
    }

    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, primitive)| *primitive == self).map_or("", |(name, _)| name)
    }
}

fn structure(id: StructureId) -> &'static Structure {
    &DEFINITIONS.structures[usize::from(id)]
}

fn element(id: ElementId) -> &'static Element {
    &DEFINITIONS.elements[usize::from(id)]
}

#[derive(Debug)]
struct Definitions {
    /// By path.
    structures: Vec<Structure>,
    elements: Vec<Element>,
    /// By name.
    code_sets: Vec<CodeSet>,
}

#[expect(clippy::expect_used, reason = "the tables are compiled in and a test reads them")]
static DEFINITIONS: LazyLock<Definitions> = LazyLock::new(|| {
    let elements = include_str!("../../definitions/elements.txt");
    let codes = include_str!("../../definitions/codes.txt");
    load::definitions(elements, codes).expect("the definition tables are well-formed")
});

#[cfg(test)]
mod tests;
