//! `us-core.txt`: what the profiles of US Core ask for beyond R4.

use std::collections::BTreeSet;

use anyhow::Context as _;
use serde_json::{Map, Value, json};

use crate::codes::value_set_codings;
use crate::concepts::required_concepts;
use crate::invariants::{columns, is_rule};
use crate::package::{Package, items, name_of, text, texts, without_version};

pub(crate) const EXPLANATION: &str = "\
A profile: `profile, url, version, type, title`, separated by tabs; its rules follow.
`count, path, min, max`: of each element that the path lies in. `pattern, path, JSON`: each value has at least this.
`slice, path, name, min, max, JSON`: so many of the values have at least this.
`types, path, types`: of a choice. `targets, path, types`: of a reference. `codes, path, value-set, system|code …`.
`invariant, path, key, severity, expression, meaning`: FHIRPath that holds for each value.
Not here: extensions, terminology that the package does not list, and rules inside of slices.
";

pub(crate) fn table(package: &Package, base: &Package) -> anyhow::Result<Vec<String>> {
    let mut lines = Vec::new();
    for definition in package.structures.values() {
        if definition["kind"] == "resource" && definition["derivation"] == "constraint" {
            lines.extend(profile(package, base, definition).with_context(|| format!("profile {}", definition["id"]))?);
        }
    }
    Ok(lines)
}

fn profile(package: &Package, base: &Package, definition: &Value) -> anyhow::Result<Vec<String>> {
    let head = ["url", "version", "type", "title"].map(|name| text(definition, name));
    let head = head.into_iter().collect::<anyhow::Result<Vec<&str>>>()?;
    let mut lines = vec![format!("profile\t{}", head.join("\t"))];
    let elements: Vec<&Value> = items(&definition["snapshot"], "element").collect();
    for element in &elements {
        let id = text(element, "id")?;
        match id.split_once(':') {
            None => lines.extend(rules(package, base, element)?),
            Some((_, slice)) if !slice.contains(['.', ':']) && !id.contains("xtension:") => {
                lines.extend(sliced(&elements, element)?);
            }
            Some(_) => {}
        }
    }
    Ok(lines)
}

fn rules(package: &Package, base: &Package, element: &Value) -> anyhow::Result<Vec<String>> {
    let path = text(element, "path")?;
    let mut lines = Vec::new();
    let (least, most) = (element["min"].as_u64().unwrap_or(0), text(element, "max")?);
    let of_base = &element["base"];
    if path.contains('.') && (least > of_base["min"].as_u64().unwrap_or(0) || of_base["max"] != most) {
        lines.push(format!("count\t{path}\t{least}\t{most}"));
    }
    if let Some(pattern) = pattern(element) {
        lines.push(format!("pattern\t{path}\t{pattern}"));
    }
    if path.ends_with("[x]") {
        let types: Vec<&str> = items(element, "type").filter_map(|used| used["code"].as_str()).collect();
        lines.push(format!("types\t{path}\t{}", types.join(",")));
    }
    let targets = targets(package, element);
    if !targets.is_empty() {
        lines.push(format!("targets\t{path}\t{}", targets.join(",")));
    }
    if let Some(value_set) = required_concepts(element)
        && let Some(codings) = value_set_codings(package, value_set).or_else(|| value_set_codings(base, value_set))
    {
        let codings: Vec<String> = codings.into_iter().map(|(system, code)| format!("{system}|{code}")).collect();
        lines.push(format!("codes\t{path}\t{}\t{}", name_of(value_set), codings.join(" ")));
    }
    let is_own = |constraint: &&Value| {
        constraint["key"].as_str().is_some_and(|key| key.starts_with("us-core-") || key.starts_with("vs-"))
    };
    for constraint in items(element, "constraint").filter(|constraint| is_rule(constraint)).filter(is_own) {
        lines.push(format!("invariant\t{path}\t{}", columns(constraint)?));
    }
    Ok(lines)
}

/// The types that a reference may lead to, if the profile names any of its own.
fn targets<'a>(package: &'a Package, element: &'a Value) -> Vec<&'a str> {
    let references = items(element, "type").filter(|used| used["code"] == "Reference");
    let profiles: Vec<&str> = references.flat_map(|used| texts(used, "targetProfile")).collect();
    let mut is_own = false;
    let mut types: Vec<&str> = profiles
        .into_iter()
        .map(|canonical| match package.structures.get(without_version(canonical)) {
            Some(profile) => {
                is_own = true;
                profile["type"].as_str().unwrap_or_default()
            }
            None => name_of(canonical),
        })
        .collect();
    types.sort_unstable();
    types.dedup();
    if is_own { types } else { Vec::new() }
}

/// A slice that is told apart by a value that stands in it.
fn sliced(elements: &[&Value], slice: &Value) -> anyhow::Result<Option<String>> {
    let id = text(slice, "id")?;
    let (path, name) = (text(slice, "path")?, text(slice, "sliceName")?);
    let mut known = pattern(slice).cloned();
    for element in elements {
        let inner = text(element, "id")?.strip_prefix(id).and_then(|rest| rest.strip_prefix('.'));
        if let (Some(inner), Some(pattern)) = (inner, pattern(element))
            && !inner.contains([':', '['])
        {
            let mut place = known.get_or_insert_with(|| json!({}));
            for step in inner.split('.') {
                place = &mut place[step];
            }
            *place = pattern.clone();
        }
    }
    let (least, most) = (element_min(slice), text(slice, "max")?);
    let Some(known) = known else { return Ok(None) };
    Ok((least > 0 || most != "*").then(|| format!("slice\t{path}\t{name}\t{least}\t{most}\t{known}")))
}

fn element_min(element: &Value) -> u64 {
    element["min"].as_u64().unwrap_or(0)
}

/// A pattern or a fixed value.
fn pattern(element: &Value) -> Option<&Value> {
    let fields: &Map<String, Value> = element.as_object()?;
    let is_type = |rest: &str| rest.starts_with(|first: char| first.is_ascii_uppercase());
    let found = fields
        .iter()
        .find(|(key, _)| key.strip_prefix("pattern").or_else(|| key.strip_prefix("fixed")).is_some_and(is_type));
    found.map(|(_, value)| value)
}

pub(crate) const SEARCH_PARAMETERS: &str = "\
Search parameters that R4 does not have; columns as in search-parameters.txt.
Expressions that end in `.code` are cut before it, so that the concept is found with its system.
The canonical address of a parameter is http://hl7.org/fhir/us/core/SearchParameter/ and its id.
";

/// US Core's own search parameters: those that R4 does not have.
pub(crate) fn search_parameters(package: &Package, base: &Package) -> anyhow::Result<Vec<String>> {
    let mut known: BTreeSet<(String, String)> = BTreeSet::new();
    for parameter in base.search_parameters.values() {
        for kind in texts(parameter, "base") {
            known.insert((kind.to_owned(), text(parameter, "code")?.to_owned()));
        }
    }
    let mut lines = Vec::new();
    for parameter in package.search_parameters.values() {
        let code = text(parameter, "code")?.to_owned();
        let is_new = |kind: &&str| {
            ![*kind, "DomainResource", "Resource"]
                .iter()
                .any(|kind| known.contains(&((*kind).to_owned(), code.clone())))
        };
        if texts(parameter, "base").iter().any(is_new) {
            let columns = ["id", "code", "type"].map(|name| text(parameter, name));
            let columns = columns.into_iter().collect::<anyhow::Result<Vec<&str>>>()?;
            let (bases, targets) = (texts(parameter, "base").join(","), texts(parameter, "target").join(","));
            let targets = if targets.is_empty() { "-" } else { &targets };
            // A code alone would not be found by its system: the concept that it lies in is.
            let expression = text(parameter, "expression")?;
            let expression = expression.strip_suffix(".code").unwrap_or(expression);
            let expression = expression.strip_suffix(".coding").unwrap_or(expression);
            // The name in FHIRPath, not in JSON.
            let expression = expression.replace(".valueDateTime", ".value");
            lines.push(format!("{}\t{bases}\t{targets}\t-\t{expression}\t-", columns.join("\t")));
        }
    }
    lines.sort_unstable();
    Ok(lines)
}
