//! Queries from their text (<https://hl7.org/fhir/R4/search.html>).

mod directive;
mod escape;
mod name;
#[cfg(test)]
mod tests;
mod value;

pub use escape::escape;

use std::sync::Arc;

use super::Query;
use crate::definitions::SearchParameter;
use crate::{OwnAddresses, ResourceType};

/// Why a search cannot be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{parameter}: {reason}")]
pub struct SearchFault {
    /// The parameter as it was written.
    pub parameter: String,
    pub reason: String,
}

/// Of one search.
pub const MAX_PARAMETERS: usize = 100;
/// Values of one parameter, separated by commas.
pub const MAX_ALTERNATIVES: usize = 1_000;
/// Values of all parameters together; a chain that may lead to several types counts its values for each.
pub const MAX_VALUES: usize = 10_000;
/// Steps of a chain, forward or by `_has`.
pub const MAX_CHAIN: usize = 4;
/// Of the name of a parameter.
const MAX_NAME_BYTES: usize = 500;

/// The stored parameter of a type that has a name. Asked only for names that the standards do not have.
pub type NamedParameters<'a> = dyn Fn(ResourceType, &str) -> Option<Arc<SearchParameter>> + 'a;

/// Reads decoded `name=value` pairs of a search for one type. `base` is the server's own address: references below it
/// are local. A parameter that is not known is no fault: it stands in [`Query::ignored`].
pub fn parse(resource_type: ResourceType, base: &str, pairs: &[(String, String)]) -> Result<Query, SearchFault> {
    parse_for(resource_type, OwnAddresses::new(base, &[]), &|_, _| None, pairs)
}

/// The same for a server that has several addresses of its own, and parameters besides those of the standards.
pub fn parse_for(
    resource_type: ResourceType,
    own: OwnAddresses<'_>,
    stored: &NamedParameters<'_>,
    pairs: &[(String, String)],
) -> Result<Query, SearchFault> {
    let mut query = Query::default();
    let mut reader = name::Reader::new(own, stored);
    for (at, (name, value)) in pairs.iter().enumerate() {
        let is_too_much = at >= MAX_PARAMETERS || name.len() > MAX_NAME_BYTES;
        let read = if is_too_much {
            Err(Refusal::Limit(format!(
                "a search has at most {MAX_PARAMETERS} parameters, with names of at most {MAX_NAME_BYTES} bytes"
            )))
        } else {
            parameter(&mut query, &mut reader, resource_type, name, value)
        };
        match read {
            Ok(()) => query.understood.push((name.clone(), value.clone())),
            Err(Refusal::Empty) => {}
            Err(Refusal::Unknown(reason)) => query.ignored.push((name.clone(), reason)),
            Err(Refusal::Fault(reason) | Refusal::Limit(reason)) => {
                return Err(SearchFault { parameter: shortened(name), reason });
            }
        }
    }
    Ok(query)
}

/// Why a parameter has no part in the query.
#[derive(Debug)]
enum Refusal {
    /// It says nothing, as R4 has it of an empty value; or only how the answer is written.
    Empty,
    /// There is no such parameter here.
    Unknown(String),
    Fault(String),
    /// Never overlooked in favour of another way to read it.
    Limit(String),
}

fn parameter(
    query: &mut Query,
    reader: &mut name::Reader<'_>,
    resource_type: ResourceType,
    name: &str,
    value: &str,
) -> Result<(), Refusal> {
    if value.trim().is_empty() || matches!(name, "_format" | "_pretty") {
        return Err(Refusal::Empty);
    }
    if let Some(read) = directive::read(query, reader, resource_type, name, value) {
        return read;
    }
    let clause = reader.clause(resource_type, name, value, 0)?;
    query.clauses.push(clause);
    Ok(())
}

/// As it was written, unless that is endless.
fn shortened(name: &str) -> String {
    name.chars().take(MAX_NAME_BYTES).collect()
}

fn resource_type_named(name: &str) -> Result<ResourceType, Refusal> {
    name.parse().map_err(|unknown: crate::UnknownResourceType| Refusal::Fault(unknown.to_string()))
}
