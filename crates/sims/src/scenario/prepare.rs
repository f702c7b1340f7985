//! A task's scenario made ready for one playground: templates filled in, each step with its sandbox, all of it checked
//! again as it is then.

use std::collections::BTreeMap;

use model::reading::split_tag;
use model::simulator::SimulatorType;
use model::template::Bindings;
use model::{FieldErrors, SandboxId};
use serde_json::{Map, Value};

use super::step::DatasetFile;
use super::{Available, find, templates, validate_scenario};

/// A sandbox of the playground, as steps name it.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    pub id: &'a SandboxId,
    pub kind: SimulatorType,
    pub name: &'a str,
}

/// What templates and steps refer to.
#[derive(Clone, Copy, Debug)]
pub struct Setting<'a> {
    pub sandboxes: &'a [Place<'a>],
    /// For `{{entity.…}}`: `{name, ref, data}`.
    pub entity: Option<&'a Value>,
    /// For `{{task.…}}`: `{id, name, task_item, …}`.
    pub task: &'a Value,
    /// The files of the simulators' datasets, by path.
    pub dataset_files: &'a BTreeMap<String, DatasetFile>,
}

/// A step that can be carried out.
#[derive(Clone, Debug)]
pub struct Prepared {
    pub(super) index: usize,
    /// What its `do` says.
    pub(super) name: String,
    pub(super) sandbox: SandboxId,
    pub(super) after_seconds: i64,
    /// Its own parameters, without templates.
    pub(super) parameters: Value,
    pub(super) file: Option<DatasetFile>,
}

/// Fills templates in, finds each step's sandbox and checks each step again as it is then. Faults are named like
/// `steps.2.content`.
pub fn prepare(scenario: &Value, setting: &Setting<'_>) -> Result<Vec<Prepared>, FieldErrors> {
    let available: Vec<Available<'_>> =
        setting.sandboxes.iter().map(|place| Available { kind: place.kind, name: place.name }).collect();
    validate_scenario(scenario, Some(&available))?;
    let bound = templates::bound(scenario, &Bindings { entity: setting.entity, task: Some(setting.task) })?;
    // A value may be one that the step does not take.
    validate_scenario(&bound, Some(&available))?;
    let mut errors = FieldErrors::new();
    let mut prepared = Vec::new();
    for (index, step) in bound["steps"].as_array().into_iter().flatten().enumerate() {
        match prepare_step(index, step, setting) {
            Ok(step) => prepared.push(step),
            Err(faults) => errors.nest(&format!("steps.{index}"), faults),
        }
    }
    errors.into_result().map(|()| prepared)
}

/// Of a step that was validated.
fn prepare_step(index: usize, step: &Value, setting: &Setting<'_>) -> Result<Prepared, FieldErrors> {
    let (name, mut parameters) = split_tag(step, "do")?;
    let mut members = parameters.as_object_mut().map(std::mem::take).unwrap_or_default();
    let sandbox = taken_text(&mut members, "sandbox");
    let after_seconds = members.shift_remove("after_seconds").and_then(|seconds| seconds.as_i64()).unwrap_or(0);
    let parameters = Value::Object(members);
    let (kind, info) = find(&name).ok_or_else(|| FieldErrors::one("do", "no such step"))?;
    let place = meant(kind, sandbox.as_deref(), setting.sandboxes)
        .ok_or_else(|| FieldErrors::one("do", format!("needs a {} sandbox, and there is none", kind.name())))?;
    let file = (info.dataset_file)(&parameters, setting.dataset_files)?;
    Ok(Prepared { index, name, sandbox: place.id.clone(), after_seconds, parameters, file })
}

fn taken_text(members: &mut Map<String, Value>, name: &str) -> Option<String> {
    match members.shift_remove(name) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    }
}

/// The one of its name, or else the only one of the type: validation made sure that it is one.
fn meant<'a>(kind: SimulatorType, name: Option<&str>, places: &'a [Place<'a>]) -> Option<&'a Place<'a>> {
    let mut of_kind = places.iter().filter(|place| place.kind == kind);
    let named = name.and_then(|name| of_kind.clone().find(|place| place.name == name));
    named.or_else(|| of_kind.next())
}
