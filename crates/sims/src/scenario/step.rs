//! What a scenario's step is to the simulator that it happens in: where it happens, and what it leaves.

use model::event::EventType;
use model::{FieldErrors, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use world::{Change, Context, Sandbox, World};

use crate::authored::{self, Authored};

/// A step's own parameters, with what they do.
pub(crate) trait Step: Authored {
    /// What happens, all of it or nothing. Faults are named by the step's own members.
    fn carry_out(&self, stage: &Stage<'_>) -> Result<Done, FieldErrors>;

    /// The file of the datasets that the step is about.
    fn dataset_file(&self) -> Option<Wanted<'_>> {
        None
    }
}

/// A file of the datasets, by its path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wanted<'a> {
    /// Without it the step cannot be.
    Needed { member: &'static str, path: &'a str },
    /// It may also be a file that came later.
    Perhaps { path: &'a str },
}

/// A file of a dataset, as a step takes it over. Its bytes are known by their hash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DatasetFile {
    pub sha256: String,
    pub size: u64,
    pub content_type: String,
    /// The content, if it is text; or what was read from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// Where and when a step happens.
pub(crate) struct Stage<'a> {
    /// As the steps before have left it.
    pub(crate) world: &'a World,
    pub(crate) sandbox: &'a Sandbox,
    pub(crate) context: &'a Context<'a>,
    /// What arrives has this time, even if nobody looked before now.
    pub(crate) due_at: Timestamp,
    pub(crate) file: Option<&'a DatasetFile>,
}

/// What a step leaves.
#[derive(Debug, Default)]
pub(crate) struct Done {
    /// One line for people, without the step's name.
    pub(crate) summary: String,
    /// What the step's event tells of it.
    pub(crate) told: Map<String, Value>,
    pub(crate) changes: Vec<Change>,
    /// What the log of the simulator tells of what arrived.
    pub(crate) arrivals: Vec<Arrival>,
}

#[derive(Debug)]
pub(crate) struct Arrival {
    pub(crate) r#type: EventType,
    pub(crate) summary: String,
    pub(crate) payload: Map<String, Value>,
}

impl Stage<'_> {
    /// A new id for something that arrives.
    pub(crate) fn new_id(&self, prefix: &str) -> String {
        format!("{prefix}_{}", (self.context.new_id)())
    }

    pub(crate) fn put(&self, collection: &str, key: &str, row: &Value) -> Change {
        self.sandbox.put(collection, key, row, self.context.now)
    }

    pub(crate) fn delete(&self, collection: &str, key: &str) -> Change {
        self.sandbox.delete(collection, key, self.context.now)
    }
}

/// For [`crate::registry::StepInfo`].
pub(crate) fn carry_out<T: Step>(stage: &Stage<'_>, parameters: &Value) -> Result<Done, FieldErrors> {
    authored::read::<T>(parameters)?.carry_out(stage)
}

/// For [`crate::registry::StepInfo`]: what the step needs of the datasets.
pub(crate) fn dataset_file<T: Step>(parameters: &Value, files: Files<'_>) -> Result<Option<DatasetFile>, FieldErrors> {
    let step = authored::read::<T>(parameters)?;
    match step.dataset_file() {
        None => Ok(None),
        Some(Wanted::Perhaps { path }) => Ok(files.get(path).cloned()),
        Some(Wanted::Needed { member, path }) => match files.get(path) {
            Some(file) => Ok(Some(file.clone())),
            None => {
                let message = format!("the datasets have no file `{}`", model::reading::shortened(path, 200));
                Err(FieldErrors::one(member, message))
            }
        },
    }
}

/// The files of the datasets, by path.
pub(crate) type Files<'a> = &'a std::collections::BTreeMap<String, DatasetFile>;

/// An object of a row or an event, in the order given.
pub(crate) fn object<const N: usize>(members: [(&str, Value); N]) -> Map<String, Value> {
    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
