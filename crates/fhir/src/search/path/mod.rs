//! Compiles the expressions of search parameters to trees of the JSON members to follow. The expressions are parsed by
//! [`FhirPath`](crate::fhirpath::FhirPath); search evaluates the subset that R4's parameters use, against the definitions of one
//! resource type, so that extracting values only visits members that can be present.

mod compile;
mod path_tree;

pub(super) use compile::{ElementPath, NodeType, compile_component, compile_paths};
pub(super) use path_tree::{PathSegment, PathTree, Predicate};
