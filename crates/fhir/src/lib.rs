//! FHIR R4 (4.0.1) as plain values: resource types, references, the standard's own definitions,
//! validation by them, the streaming ingest of datasets, search, and the indexed layer that a dataset becomes.
//! No I/O, no clock, no randomness: bytes come in as arguments.

pub mod definitions;
mod excerpt;
pub mod fhirpath;
pub mod ingest;
pub mod layer;
mod nearest;
mod own_addresses;
mod reference;
mod resource_type;
pub mod search;
pub mod validate;

pub use nearest::nearest;
pub use own_addresses::OwnAddresses;
pub use reference::{Reference, ReferenceError, ResourceReference, is_id};
pub use resource_type::{ResourceType, UnknownResourceType};
pub use validate::validate;
