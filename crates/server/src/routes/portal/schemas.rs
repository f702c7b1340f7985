//! OpenAPI schemas of the portal's rows. Rows that a scenario created may have other fields.
#![expect(dead_code, reason = "only documents the fields of a row")]

use std::collections::BTreeMap;

use model::Timestamp;
use serde_json::Value;
use utoipa::ToSchema;

/// A request for prior authorization.
#[derive(ToSchema)]
pub(super) struct PriorAuth {
    request_id: String,
    /// The number that identifies the request; null for a draft.
    auth_number: Option<String>,
    /// The tracking number of the submission.
    #[schema(required = false)]
    tracking_number: Option<String>,
    /// The authorization number of an approved request.
    #[schema(required = false)]
    authorization_number: Option<String>,
    /// The request's own state: `draft`, `submitted` or `withdrawn`.
    status: Option<String>,
    determination: Option<Determination>,
    patient_member_id: Option<String>,
    /// The patient's id in the FHIR data.
    patient_id: Option<String>,
    patient_name: Option<String>,
    patient_birth_date: Option<String>,
    provider_npi: Option<String>,
    provider_name: Option<String>,
    procedure_code: Option<String>,
    drug: Option<String>,
    diagnosis_code: Option<String>,
    urgency: Option<String>,
    service_date: Option<String>,
    clinical_notes: Option<String>,
    #[schema(required = false)]
    answers: BTreeMap<String, Value>,
    #[schema(required = false)]
    documents: Vec<Document>,
    created_at: Option<Timestamp>,
    submitted_at: Option<Timestamp>,
    updated_at: Option<Timestamp>,
    withdrawn_at: Option<Timestamp>,
}

/// The payer's determination.
#[derive(ToSchema)]
struct Determination {
    /// `approved`, `denied`, `pending` or `need_more_info`.
    status: String,
    reason: Option<String>,
    decided_at: Option<Timestamp>,
}

#[derive(ToSchema)]
struct Document {
    document_id: String,
    name: String,
    content_type: String,
    size: u64,
    /// Null if only the name was given.
    sha256: Option<String>,
    uploaded_at: Timestamp,
}

/// A member of the plan.
#[derive(ToSchema)]
pub(super) struct Patient {
    member_id: Option<String>,
    /// The patient's id in the FHIR data.
    patient_id: Option<String>,
    name: Option<String>,
    given_name: Option<String>,
    family_name: Option<String>,
    birth_date: Option<String>,
    gender: Option<String>,
    phone: Option<String>,
    address: Option<String>,
    coverage_status: Option<String>,
    plan: Option<String>,
    payer: Option<String>,
    coverage_start: Option<String>,
    coverage_end: Option<String>,
}

#[derive(ToSchema)]
pub(super) struct Provider {
    npi: Option<String>,
    name: Option<String>,
    /// `practitioner` or `organization`.
    kind: Option<String>,
    specialty: Option<String>,
    phone: Option<String>,
    address: Option<String>,
}

/// A drug and its coverage by the plan.
#[derive(ToSchema)]
pub(super) struct FormularyEntry {
    drug: Option<String>,
    tier: Option<String>,
    #[schema(required = false)]
    prior_auth_required: bool,
    step_therapy: Option<String>,
    quantity_limit: Option<String>,
    #[schema(required = false)]
    alternatives: Vec<String>,
}
