//! Tests of the `verial` binary as a process.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]
#![allow(clippy::print_stdout, reason = "tests print what they measured")]

mod action;
mod admin;
mod api;
mod audit;
mod authoring_commands;
mod bombs;
mod bundled;
mod codes;
mod crash;
mod crash_fhir;
mod crash_runs;
mod crash_uploads;
mod document;
mod documented_flags;
mod fhir_bombs;
mod fixture;
mod folders;
mod groups;
mod harmful;
mod isolation;
mod manual;
mod mistakes;
mod object_storage;
mod process;
mod push_interrupted;
mod rescore;
mod run_agents;
mod run_bounds;
mod run_critical;
mod run_failures;
mod run_reports;
mod run_resume;
mod run_scorecard;
mod run_scored_names;
mod run_selected;
mod terminal;
mod uploads;
mod wire_bombs;
mod workspace_rules;
