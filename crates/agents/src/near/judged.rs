//! Which values of a message a criterion can fairly judge: what was asked for, and not the sender's own words.

use serde_json::Value;

use super::kind::Kind;
use super::leaf::Leaf;
use super::role::{Role, role};
use crate::message::Message;

/// What a call says on its way is free; a question and what it leaves is not.
pub(super) fn is_judged(message: &Message) -> bool {
    !message.path.starts_with("voice/")
}

/// `public` is all that an agent is told of the task.
pub(super) fn is_asked_for(kind: Kind, leaf: &Leaf, public: &str) -> bool {
    let Value::String(text) = &leaf.value else { return true };
    match (role(leaf, text), &leaf.field) {
        // A local system of numbers is the sender's choice unless the task says it, and a unit is often sent without one.
        (Role::System, _) if leaf.is_of_quantity && kind == Kind::Missing => false,
        (Role::System, Some((field, _))) => is_public_system(text) && is_named(field, public),
        (Role::System, None) => is_public_system(text) || public.contains(text.as_str()),
        (_, Some((field, _))) => is_named(field, public),
        _ => true,
    }
}

/// Where a task names fields, it is those that are asked for; a task that names none leaves them to its standard.
fn is_named(field: &str, public: &str) -> bool {
    let Some((name, _)) = field.split_once('.') else { return false };
    let names_any = ["PID-", "ORC-", "OBR-", "OBX-"].iter().any(|segment| public.contains(segment));
    let is_hl7 = ["PID", "ORC", "OBR", "OBX", "DG1"].iter().any(|segment| field.starts_with(segment));
    if !is_hl7 || !names_any {
        return true;
    }
    let mut after = public.match_indices(name).map(|(place, _)| public[place + name.len()..].chars().next());
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
    use crate::near::leaf::leaves;
    use serde_json::json;

    #[test]
    fn fields_that_the_task_does_not_name_are_the_senders_own() {
        let order = json!("MSH|^~\\&\rOBR|1|77||CARD^x^L||||||||||||1234^Lee|||||||||||||||I48^y^I10");
        let named = |field: &str, public: &str| {
            let found = leaves(&order);
            let leaf = found.iter().find(|leaf| leaf.field.as_ref().is_some_and(|(name, _)| name == field));
            is_asked_for(Kind::WrongNumber, leaf.unwrap(), public)
        };
        assert!(named("OBR-2.1", "OBR-2 the number, OBR-31 the code"));
        assert!(!named("OBR-16.1", "OBR-2 the number, OBR-31 the code"));
        assert!(named("OBR-16.1", "Order it."));
    }

    #[test]
    fn local_systems_are_judged_when_they_are_told() {
        let body = json!({"identifier": [{"system": "https://lab.example.org/filler", "value": "7"}]});
        let found = leaves(&body);
        let system = found.iter().find(|leaf| leaf.key == "system").unwrap();
        assert!(!is_asked_for(Kind::WrongSystem, system, "File it."));
        assert!(is_asked_for(Kind::WrongSystem, system, "identifier (system https://lab.example.org/filler)"));
    }
}
