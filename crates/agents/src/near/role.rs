//! What a value of a message means, by the member or field that it stands in.

use super::leaf::Leaf;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Patient,
    Provider,
    /// Another record: an order, a visit, a result, a payer.
    Reference,
    /// A number that names something, such as a claim's or a telephone's.
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
    /// Words of the sender's own, and what the protocol itself needs.
    Free,
}

pub(crate) fn role(leaf: &Leaf, text: &str) -> Role {
    match &leaf.field {
        Some((field, qualifier)) => of_field(field, qualifier),
        None => of_member(leaf, text),
    }
}

fn of_field(field: &str, qualifier: &str) -> Role {
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

fn of_member(leaf: &Leaf, text: &str) -> Role {
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
        ("code", _) if leaf.is_of_quantity => Role::Unit,
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

/// A date of FHIR, or a moment that begins with one, or a date as X12 and HL7 have it.
pub(super) fn is_date(text: &str) -> bool {
    let is_long = text.len() >= 10
        && text.bytes().take(10).enumerate().all(|(place, byte)| match place {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        });
    is_long && text.as_bytes().get(10).is_none_or(|byte| *byte == b'T')
}

/// Words with a number in them that names something: a telephone, a result, a resource.
fn has_number(text: &str) -> bool {
    text.contains('/') && text.bytes().any(|byte| byte.is_ascii_digit())
        || text.split(|c: char| !c.is_ascii_digit()).any(|digits| digits.len() >= 4)
}
