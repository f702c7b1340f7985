//! Search as R4 has it (<https://hl7.org/fhir/R4/search.html>): what a parameter finds in a resource, what a query asks
//! for, and whether the one answers the other.

mod case;
mod compare;
mod convert;
mod extract;
mod fold;
pub mod found;
mod moment;
mod number;
mod parse;
mod path;
pub mod query;
mod sort;
mod stored;

pub(crate) use extract::{Plan, is_same};
pub use extract::{Selected, extract, extract_all, select};
pub use fold::fold;
pub use found::{Concept, Found, Range, Span, Target};
pub use moment::span as date_span;
pub use parse::{
    MAX_ALTERNATIVES, MAX_CHAIN, MAX_PARAMETERS, MAX_VALUES, NamedParameters, SearchFault, escape, parse, parse_for,
};
pub use query::{Clause, Condition, Include, IncludeTarget, Modifier, Prefix, Query, Sort, Summary, Total, Wanted};
pub use sort::SortKey;
pub use stored::{StoredFault, StoredParameter};
