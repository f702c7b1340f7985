//! Stories of FHIR clients against the simulated server, without a connection.

mod bad_input;
mod bundles;
mod capability;
mod conditional;
mod crud;
mod events;
mod everything;
mod harness;
mod history;
mod patch;
mod random_stories;
mod scopes;
mod search;
