//! R4 search (<https://hl7.org/fhir/R4/search.html>): extracts the values of parameters from resources, parses queries,
//! and matches one against the other.

mod case_insensitive_systems;
mod compare;
mod convert;
mod date_span;
mod extract;
pub mod indexed_value;
mod number;
mod parse;
mod path;
pub mod query;
mod sort;
mod stored_parameter;
mod text_folding;

pub use date_span::date_span;
pub(crate) use extract::{CompiledExpression, is_same};
pub use extract::{SelectedElement, extract, extract_all, select};
pub use indexed_value::{Concept, IndexedValue, Range, Span, Target};
pub use parse::{
    MAX_ALTERNATIVES, MAX_CHAIN, MAX_PARAMETERS, MAX_VALUES, NamedParameters, SearchError, escape, parse, parse_for,
};
pub use query::{
    Clause, Condition, Include, IncludeTarget, Modifier, Prefix, Query, SearchValue, Sort, Summary, Total,
};
pub use sort::SortKey;
pub use stored_parameter::{StoredParameter, StoredParameterError};
pub use text_folding::fold;
