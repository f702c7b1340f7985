//! `sandbox`, a member that every assertion takes beside `assert`: which of several sandboxes is scored.

use std::collections::BTreeMap;

use model::reading::{described, shortened};
use model::simulator::SimulatorType;
use model::{FieldErrors, Id, SandboxId};
use serde_json::Value;
use world::World;

use crate::evidence::{Case, Evidence};

/// The member's name.
const SANDBOX: &str = "sandbox";

/// The names of a playground's sandboxes, which are those of their simulators.
pub type SandboxNames = BTreeMap<SandboxId, String>;

/// No names: only ids find a sandbox.
pub static NO_NAMES: SandboxNames = SandboxNames::new();

/// Takes the member out of a specification, so that checks need not know it.
pub(crate) fn take(specification: &mut Value) -> Result<(), FieldErrors> {
    let member = specification.as_object_mut().and_then(|members| members.shift_remove(SANDBOX));
    let fault = match member {
        None => return Ok(()),
        Some(Value::String(name)) if !name.trim().is_empty() => return Ok(()),
        Some(Value::String(_)) => "must not be blank".to_owned(),
        Some(other) => format!("must be the name of a simulator, is {}", described(&other)),
    };
    Err(FieldErrors::one(SANDBOX, fault))
}

/// The sandbox that an assertion names.
pub fn named(assertion: &Value) -> Option<&str> {
    assertion.get(SANDBOX).and_then(Value::as_str)
}

/// Hands over what belongs to the sandbox that the assertion names, by its id or name: its state, events and effects, and
/// the FHIR data, which other channels refer to. The whole evidence is handed over as well.
pub(crate) fn within<T>(
    assertion: &Value,
    evidence: &Evidence<'_>,
    work: impl FnOnce(&Case<'_>) -> Result<T, String>,
) -> Result<T, String> {
    let Some(name) = named(assertion) else { return work(&Case::new(*evidence)) };
    let is_named = |id: &SandboxId| id.as_str() == name || evidence.names.get(id).is_some_and(|known| known == name);
    let world = evidence.world;
    let found: Vec<&SandboxId> = world.sandboxes.keys().filter(|id| is_named(id)).collect();
    if found.is_empty() {
        return Err(format!("the playground has no sandbox `{}`", shortened(name, 100)));
    }
    let keeps_charts =
        found.iter().all(|id| world.sandboxes.get(*id).is_some_and(|one| one.kind != SimulatorType::Fhir));
    let is_kept = |id: &SandboxId, kind: SimulatorType| is_named(id) || (keeps_charts && kind == SimulatorType::Fhir);
    let kept = world.sandboxes.iter().filter(|(id, sandbox)| is_kept(id, sandbox.kind));
    let sandboxes = kept.map(|(id, sandbox)| (id.clone(), sandbox.clone())).collect();
    let world = World { seq: world.seq, oldest: world.oldest, sandboxes };
    let events: Vec<_> = evidence.events.iter().filter(|event| is_named(&event.sandbox_id)).cloned().collect();
    let effects: Vec<_> = evidence.effects.iter().filter(|effect| is_named(&effect.sandbox)).cloned().collect();
    work(&Case::scoped(Evidence { world: &world, events: &events, effects: &effects, ..*evidence }, *evidence))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate;
    use crate::testing::{Playground, check_assertion, sandbox_id};
    use serde_json::json;

    #[test]
    fn every_check_takes_it() {
        for info in crate::catalogue() {
            let example: Value = serde_json::from_str(info.example).unwrap();
            for (sandbox, faults) in [
                (json!("Second"), &[][..]),
                (json!("{{task.line}}"), &[]),
                (json!(" "), &[("sandbox", "must not be blank")]),
                (json!(1), &[("sandbox", "is 1")]),
                (json!(null), &[("sandbox", "is null")]),
            ] {
                let mut assertion = example.clone();
                assertion["sandbox"] = sandbox;
                check_assertion(&assertion, faults);
            }
        }
    }

    #[test]
    fn only_the_named_sandbox_is_looked_at() {
        let fax = json!({"direction": "outbound", "status": "sent", "to_number": "+15550100199", "text": "x"});
        let mut playground = Playground::new(&[]).write(SimulatorType::Fax, "faxes", "a", &fax);
        let (first, second) = (sandbox_id(SimulatorType::Fax), sandbox_id(SimulatorType::Fhir));
        let empty = Playground::new(&[]).world.sandboxes[&first].clone();
        playground.world.sandboxes.remove(&second);
        playground.world.sandboxes.insert(second.clone(), world::Sandbox { id: second.clone(), ..empty });
        let names = SandboxNames::from([(first, "Front desk".to_owned()), (second.clone(), "Pharmacy".to_owned())]);
        let evidence = Evidence { names: &names, ..playground.evidence() };
        for (sandbox, score) in [("Front desk", "1/1"), ("Pharmacy", "0/1"), (second.as_str(), "0/1")] {
            let outcome = evaluate(&json!({"assert": "fax-document", "count": 1, "sandbox": sandbox}), &evidence);
            assert_eq!(outcome.score.to_string(), score, "{sandbox}: {}", outcome.details);
        }
        let unknown = evaluate(&json!({"assert": "fax-document", "count": 0, "sandbox": "Back"}), &evidence);
        assert_eq!((unknown.passed, unknown.details.as_str()), (false, "the playground has no sandbox `Back`"));
    }
}
