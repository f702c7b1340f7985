//! The plan's formulary: entries of the config and rows that scenarios added.

use model::FieldErrors;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::authored;

use super::context::PortalContext;
use super::rows::{FORMULARY, matches_words};

#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct FormularyEntry {
    pub drug: String,
    pub tier: Option<String>,
    #[serde(default)]
    pub prior_auth_required: bool,
    /// The drug that must be tried first.
    pub step_therapy: Option<String>,
    pub quantity_limit: Option<String>,
    #[serde(default)]
    pub alternatives: Vec<String>,
}

const MAX_ENTRIES: usize = 1000;

pub(super) fn validate(entries: &[FormularyEntry], errors: &mut FieldErrors) {
    errors.each("formulary", entries, MAX_ENTRIES, |entry, errors| {
        errors.name("drug", &entry.drug);
        for (name, text) in
            [("tier", &entry.tier), ("step_therapy", &entry.step_therapy), ("quantity_limit", &entry.quantity_limit)]
        {
            authored::optional_text(errors, name, text.as_ref(), 500);
        }
        errors.each("alternatives", &entry.alternatives, 20, |drug, errors| errors.name("", drug));
    });
    if entries.len() <= MAX_ENTRIES {
        authored::check_unique(errors, "formulary", "drug", entries.iter().map(|entry| entry.drug.to_lowercase()));
    }
}

/// The entries whose drug matches, with keys for pagination: rows of scenarios first, then those of the config.
pub(super) fn entries(portal: &PortalContext<'_>, drug: &str) -> Vec<(String, Value)> {
    let rows = portal.sandbox.records.own(FORMULARY);
    let rows = rows.map(|record| (format!("row/{}", record.key), Value::clone(&record.json())));
    let authored = portal.config.formulary.iter().enumerate();
    let authored =
        authored.map(|(index, entry)| (format!("s/{index:06}"), serde_json::to_value(entry).unwrap_or_default()));
    let matches = |(_, row): &(String, Value)| matches_words(row.get("drug").and_then(Value::as_str), drug);
    rows.chain(authored).filter(matches).collect()
}
