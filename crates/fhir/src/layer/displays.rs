//! Which displays the resources of a layer use for the codes of a system, read from the index of a token parameter.

use super::Layer;
use super::value::found;
use crate::ResourceType;
use crate::definitions::SearchType;
use crate::search::{Concept, IndexedValue};

impl Layer {
    /// The displays that the parameter's values have for a code.
    pub fn displays(
        &self,
        resource_type: ResourceType,
        parameter: &str,
        system: Option<&str>,
        code: &str,
    ) -> Vec<Box<str>> {
        let Some(index) = self.parameter(resource_type, parameter) else { return Vec::new() };
        let terms = &index.terms;
        let concepts = terms.with_key(code.as_bytes()).filter_map(|term| self.concept(terms.context(term)));
        concepts.filter(|concept| concept.system.as_deref() == system).filter_map(|concept| concept.text).collect()
    }

    /// The codes of a system that the parameter's values show with an accepted display. Looks at every distinct pair of
    /// system and display, not at the resources.
    pub fn codes_displayed(
        &self,
        resource_type: ResourceType,
        parameter: &str,
        system: Option<&str>,
        accepts: &dyn Fn(&str) -> bool,
    ) -> Vec<String> {
        let Some(index) = self.parameter(resource_type, parameter) else { return Vec::new() };
        let is_accepted = |context: &[u8]| {
            let concept = self.concept(context).filter(|concept| concept.system.as_deref() == system);
            concept.and_then(|concept| concept.text).is_some_and(|text| accepts(&text))
        };
        let accepted: Vec<bool> = index.terms.contexts().map(is_accepted).collect();
        if !accepted.contains(&true) {
            return Vec::new();
        }
        let terms = (0..index.terms.len()).filter(|term| accepted.get(index.terms.tag(*term)) == Some(&true));
        terms.map(|term| String::from_utf8_lossy(index.terms.key(term)).into_owned()).collect()
    }

    fn concept(&self, context: &[u8]) -> Option<Concept> {
        match found(SearchType::Token, &[], context, &self.keys)? {
            IndexedValue::Token(concept) => Some(concept),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn displays_and_codes_are_found_in_both_directions() {
        let coded = |id: u32, code: &str, display: &str| {
            format!(
                r#"{{"resourceType":"Observation","id":"{id}","status":"final","code":{{"coding":[{{"system":"http://loinc.org","code":"{code}","display":"{display}"}}]}}}}"#
            )
        };
        let lines = [coded(1, "718-7", "Hemoglobin"), coded(2, "718-7", "Hgb"), coded(3, "2823-3", "Potassium")];
        let layer = Layer::build(vec![lines.join("\n")], 1).expect("resources");
        let observation = "Observation".parse().expect("a type");
        let displays = |system, code| layer.displays(observation, "code", system, code);
        assert_eq!(displays(Some("http://loinc.org"), "718-7"), ["Hgb".into(), "Hemoglobin".into()]);
        assert!(displays(None, "718-7").is_empty() && displays(Some("http://loinc.org"), "1").is_empty());
        let codes =
            |wanted: &str| layer.codes_displayed(observation, "code", Some("http://loinc.org"), &|text| text == wanted);
        assert_eq!(codes("Potassium"), ["2823-3"]);
        assert!(codes("Sodium").is_empty());
        assert!(layer.displays(observation, "no-such", None, "1").is_empty());
    }
}
