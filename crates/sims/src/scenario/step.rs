//! The interface between the scenario runner and the simulators: [`ScenarioStep`], what it runs in, and what it produces.

use std::collections::BTreeMap;

use model::event::EventType;
use model::{FieldErrors, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use world::{Change, Context, Sandbox, World};

use crate::authored::{self, Authored};

/// The parameters of one type of step, and how to execute it.
pub(crate) trait ScenarioStep: Authored {
    /// Executes the step completely or not at all. Errors name the members of the step.
    fn execute(&self, context: &StepContext<'_>) -> Result<StepOutput, FieldErrors>;

    /// The dataset file that the step refers to.
    fn dataset_file(&self) -> Option<DatasetFileRef<'_>> {
        None
    }
}

/// A reference to a file of the environment's datasets, by path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DatasetFileRef<'a> {
    /// The step is invalid without the file. `member` is the step's member that holds the path.
    Required { member: &'static str, path: &'a str },
    /// The path may also belong to a file that is created later.
    Optional { path: &'a str },
}

/// The files of the environment's datasets, by path.
pub(crate) type DatasetFiles<'a> = &'a BTreeMap<String, DatasetFile>;

/// A file of a dataset. Its bytes are stored under their hash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DatasetFile {
    pub sha256: String,
    pub size: u64,
    pub content_type: String,
    /// The content of a text file, or the text that was extracted from the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// Where and when a step is executed.
pub(crate) struct StepContext<'a> {
    /// The world after the previous steps.
    pub(crate) world: &'a World,
    pub(crate) sandbox: &'a Sandbox,
    pub(crate) world_context: &'a Context<'a>,
    /// The time of whatever arrives by this step, even if the step is executed later.
    pub(crate) due_at: Timestamp,
    pub(crate) file: Option<&'a DatasetFile>,
}

/// The result of a step.
#[derive(Debug, Default)]
pub(crate) struct StepOutput {
    /// One line for people, without the step's name.
    pub(crate) summary: String,
    /// Additional members of the step's event.
    pub(crate) details: Map<String, Value>,
    pub(crate) changes: Vec<Change>,
    /// Events of the simulator about what arrived.
    pub(crate) arrivals: Vec<Arrival>,
}

/// A simulator's event about something that arrived by a scenario step.
#[derive(Debug)]
pub(crate) struct Arrival {
    pub(crate) r#type: EventType,
    pub(crate) summary: String,
    pub(crate) payload: Map<String, Value>,
}

impl StepContext<'_> {
    /// A new id with a prefix.
    pub(crate) fn new_id(&self, prefix: &str) -> String {
        format!("{prefix}_{}", (self.world_context.new_id)())
    }

    pub(crate) fn put(&self, collection: &str, key: &str, row: &Value) -> Change {
        self.sandbox.put(collection, key, row, self.world_context.now)
    }

    pub(crate) fn delete(&self, collection: &str, key: &str) -> Change {
        self.sandbox.delete(collection, key, self.world_context.now)
    }
}

/// Reads and executes a step. For [`crate::registry::StepInfo`].
pub(crate) fn execute<T: ScenarioStep>(
    context: &StepContext<'_>,
    parameters: &Value,
) -> Result<StepOutput, FieldErrors> {
    authored::read::<T>(parameters)?.execute(context)
}

/// Finds the dataset file that a step refers to. For [`crate::registry::StepInfo`].
pub(crate) fn dataset_file<T: ScenarioStep>(
    parameters: &Value,
    files: DatasetFiles<'_>,
) -> Result<Option<DatasetFile>, FieldErrors> {
    let step = authored::read::<T>(parameters)?;
    match step.dataset_file() {
        None => Ok(None),
        Some(DatasetFileRef::Optional { path }) => Ok(files.get(path).cloned()),
        Some(DatasetFileRef::Required { member, path }) => match files.get(path) {
            Some(file) => Ok(Some(file.clone())),
            None => {
                let message = format!("the datasets have no file `{}`", model::reading::shortened(path, 200));
                Err(FieldErrors::one(member, message))
            }
        },
    }
}

/// A JSON object with its members in the given order.
pub(crate) fn object<const N: usize>(members: [(&str, Value); N]) -> Map<String, Value> {
    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
