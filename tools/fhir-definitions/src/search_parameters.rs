//! `search-parameters.txt`: what can be searched for, and by which expression it is found in a resource.

use anyhow::Context as _;
use serde_json::Value;

use crate::package::{Package, items, text, texts};

pub(crate) const EXPLANATION: &str = "\
A search parameter: `id, code, type, bases, targets, comparators, expression, components`, separated by tabs.
Lists are separated by commas, `-` is none, `*` is all (targets: all types but Parameters; comparators: all nine).
Components of a composite: `code=expression`, separated by semicolons; the code is a parameter of the same base.
The canonical address of a parameter is http://hl7.org/fhir/SearchParameter/ and its id.
Not here are the package's three made-up examples and the ten parameters that name no base.
R4 gives no list of modifiers or chains to any of these.
";

/// More targets than this are all of them.
const MANY: usize = 100;

const ALL_COMPARATORS: usize = 9;

pub(crate) fn table(package: &Package) -> anyhow::Result<Vec<String>> {
    let mut lines = Vec::new();
    for parameter in package.search_parameters.values() {
        let id = text(parameter, "id")?;
        let is_example = id == "example" || id.starts_with("example-");
        if !is_example && !texts(parameter, "base").is_empty() {
            lines.push(line(package, id, parameter).with_context(|| format!("search parameter {id}"))?);
        }
    }
    lines.sort_unstable();
    Ok(lines)
}

fn line(package: &Package, id: &str, parameter: &Value) -> anyhow::Result<String> {
    let code = text(parameter, "code")?;
    let kind = text(parameter, "type")?;
    let bases = list(texts(parameter, "base"), usize::MAX);
    let targets = list(texts(parameter, "target"), MANY);
    let comparators = list(texts(parameter, "comparator"), ALL_COMPARATORS);
    let expression = parameter["expression"].as_str().unwrap_or("-");
    let components = components(package, parameter)?;
    anyhow::ensure!(
        items(parameter, "modifier").chain(items(parameter, "chain")).next().is_none(),
        "modifiers and chains have no column"
    );
    let columns = [id, code, kind, &bases, &targets, &comparators, expression, &components];
    anyhow::ensure!(columns.iter().all(|column| !column.contains(['\t', '\n'])), "a column holds a separator");
    Ok(columns.join("\t"))
}

fn list(mut words: Vec<&str>, many: usize) -> String {
    words.sort_unstable();
    match words.len() {
        0 => "-".into(),
        count if count >= many => "*".into(),
        _ => words.join(","),
    }
}

fn components(package: &Package, parameter: &Value) -> anyhow::Result<String> {
    let mut components = Vec::new();
    for component in items(parameter, "component") {
        let definition = text(component, "definition")?;
        let defined = package.search_parameters.get(definition).with_context(|| format!("no {definition}"))?;
        let expression = text(component, "expression")?;
        anyhow::ensure!(!expression.contains(';'), "a component holds a separator");
        components.push(format!("{}={expression}", text(defined, "code")?));
    }
    Ok(if components.is_empty() { "-".into() } else { components.join(";") })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn package(parameters: &[Value]) -> Package {
        let search_parameters =
            parameters.iter().map(|each| (format!("x/{}", each["id"].as_str().unwrap()), each.clone())).collect();
        Package { search_parameters, ..Package::default() }
    }

    #[test]
    fn a_parameter_is_one_line_of_columns() {
        let package = package(&[
            json!({"id": "Pet-owner", "code": "owner", "type": "reference", "base": ["Pet", "Dog"],
                "target": ["Person", "Group"], "expression": "Pet.owner | Dog.owner"}),
            json!({"id": "Pet-both", "code": "both", "type": "composite", "base": ["Pet"], "expression": "Pet",
                "component": [{"definition": "x/Pet-owner", "expression": "owner"}]}),
            json!({"id": "example", "code": "e", "type": "token", "base": ["Pet"]}),
            json!({"id": "baseless", "code": "b", "type": "token"}),
        ]);
        let expected = [
            "Pet-both\tboth\tcomposite\tPet\t-\t-\tPet\towner=owner",
            "Pet-owner\towner\treference\tDog,Pet\tGroup,Person\t-\tPet.owner | Dog.owner\t-",
        ];
        assert_eq!(table(&package).unwrap(), expected);
    }

    #[test]
    fn many_targets_and_all_comparators_are_a_star() {
        let names: Vec<String> = (0..145).map(|number| format!("Type{number}")).collect();
        let comparators = ["eq", "ne", "gt", "ge", "lt", "le", "sa", "eb", "ap"];
        let package = package(&[json!({"id": "Pet-any", "code": "any", "type": "reference", "base": ["Pet"],
            "target": names, "comparator": comparators})]);
        assert_eq!(table(&package).unwrap(), ["Pet-any\tany\treference\tPet\t*\t*\t-\t-"]);
    }

    #[test]
    fn what_has_no_column_is_refused() {
        for more in [("modifier", json!(["missing"])), ("component", json!([{"definition": "x/absent"}]))] {
            let mut parameter = json!({"id": "a", "code": "a", "type": "token", "base": ["Pet"]});
            parameter[more.0] = more.1;
            assert!(table(&package(&[parameter])).is_err(), "{}", more.0);
        }
    }
}
