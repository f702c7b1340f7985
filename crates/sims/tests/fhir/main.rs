//! Tests of the simulated FHIR server through its request handler.
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
mod properties;
mod routes;
mod scopes;
mod search;
mod stored_parameters;
mod write_rules;
