//! The layer of a dataset: whatever is asked of it, the answer is that of looking at every resource.
#![expect(clippy::unwrap_used, reason = "a test may panic, also in the functions that its tests share")]

mod conditions;
mod dice;
mod properties;
mod resources;
mod stories;
