//! The scenario step `portal_row`: adds a row to the portal.

use model::FieldErrors;
use model::reading::described;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::authored::Authored;
use crate::registry::StepInfo;
use crate::scenario::step::{ScenarioStep, StepContext, StepOutput, object};

pub(crate) const PORTAL_ROW: StepInfo = StepInfo::of::<PortalRow>(
    "portal_row",
    "Puts a row into the portal: a request, draft, document, patient, provider or formulary entry",
    || {
        json!({"do": "portal_row", "resource": "providers", "key": "1234567893",
            "row": {"npi": "1234567893", "name": "Lakeside Imaging"}})
    },
);

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PortalRow {
    pub resource: Resource,
    /// The row to replace. Without it, a new row is added.
    pub key: Option<String>,
    pub row: Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resource {
    PriorAuthRequests,
    Drafts,
    Documents,
    Patients,
    Providers,
    Formulary,
}

impl Resource {
    /// The collection of its rows.
    pub fn name(self) -> &'static str {
        match self {
            Resource::PriorAuthRequests => "prior_auth_requests",
            Resource::Drafts => "drafts",
            Resource::Documents => "documents",
            Resource::Patients => "patients",
            Resource::Providers => "providers",
            Resource::Formulary => "formulary",
        }
    }
}

impl Authored for PortalRow {
    fn validate(&self, errors: &mut FieldErrors) {
        if let Some(key) = &self.key {
            errors.name("key", key);
        }
        match &self.row {
            Value::Object(members) if members.is_empty() => errors.add("row", "must not be empty"),
            Value::Object(_) => {}
            other => errors.add("row", format!("must be an object, is {}", described(other))),
        }
    }
}

/// The row is kept as it was authored.
impl ScenarioStep for PortalRow {
    fn execute(&self, context: &StepContext<'_>) -> Result<StepOutput, FieldErrors> {
        let resource = self.resource.name();
        let key = self.key.clone().unwrap_or_else(|| context.new_id("row"));
        Ok(StepOutput {
            summary: format!("{resource}/{key} is in the portal"),
            details: object([("resource", resource.into()), ("key", key.as_str().into())]),
            changes: vec![context.put(resource, &key, &self.row)],
            arrivals: Vec::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::authored;

    #[test]
    fn resource_names_match_the_config() {
        for name in ["prior_auth_requests", "drafts", "documents", "patients", "providers", "formulary"] {
            let resource: Resource = serde_json::from_value(json!(name)).unwrap();
            assert_eq!(resource.name(), name);
        }
    }

    #[test]
    fn steps_are_validated() {
        for (step, expected) in [
            (json!({"resource": "drafts", "row": {"a": 1}}), ""),
            (json!({"resource": "drafts", "row": {"a": 1}, "key": ""}), "key: must not be empty"),
            (json!({"resource": "drafts", "row": []}), "row: must be an object, is a list"),
            (json!({"resource": "drafts", "row": {}}), "row: must not be empty"),
            (json!({"resource": "drafts"}), "row: is required"),
            (json!({"resource": "users", "row": {}}), "resource: must be one of"),
            (json!({"resource": null, "row": {}}), "resource: must be "),
        ] {
            let errors = authored::check::<PortalRow>(&step).err().unwrap_or_default().to_string();
            assert_eq!(errors.is_empty(), expected.is_empty(), "{step}: {errors}");
            assert!(errors.starts_with(expected), "{step}: {errors}");
        }
    }
}
