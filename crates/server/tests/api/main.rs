//! The API as its users meet it: every story runs on both databases, over real HTTP.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on must stop")]
#![allow(clippy::print_stderr, reason = "a test says how much it tried")]

mod authoring;
mod bad_input;
mod datasets;
mod errors;
mod fhir_atomicity;
mod fhir_client;
mod fhir_concurrency;
mod fhir_events;
mod fhir_isolation;
mod fhir_malformed;
mod fhir_order;
mod fhir_pairs;
mod fhir_remote;
mod fhir_scopes;
mod hostile;
mod hostile_run_bombs;
mod hostile_run_claims;
mod hostile_run_fail_closed;
mod hostile_run_flood;
mod hostile_run_forgery;
mod hostile_run_leaks;
mod hostile_run_powers;
mod hostile_run_trap;
mod idempotency;
mod identities;
mod limits;
mod lists;
mod mutations;
mod playgrounds;
mod prober;
mod publishing;
mod raw;
mod request;
mod runs;
mod secret_search;
mod secrets;
mod surface;
mod tasks_and_criteria;
mod tenants;
mod updates;
