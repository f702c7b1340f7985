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
mod runs_deadlines;
mod runs_elision;
mod runs_endings;
mod runs_evidence;
mod runs_leaderboards;
mod runs_lists;
mod runs_numbers;
mod runs_phases;
mod runs_playgrounds;
mod runs_races;
mod runs_rescores;
mod runs_retries;
mod runs_scenarios;
mod runs_scoring;
mod runs_tenants;
mod runs_tokens;
mod runs_versions;
mod secret_search;
mod secrets;
mod surface;
mod tasks_and_criteria;
mod tenants;
mod updates;
