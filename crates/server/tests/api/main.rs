//! The API as its users meet it: every story runs on both databases, over real HTTP.

mod authoring;
