//! Classifies the values of a message by the name of their member or field.

use super::leaf::Leaf;

/// The meaning of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Patient,
    Provider,
    /// A reference to another record: an order, a visit, a result, a payer.
    Reference,
    /// A number that identifies something, such as a claim number or a phone number.
    Number,
    Amount,
    Date,
    Status,
    Intent,
    Priority,
    Unit,
    Code,
    System,
    Name,
    /// Free text, and values that only the protocol needs.
    Free,
}

pub(crate) fn role(leaf: &Leaf, text: &str) -> Role {
    match &leaf.field {
        Some((field, qualifier)) => field_role(field, qualifier),
        None => member_role(leaf, text),
    }
}

fn field_role(field: &str, qualifier: &str) -> Role {
    match (field, qualifier) {
        ("PID-3.1", _) | ("NM1-9.1", "IL") => Role::Patient,
        ("NM1-9.1", "PR") => Role::Reference,
        ("NM1-9.1", "1P") | ("ORC-12.1" | "OBR-16.1", _) => Role::Provider,
        ("PID-5.1" | "PID-5.2" | "ORC-12.2" | "ORC-12.3" | "OBR-16.2" | "OBR-16.3", _) => Role::Name,
        ("NM1-3.1" | "NM1-4.1", "IL") => Role::Name,
        ("PID-7.1" | "DMG-2.1" | "DTP-3.1", _) => Role::Date,
        ("ORC-2.1" | "OBR-2.1" | "REF-2.1", _) => Role::Number,
        ("ORC-7.6" | "OBR-27.6", _) => Role::Priority,
        ("ORC-1.1" | "OBR-4.1" | "OBR-31.1" | "DG1-3.1" | "OBX-3.1" | "EQ-1.1", _) => Role::Code,
        ("OBR-4.3" | "OBR-31.3" | "DG1-3.3" | "OBX-3.3", _) => Role::System,
        ("OBX-5.1" | "AMT-2.1", _) => Role::Amount,
        ("OBX-6.1", _) => Role::Unit,
        _ => Role::Free,
    }
}

fn member_role(leaf: &Leaf, text: &str) -> Role {
    if is_date(text) {
        return Role::Date;
    }
    if text.starts_with("Patient/") {
        return Role::Patient;
    }
    match (leaf.key.as_str(), leaf.parent.as_str()) {
        ("patient_id" | "patient_member_id" | "member_id" | "mrn", _) => Role::Patient,
        ("provider_npi" | "npi", _) => Role::Provider,
        ("reference" | "content_reference", _) => Role::Reference,
        ("to_number" | "claim_number" | "referral_number" | "payer_id" | "valueString" | "contentString", _) => {
            Role::Number
        }
        ("value", "identifier") => Role::Number,
        ("status" | "indicator", _) => Role::Status,
        ("intent", _) => Role::Intent,
        ("priority" | "urgency", _) => Role::Priority,
        ("unit", _) => Role::Unit,
        ("code", _) if leaf.is_in_quantity => Role::Unit,
        ("code" | "procedure_code" | "diagnosis_code" | "drug" | "step_drug", _) => Role::Code,
        ("reason" | "reject_code" | "decision" | "service_types" | "channel" | "mode" | "base64" | "label", _) => {
            Role::Code
        }
        ("text", "code" | "statusReason" | "type") if !leaf.has_coding => Role::Code,
        ("system", _) => Role::System,
        ("description" | "detail" | "body", _) if has_number(text) => Role::Number,
        _ => Role::Free,
    }
}

/// Whether a text is a FHIR date, or a timestamp that starts with one.
pub(super) fn is_date(text: &str) -> bool {
    let is_long = text.len() >= 10
        && text.bytes().take(10).enumerate().all(|(index, byte)| match index {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        });
    is_long && text.as_bytes().get(10).is_none_or(|byte| *byte == b'T')
}

/// Whether a text contains a number that identifies something: a phone number, a result, a resource.
fn has_number(text: &str) -> bool {
    text.contains('/') && text.bytes().any(|byte| byte.is_ascii_digit())
        || text.split(|c: char| !c.is_ascii_digit()).any(|digits| digits.len() >= 4)
}
