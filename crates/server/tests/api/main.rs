//! The API as its users meet it: every story runs on both databases, over real HTTP.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on must stop")]
#![allow(clippy::print_stderr, reason = "a test says how much it tried")]

mod authoring;
mod bad_input;
mod limits;
mod mutations;
mod raw;
mod secrets;
mod surface;
mod tenants;
