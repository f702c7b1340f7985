//! The real binary as a process: started, used, killed, started again.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on must stop")]
#![allow(clippy::print_stdout, reason = "tests print the figures that they measured")]

mod action;
mod admin;
mod api;
mod arena;
mod audit;
mod authoring_commands;
mod bombs;
mod book;
mod bundled;
mod codes;
mod crash;
mod crash_fhir;
mod crash_runs;
mod crash_uploads;
mod document;
mod documented_flags;
mod fhir_bombs;
mod folders;
mod groups;
mod house;
mod isolation;
mod object_storage;
mod process;
mod push_cut;
mod rescore;
mod run_agents;
mod run_bounds;
mod run_critical;
mod run_faults;
mod run_reports;
mod run_resume;
mod run_scored;
mod run_selected;
mod run_stories;
mod terminal;
mod uploads;
mod wire_bombs;
