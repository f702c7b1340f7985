//! The world: whatever is written and asked, the answer is that of plain loops over plain lists.

mod cost;
mod dice;
mod fold;
mod oracle;
mod plain;
mod queries;
mod records;
mod resources;
mod search;
mod stories;
