//! Decides which values a criterion can fairly check: those that the task asks for, not the sender's own choices.

use serde_json::Value;

use super::leaf::Leaf;
use super::mutation_kind::MutationKind;
use super::role::{Role, role};
use crate::message::Message;

/// Whether a message can be mutated. Phone calls cannot: the wording of their turns is up to the agent.
pub(super) fn is_mutable(message: &Message) -> bool {
    !message.path.starts_with("voice/")
}

/// Whether the task asks for this value. `public` is all text about the task that the agent sees.
pub(super) fn is_required(kind: MutationKind, leaf: &Leaf, public: &str) -> bool {
    let Value::String(text) = &leaf.value else { return true };
    match (role(leaf, text), &leaf.field) {
        // A local identifier system is the sender's choice unless the task names it, and units are often sent without one.
        (Role::System, _) if leaf.is_in_quantity && kind == MutationKind::MissingValue => false,
        (Role::System, Some((field, _))) => is_public_system(text) && is_named(field, public),
        (Role::System, None) => is_public_system(text) || public.contains(text.as_str()),
        (_, Some((field, _))) => is_named(field, public),
        _ => true,
    }
}

/// Whether the task names this HL7 v2 field. If it names no fields at all, all fields count as named.
fn is_named(field: &str, public: &str) -> bool {
    let Some((name, _)) = field.split_once('.') else { return false };
    let names_any = ["PID-", "ORC-", "OBR-", "OBX-"].iter().any(|segment| public.contains(segment));
    let is_hl7 = ["PID", "ORC", "OBR", "OBX", "DG1"].iter().any(|segment| field.starts_with(segment));
    if !is_hl7 || !names_any {
        return true;
    }
    let mut after = public.match_indices(name).map(|(at, _)| public[at + name.len()..].chars().next());
    after.any(|next| next.is_none_or(|next| !next.is_ascii_digit()))
}

fn is_public_system(system: &str) -> bool {
    ["http://loinc.org", "http://snomed.info/sct", "http://www.nlm.nih.gov/research/umls/rxnorm"].contains(&system)
        || system.starts_with("http://hl7.org/fhir/sid/")
        || system == "http://unitsofmeasure.org"
        || matches!(system, "I10" | "LN" | "SCT")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutants::leaf::leaves;
    use serde_json::json;

    #[test]
    fn only_fields_that_the_task_names_are_required() {
        let order = json!("MSH|^~\\&\rOBR|1|77||CARD^x^L||||||||||||1234^Lee|||||||||||||||I48^y^I10");
        let named = |field: &str, public: &str| {
            let found = leaves(&order);
            let leaf = found.iter().find(|leaf| leaf.field.as_ref().is_some_and(|(name, _)| name == field));
            is_required(MutationKind::WrongNumber, leaf.unwrap(), public)
        };
        assert!(named("OBR-2.1", "OBR-2 the number, OBR-31 the code"));
        assert!(!named("OBR-16.1", "OBR-2 the number, OBR-31 the code"));
        assert!(named("OBR-16.1", "Order it."));
    }

    #[test]
    fn local_systems_are_required_when_the_task_names_them() {
        let body = json!({"identifier": [{"system": "https://lab.example.org/filler", "value": "7"}]});
        let found = leaves(&body);
        let system = found.iter().find(|leaf| leaf.key == "system").unwrap();
        assert!(!is_required(MutationKind::WrongSystem, system, "File it."));
        assert!(is_required(MutationKind::WrongSystem, system, "identifier (system https://lab.example.org/filler)"));
    }
}
