//! Datasets: the initial content of sandboxes. Content is versioned in revisions; a revision that is in use never
//! changes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::{DatasetId, EntityId, FieldErrors, Timestamp, patch};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum DatasetType {
    Fhir,
    Files,
}

impl DatasetType {
    pub fn name(self) -> &'static str {
        match self {
            DatasetType::Fhir => "fhir",
            DatasetType::Files => "files",
        }
    }
}

impl std::str::FromStr for DatasetType {
    type Err = String;

    /// Parses the name, ignoring case.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut known = [DatasetType::Fhir, DatasetType::Files].into_iter();
        let dataset_type = known.find(|known| known.name().eq_ignore_ascii_case(text));
        dataset_type.ok_or_else(|| format!("must be `fhir` or `files`, is {text:?}"))
    }
}

impl<'de> Deserialize<'de> for DatasetType {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Dataset {
    pub id: DatasetId,
    pub name: String,
    pub description: Option<String>,
    pub r#type: DatasetType,
    /// The dataset that this one was branched from, starting with its content.
    pub parent_id: Option<DatasetId>,
    /// Increases with every change of the content; 0 is empty.
    pub revision: i64,
    /// The number of resources of each type (`fhir`), or of `files`, in the current revision.
    pub counts: BTreeMap<String, u64>,
    /// The size of the current revision in bytes.
    pub bytes: u64,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl Dataset {
    pub fn validate(&self) -> Result<(), FieldErrors> {
        let mut errors = FieldErrors::new();
        errors.name("name", &self.name);
        if let Some(description) = &self.description {
            errors.length("description", description, 0..=1000);
        }
        errors.into_result()
    }
}

#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewDataset {
    #[schema(min_length = 1, max_length = 200)]
    pub name: String,
    #[schema(max_length = 1000)]
    pub description: Option<String>,
    /// Case-insensitive. Default: the type of `parent_id`, otherwise `fhir`.
    pub r#type: Option<DatasetType>,
    /// Alias of `type`.
    pub format: Option<DatasetType>,
    /// Branch from this dataset: the new one has the same type and starts with its current content.
    pub parent_id: Option<DatasetId>,
    /// The content of a FHIR dataset: a Bundle whose resources have ids. Upload large data to `/datasets/{id}/data`.
    #[schema(value_type = Option<Object>)]
    pub data: Option<Value>,
    /// Alias of `data`.
    #[schema(value_type = Option<Object>)]
    pub config: Option<Value>,
}

impl NewDataset {
    /// The requested type, if any.
    pub fn chosen_type(&self) -> Result<Option<DatasetType>, FieldErrors> {
        match (self.r#type, self.format) {
            (Some(r#type), Some(format)) if r#type != format => {
                Err(FieldErrors::one("format", "must be the same as `type` when both are given"))
            }
            (r#type, format) => Ok(r#type.or(format)),
        }
    }

    /// Takes the initial Bundle, if one was sent.
    pub fn take_data(&mut self) -> Result<Option<Value>, FieldErrors> {
        let (field, data) = match (self.data.take(), self.config.take()) {
            (Some(_), Some(_)) => return Err(FieldErrors::one("config", "cannot be combined with `data`")),
            (Some(data), None) => ("data", data),
            (None, Some(config)) => ("config", config),
            (None, None) => return Ok(None),
        };
        if self.parent_id.is_some() {
            return Err(FieldErrors::one(
                field,
                "cannot be combined with `parent_id`: a branch starts with its content",
            ));
        }
        if self.chosen_type()? == Some(DatasetType::Files) {
            let message = "is only for FHIR datasets; upload files to `/datasets/{id}/files/{path}`";
            return Err(FieldErrors::one(field, message));
        }
        Ok(Some(data))
    }
}

#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DatasetPatch {
    #[serde(default, deserialize_with = "patch::value")]
    #[schema(value_type = String, required = false, min_length = 1, max_length = 200)]
    pub name: Option<String>,
    #[serde(default, deserialize_with = "patch::nullable")]
    #[schema(value_type = Option<String>, max_length = 1000)]
    pub description: Option<Option<String>>,
    /// Replaces the content of a FHIR dataset: a Bundle whose resources have ids.
    #[serde(default, deserialize_with = "patch::value")]
    #[schema(value_type = Object, required = false)]
    pub data: Option<Value>,
}

impl DatasetPatch {
    pub fn apply(self, dataset: &mut Dataset) {
        patch::set(&mut dataset.name, self.name);
        patch::set(&mut dataset.description, self.description);
    }
}

/// The content of one revision, as content hashes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Manifest {
    /// FHIR: chunks of NDJSON, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub chunks: Vec<Chunk>,
    /// Files, by path.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, FileContent>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Chunk {
    pub sha256: String,
    pub bytes: u64,
    pub resources: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct FileContent {
    pub sha256: String,
    pub size: u64,
    pub content_type: String,
}

impl Manifest {
    pub fn bytes(&self) -> u64 {
        self.chunks.iter().map(|chunk| chunk.bytes).sum::<u64>()
            + self.files.values().map(|file| file.size).sum::<u64>()
    }
}

/// A file in a listing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct DatasetFile {
    pub path: String,
    pub size: u64,
    pub content_type: String,
    pub sha256: String,
    pub modified_at: Timestamp,
}

/// A revision that is kept permanently. Every upload of FHIR data creates one, and every publication that uses the
/// dataset.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Checkpoint {
    pub revision: i64,
    /// Hash of the content; equal data has the same hash on every server.
    pub content_hash: String,
    pub counts: BTreeMap<String, u64>,
    pub bytes: u64,
    pub created_at: Timestamp,
}

/// A named row of a dataset that tasks and criteria can be bound to. `{{entity.…}}` refers to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct DatasetEntity {
    pub id: EntityId,
    pub dataset_id: DatasetId,
    pub name: String,
    /// `Patient/123`, or the path of a file.
    pub r#ref: Option<String>,
    #[schema(value_type = Object)]
    pub data: Value,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl DatasetEntity {
    /// Validates everything except `ref`, whose format depends on the dataset's type; the caller checks it.
    pub fn validate(&self) -> Result<(), FieldErrors> {
        let mut errors = FieldErrors::new();
        errors.name("name", &self.name);
        if !self.data.is_object() {
            errors.add("data", "must be an object");
        }
        errors.into_result()
    }
}

#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewDatasetEntity {
    /// Unique within the dataset.
    #[schema(min_length = 1, max_length = 200)]
    pub name: String,
    #[schema(min_length = 1, max_length = 1024)]
    pub r#ref: Option<String>,
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    pub data: Value,
}

impl NewDatasetEntity {
    pub fn into_entity(self, id: EntityId, dataset_id: DatasetId, now: Timestamp) -> DatasetEntity {
        let Self { name, r#ref, data } = self;
        let data = if data.is_null() { Value::Object(serde_json::Map::new()) } else { data };
        DatasetEntity { id, dataset_id, name, r#ref, data, created_at: now, updated_at: now }
    }
}

#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DatasetEntityPatch {
    #[serde(default, deserialize_with = "patch::value")]
    #[schema(value_type = String, required = false, min_length = 1, max_length = 200)]
    pub name: Option<String>,
    #[serde(default, deserialize_with = "patch::nullable")]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 1024)]
    pub r#ref: Option<Option<String>>,
    #[serde(default, deserialize_with = "patch::value")]
    #[schema(value_type = Object, required = false)]
    pub data: Option<Value>,
}

impl DatasetEntityPatch {
    pub fn apply(self, entity: &mut DatasetEntity) {
        patch::set(&mut entity.name, self.name);
        patch::set(&mut entity.r#ref, self.r#ref);
        patch::set(&mut entity.data, self.data);
    }
}

pub const FILE_PATH_RULE: &str = "must be a relative path of at most 1024 bytes, 255 a segment: no empty, `.` or `..` segments, no backslashes, no control characters";

/// Whether a path is valid in a file tree: relative, `/`-separated, and with only one possible spelling.
pub fn is_file_path(path: &str) -> bool {
    (1..=1024).contains(&path.len())
        && !path.contains('\\')
        && !path.chars().any(char::is_control)
        && path
            .split('/')
            .all(|segment| !segment.is_empty() && segment.len() <= 255 && segment != "." && segment != "..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ambiguous_and_invalid_file_paths_are_rejected() {
        for good in ["a", "inbox/referral 1.pdf", "a/.hidden", "ü/x..y"] {
            assert!(is_file_path(good), "{good}");
        }
        for bad in [
            "",
            "/a",
            "a/",
            "a//b",
            ".",
            "..",
            "a/../b",
            "a/./b",
            "a\\b",
            "a\0b",
            "a\nb",
            &"x".repeat(1025),
            &"x".repeat(256),
        ] {
            assert!(!is_file_path(bad), "{bad}");
        }
    }
}
