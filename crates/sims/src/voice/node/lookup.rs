//! The node that looks up the record for later prompts.

use std::collections::BTreeMap;

use model::FieldErrors;
use model::reading::shortened;
use serde::Deserialize;

use super::rules::{NAME_RULE, is_name};
use crate::authored::{Authored, text};

/// Looks up the record for `{{record.…}}` in later prompts.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lookup {
    pub source: LookupSource,
    /// A FHIR resource type, or the name of a collection of rows.
    pub resource: String,
    /// FHIR search parameters or row members with the expected values, which may contain `{{field.…}}`.
    pub r#match: BTreeMap<String, String>,
    pub found: String,
    pub not_found: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LookupSource {
    Fhir,
    Rows,
}

impl Authored for Lookup {
    fn validate(&self, errors: &mut FieldErrors) {
        if !is_name(&self.resource) {
            errors.add("resource", NAME_RULE);
        }
        if self.r#match.is_empty() || self.r#match.len() > 20 {
            errors.add("match", format!("must have 1 to 20 conditions, has {}", self.r#match.len()));
        }
        for (name, expected) in self.r#match.iter().take(20) {
            let field = format!("match.{}", shortened(name, 80));
            errors.length(&field, name, 1..=100);
            text(errors, &field, expected, 200);
        }
    }
}
