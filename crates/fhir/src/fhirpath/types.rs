//! The types of values and which are kinds of which (<https://hl7.org/fhirpath/N1/#types-and-reflection>).

use super::item::Item;
use super::syntax::TypeName;
use crate::definitions::Structure;

const SYSTEM: [&str; 8] = ["Boolean", "String", "Integer", "Decimal", "Date", "DateTime", "Time", "Quantity"];

pub(super) fn is_known(wanted: &TypeName) -> bool {
    let is_system = || SYSTEM.contains(&wanted.name.as_str());
    let is_fhir = || !wanted.name.contains('.') && Structure::find(&wanted.name).is_some();
    match wanted.namespace.as_deref() {
        // A name of the other namespace is a type that nothing has.
        Some("System" | "FHIR") | None => is_system() || is_fhir(),
        Some(_) => false,
    }
}

/// Whether the value is of the type or one made from it. Without a namespace it is the value's own.
pub(super) fn is_instance(item: &Item<'_>, wanted: &TypeName) -> bool {
    match item {
        Item::Node(node) => {
            let is_fhir = wanted.namespace.as_deref().is_none_or(|namespace| namespace == "FHIR");
            is_fhir && is_made_from(node.structure(), &wanted.name)
        }
        item => {
            let is_system = wanted.namespace.as_deref().is_none_or(|namespace| namespace == "System");
            is_system && item.type_info().name == wanted.name
        }
    }
}

pub(super) fn is_made_from(structure: &'static Structure, name: &str) -> bool {
    std::iter::successors(Some(structure), |structure| structure.base()).any(|structure| structure.path() == name)
}
