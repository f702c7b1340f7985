//! Selects the elements that a search parameter refers to, with the values extracted from each.

use serde_json::Value;

use super::{Extractor, path_tree};
use crate::definitions::SearchParameter;
use crate::search::IndexedValue;

/// One element of a resource and the values extracted from it.
#[derive(Debug)]
pub struct SelectedElement<'v> {
    pub element: &'v Value,
    pub values: Vec<IndexedValue>,
    /// For a composite: the elements of each component, in the order of the components.
    pub components: Vec<Vec<SelectedElement<'v>>>,
}

/// The elements that the parameter's expression selects, in document order. Empty if the parameter does not belong to
/// the resource's type.
pub fn select<'v>(parameter: &SearchParameter, resource: &'v Value) -> Vec<SelectedElement<'v>> {
    let mut selected = Vec::new();
    if let Some(path_tree) = path_tree(parameter, resource) {
        path_tree
            .walk(resource, resource, &mut |extractor, element| selected.push(extractor.select(element, resource)));
    }
    selected
}

impl Extractor {
    fn select<'v>(&self, element: &'v Value, resource: &'v Value) -> SelectedElement<'v> {
        let mut values = Vec::new();
        self.extract(element, resource, &mut values);
        let Self::Composite(parts) = self else { return SelectedElement { element, values, components: Vec::new() } };
        let components = parts.iter().map(|part| {
            let start = if part.from_resource { resource } else { element };
            let mut selected = Vec::new();
            part.path_tree.walk(start, resource, &mut |conversion, element| {
                let mut values = Vec::new();
                conversion.convert(element, &mut values);
                selected.push(SelectedElement { element, values, components: Vec::new() });
            });
            selected
        });
        SelectedElement { element, values, components: components.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn selected_elements_borrow_from_the_resource() {
        let resource = json!({"resourceType": "Observation", "code": {"coding": [{"code": "a"}, {"code": "b"}]},
            "valueQuantity": {"value": 5}});
        let find = |code: &str| SearchParameter::find("Observation".parse().expect("a type"), code).expect(code);
        let selected = select(find("code"), &resource);
        assert_eq!(selected.len(), 1);
        assert!(std::ptr::eq(selected[0].element, &resource["code"]) && selected[0].values.len() == 2);
        let composite = select(find("code-value-quantity"), &resource);
        let quantities = &composite[0].components[1];
        assert!(std::ptr::eq(quantities[0].element, &resource["valueQuantity"]));
        assert!(select(find("subject"), &resource).is_empty());
    }
}
