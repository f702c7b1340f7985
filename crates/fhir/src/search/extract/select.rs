//! The elements that a search parameter selects in a resource, with the values that each of them gives.

use serde_json::Value;

use super::{End, nodes};
use crate::definitions::SearchParameter;
use crate::search::Found;

/// One element of a resource and the search values that it stands for.
#[derive(Debug)]
pub struct Selected<'v> {
    pub element: &'v Value,
    pub found: Vec<Found>,
    /// For a composite the elements of each component, in their order.
    pub components: Vec<Vec<Selected<'v>>>,
}

/// The elements that the parameter's expression selects, in the resource's order. None if the parameter is not one of
/// the resource's type.
pub fn select<'v>(parameter: &SearchParameter, resource: &'v Value) -> Vec<Selected<'v>> {
    let mut selected = Vec::new();
    if let Some(nodes) = nodes(parameter, resource) {
        nodes.walk(resource, resource, &mut |end, element| selected.push(end.select(element, resource)));
    }
    selected
}

impl End {
    fn select<'v>(&self, element: &'v Value, resource: &'v Value) -> Selected<'v> {
        let mut found = Vec::new();
        self.find(element, resource, &mut found);
        let Self::Parts(parts) = self else { return Selected { element, found, components: Vec::new() } };
        let components = parts.iter().map(|part| {
            let start = if part.from_resource { resource } else { element };
            let mut selected = Vec::new();
            part.nodes.walk(start, resource, &mut |conversion, element| {
                let mut found = Vec::new();
                conversion.convert(element, &mut found);
                selected.push(Selected { element, found, components: Vec::new() });
            });
            selected
        });
        Selected { element, found, components: components.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn elements_are_those_of_the_resource_itself() {
        let resource = json!({"resourceType": "Observation", "code": {"coding": [{"code": "a"}, {"code": "b"}]},
            "valueQuantity": {"value": 5}});
        let find = |code: &str| SearchParameter::find("Observation".parse().expect("a type"), code).expect(code);
        let selected = select(find("code"), &resource);
        assert_eq!(selected.len(), 1);
        assert!(std::ptr::eq(selected[0].element, &resource["code"]) && selected[0].found.len() == 2);
        let composite = select(find("code-value-quantity"), &resource);
        let quantities = &composite[0].components[1];
        assert!(std::ptr::eq(quantities[0].element, &resource["valueQuantity"]));
        assert!(select(find("subject"), &resource).is_empty());
    }
}
