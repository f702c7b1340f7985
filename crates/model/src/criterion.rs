//! Criteria: each checks one aspect of the state that an agent left behind.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::weight::Weight;
use crate::{CriterionId, EntityId, FieldErrors, TaskId, Timestamp, patch};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Criterion {
    pub id: CriterionId,
    pub task_id: TaskId,
    pub label: String,
    /// `{"assert": "fhir-resource-state", …}`; see the criteria reference in the manual.
    #[schema(value_type = Object)]
    pub assertion: Value,
    pub weight: Weight,
    /// Scores are also averaged per axis. Without an axis, the criterion counts under `__default__`.
    pub axis: Option<String>,
    /// The entity that `{{entity.…}}` in the assertion refers to.
    pub input_entity_id: Option<EntityId>,
    /// Failing it means harm. It scores 0 unless it passes, and its failures are counted separately from the verdict.
    #[serde(default)]
    pub critical: bool,
    /// Shown to agents instead of the label in scored runs.
    #[serde(default)]
    pub public_label: Option<String>,
    /// Whether an agent that does nothing passes it. Derived from the assertion; never stored.
    #[serde(default)]
    #[schema(read_only)]
    pub guard: bool,
    /// Problems that make this criterion fail for every agent, such as an unknown `assert`.
    pub warnings: Vec<String>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl Criterion {
    /// Validates everything except the assertion, which the checks validate.
    pub fn validate(&self) -> Result<(), FieldErrors> {
        let mut errors = FieldErrors::new();
        errors.name("label", &self.label);
        if let Some(public_label) = &self.public_label {
            errors.name("public_label", public_label);
        }
        if let Some(axis) = &self.axis {
            errors.length("axis", axis, 1..=64);
            if axis.chars().any(char::is_control) {
                errors.add("axis", "must not contain control characters");
            }
            if axis.starts_with("__") {
                errors.add("axis", "names that start with `__` are reserved");
            }
        }
        errors.into_result()
    }
}

#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewCriterion {
    pub task_id: TaskId,
    #[schema(min_length = 1, max_length = 200)]
    pub label: String,
    #[schema(value_type = Object)]
    pub assertion: Value,
    /// Default: 1.
    pub weight: Option<Weight>,
    #[schema(min_length = 1, max_length = 64)]
    pub axis: Option<String>,
    pub input_entity_id: Option<EntityId>,
    /// Default: false.
    #[serde(default)]
    pub critical: bool,
    #[schema(min_length = 1, max_length = 200)]
    pub public_label: Option<String>,
}

impl NewCriterion {
    pub fn into_criterion(self, id: CriterionId, now: Timestamp) -> Criterion {
        Criterion {
            id,
            task_id: self.task_id,
            label: self.label,
            assertion: self.assertion,
            weight: self.weight.unwrap_or(Weight::ONE),
            axis: self.axis,
            input_entity_id: self.input_entity_id,
            critical: self.critical,
            public_label: self.public_label,
            guard: false,
            warnings: Vec::new(),
            created_at: now,
            updated_at: now,
        }
    }
}

#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CriterionPatch {
    #[serde(default, deserialize_with = "patch::value")]
    #[schema(value_type = String, required = false, min_length = 1, max_length = 200)]
    pub label: Option<String>,
    #[serde(default, deserialize_with = "patch::value")]
    #[schema(value_type = Object, required = false)]
    pub assertion: Option<Value>,
    #[serde(default, deserialize_with = "patch::value")]
    #[schema(value_type = Weight, required = false)]
    pub weight: Option<Weight>,
    #[serde(default, deserialize_with = "patch::nullable")]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 64)]
    pub axis: Option<Option<String>>,
    #[serde(default, deserialize_with = "patch::nullable")]
    #[schema(value_type = Option<EntityId>)]
    pub input_entity_id: Option<Option<EntityId>>,
    #[serde(default, deserialize_with = "patch::value")]
    #[schema(value_type = bool, required = false)]
    pub critical: Option<bool>,
    #[serde(default, deserialize_with = "patch::nullable")]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 200)]
    pub public_label: Option<Option<String>>,
}

impl CriterionPatch {
    pub fn apply(self, criterion: &mut Criterion) {
        patch::set(&mut criterion.label, self.label);
        patch::set(&mut criterion.assertion, self.assertion);
        patch::set(&mut criterion.weight, self.weight);
        patch::set(&mut criterion.axis, self.axis);
        patch::set(&mut criterion.input_entity_id, self.input_entity_id);
        patch::set(&mut criterion.critical, self.critical);
        patch::set(&mut criterion.public_label, self.public_label);
    }
}
