//! Queries from their text.

use super::Query;
use crate::ResourceType;

/// Why a search cannot be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{parameter}: {reason}")]
pub struct SearchFault {
    /// The parameter as it was written.
    pub parameter: String,
    pub reason: String,
}

/// Reads decoded `name=value` pairs of a search for one type. `base` is the server's own address: references below it
/// are local. A parameter that is not known is no fault: it stands in [`Query::ignored`].
pub fn parse(_resource_type: ResourceType, _base: &str, _pairs: &[(String, String)]) -> Result<Query, SearchFault> {
    Ok(Query::default())
}
