//! Prepares a task's scenario for one playground: fills in templates, resolves the sandbox of each step, and validates
//! the result.

use std::collections::BTreeMap;

use model::reading::split_tag;
use model::simulator::SimulatorType;
use model::template::Bindings;
use model::{FieldErrors, SandboxId};
use serde_json::{Map, Value};

use super::step::DatasetFile;
use super::{EnvironmentSimulator, find, templates, validate_scenario};

/// A sandbox of the playground that steps can refer to.
#[derive(Clone, Copy, Debug)]
pub struct ScenarioSandbox<'a> {
    pub id: &'a SandboxId,
    pub kind: SimulatorType,
    pub name: &'a str,
}

/// What templates and steps can refer to.
#[derive(Clone, Copy, Debug)]
pub struct ScenarioContext<'a> {
    pub sandboxes: &'a [ScenarioSandbox<'a>],
    /// For `{{entity.…}}`: `{name, ref, data}`.
    pub entity: Option<&'a Value>,
    /// For `{{task.…}}`: `{id, name, task_item, …}`.
    pub task: &'a Value,
    /// The files of the simulators' datasets, by path.
    pub dataset_files: &'a BTreeMap<String, DatasetFile>,
}

/// A step that is ready to be executed.
#[derive(Clone, Debug)]
pub struct PreparedStep {
    pub(super) index: usize,
    /// The value of `do`.
    pub(super) name: String,
    pub(super) sandbox: SandboxId,
    pub(super) after_seconds: i64,
    /// The step's own parameters, with templates filled in.
    pub(super) parameters: Value,
    pub(super) file: Option<DatasetFile>,
}

/// Prepares each step. Errors are named like `steps.2.content`.
pub fn prepare(scenario: &Value, context: &ScenarioContext<'_>) -> Result<Vec<PreparedStep>, FieldErrors> {
    let simulators: Vec<EnvironmentSimulator<'_>> =
        context.sandboxes.iter().map(|one| EnvironmentSimulator { kind: one.kind, name: one.name }).collect();
    validate_scenario(scenario, Some(&simulators))?;
    let filled = templates::fill(scenario, &Bindings { entity: context.entity, task: Some(context.task) })?;
    // A template's value may be invalid for its step.
    validate_scenario(&filled, Some(&simulators))?;
    let mut errors = FieldErrors::new();
    let mut prepared = Vec::new();
    for (index, step) in filled["steps"].as_array().into_iter().flatten().enumerate() {
        match prepare_step(index, step, context) {
            Ok(step) => prepared.push(step),
            Err(step_errors) => errors.nest(&format!("steps.{index}"), step_errors),
        }
    }
    errors.into_result().map(|()| prepared)
}

/// The step must have been validated.
fn prepare_step(index: usize, step: &Value, context: &ScenarioContext<'_>) -> Result<PreparedStep, FieldErrors> {
    let (name, mut parameters) = split_tag(step, "do")?;
    let mut members = parameters.as_object_mut().map(std::mem::take).unwrap_or_default();
    let sandbox_name = take_text(&mut members, "sandbox");
    let after_seconds = members.shift_remove("after_seconds").and_then(|seconds| seconds.as_i64()).unwrap_or(0);
    let parameters = Value::Object(members);
    let (kind, info) = find(&name).ok_or_else(|| FieldErrors::one("do", "no such step"))?;
    let sandbox = find_sandbox(kind, sandbox_name.as_deref(), context.sandboxes)
        .ok_or_else(|| FieldErrors::one("do", format!("needs a {} sandbox, and there is none", kind.name())))?;
    let file = (info.dataset_file)(&parameters, context.dataset_files)?;
    Ok(PreparedStep { index, name, sandbox: sandbox.id.clone(), after_seconds, parameters, file })
}

fn take_text(members: &mut Map<String, Value>, name: &str) -> Option<String> {
    match members.shift_remove(name) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    }
}

/// The sandbox with the name, or else the only one of the type. Validation ensures that there is exactly one.
fn find_sandbox<'a>(
    kind: SimulatorType,
    name: Option<&str>,
    sandboxes: &'a [ScenarioSandbox<'a>],
) -> Option<&'a ScenarioSandbox<'a>> {
    let mut of_kind = sandboxes.iter().filter(|sandbox| sandbox.kind == kind);
    let named = name.and_then(|name| of_kind.clone().find(|sandbox| sandbox.name == name));
    named.or_else(|| of_kind.next())
}
