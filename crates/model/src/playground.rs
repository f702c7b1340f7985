//! Playgrounds and their sandboxes: running instances of simulators with datasets and credentials.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::simulator::SimulatorType;
use crate::{DatasetId, EnvironmentId, OrgId, PlaygroundId, SandboxId, SimulatorId, TaskRunId, Timestamp};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It belongs to a task run that is not started: its credentials are known, but it accepts no traffic yet.
    Provisioning,
    Active,
    /// It accepts no traffic and its credentials are gone; events and state stay readable.
    #[serde(alias = "torn_down")]
    Teardown,
}

impl Status {
    pub fn of(torn_down_at: Option<Timestamp>, is_provisioned: bool) -> Self {
        match (torn_down_at, is_provisioned) {
            (Some(_), _) => Self::Teardown,
            (None, true) => Self::Provisioning,
            (None, false) => Self::Active,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Playground {
    pub id: PlaygroundId,
    pub organization_id: OrgId,
    /// The environment whose simulators it runs; null for a standalone sandbox.
    pub environment_id: Option<EnvironmentId>,
    /// The task run that it belongs to. Only the task run may tear it down or change its sandboxes.
    pub task_run_id: Option<TaskRunId>,
    pub status: Status,
    pub created_at: Timestamp,
    /// When it was last reset or torn down; until then, when it was created.
    pub updated_at: Timestamp,
    /// When it was last reset to its baseline.
    pub reset_at: Option<Timestamp>,
    pub torn_down_at: Option<Timestamp>,
    pub sandboxes: Vec<Sandbox>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Sandbox {
    pub id: SandboxId,
    pub organization_id: OrgId,
    /// The playground that it belongs to; `null` if it is standalone.
    pub playground_id: Option<PlaygroundId>,
    /// The playground that was created for a standalone sandbox. It can be reset, and other sandboxes can be added to
    /// it. `null` if the sandbox belongs to a playground of an environment.
    pub own_playground_id: Option<PlaygroundId>,
    /// The simulator that it was created from. Later changes of the simulator do not affect it.
    pub simulator_id: SimulatorId,
    pub r#type: SimulatorType,
    pub name: String,
    pub status: Status,
    /// Its initial content; later datasets override earlier ones.
    pub datasets: Vec<SandboxDataset>,
    /// The credentials for its protocol, with names that depend on its type; empty after teardown.
    pub credentials: BTreeMap<String, String>,
    pub created_at: Timestamp,
    /// When its datasets last changed or it was torn down; until then, when it was created.
    pub updated_at: Timestamp,
    pub torn_down_at: Option<Timestamp>,
}

/// A dataset at the revision that the sandbox uses. Later uploads do not affect it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SandboxDataset {
    pub dataset_id: DatasetId,
    pub revision: i64,
}

#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewPlayground {
    /// One sandbox is created for each of its simulators.
    pub environment_id: EnvironmentId,
}

#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewSandbox {
    pub simulator_id: SimulatorId,
    /// Overrides the simulator's own datasets.
    pub dataset_id: Option<DatasetId>,
    /// The playground to add it to. Default: a new standalone playground.
    pub playground_id: Option<PlaygroundId>,
}

/// One record that differs from the baseline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Difference {
    /// A FHIR resource type, or another collection name.
    pub collection: String,
    pub key: String,
    pub change: DifferenceKind,
    /// The record in the baseline; null if it did not exist.
    #[schema(value_type = Option<Object>)]
    pub before: Option<serde_json::Value>,
    /// The current record; null if it was deleted.
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
