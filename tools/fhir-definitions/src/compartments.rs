//! `compartments.txt`: by which reference parameters a resource belongs to a patient, an encounter and so on.

use serde_json::Value;

use crate::package::{Package, items, text, texts};

pub(crate) const EXPLANATION: &str = "\
A line for each compartment and type in it: `compartment type parameters`; parameters are separated by commas.
Types that have no parameter are not in the compartment.
";

pub(crate) fn table(package: &Package) -> anyhow::Result<Vec<String>> {
    let mut lines = Vec::new();
    for definition in package.compartments.values().filter(|definition| definition["id"] != "example") {
        let code = text(definition, "code")?;
        for resource in items(definition, "resource") {
            lines.extend(line(code, resource)?);
        }
    }
    lines.sort_unstable();
    Ok(lines)
}

fn line(compartment: &str, resource: &Value) -> anyhow::Result<Option<String>> {
    let mut parameters = texts(resource, "param");
    parameters.sort_unstable();
    let kind = text(resource, "code")?;
    Ok((!parameters.is_empty()).then(|| format!("{compartment} {kind} {}", parameters.join(","))))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn types_without_parameters_are_left_out() {
        let definition = json!({"id": "patient", "code": "Patient", "resource": [
            {"code": "Observation", "param": ["subject", "performer"]}, {"code": "Medication"}]});
        let compartments = [("x".to_owned(), definition)].into();
        let package = Package { compartments, ..Package::default() };
        assert_eq!(table(&package).unwrap(), ["Patient Observation performer,subject"]);
    }
}
