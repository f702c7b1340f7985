//! Subsets of resources (<https://hl7.org/fhir/R4/search.html#summary>): `_summary` and `_elements`.

use fhir::ResourceType;
use fhir::definitions::{Element, Structure, StructureKind};
use fhir::search::{Query, Summary};
use serde_json::{Map, Value, json};

use super::outcome::{FhirError, excerpt};

/// The part of a resource that is returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Subset {
    Whole,
    Summary,
    Text,
    Data,
    Elements(Vec<String>),
}

impl Subset {
    /// Reads the parameters of a read interaction.
    pub(crate) fn of(parameters: &[(String, String)]) -> Result<Self, FhirError> {
        let value = |name: &str| parameters.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
        match (value("_summary"), value("_elements")) {
            (None | Some("false" | ""), None | Some("")) => Ok(Self::Whole),
            (None | Some("false" | ""), Some(names)) => {
                Ok(Self::Elements(names.split(',').map(|name| name.trim().to_owned()).collect()))
            }
            (Some("true"), _) => Ok(Self::Summary),
            (Some("text"), _) => Ok(Self::Text),
            (Some("data"), _) => Ok(Self::Data),
            (Some(other), _) => {
                let message = format!("_summary must be true, text, data or false, got `{}`", excerpt(other));
                Err(FhirError::bad("value", message))
            }
        }
    }

    pub(crate) fn of_query(query: &Query) -> Self {
        match query.summary {
            Summary::True => Self::Summary,
            Summary::Text => Self::Text,
            Summary::Data => Self::Data,
            Summary::False | Summary::Count if query.elements.is_empty() => Self::Whole,
            Summary::False | Summary::Count => Self::Elements(query.elements.clone()),
        }
    }

    /// The subset for included resources: `_elements` only applies to matches.
    pub(crate) fn of_included(&self) -> Self {
        match self {
            Self::Elements(_) => Self::Whole,
            other => other.clone(),
        }
    }

    /// Applies the subset to a resource and adds the tag SUBSETTED.
    pub(crate) fn of_resource(&self, resource: &Value) -> Value {
        let structure = resource["resourceType"].as_str().and_then(|name| name.parse::<ResourceType>().ok());
        let (Some(structure), Some(fields)) = (structure.and_then(Structure::of), resource.as_object()) else {
            return resource.clone();
        };
        let is_basic = |element: &Element| matches!(element.name(), "id" | "meta");
        let mut subset = match self {
            Self::Whole => return resource.clone(),
            Self::Summary => summary(structure, fields),
            Self::Text => top_level(structure, fields, |element| {
                is_basic(element) || element.is_required() || element.name() == "text"
            }),
            Self::Data => top_level(structure, fields, |element| element.name() != "text"),
            Self::Elements(names) => top_level(structure, fields, |element| {
                is_basic(element)
                    || element.is_required()
                    || element.is_modifier()
                    || names.iter().any(|name| name == element.name())
            }),
        };
        add_tag(&mut subset);
        Value::Object(subset)
    }
}

fn element_of(structure: &Structure, key: &str) -> Option<(&'static Element, &'static Structure)> {
    let name = key.strip_prefix('_').unwrap_or(key);
    structure.element(name).map(|(_, element, used)| (element, used.content()))
}

fn top_level(
    structure: &Structure,
    fields: &Map<String, Value>,
    keeps: impl Fn(&Element) -> bool,
) -> Map<String, Value> {
    let is_kept =
        |key: &str| key == "resourceType" || element_of(structure, key).is_some_and(|(found, _)| keeps(found));
    fields.iter().filter(|(key, _)| is_kept(key)).map(|(key, value)| (key.clone(), value.clone())).collect()
}

/// The summary elements, at every level of the resource's own structure. Data types are not reduced.
fn summary(structure: &Structure, fields: &Map<String, Value>) -> Map<String, Value> {
    let mut summary = Map::new();
    for (key, value) in fields {
        if key == "resourceType" {
            summary.insert(key.clone(), value.clone());
        } else if let Some((element, content)) = element_of(structure, key).filter(|(element, _)| element.is_summary())
        {
            let is_inline = content.kind() == StructureKind::Complex && content.path().starts_with(element.path());
            let value = if is_inline { summaries(content, value) } else { value.clone() };
            summary.insert(key.clone(), value);
        }
    }
    summary
}

fn summaries(structure: &Structure, value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(|item| summaries(structure, item)).collect(),
        Value::Object(fields) => Value::Object(summary(structure, fields)),
        other => other.clone(),
    }
}

const TAG_SYSTEM: &str = "http://terminology.hl7.org/CodeSystem/v3-ObservationValue";

fn add_tag(resource: &mut Map<String, Value>) {
    let tag = json!({"system": TAG_SYSTEM, "code": "SUBSETTED"});
    let meta = resource.entry("meta").or_insert_with(|| json!({}));
    match meta.get_mut("tag").and_then(Value::as_array_mut) {
        Some(tags) => tags.push(tag),
        None => meta["tag"] = json!([tag]),
    }
}
