//! The world: whatever is written and asked, the answer is that of plain loops over plain lists.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic, also in the functions that its tests share")]
#![expect(clippy::print_stdout, reason = "tests print the figures that they measured")]

mod cost;
#[path = "../../../fhir/tests/layer/dice.rs"]
mod dice;
mod fold;
mod oracle;
mod plain;
mod queries;
mod records;
mod resources;
mod search;
mod stored;
mod stories;
