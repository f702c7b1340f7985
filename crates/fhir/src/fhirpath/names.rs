//! Which names elements have anywhere in R4.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::definitions::Structure;

static NAMES: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    let elements = Structure::all().flat_map(Structure::elements).map(|element| element.name());
    // Of what `type()` gives.
    elements.chain(["namespace", "name"]).collect()
});

pub(super) fn is_element_name(name: &str) -> bool {
    NAMES.contains(name)
}

/// The element and type of a name that is only a JSON key: `value` and `Quantity` for `valueQuantity`.
pub(super) fn choice_of(key: &str) -> Option<(&'static str, &'static str)> {
    let found = Structure::all().find_map(|structure| structure.element(key).filter(|_| !key.is_empty()));
    found.map(|(_, element, used)| (element.name(), used.name()))
}
