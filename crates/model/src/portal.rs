//! Request bodies of the payer portal: prior authorization requests, and information added to them later.

use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// A prior authorization request for a procedure or a drug.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewPriorAuth {
    /// The member id of the patient in the plan.
    pub patient_member_id: String,
    /// A CPT or HCPCS code. Alternative to `drug`.
    pub procedure_code: Option<String>,
    /// The name or code of the drug. Alternative to `procedure_code`.
    pub drug: Option<String>,
    /// An ICD-10-CM code.
    pub diagnosis_code: Option<String>,
    /// The National Provider Identifier of the treating provider, ten digits.
    pub provider_npi: Option<String>,
    /// `standard` (default), `routine`, `urgent`, `expedited` or `emergent`.
    pub urgency: Option<String>,
    /// The planned date of service.
    pub service_date: Option<String>,
    pub clinical_notes: Option<String>,
    /// Answers to the portal's clinical questions, by question name: texts, numbers or booleans.
    #[serde(default)]
    pub answers: Map<String, Value>,
    /// Each document is `{"name", "content_type"?, "content" or "base64"?}`, or only a name.
    #[serde(default)]
    pub documents: Vec<Value>,
}

/// Additional information that the payer requested.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewInformation {
    /// Appended to the existing notes.
    pub clinical_notes: Option<String>,
    /// Replace existing answers with the same names.
    #[serde(default)]
    pub answers: Map<String, Value>,
    /// As in a new request.
    #[serde(default)]
    pub documents: Vec<Value>,
}

/// A document's name, type and content.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewDocument {
    pub name: String,
    pub content_type: Option<String>,
    /// The content as text. Alternative to `base64`.
    pub content: Option<String>,
    pub base64: Option<String>,
}
