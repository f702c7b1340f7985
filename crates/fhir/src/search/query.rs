//! Parsed search queries.

use std::sync::Arc;

use rust_decimal::Decimal;

use super::{Range, Span};
use crate::ResourceType;
use crate::definitions::Parameter;

/// A search: all clauses must match.
#[derive(Clone, Debug, Default)]
pub struct Query {
    pub clauses: Vec<Clause>,
    pub sort: Vec<Sort>,
    pub count: Option<usize>,
    pub includes: Vec<Include>,
    pub summary: Summary,
    /// The names of `_elements`; empty for all elements.
    pub elements: Vec<String>,
    pub total: Total,
    /// The supported parameters as the client sent them, for `self` and paging links.
    pub applied: Vec<(String, String)>,
    /// Unsupported parameters, which lenient handling ignores, with the reason.
    pub ignored: Vec<(String, String)>,
}

/// One `name=value`.
#[derive(Clone, Debug)]
pub enum Clause {
    Simple(Condition),
    /// `subject:Patient.name=…`: the parameter references a resource of one of these types that matches the clause.
    /// Without a type in the query, these are all target types that have the rest of the chain.
    Chain {
        parameter: Parameter,
        targets: Vec<(ResourceType, Clause)>,
    },
    /// `_has:Observation:patient:code=…`: a resource of the source type references this resource with the parameter and
    /// matches the clause.
    ReverseChain {
        source: ResourceType,
        parameter: Parameter,
        clause: Box<Clause>,
    },
}

/// A condition on the resource itself: one of the alternatives must match (none, for `Modifier::Not`).
#[derive(Clone, Debug)]
pub struct Condition {
    pub parameter: Parameter,
    pub modifier: Option<Modifier>,
    pub alternatives: Vec<SearchValue>,
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

/// One of the comma-separated values, by the type of its parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum SearchValue {
    /// `code`, `system|code`, `|code` (system is `Some("")`: no system), `system|` (code is `None`).
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
    /// `Patient/1`, `1` (no type), with or without `/_history/2`.
    Reference {
        resource_type: Option<ResourceType>,
        id: String,
        version: Option<String>,
    },
    /// An absolute URL that is not local, a canonical (with or without `|version`), or a fragment.
    Address(String),
    Date {
        prefix: Prefix,
        span: Span,
    },
    /// `range` is the precision of the digits (`100` is 99.5 to 100.5), for `eq`, `ne` and `ap`.
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
    /// The value of `:missing`.
    Missing(bool),
    /// The `$`-separated parts.
    Composite(Vec<SearchValue>),
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
    /// `_revinclude`: resources of type `source` that reference a match.
    pub reverse: bool,
    /// `:iterate`: also applies to included resources.
    pub iterate: bool,
    pub source: ResourceType,
    /// `None` for `*`: every reference parameter.
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
