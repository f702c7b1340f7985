//! `concepts.txt`: the codes of every value set that a CodeableConcept or Coding must come from.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::codes::value_set_codings;
use crate::elements::base_types;
use crate::package::{Package, items, name_of, text};

pub(crate) const EXPLANATION: &str = "\
An element: `path value-set system|code system|code …`, of type CodeableConcept or Coding with a required binding.
Value sets that the package does not list are not here.
";

pub(crate) fn table(package: &Package) -> anyhow::Result<Vec<String>> {
    let mut lines = BTreeSet::new();
    for (_, definition) in base_types(package)? {
        for element in items(&definition["snapshot"], "element") {
            if let Some(value_set) = required_concepts(element)
                && let Some(codings) = value_set_codings(package, value_set)
            {
                let codings: Vec<String> =
                    codings.into_iter().map(|(system, code)| format!("{system}|{code}")).collect();
                lines.insert(format!("{} {} {}", text(element, "path")?, name_of(value_set), codings.join(" ")));
            }
        }
    }
    Ok(lines.into_iter().collect())
}

/// The value set of an element that takes concepts and must take them from there.
pub(crate) fn required_concepts(element: &Value) -> Option<&str> {
    let takes_concepts =
        items(element, "type").any(|used| used["code"] == "CodeableConcept" || used["code"] == "Coding");
    let binding = &element["binding"];
    (takes_concepts && binding["strength"] == "required").then(|| binding["valueSet"].as_str()).flatten()
}
