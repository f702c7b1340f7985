//! A task's scenario: steps that are executed in the sandboxes when the task starts, or later. A scenario is validated when
//! the task is saved ([`validate_scenario`]), prepared for a playground ([`prepare`]) and executed at the start ([`begin`]).
//! Deferred steps are executed when they are due ([`catch_up`]).

mod changes;
mod prepare;
mod run;
mod scheduled;
pub(crate) mod step;
mod templates;
#[cfg(test)]
mod tests;

pub use prepare::{PreparedStep, ScenarioContext, ScenarioSandbox, prepare};
pub use run::{begin, catch_up};
pub(crate) use scheduled::SCHEDULED;
pub use scheduled::next_due;
pub use step::DatasetFile;

use model::FieldErrors;
use model::reading::{described, shortened, split_tag};
use model::simulator::SimulatorType;
use model::template::{self, Root};
use serde_json::Value;

use crate::registry::StepInfo;
use crate::scheduler::{Origin, Schedule};

/// The deferred steps of the scenario. Their events carry the index of their step.
pub(crate) const SCHEDULE: Schedule = Schedule { origin: Origin::Scenario, next_due, catch_up };

pub const MAX_STEPS: usize = 200;
pub const MAX_AFTER_SECONDS: i64 = 604_800;

/// One simulator of the benchmark's environment.
#[derive(Clone, Copy, Debug)]
pub struct EnvironmentSimulator<'a> {
    pub kind: SimulatorType,
    pub name: &'a str,
}

/// Validates `{"steps": […]}`. Errors are named like `steps.2.do`. `null` is a scenario without steps. Without an
/// environment every step is an error, because its simulator is missing.
pub fn validate_scenario(
    scenario: &Value,
    environment: Option<&[EnvironmentSimulator<'_>]>,
) -> Result<(), FieldErrors> {
    let mut errors = FieldErrors::new();
    let steps = steps(scenario, &mut errors);
    if steps.len() > MAX_STEPS {
        errors.add("steps", format!("must be at most {MAX_STEPS}, are {}", steps.len()));
        return Err(errors);
    }
    for (index, step) in steps.iter().enumerate() {
        errors.inside(&format!("steps.{index}"), |errors| {
            check_step(step, environment, errors);
            template::check(step, &[Root::Entity, Root::Task], errors);
        });
    }
    errors.into_result()
}

fn steps<'a>(scenario: &'a Value, errors: &mut FieldErrors) -> &'a [Value] {
    let members = match scenario {
        Value::Null => return &[],
        Value::Object(members) => members,
        other => {
            errors.add("", format!("must be an object, is {}", described(other)));
            return &[];
        }
    };
    for key in members.keys().filter(|key| *key != "steps").take(50) {
        errors.add(shortened(key, 80), "is not a known field; known: `steps`");
    }
    match members.get("steps") {
        None => &[],
        Some(Value::Array(steps)) => steps,
        Some(other) => {
            errors.add("steps", format!("must be a list, is {}", described(other)));
            &[]
        }
    }
}

fn check_step(step: &Value, environment: Option<&[EnvironmentSimulator<'_>]>, errors: &mut FieldErrors) {
    let (name, mut parameters) = match split_tag(step, "do") {
        Ok(split) => split,
        Err(tag_errors) => return errors.merge(tag_errors),
    };
    let mut sandbox = None;
    if let Value::Object(members) = &mut parameters {
        sandbox = members.shift_remove("sandbox").filter(|sandbox| !sandbox.is_null());
        check_after_seconds(members.shift_remove("after_seconds"), errors);
    }
    let Some((kind, info)) = find(&name) else {
        return errors.add("do", format!("no step `{}`; steps are {}", shortened(&name, 60), step_names().join(", ")));
    };
    check_sandbox(kind, sandbox.as_ref(), environment, errors);
    if let Err(parameter_errors) = (info.check)(&parameters) {
        errors.merge(parameter_errors);
    }
}

fn find(name: &str) -> Option<(SimulatorType, &'static StepInfo)> {
    let steps = crate::catalog().iter().flat_map(|info| info.steps.iter().map(move |step| (info.kind, step)));
    steps.into_iter().find(|(_, step)| step.name == name)
}

fn step_names() -> Vec<&'static str> {
    crate::catalog().iter().flat_map(|info| info.steps).map(|step| step.name).collect()
}

fn check_after_seconds(after_seconds: Option<Value>, errors: &mut FieldErrors) {
    match after_seconds.filter(|value| !value.is_null()) {
        None => {}
        Some(value) => match value.as_i64() {
            Some(seconds) => errors.range("after_seconds", seconds, 0..=MAX_AFTER_SECONDS),
            None => errors.add("after_seconds", format!("must be an integer, is {}", described(&value))),
        },
    }
}

/// Checks that the step refers to exactly one simulator: by name, by type, or because it is the only one of its type.
fn check_sandbox(
    kind: SimulatorType,
    sandbox: Option<&Value>,
    environment: Option<&[EnvironmentSimulator<'_>]>,
    errors: &mut FieldErrors,
) {
    let sandbox = match sandbox {
        None => None,
        Some(Value::String(name)) => Some(name.as_str()),
        Some(other) => return errors.add("sandbox", format!("must be a string, is {}", described(other))),
    };
    let Some(environment) = environment else {
        return errors
            .add("do", format!("needs a {} simulator, and the benchmark has no environment yet", kind.name()));
    };
    let of_kind: Vec<&str> = environment.iter().filter(|one| one.kind == kind).map(|one| one.name).collect();
    match sandbox {
        None => check_only(kind, &of_kind, "do", errors),
        Some(name) => match of_kind.iter().filter(|one| **one == name).count() {
            1 => {}
            0 => check_by_type(kind, name, &of_kind, environment, errors),
            several => {
                errors.add("sandbox", format!("the environment has {several} {} simulators of that name", kind.name()))
            }
        },
    }
}

fn check_by_type(
    kind: SimulatorType,
    name: &str,
    of_kind: &[&str],
    environment: &[EnvironmentSimulator<'_>],
    errors: &mut FieldErrors,
) {
    let named = environment.iter().find(|one| one.name == name).map(|one| one.kind);
    match named.or_else(|| name.parse().ok()) {
        Some(found) if found == kind => check_only(kind, of_kind, "sandbox", errors),
        Some(found) => {
            errors.add("sandbox", format!("is a {} simulator, and this step needs {}", found.name(), kind.name()))
        }
        None => errors.add("sandbox", format!("the environment has no simulator `{}`", shortened(name, 60))),
    }
}

fn check_only(kind: SimulatorType, of_kind: &[&str], field: &str, errors: &mut FieldErrors) {
    match of_kind {
        [] => errors.add(field, format!("needs a {} simulator, and the environment has none", kind.name())),
        [_] => {}
        several => {
            let names: Vec<String> = several.iter().take(20).map(|name| shortened(name, 60)).collect();
            errors.add("sandbox", format!("must name one of the {} simulators: {}", kind.name(), names.join(", ")));
        }
    }
}
