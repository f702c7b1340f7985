//! The API as its users meet it: every story runs on both databases, over real HTTP.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on must stop")]

mod authoring;
mod datasets;
mod idempotency;
mod identities;
mod lists;
mod publishing;
mod tasks_and_criteria;
mod updates;
