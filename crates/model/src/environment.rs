//! Environments: the set of simulators that a benchmark's tasks run in.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::simulator::{Simulator, SimulatorType};
use crate::{EnvironmentId, FieldErrors, SimulatorId, Timestamp, patch};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Environment {
    pub id: EnvironmentId,
    pub name: String,
    pub description: Option<String>,
    pub simulators: Vec<SimulatorSummary>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SimulatorSummary {
    pub id: SimulatorId,
    pub r#type: SimulatorType,
    pub name: String,
}

impl From<&Simulator> for SimulatorSummary {
    fn from(simulator: &Simulator) -> Self {
        Self { id: simulator.id.clone(), r#type: simulator.r#type, name: simulator.name.clone() }
    }
}

impl Environment {
    pub fn validate(&self) -> Result<(), FieldErrors> {
        let mut errors = FieldErrors::new();
        errors.name("name", &self.name);
        if let Some(description) = &self.description {
            errors.length("description", description, 0..=1000);
        }
        errors.into_result()
    }
}

#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewEnvironment {
    #[schema(min_length = 1, max_length = 200)]
    pub name: String,
    #[schema(max_length = 1000)]
    pub description: Option<String>,
}

impl NewEnvironment {
    pub fn into_environment(self, id: EnvironmentId, now: Timestamp) -> Environment {
        let Self { name, description } = self;
        Environment { id, name, description, simulators: Vec::new(), created_at: now, updated_at: now }
    }
}

#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct EnvironmentPatch {
    #[serde(default, deserialize_with = "patch::value")]
    #[schema(value_type = String, required = false, min_length = 1, max_length = 200)]
    pub name: Option<String>,
    #[serde(default, deserialize_with = "patch::nullable")]
    #[schema(value_type = Option<String>, max_length = 1000)]
    pub description: Option<Option<String>>,
}

impl EnvironmentPatch {
    pub fn apply(self, environment: &mut Environment) {
        patch::set(&mut environment.name, self.name);
        patch::set(&mut environment.description, self.description);
    }
}
