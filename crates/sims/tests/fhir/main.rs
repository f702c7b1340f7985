//! Stories of FHIR clients against the simulated server, without a connection.
#![expect(clippy::unwrap_used, reason = "a test may panic, also in the functions that its tests share")]

mod bad_input;
mod bundles;
mod capability;
mod conditional;
mod cost;
mod crud;
mod events;
mod everything;
mod harness;
mod history;
mod own_addresses;
mod patch;
mod random_stories;
mod routes;
mod scopes;
mod search;
mod stored_parameters;
mod write_rules;
