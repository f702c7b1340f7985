//! The layer of a dataset: whatever is asked of it, the answer is that of looking at every resource.

mod conditions;
mod dice;
mod properties;
mod resources;
mod stories;
