//! The definitions of an unpacked FHIR package, by canonical address.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, anyhow};
use serde_json::Value;

#[derive(Default)]
pub(crate) struct Package {
    pub(crate) structures: BTreeMap<String, Value>,
    pub(crate) value_sets: BTreeMap<String, Value>,
    pub(crate) code_systems: BTreeMap<String, Value>,
    pub(crate) search_parameters: BTreeMap<String, Value>,
    pub(crate) compartments: BTreeMap<String, Value>,
}

impl Package {
    pub(crate) fn read(directory: &Path) -> anyhow::Result<Self> {
        let mut package = Self::default();
        let entries = std::fs::read_dir(directory).with_context(|| format!("cannot read {}", directory.display()))?;
        for entry in entries {
            let path = entry?.path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if let (Some((kind, _)), true) = (name.split_once('-'), name.ends_with(".json")) {
                package.read_file(kind, &path).with_context(|| format!("cannot read {}", path.display()))?;
            }
        }
        Ok(package)
    }

    fn read_file(&mut self, kind: &str, path: &Path) -> anyhow::Result<()> {
        let definitions = match kind {
            "StructureDefinition" => &mut self.structures,
            "ValueSet" => &mut self.value_sets,
            "CodeSystem" => &mut self.code_systems,
            "SearchParameter" => &mut self.search_parameters,
            "CompartmentDefinition" => &mut self.compartments,
            _ => return Ok(()),
        };
        let definition: Value = serde_json::from_slice(&std::fs::read(path)?)?;
        let url = text(&definition, "url")?.to_owned();
        match definitions.insert(url, definition) {
            None => Ok(()),
            Some(other) => Err(anyhow!("{} is defined twice", text(&other, "url")?)),
        }
    }
}

/// The string that an object must have.
pub(crate) fn text<'a>(object: &'a Value, key: &str) -> anyhow::Result<&'a str> {
    object[key].as_str().with_context(|| format!("no {key} in {}", object["id"]))
}

/// The items of an array that may be missing.
pub(crate) fn items<'a>(object: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    object[key].as_array().into_iter().flatten()
}

/// The strings of an array that may be missing.
pub(crate) fn texts<'a>(object: &'a Value, key: &str) -> Vec<&'a str> {
    items(object, key).filter_map(Value::as_str).collect()
}

/// What a canonical address calls its definition: `…/ValueSet/languages|4.0.1` is `languages`.
pub(crate) fn name_of(canonical: &str) -> &str {
    let address = without_version(canonical);
    address.rsplit_once('/').map_or(address, |(_, name)| name)
}

pub(crate) fn without_version(canonical: &str) -> &str {
    canonical.split_once('|').map_or(canonical, |(address, _)| address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_canonical_address_ends_in_a_name_and_perhaps_a_version() {
        assert_eq!(name_of("http://hl7.org/fhir/ValueSet/languages|4.0.1"), "languages");
        assert_eq!(name_of("http://hl7.org/fhir/ValueSet/languages"), "languages");
        assert_eq!(name_of("languages"), "languages");
        assert_eq!(without_version("a/b|1"), "a/b");
    }
}
