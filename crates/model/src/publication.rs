//! Published versions: an immutable snapshot of everything that a run needs, identified by a content hash.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::audit::VersionAudit;
use crate::benchmark::Visibility;
use crate::canonical;
use crate::criterion::Criterion;
use crate::dataset::{DatasetEntity, DatasetType, Manifest};
use crate::simulator::SimulatorType;
use crate::{BenchmarkId, DatasetId, EntityId, EnvironmentId, FieldErrors, SimulatorId, TaskId, Timestamp};

/// Options of a publication.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Publish {
    /// The slug, for the first publication of a benchmark without one.
    #[schema(pattern = "^[a-z0-9]+(-[a-z0-9]+)*$", max_length = 64)]
    pub slug: Option<String>,
    /// The number of the new version, higher than the newest. Default: the next number. Use it for content that has the
    /// same version number on every server.
    #[schema(minimum = 1, maximum = 1_000_000)]
    pub version: Option<i64>,
}

/// The version numbers that a publication can request.
const VERSIONS: std::ops::RangeInclusive<i64> = 1..=1_000_000;

impl Publish {
    pub fn validate(&self) -> Result<(), FieldErrors> {
        let mut errors = FieldErrors::new();
        if self.slug.as_ref().is_some_and(|slug| !crate::slug::is_slug(slug)) {
            errors.add("slug", crate::slug::SLUG_RULE);
        }
        if self.version.is_some_and(|version| !VERSIONS.contains(&version)) {
            errors.add("version", format!("must be a whole number from {} to {}", VERSIONS.start(), VERSIONS.end()));
        }
        errors.into_result()
    }
}

/// Everything that a run of this version needs, independent of later edits and deletions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Snapshot {
    pub name: String,
    pub description: Option<String>,
    pub timeout: i64,
    pub concurrency: i64,
    pub environment: FrozenEnvironment,
    pub datasets: Vec<FrozenDataset>,
    pub entities: Vec<DatasetEntity>,
    pub tasks: Vec<FrozenTask>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct FrozenEnvironment {
    pub id: EnvironmentId,
    pub name: String,
    pub simulators: Vec<FrozenSimulator>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct FrozenSimulator {
    pub id: SimulatorId,
    pub r#type: SimulatorType,
    pub name: String,
    #[schema(value_type = Object)]
    pub config: Value,
    pub datasets: Vec<DatasetId>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct FrozenDataset {
    pub id: DatasetId,
    pub name: String,
    pub r#type: DatasetType,
    pub revision: i64,
    pub manifest: Manifest,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct FrozenTask {
    pub id: TaskId,
    pub name: String,
    pub timeout: Option<i64>,
    pub tags: Vec<String>,
    pub task_item: Value,
    #[schema(value_type = Object)]
    pub scenario: Value,
    pub entities: Vec<EntityId>,
    pub criteria: Vec<Criterion>,
}

impl Snapshot {
    /// Whether a blob is part of one of its datasets.
    pub fn names_blob(&self, sha256: &str) -> bool {
        let manifests = || self.datasets.iter().map(|dataset| &dataset.manifest);
        manifests().flat_map(|manifest| &manifest.chunks).any(|chunk| chunk.sha256 == sha256)
            || manifests().flat_map(|manifest| manifest.files.values()).any(|file| file.sha256 == sha256)
    }

    /// SHA-256 over the canonical content. Ids are replaced by the order of their first occurrence, and bookkeeping
    /// (times, revision numbers) is left out, so that the same benchmark has the same hash on every server.
    pub fn content_hash(&self) -> String {
        let mut value = serde_json::to_value(self).unwrap_or_default();
        let mut seen = BTreeMap::new();
        normalize(&mut value, &mut seen);
        canonical::sha256_hex(canonical::to_string(&value).as_bytes())
    }
}

const BOOKKEEPING: [&str; 5] = ["created_at", "updated_at", "revision", "warnings", "guard"];
/// Members that were added after benchmarks had been published. They are left out at their default value, so that the
/// hash of older content does not change.
const LATER_MEMBERS: [(&str, Value); 2] = [("critical", Value::Bool(false)), ("public_label", Value::Null)];
const ID_MEMBERS: [&str; 5] = ["id", "dataset_id", "benchmark_id", "task_id", "input_entity_id"];
const ID_LISTS: [&str; 2] = ["datasets", "entities"];
/// Authored JSON, and the manifest with its authored file names. Anything in them that looks like an id or a date is
/// content.
const AUTHORED: [&str; 6] = ["config", "task_item", "scenario", "assertion", "data", "manifest"];

/// Removes bookkeeping and replaces ids by their order, see [`Snapshot::content_hash`].
fn normalize(value: &mut Value, seen: &mut BTreeMap<String, usize>) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| normalize(item, seen)),
        Value::Object(members) => {
            members.retain(|key, member| {
                let is_default = LATER_MEMBERS.iter().any(|(name, default)| name == key && member == default);
                !BOOKKEEPING.contains(&key.as_str()) && !is_default
            });
            for (key, member) in members.iter_mut().filter(|(key, _)| !AUTHORED.contains(&key.as_str())) {
                match member {
                    Value::String(id) if ID_MEMBERS.contains(&key.as_str()) => *member = ordinal(id, seen),
                    Value::Array(items) if ID_LISTS.contains(&key.as_str()) => {
                        for item in items {
                            match item {
                                Value::String(id) => *item = ordinal(id, seen),
                                other => normalize(other, seen),
                            }
                        }
                    }
                    other => normalize(other, seen),
                }
            }
        }
        _ => {}
    }
}

fn ordinal(id: &str, seen: &mut BTreeMap<String, usize>) -> Value {
    let next = seen.len();
    let number = *seen.entry(id.to_owned()).or_insert(next);
    Value::String(format!("#{number}"))
}

/// A published version with its frozen content, for its owner. `verial benchmarks pull SLUG@VERSION` reads it.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct VersionContent {
    pub slug: String,
    pub version: i64,
    pub visibility: Visibility,
    pub content_hash: String,
    pub content: Snapshot,
}

/// A published version as visible to everyone who may run it: without criteria, scenario and data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct BenchmarkVersion {
    pub benchmark_id: BenchmarkId,
    pub slug: String,
    pub version: i64,
    pub name: String,
    pub description: Option<String>,
    pub visibility: Visibility,
    /// SHA-256 of the frozen content.
    pub content_hash: String,
    pub timeout: i64,
    pub concurrency: i64,
    pub simulators: Vec<SimulatorType>,
    pub tasks: Vec<VersionTask>,
    /// The axes of its criteria, `__default__` for criteria without one. Only visible to the owner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub axis_names: Option<Vec<String>>,
    pub published_at: Timestamp,
    /// The audit; null until one is recorded. Not part of the content.
    pub audit: Option<VersionAudit>,
}

/// What a solver can see of a version before running it. The list of tasks is not included.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RunnableVersion {
    pub benchmark_id: BenchmarkId,
    pub slug: String,
    pub version: i64,
    pub name: String,
    /// Timeout in seconds for tasks without their own timeout.
    pub timeout: i64,
    pub concurrency: i64,
    pub simulators: Vec<SimulatorType>,
    /// The number of tasks.
    pub tasks: usize,
}

impl From<BenchmarkVersion> for RunnableVersion {
    fn from(version: BenchmarkVersion) -> Self {
        Self {
            benchmark_id: version.benchmark_id,
            slug: version.slug,
            version: version.version,
            name: version.name,
            timeout: version.timeout,
            concurrency: version.concurrency,
            simulators: version.simulators,
            tasks: version.tasks.len(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct VersionTask {
    pub id: TaskId,
    pub name: String,
    pub timeout: i64,
    pub tags: Vec<String>,
    /// The frozen criteria. Only visible to the owner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub criteria: Option<Vec<Criterion>>,
}

impl VersionTask {
    pub fn new(task: &FrozenTask, default_timeout: i64, with_criteria: bool) -> Self {
        Self {
            id: task.id.clone(),
            name: task.name.clone(),
            timeout: task.timeout.unwrap_or(default_timeout),
            tags: task.tags.clone(),
            criteria: with_criteria.then(|| task.criteria.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn hash(criterion: &Value) -> String {
        let snapshot = json!({
            "name": "Benchmark", "description": null, "timeout": 60, "concurrency": 1, "datasets": [], "entities": [],
            "environment": {"id": "env_01K9Z3T5Q8W7N4M2R6V0XBHCDE", "name": "Clinic", "simulators": []},
            "tasks": [{
                "id": "task_01K9Z3T5Q8W7N4M2R6V0XBHCDE", "name": "Task", "timeout": null, "tags": [], "task_item": {},
                "scenario": {}, "entities": [], "criteria": [criterion],
            }],
        });
        serde_json::from_value::<Snapshot>(snapshot).unwrap().content_hash()
    }

    /// Versions that were published before these members existed keep their hash.
    #[test]
    fn members_added_later_change_the_hash_only_when_set() {
        let criterion = |members: Value| {
            let mut criterion = json!({
                "id": "crit_01K9Z3T5Q8W7N4M2R6V0XBHCDE", "task_id": "task_01K9Z3T5Q8W7N4M2R6V0XBHCDE", "label": "Label",
                "assertion": {"assert": "no-side-effects", "critical": false}, "weight": 1, "axis": null,
                "input_entity_id": null, "warnings": [], "created_at": "2026-04-23T12:00:00.000Z",
                "updated_at": "2026-04-23T12:00:00.000Z",
            });
            for (name, value) in members.as_object().unwrap() {
                criterion[name] = value.clone();
            }
            criterion
        };
        let before = hash(&criterion(json!({})));
        assert_eq!(before, HASH_WITHOUT_LATER_MEMBERS);
        assert_eq!(hash(&criterion(json!({"critical": false, "public_label": null, "guard": true}))), before);
        assert_ne!(hash(&criterion(json!({"critical": true}))), before);
        assert_ne!(hash(&criterion(json!({"public_label": "Other"}))), before);
    }

    const HASH_WITHOUT_LATER_MEMBERS: &str = "4e83961ee1dcddb1808fa5767d876eb3abd1e8e1862b6c4385c40dfa16b4067c";
}
