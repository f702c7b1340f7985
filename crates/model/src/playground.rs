//! Playgrounds and their sandboxes: running instances of simulators, over datasets, with credentials of their own.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::simulator::SimulatorType;
use crate::{DatasetId, EnvironmentId, OrgId, PlaygroundId, SandboxId, SimulatorId, TaskRunId, Timestamp};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Active,
    /// No traffic and no credentials any more; events and state stay readable.
    #[serde(alias = "torn_down")]
    Teardown,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Playground {
    pub id: PlaygroundId,
    pub organization_id: OrgId,
    /// The environment whose simulators it runs; null for a sandbox that was made alone.
    pub environment_id: Option<EnvironmentId>,
    /// The task run that is done in it: only that may end it or change what it is made of.
    pub task_run_id: Option<TaskRunId>,
    pub status: Status,
    pub created_at: Timestamp,
    /// When it was last reset or torn down; until then, when it was created.
    pub updated_at: Timestamp,
    /// When it last went back to its baseline.
    pub reset_at: Option<Timestamp>,
    pub torn_down_at: Option<Timestamp>,
    pub sandboxes: Vec<Sandbox>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Sandbox {
    pub id: SandboxId,
    pub organization_id: OrgId,
    /// The playground that it belongs to; `null` when it is standalone.
    pub playground_id: Option<PlaygroundId>,
    /// The playground that was created for a standalone sandbox: it can be reset, and other sandboxes can be added to it.
    /// `null` when it belongs to a playground of an environment.
    pub own_playground_id: Option<PlaygroundId>,
    /// The simulator that it was made from, as that was then.
    pub simulator_id: SimulatorId,
    pub r#type: SimulatorType,
    pub name: String,
    pub status: Status,
    /// What it started from; later ones lie over earlier ones.
    pub datasets: Vec<SandboxDataset>,
    /// What a client of its protocol needs, by the names of its type; empty after teardown.
    pub credentials: BTreeMap<String, String>,
    pub created_at: Timestamp,
    /// When its datasets last changed or it was torn down; until then, when it was created.
    pub updated_at: Timestamp,
    pub torn_down_at: Option<Timestamp>,
}

/// A dataset at the revision that the sandbox reads, whatever is uploaded later.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SandboxDataset {
    pub dataset_id: DatasetId,
    pub revision: i64,
}

#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewPlayground {
    /// One sandbox is made for each of its simulators.
    pub environment_id: EnvironmentId,
}

#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewSandbox {
    pub simulator_id: SimulatorId,
    /// Laid over the simulator's own datasets.
    pub dataset_id: Option<DatasetId>,
    /// The playground to put it in; without one it is standalone, with a playground of its own.
    pub playground_id: Option<PlaygroundId>,
}

/// One record that differs from the baseline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Difference {
    /// A FHIR resource type, or another kind of rows.
    pub collection: String,
    pub key: String,
    pub change: DifferenceKind,
    /// As it was in the baseline; null when it was not there.
    #[schema(value_type = Option<Object>)]
    pub before: Option<serde_json::Value>,
    /// As it is now; null when it was deleted.
    #[schema(value_type = Option<Object>)]
    pub after: Option<serde_json::Value>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum DifferenceKind {
    Created,
    Updated,
    Deleted,
}

/// A record of a sandbox's state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct StateRecord {
    pub collection: String,
    pub key: String,
    pub version: u64,
    pub updated_at: Timestamp,
    #[schema(value_type = Object)]
    pub value: serde_json::Value,
}
