//! The addresses under which a FHIR server is reached (<https://hl7.org/fhir/R4/references.html#literal>): an absolute
//! reference below one of them means the same as the relative one.

use crate::Reference;

/// The base address of the current request, and the paths of every base that the server has.
#[derive(Clone, Copy, Debug, Default)]
pub struct OwnAddresses<'a> {
    base: &'a str,
    paths: &'a [String],
}

impl<'a> OwnAddresses<'a> {
    /// `base` is absolute. `paths` must be unique to this server (they hold its id), since they are recognized under
    /// any host: a server is reached by several names, and behind proxies.
    pub fn new(base: &'a str, paths: &'a [String]) -> Self {
        Self { base: base.trim_end_matches('/'), paths }
    }

    /// The reference after the base address: `Patient/1` of `https://host/sandboxes/sbx_1/fhir/Patient/1`. None if what
    /// stands there is no reference.
    pub fn relative<'t>(&self, address: &'t str) -> Option<&'t str> {
        self.below(address).filter(|rest| is_reference(rest))
    }

    /// Whether it is one of the base addresses, without a slash at its end.
    pub(crate) fn is_base(&self, address: &str) -> bool {
        self.below(&format!("{address}/")) == Some("")
    }

    /// Whatever stands after the base address, such as an operation.
    pub fn below<'t>(&self, address: &'t str) -> Option<&'t str> {
        let after = |base: &str| address.strip_prefix(base)?.strip_prefix('/');
        if !self.base.is_empty()
            && let Some(rest) = after(self.base)
        {
            return Some(rest);
        }
        let without_scheme = address.strip_prefix("http://").or_else(|| address.strip_prefix("https://"))?;
        // The path starts after the host. A server behind a proxy may have a prefix before its own path.
        let path = &without_scheme[without_scheme.find('/')?..];
        self.paths.iter().find_map(|own| {
            let (before, rest) = path.split_once(own.as_str())?;
            rest.strip_prefix('/').filter(|_| !before.contains(['?', '#']))
        })
    }
}

/// `Type/id`, `Type/id/_history/version` or `Type?criteria`.
fn is_reference(text: &str) -> bool {
    match Reference::parse(text) {
        Reference::Resource(reference) => reference.is_relative(),
        Reference::Conditional(_) => true,
        Reference::Contained(_) | Reference::Urn(_) | Reference::Other(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_below_any_base_are_relative() {
        let paths = ["/sandboxes/sbx_1/fhir".to_owned(), "/v1/task-runs/tr_1/sandbox/fhir".to_owned()];
        let own = OwnAddresses::new("http://localhost:8080/custom/", &paths);
        for (address, relative) in [
            ("http://localhost:8080/custom/Patient/1", Some("Patient/1")),
            ("http://127.0.0.1/sandboxes/sbx_1/fhir/Patient/1/_history/2", Some("Patient/1/_history/2")),
            ("https://example.org/verial/sandboxes/sbx_1/fhir/Patient?identifier=1", Some("Patient?identifier=1")),
            ("https://example.org/v1/task-runs/tr_1/sandbox/fhir/Patient/1", Some("Patient/1")),
            ("https://example.org/sandboxes/sbx_2/fhir/Patient/1", None),
            ("https://example.org/sandboxes/sbx_1/fhirs/Patient/1", None),
            ("https://example.org/?next=/sandboxes/sbx_1/fhir/Patient/1", None),
            ("/sandboxes/sbx_1/fhir/Patient/1", None),
            ("http://localhost:8080/customers/1", None),
            ("Patient/1", None),
            ("http://", None),
            ("http://localhost:8080/custom/", None),
            ("http://localhost:8080/custom/#p", None),
            ("http://localhost:8080/custom/urn:uuid:1", None),
            ("http://localhost:8080/custom/http://example.org/Patient/1", None),
            ("http://localhost:8080/custom/Patient/1/2", None),
        ] {
            assert_eq!(own.relative(address), relative, "{address}");
        }
        assert_eq!(own.below("http://localhost:8080/custom/Patient/$match"), Some("Patient/$match"));
        assert_eq!(OwnAddresses::default().relative("http://a/Patient/1"), None);
    }
}
