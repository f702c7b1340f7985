//! `elements.txt`: what resources and data types are made of.

use std::collections::BTreeMap;

use anyhow::Context as _;
use serde_json::Value;

use crate::package::{Package, items, name_of, text, texts};

pub(crate) const EXPLANATION: &str = "\
A type: `name kind base`; kinds are resource, complex and primitive, in capitals when abstract; base is `-` if none.
An element: `path min..max flags types value-set`. Flags: S in the summary, M modifier, - none.
Types: `a|b` for a choice, with targets in parentheses, or `#path` of the element whose content it shares.
The value set is there when a `code` must come from it (binding strength required): see codes.txt.
Elements that a type has from its base, and those of BackboneElement and Element, are not repeated.
";

/// Types by name, each followed by its elements in the order of the standard.
pub(crate) fn table(package: &Package) -> anyhow::Result<Vec<String>> {
    let types = base_types(package)?;
    let mut inheritable = BTreeMap::new();
    for (name, definition) in &types {
        for element in items(&definition["snapshot"], "element") {
            inheritable.insert(text(element, "path")?, facts(name, element)?);
        }
    }
    let mut lines = Vec::new();
    for (name, definition) in &types {
        lines.push(format!("{name} {} {}", kind(definition)?, base(definition)));
        for element in items(&definition["snapshot"], "element").skip(1) {
            let path = text(element, "path")?;
            let inherited = text(&element["base"], "path")?;
            let facts = facts(name, element)?;
            let is_value = definition["kind"] == "primitive-type" && path.ends_with(".value");
            if !is_value && (inherited == path || inheritable.get(inherited) != Some(&facts)) {
                lines.push(format!("{path} {facts}"));
            }
        }
    }
    Ok(lines)
}

/// The value sets that `code` elements are bound to, by canonical address.
pub(crate) fn bound_value_sets(package: &Package) -> anyhow::Result<BTreeMap<String, String>> {
    let mut bound = BTreeMap::new();
    for definition in base_types(package)?.values() {
        for element in items(&definition["snapshot"], "element") {
            if let Some(canonical) = required_value_set(element) {
                bound.insert(canonical.to_owned(), name_of(canonical).to_owned());
            }
        }
    }
    Ok(bound)
}

/// Resources and data types, without profiles and logical models.
pub(crate) fn base_types(package: &Package) -> anyhow::Result<BTreeMap<&str, &Value>> {
    let kinds = ["resource", "complex-type", "primitive-type"];
    let is_base = |definition: &&Value| {
        definition["derivation"] != "constraint" && kinds.iter().any(|kind| definition["kind"] == **kind)
    };
    package.structures.values().filter(is_base).map(|definition| Ok((text(definition, "type")?, definition))).collect()
}

fn kind(definition: &Value) -> anyhow::Result<String> {
    let kind = text(definition, "kind")?.trim_end_matches("-type");
    Ok(if definition["abstract"] == true { kind.to_uppercase() } else { kind.to_owned() })
}

fn base(definition: &Value) -> &str {
    definition["baseDefinition"].as_str().map_or("-", name_of)
}

/// All that the table says of an element besides its path.
fn facts(type_name: &str, element: &Value) -> anyhow::Result<String> {
    let cardinality = format!("{}..{}", element["min"], text(element, "max")?);
    let summary = if element["isSummary"] == true { "S" } else { "" };
    let modifier = if element["isModifier"] == true { "M" } else { "" };
    let flags = if summary.len() + modifier.len() == 0 { "-".into() } else { format!("{summary}{modifier}") };
    let value_set = required_value_set(element).map_or("", name_of);
    Ok(format!("{cardinality} {flags} {} {value_set}", types(type_name, element)?).trim_end().to_owned())
}

fn types(type_name: &str, element: &Value) -> anyhow::Result<String> {
    if let Some(reference) = element["contentReference"].as_str() {
        return Ok(reference.to_owned());
    }
    // The definitions call the id of a resource a string; the standard's text, and its search parameters, an id.
    if element["base"]["path"] == "Resource.id" && type_name.starts_with(char::is_uppercase) {
        return Ok("id".into());
    }
    let types = items(element, "type").map(|used| {
        let targets: Vec<&str> = texts(used, "targetProfile").into_iter().map(name_of).collect();
        let targets = if targets.is_empty() { String::new() } else { format!("({})", targets.join(",")) };
        Ok(format!("{}{targets}", type_code(used)?))
    });
    Ok(types.collect::<anyhow::Result<Vec<String>>>()?.join("|"))
}

/// The name of a type; those of FHIRPath say in an extension which type of FHIR they stand for.
fn type_code(used: &Value) -> anyhow::Result<&str> {
    let code = text(used, "code")?;
    if !code.starts_with("http://hl7.org/fhirpath/") {
        return Ok(code);
    }
    let stands_for = items(used, "extension").find_map(|extension| extension["valueUrl"].as_str());
    Ok(stands_for.unwrap_or("string"))
}

fn required_value_set(element: &Value) -> Option<&str> {
    let has_codes = items(element, "type").any(|used| used["code"] == "code");
    let binding = &element["binding"];
    (has_codes && binding["strength"] == "required").then(|| binding["valueSet"].as_str()).flatten()
}

/// Fails early on what the table could not hold.
pub(crate) fn one_word(word: &str) -> anyhow::Result<&str> {
    let is_word = !word.is_empty() && word != "*" && !word.contains(char::is_whitespace);
    is_word.then_some(word).with_context(|| format!("{word:?} cannot stand in a line of words"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn package(definitions: Vec<Value>) -> Package {
        let structures = definitions.into_iter().map(|each| (each["type"].to_string(), each)).collect();
        Package { structures, ..Package::default() }
    }

    fn element(path: &str, base: &str, more: &Value) -> Value {
        let mut element = json!({"path": path, "min": 0, "max": "1", "base": {"path": base}});
        element.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        element
    }

    fn pet() -> Package {
        package(vec![
            json!({"type": "Resource", "kind": "resource", "abstract": true, "snapshot": {"element": [
                element("Resource", "Resource", &json!({})),
                element("Resource.id", "Resource.id", &json!({"isSummary": true, "type": [
                    {"code": "http://hl7.org/fhirpath/System.String", "extension": [{"valueUrl": "string"}]}]})),
            ]}}),
            json!({"type": "Pet", "kind": "resource", "abstract": false, "baseDefinition": "x/Resource",
                "snapshot": {"element": [
                element("Pet", "Pet", &json!({})),
                element("Pet.id", "Resource.id", &json!({"isSummary": true, "type": [{"code": "id"}]})),
                element("Pet.owner[x]", "Pet.owner[x]", &json!({"isModifier": true, "type": [
                    {"code": "string"}, {"code": "Reference", "targetProfile": ["x/Patient", "x/Group"]}]})),
                element("Pet.size", "Pet.size", &json!({"min": 1, "max": "*", "type": [{"code": "code"}],
                    "binding": {"strength": "required", "valueSet": "x/sizes|4"}})),
                element("Pet.child", "Pet.child", &json!({"contentReference": "#Pet.size"})),
            ]}}),
            json!({"type": "Pet2", "kind": "resource", "derivation": "constraint"}),
        ])
    }

    #[test]
    fn own_elements_are_listed_with_types_targets_and_bindings() {
        let expected = [
            "Pet resource Resource",
            "Pet.owner[x] 0..1 M string|Reference(Patient,Group)",
            "Pet.size 1..* - code sizes",
            "Pet.child 0..1 - #Pet.size",
            "Resource RESOURCE -",
            "Resource.id 0..1 S id",
        ];
        assert_eq!(table(&pet()).unwrap(), expected);
    }

    #[test]
    fn only_required_value_sets_of_codes_are_bound() {
        let bound = bound_value_sets(&pet()).unwrap();
        assert_eq!(bound.into_iter().collect::<Vec<_>>(), [("x/sizes|4".to_owned(), "sizes".to_owned())]);
    }

    #[test]
    fn a_word_has_no_space() {
        assert!(one_word("a-b").is_ok());
        assert!(one_word("a b").is_err() && one_word("").is_err() && one_word("*").is_err());
    }
}
