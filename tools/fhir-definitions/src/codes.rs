//! `codes.txt`: the codes of every value set that an element must take its code from.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::elements::{bound_value_sets, one_word};
use crate::package::{Package, items, without_version};

pub(crate) const EXPLANATION: &str = "\
A value set: `name code code …`, both sorted by byte; `name *` when its codes cannot be listed (mime types, currencies).
";

type Codes<'a> = BTreeSet<&'a str>;

pub(crate) fn table(package: &Package) -> anyhow::Result<Vec<String>> {
    let mut lines = Vec::new();
    for (canonical, name) in bound_value_sets(package)? {
        let mut line = name;
        match value_set(package, &canonical) {
            None => line.push_str(" *"),
            Some(codes) => {
                for code in codes {
                    line.push(' ');
                    line.push_str(one_word(code)?);
                }
            }
        }
        lines.push(line);
    }
    lines.sort_unstable_by(|left, right| left.split(' ').next().cmp(&right.split(' ').next()));
    let names: BTreeSet<_> = lines.iter().map(|line| line.split(' ').next()).collect();
    anyhow::ensure!(names.len() == lines.len(), "two value sets have one name");
    Ok(lines)
}

/// The systems and codes of a value set, if the package says all of them.
pub(crate) fn value_set_codings<'a>(package: &'a Package, canonical: &str) -> Option<BTreeSet<(&'a str, &'a str)>> {
    let compose = &package.value_sets.get(without_version(canonical))?["compose"];
    let mut codings = BTreeSet::new();
    if items(compose, "exclude").next().is_some() {
        return None;
    }
    for include in items(compose, "include") {
        match include["system"].as_str() {
            Some(system) => {
                codings.extend(of_system(package, include, system)?.into_iter().map(|code| (system, code)));
            }
            None => {
                for canonical in items(include, "valueSet") {
                    codings.extend(value_set_codings(package, canonical.as_str()?)?);
                }
            }
        }
    }
    let is_word = |word: &str| !word.contains(char::is_whitespace);
    (!codings.is_empty() && codings.iter().all(|(system, code)| is_word(system) && is_word(code))).then_some(codings)
}

/// All codes, if the package says all of them.
fn value_set<'a>(package: &'a Package, canonical: &str) -> Option<Codes<'a>> {
    let compose = &package.value_sets.get(without_version(canonical))?["compose"];
    let mut codes = Codes::new();
    for include in items(compose, "include") {
        codes.extend(selection(package, include)?);
    }
    for exclude in items(compose, "exclude") {
        let excluded = selection(package, exclude)?;
        codes.retain(|code| !excluded.contains(code));
    }
    (!codes.is_empty()).then_some(codes)
}

/// The codes of one `include` or `exclude`; those of a system and of value sets are intersected.
fn selection<'a>(package: &'a Package, include: &'a Value) -> Option<Codes<'a>> {
    let mut selected = match include["system"].as_str() {
        Some(system) => Some(of_system(package, include, system)?),
        None => None,
    };
    for canonical in items(include, "valueSet") {
        let codes = value_set(package, canonical.as_str()?)?;
        selected = Some(match selected {
            Some(before) => before.intersection(&codes).copied().collect(),
            None => codes,
        });
    }
    selected
}

fn of_system<'a>(package: &'a Package, include: &'a Value, system: &str) -> Option<Codes<'a>> {
    if include["concept"].is_array() {
        return items(include, "concept").map(|concept| concept["code"].as_str()).collect();
    }
    let system = package.code_systems.get(system)?;
    let mut codes = Codes::new();
    if system["content"] != "complete" {
        return None;
    }
    collect(system, &mut codes);
    for filter in items(include, "filter") {
        let mut passing = Codes::new();
        descend(system, filter, &mut passing)?;
        codes.retain(|code| passing.contains(code));
    }
    Some(codes)
}

/// The code of every concept below.
fn collect<'a>(parent: &'a Value, codes: &mut Codes<'a>) {
    for concept in items(parent, "concept") {
        codes.extend(concept["code"].as_str());
        collect(concept, codes);
    }
}

/// The codes that a hierarchical filter lets pass; other filters are not understood.
fn descend<'a>(parent: &'a Value, filter: &Value, passing: &mut Codes<'a>) -> Option<()> {
    let with_itself = match filter["op"].as_str()? {
        "is-a" => true,
        "descendent-of" => false,
        _ => return None,
    };
    for concept in items(parent, "concept") {
        if concept["code"] == filter["value"] {
            passing.extend(concept["code"].as_str().filter(|_| with_itself));
            collect(concept, passing);
        }
        descend(concept, filter, passing)?;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn codes(compose: &Value) -> Option<Vec<String>> {
        let mut package = Package::default();
        let nested = json!({"code": "a", "concept": [{"code": "b", "concept": [{"code": "c"}]}]});
        package.code_systems.insert("whole".into(), json!({"content": "complete", "concept": [nested, {"code": "d"}]}));
        package.code_systems.insert("part".into(), json!({"content": "fragment", "concept": [{"code": "a"}]}));
        package.value_sets.insert(
            "other".into(),
            json!({"compose": {"include": [
            {"system": "else", "concept": [{"code": "c"}, {"code": "z"}]}]}}),
        );
        package.value_sets.insert("set".into(), json!({ "compose": compose }));
        value_set(&package, "set|4.0.1").map(|codes| codes.into_iter().map(str::to_owned).collect())
    }

    #[track_caller]
    fn check(include: &Value, expected: &[&str]) {
        assert_eq!(codes(&json!({"include": [include]})).unwrap(), expected);
    }

    #[test]
    fn systems_concepts_filters_and_other_sets_are_expanded() {
        check(&json!({"system": "whole"}), &["a", "b", "c", "d"]);
        check(&json!({"system": "any", "concept": [{"code": "x"}]}), &["x"]);
        check(&json!({"system": "whole", "filter": [{"op": "is-a", "value": "b"}]}), &["b", "c"]);
        check(&json!({"system": "whole", "filter": [{"op": "descendent-of", "value": "a"}]}), &["b", "c"]);
        check(&json!({"valueSet": ["other"]}), &["c", "z"]);
        check(&json!({"system": "whole", "valueSet": ["other"]}), &["c"]);
    }

    #[test]
    fn what_is_excluded_is_out() {
        let compose = json!({"include": [{"system": "whole"}], "exclude": [{"valueSet": ["other"]}]});
        assert_eq!(codes(&compose).unwrap(), ["a", "b", "d"]);
    }

    #[test]
    fn what_the_package_does_not_say_cannot_be_listed() {
        for include in [
            json!({"system": "part"}),
            json!({"system": "absent"}),
            json!({"valueSet": ["absent"]}),
            json!({"system": "whole", "filter": [{"op": "regex", "value": "a"}]}),
        ] {
            assert_eq!(codes(&json!({"include": [include]})), None);
        }
        assert_eq!(codes(&json!({})), None);
    }
}
