//! `sandbox`, a parameter of every assertion: which sandbox is scored.

use std::collections::BTreeMap;

use model::reading::{described, shortened};
use model::simulator::SimulatorType;
use model::{FieldErrors, Id, SandboxId};
use serde_json::Value;
use world::World;

use crate::evidence::{EvaluationContext, Evidence};

/// The name of the parameter.
const SANDBOX: &str = "sandbox";

/// The names of a playground's sandboxes, which are the names of their simulators.
pub type SandboxNames = BTreeMap<SandboxId, String>;

/// No names, so that sandboxes are only found by id.
pub static NO_NAMES: SandboxNames = SandboxNames::new();

/// Removes the parameter from an assertion, so that checks do not need to know it.
pub(crate) fn take(specification: &mut Value) -> Result<(), FieldErrors> {
    let member = specification.as_object_mut().and_then(|members| members.shift_remove(SANDBOX));
    let error = match member {
        None => return Ok(()),
        Some(Value::String(name)) if !name.trim().is_empty() => return Ok(()),
        Some(Value::String(_)) => "must not be blank".to_owned(),
        Some(other) => format!("must be the name of a simulator, is {}", described(&other)),
    };
    Err(FieldErrors::one(SANDBOX, error))
}

/// The id or name of the sandbox in an assertion.
pub fn named(assertion: &Value) -> Option<&str> {
    assertion.get(SANDBOX).and_then(Value::as_str)
}

/// Calls `work` with the evidence of the sandbox that the assertion names by id or name: its state, events and effects, and
/// the FHIR data, which other simulators refer to. The context also has the evidence of the whole playground.
pub(crate) fn within<T>(
    assertion: &Value,
    evidence: &Evidence<'_>,
    work: impl FnOnce(&EvaluationContext<'_>) -> Result<T, String>,
) -> Result<T, String> {
    let Some(name) = named(assertion) else { return work(&EvaluationContext::new(*evidence)) };
    let is_named = |id: &SandboxId| id.as_str() == name || evidence.names.get(id).is_some_and(|known| known == name);
    let world = evidence.world;
    let found: Vec<&SandboxId> = world.sandboxes.keys().filter(|id| is_named(id)).collect();
    if found.is_empty() {
        return Err(format!("the playground has no sandbox `{}`", shortened(name, 100)));
    }
    let needs_fhir_data =
        found.iter().all(|id| world.sandboxes.get(*id).is_some_and(|one| one.kind != SimulatorType::Fhir));
    let is_kept =
        |id: &SandboxId, kind: SimulatorType| is_named(id) || (needs_fhir_data && kind == SimulatorType::Fhir);
    let kept = world.sandboxes.iter().filter(|(id, sandbox)| is_kept(id, sandbox.kind));
    let sandboxes = kept.map(|(id, sandbox)| (id.clone(), sandbox.clone())).collect();
    let world = World { seq: world.seq, oldest: world.oldest, sandboxes };
    let events: Vec<_> = evidence.events.iter().filter(|event| is_named(&event.sandbox_id)).cloned().collect();
    let effects: Vec<_> = evidence.effects.iter().filter(|effect| is_named(&effect.sandbox)).cloned().collect();
    work(&EvaluationContext::scoped(
        Evidence { world: &world, events: &events, effects: &effects, ..*evidence },
        *evidence,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate;
    use crate::testing::{Playground, check_assertion, sandbox_id};
    use serde_json::json;

    #[test]
    fn every_check_has_the_parameter() {
        for info in crate::catalog() {
            let example: Value = serde_json::from_str(info.example).unwrap();
            for (sandbox, expected_errors) in [
                (json!("Second"), &[][..]),
                (json!("{{task.line}}"), &[]),
                (json!(" "), &[("sandbox", "must not be blank")]),
                (json!(1), &[("sandbox", "is 1")]),
                (json!(null), &[("sandbox", "is null")]),
            ] {
                let mut assertion = example.clone();
                assertion["sandbox"] = sandbox;
                check_assertion(&assertion, expected_errors);
            }
        }
    }

    #[test]
    fn only_the_named_sandbox_is_scored() {
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
