//! `invariants.txt`: the conditions that R4 puts on types and elements, as FHIRPath.

use serde_json::Value;

use crate::elements::base_types;
use crate::package::{Package, items, text};

pub(crate) const EXPLANATION: &str = "\
An invariant: `path, key, severity, expression, meaning`, separated by tabs; the severity is error or warning.
The path is a type or an element; the expression holds for each value there. ele-1 is part of the structure and not
here, and neither are recommendations (best practices).
";

const BEST_PRACTICE: &str = "http://hl7.org/fhir/StructureDefinition/elementdefinition-bestpractice";

pub(crate) fn table(package: &Package) -> anyhow::Result<Vec<String>> {
    let mut lines = Vec::new();
    for (_, definition) in base_types(package)? {
        for element in items(&definition["differential"], "element") {
            let path = text(element, "path")?;
            for constraint in items(element, "constraint").filter(|constraint| is_rule(constraint)) {
                lines.push(format!("{path}\t{}", columns(constraint)?));
            }
        }
    }
    lines.sort_unstable();
    lines.dedup();
    Ok(lines)
}

/// Key, severity, expression and meaning.
pub(crate) fn columns(constraint: &Value) -> anyhow::Result<String> {
    let plain = |name: &str| Ok(text(constraint, name)?.split_whitespace().collect::<Vec<_>>().join(" "));
    let columns: anyhow::Result<Vec<String>> =
        ["key", "severity", "expression", "human"].into_iter().map(plain).collect();
    Ok(columns?.join("\t"))
}

pub(crate) fn is_rule(constraint: &Value) -> bool {
    let is_best_practice = items(constraint, "extension")
        .any(|extension| extension["url"] == BEST_PRACTICE && extension["valueBoolean"] == true);
    constraint["key"] != "ele-1" && constraint["expression"].is_string() && !is_best_practice
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn rules_are_lines_and_recommendations_are_not() {
        let constraint =
            |key: &str| json!({"key": key, "severity": "error", "human": "a\n b", "expression": "x.exists()"});
        let mut advice = constraint("dom-6");
        advice["extension"] = json!([{"url": BEST_PRACTICE, "valueBoolean": true}]);
        let definition = json!({"type": "Pet", "kind": "resource", "differential": {"element": [
            {"path": "Pet", "constraint": [constraint("pet-1"), constraint("ele-1"), advice]}]}});
        let structures = [("Pet".to_owned(), definition)].into();
        let package = Package { structures, ..Package::default() };
        assert_eq!(table(&package).unwrap(), ["Pet\tpet-1\terror\tx.exists()\ta b"]);
    }
}
