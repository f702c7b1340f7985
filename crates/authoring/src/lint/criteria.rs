//! Lints criteria: assertions that `verify` rejects, and those that can only fail when a run is scored.

use fhir::nearest;
use model::FieldErrors;
use model::simulator::SimulatorType;
use model::template::Bindings;
use serde_json::Value;
use verify::{Assertion, Parsed};

use super::{Finding, Findings, weights};
use crate::expansion::{entity_value, task_value};
use crate::folder::{Criterion, Folder, Task};

pub(super) fn check(folder: &Folder, path: &str, task: &Task, findings: &mut Findings) {
    if task.criteria.is_empty() {
        findings.add(Finding::error(path, format!("{}: no criteria: every agent would fail it", task.name)));
        return;
    }
    let task_value = task_value(task);
    for (index, criterion) in task.criteria.iter().enumerate() {
        check_public_label(path, index, criterion, findings);
        let Some(assertion) = read(path, index, &criterion.assertion, findings) else { continue };
        let entity = entity_value(folder, criterion.entity.as_ref());
        let bindings = Bindings { entity: entity.as_ref(), task: Some(&task_value) };
        if let Some(simulator_type) = missing_simulator(folder, &assertion) {
            let message = format!(
                "{}: the environment has no {} simulator: add one to benchmark.yaml",
                assertion_path(index),
                simulator_type.name()
            );
            findings.add(Finding::error(path, message));
        }
        if let Some(error) = unknown_sandbox(folder, &criterion.assertion, &assertion) {
            findings.add(Finding::error(path, format!("{}.sandbox: {error}", assertion_path(index))));
        }
        for hint in assertion.recommendations(&criterion.label) {
            findings.add(Finding::hint(path, format!("{}: {hint}", assertion_path(index))));
        }
        for verify::UnmatchablePart { path: member, message, is_certain } in
            verify::unmatchable_parts(&criterion.assertion, &bindings)
        {
            let message = format!("{}.{member}: {message}", assertion_path(index));
            let finding = if is_certain { Finding::error(path, message) } else { Finding::warning(path, message) };
            findings.add(finding);
        }
    }
    weights::check(path, task, findings);
}

fn check_public_label(path: &str, index: usize, criterion: &Criterion, findings: &mut Findings) {
    let mut errors = FieldErrors::new();
    if let Some(public_label) = &criterion.public_label {
        errors.name("public_label", public_label);
    }
    findings.add_fields(path, &format!("criteria.{index}"), &errors);
}

/// Parses an assertion. Reports what is wrong with it as findings.
pub(crate) fn read(path: &str, index: usize, assertion: &Value, findings: &mut Findings) -> Option<Assertion> {
    let prefix = assertion_path(index);
    match verify::parse(assertion) {
        Err(errors) => findings.add_fields(path, &prefix, &errors),
        Ok(Parsed::Unknown { name }) => {
            findings
                .add(Finding::error(path, format!("{prefix}.assert: there is no check `{name}`{}", suggestion(&name))));
        }
        Ok(Parsed::Known(assertion)) => return Some(*assertion),
    }
    None
}

fn assertion_path(index: usize) -> String {
    format!("criteria.{index}.assertion")
}

/// A suggestion for an unknown check name.
fn suggestion(name: &str) -> String {
    let names = || verify::catalog().iter().map(|check| check.name);
    match nearest(name, names()) {
        Some(nearest) => format!(": did you mean `{nearest}`?"),
        None => format!("; there are {}", names().collect::<Vec<_>>().join(", ")),
    }
}

/// The simulator type that the check reads, if the environment has none. The check would never find anything.
fn missing_simulator(folder: &Folder, assertion: &Assertion) -> Option<SimulatorType> {
    let simulators = &folder.benchmark.environment.simulators;
    let has = |simulator_type| simulators.iter().any(|simulator| simulator.r#type == simulator_type);
    assertion.info().reads.required_type().filter(|simulator_type| !has(*simulator_type))
}

/// The error for a sandbox name that no simulator of the right type has. A sandbox has the name of its simulator. Names with
/// templates are only known when a task runs.
fn unknown_sandbox(folder: &Folder, source: &Value, assertion: &Assertion) -> Option<String> {
    let name = verify::sandbox_scope::named(source).filter(|name| !name.contains("{{"))?;
    let simulators = &folder.benchmark.environment.simulators;
    match simulators.iter().find(|simulator| simulator.name == name) {
        None => {
            let names: Vec<&str> = simulators.iter().map(|simulator| simulator.name.as_str()).collect();
            Some(format!("the environment has no simulator `{name}`; it has {}", names.join(", ")))
        }
        Some(simulator) => {
            let reads = assertion.info().reads;
            let expected = reads.required_type().filter(|_| !reads.includes(simulator.r#type))?;
            Some(format!("is a {} simulator, and this check reads {}", simulator.r#type.name(), expected.name()))
        }
    }
}
