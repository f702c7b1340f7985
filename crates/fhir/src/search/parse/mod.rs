//! Parses search queries (<https://hl7.org/fhir/R4/search.html>).

mod escape;
mod parameter_name;
mod result_parameters;
mod search_value;
#[cfg(test)]
mod tests;

pub use escape::escape;

use std::sync::Arc;

use super::Query;
use crate::definitions::SearchParameter;
use crate::{OwnAddresses, ResourceType};

/// Why a search cannot be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{parameter}: {reason}")]
pub struct SearchError {
    /// The parameter name as the client wrote it.
    pub parameter: String,
    pub reason: String,
}

/// The most parameters of one search.
pub const MAX_PARAMETERS: usize = 100;
/// The most values of one parameter, separated by commas.
pub const MAX_ALTERNATIVES: usize = 1_000;
/// The most values of all parameters together. A chain that can lead to several types counts its values once per type.
pub const MAX_VALUES: usize = 10_000;
/// The most steps of a chain or `_has`.
pub const MAX_CHAIN: usize = 4;
/// The longest name of a parameter.
const MAX_NAME_BYTES: usize = 500;

/// Finds a stored parameter of a type by name. Only called for names that the standard does not define.
pub type NamedParameters<'a> = dyn Fn(ResourceType, &str) -> Option<Arc<SearchParameter>> + 'a;

/// Parses decoded `name=value` pairs of a search for one type. `base` is the server's own base URL: references below it
/// are local. An unknown parameter is not an error; it is listed in [`Query::ignored`].
pub fn parse(resource_type: ResourceType, base: &str, pairs: &[(String, String)]) -> Result<Query, SearchError> {
    parse_for(resource_type, OwnAddresses::new(base, &[]), &|_, _| None, pairs)
}

/// The same for a server with several base URLs and with stored search parameters.
pub fn parse_for(
    resource_type: ResourceType,
    addresses: OwnAddresses<'_>,
    stored: &NamedParameters<'_>,
    pairs: &[(String, String)],
) -> Result<Query, SearchError> {
    let mut query = Query::default();
    let mut reader = parameter_name::ParameterReader::new(addresses, stored);
    for (at, (name, value)) in pairs.iter().enumerate() {
        let is_too_much = at >= MAX_PARAMETERS || name.len() > MAX_NAME_BYTES;
        let read = if is_too_much {
            Err(ParameterError::Limit(format!(
                "a search has at most {MAX_PARAMETERS} parameters, with names of at most {MAX_NAME_BYTES} bytes"
            )))
        } else {
            parameter(&mut query, &mut reader, resource_type, name, value)
        };
        match read {
            Ok(()) => query.applied.push((name.clone(), value.clone())),
            Err(ParameterError::Empty) => {}
            Err(ParameterError::Unknown(reason)) => query.ignored.push((name.clone(), reason)),
            Err(ParameterError::Invalid(reason) | ParameterError::Limit(reason)) => {
                return Err(SearchError { parameter: truncated(name), reason });
            }
        }
    }
    Ok(query)
}

/// Why a parameter is not part of the query.
#[derive(Debug)]
enum ParameterError {
    /// It has an empty value, which R4 ignores, or it only selects the format of the response.
    Empty,
    /// The parameter does not exist or is not supported.
    Unknown(String),
    Invalid(String),
    /// Always reported, even if the value can be read in another way.
    Limit(String),
}

fn parameter(
    query: &mut Query,
    reader: &mut parameter_name::ParameterReader<'_>,
    resource_type: ResourceType,
    name: &str,
    value: &str,
) -> Result<(), ParameterError> {
    if value.trim().is_empty() || matches!(name, "_format" | "_pretty") {
        return Err(ParameterError::Empty);
    }
    if let Some(read) = result_parameters::read(query, reader, resource_type, name, value) {
        return read;
    }
    let clause = reader.clause(resource_type, name, value, 0)?;
    query.clauses.push(clause);
    Ok(())
}

/// Shortens very long names.
fn truncated(name: &str) -> String {
    name.chars().take(MAX_NAME_BYTES).collect()
}

fn parse_resource_type(name: &str) -> Result<ResourceType, ParameterError> {
    name.parse().map_err(|unknown: crate::UnknownResourceType| ParameterError::Invalid(unknown.to_string()))
}
