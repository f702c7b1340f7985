//! What is sent to a payer's portal: a request for prior authorization, and what is added to one later.

use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// A request for prior authorization, of a procedure or of a drug.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewPriorAuth {
    /// The member's number, as the plan knows it.
    pub patient_member_id: String,
    /// CPT or HCPCS; or `drug`.
    pub procedure_code: Option<String>,
    /// The drug's name or code; or `procedure_code`.
    pub drug: Option<String>,
    /// ICD-10-CM.
    pub diagnosis_code: Option<String>,
    /// The National Provider Identifier of who will treat: ten digits.
    pub provider_npi: Option<String>,
    /// `standard` (without it), `routine`, `urgent`, `expedited` or `emergent`.
    pub urgency: Option<String>,
    /// When the service is to take place.
    pub service_date: Option<String>,
    pub clinical_notes: Option<String>,
    /// To the portal's clinical questions, by their names: texts, numbers or booleans.
    #[serde(default)]
    pub answers: Map<String, Value>,
    /// Each `{"name", "content_type"?, "content" or "base64"?}`, or only a name.
    #[serde(default)]
    pub documents: Vec<Value>,
}

/// What a payer asked for.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewInformation {
    /// Added to the notes that are there.
    pub clinical_notes: Option<String>,
    /// Replace those of the same names.
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
    /// Text; or `base64`.
    pub content: Option<String>,
    pub base64: Option<String>,
}
