//! What a search asks for, after parsing.

use std::sync::Arc;

use rust_decimal::Decimal;

use super::{Range, Span};
use crate::ResourceType;
use crate::definitions::Parameter;

/// A whole search: all clauses must hold.
#[derive(Clone, Debug, Default)]
pub struct Query {
    pub clauses: Vec<Clause>,
    pub sort: Vec<Sort>,
    pub count: Option<usize>,
    pub includes: Vec<Include>,
    pub summary: Summary,
    /// `_elements`, names of top-level elements; empty for all.
    pub elements: Vec<String>,
    pub total: Total,
    /// The parameters that were understood, in their order, as they came: for `self` and paging links.
    pub understood: Vec<(String, String)>,
    /// Parameters that were not, which lenient handling ignores, with the reason.
    pub ignored: Vec<(String, String)>,
}

/// One `name=value`.
#[derive(Clone, Debug)]
pub enum Clause {
    Own(Condition),
    /// `subject:Patient.name=…`: the parameter points from here to a resource of one of these types that answers the
    /// clause. Without a type in the text, every type that the parameter may point to and that knows the rest.
    Forward {
        parameter: Parameter,
        targets: Vec<(ResourceType, Clause)>,
    },
    /// `_has:Observation:patient:code=…`: a resource of the type points here with the parameter and answers the clause.
    Reverse {
        source: ResourceType,
        parameter: Parameter,
        then: Box<Clause>,
    },
}

/// A question to the resource itself: one of the alternatives must hold (all must fail, for `Modifier::Not`).
#[derive(Clone, Debug)]
pub struct Condition {
    pub parameter: Parameter,
    pub modifier: Option<Modifier>,
    pub alternatives: Vec<Wanted>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Modifier {
    Exact,
    Contains,
    Not,
    Missing,
    Text,
    Identifier,
    OfType,
    Above,
    Below,
    /// `subject:Patient=1`
    Type(ResourceType),
}

/// One of the comma-separated values, in the form of its parameter's type.
#[derive(Clone, Debug, PartialEq)]
pub enum Wanted {
    /// `code`, `system|code`, `|code` (system `Some("")`: no system), `system|` (code `None`).
    Token {
        system: Option<String>,
        code: Option<String>,
    },
    /// `:of-type`: `system|code|value`.
    OfType {
        system: String,
        code: String,
        value: String,
    },
    String(String),
    /// `Patient/1`, `1` (no type), perhaps with `/_history/2`.
    Reference {
        resource_type: Option<ResourceType>,
        id: String,
        version: Option<String>,
    },
    /// An absolute address that is not the server's own, a canonical (perhaps `|version`), or a fragment.
    Address(String),
    Date {
        prefix: Prefix,
        span: Span,
    },
    /// `range` is what the written digits stand for (`100` is 99.5 up to 100.5), for `eq`, `ne` and `ap`.
    Number {
        prefix: Prefix,
        value: Decimal,
        range: Range,
    },
    Quantity {
        prefix: Prefix,
        value: Decimal,
        range: Range,
        system: Option<String>,
        code: Option<String>,
    },
    Uri(String),
    /// `:missing=true` is true.
    Missing(bool),
    /// The `$`-separated parts.
    Composite(Vec<Wanted>),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Prefix {
    #[default]
    Equal,
    NotEqual,
    Greater,
    Less,
    GreaterOrEqual,
    LessOrEqual,
    StartsAfter,
    EndsBefore,
    Approximately,
}

#[derive(Clone, Debug)]
pub struct Sort {
    pub parameter: Parameter,
    pub descending: bool,
}

#[derive(Clone, Debug)]
pub struct Include {
    /// `_revinclude`: `source` points to what was found.
    pub reverse: bool,
    /// `:iterate`: also on what was included.
    pub iterate: bool,
    pub source: ResourceType,
    /// None for `*`: every reference parameter.
    pub parameter: Option<Parameter>,
    pub target: IncludeTarget,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum IncludeTarget {
    Any,
    Only(ResourceType),
    Among(Arc<[ResourceType]>),
}

impl IncludeTarget {
    pub fn allows(&self, resource_type: ResourceType) -> bool {
        match self {
            Self::Any => true,
            Self::Only(only) => *only == resource_type,
            Self::Among(types) => types.contains(&resource_type),
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Summary {
    #[default]
    False,
    True,
    Text,
    Data,
    Count,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Total {
    #[default]
    Accurate,
    None,
}
