//! Ids and literal references (<https://hl7.org/fhir/R4/references.html#literal>).

use std::fmt;

use crate::OwnAddresses;
use crate::resource_type::{ResourceType, UnknownResourceType};

/// The text of `Reference.reference`, by its form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reference<'a> {
    /// `Patient/1` or `https://example.org/fhir/Patient/1`, with or without `/_history/2`.
    Resource(ResourceReference<'a>),
    /// `Patient?identifier=1`, in a transaction.
    Conditional(ResourceType),
    /// `#id` of a contained resource. An empty id stands for the resource that contains the reference.
    Contained(&'a str),
    /// `urn:uuid:…` or `urn:oid:…`, the fullUrl of another entry of a Bundle.
    Urn(&'a str),
    /// Any other text, such as the URL of a canonical resource.
    Other(&'a str),
}

/// A reference to a resource of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ResourceReference<'a> {
    /// None for a relative reference.
    base: Option<&'a str>,
    resource_type: ResourceType,
    id: &'a str,
    version: Option<&'a str>,
}

impl<'a> Reference<'a> {
    pub fn parse(text: &'a str) -> Self {
        if let Some(id) = text.strip_prefix('#') {
            return Self::Contained(id);
        }
        if text.starts_with("urn:uuid:") || text.starts_with("urn:oid:") {
            return Self::Urn(text);
        }
        if let Some(reference) = ResourceReference::parse(text) {
            return Self::Resource(reference);
        }
        match text.split_once('?').and_then(|(name, _)| ResourceType::named(name)) {
            Some(resource_type) => Self::Conditional(resource_type),
            None => Self::Other(text),
        }
    }

    /// The resource of the server that the text refers to by a relative reference, or below one of the server's addresses.
    pub fn local(text: &'a str, own: OwnAddresses<'_>) -> Option<ResourceReference<'a>> {
        match Self::parse(own.relative(text).unwrap_or(text)) {
            Self::Resource(reference) if reference.is_relative() => Some(reference),
            _ => None,
        }
    }

    /// The type that the reference names.
    pub fn resource_type(&self) -> Option<ResourceType> {
        match self {
            Self::Resource(reference) => Some(reference.resource_type),
            Self::Conditional(resource_type) => Some(*resource_type),
            Self::Contained(_) | Self::Urn(_) | Self::Other(_) => None,
        }
    }
}

impl<'a> ResourceReference<'a> {
    /// Parses `[base/]Type/id[/_history/version]`, where the base is an HTTP address.
    pub fn parse(text: &'a str) -> Option<Self> {
        let (current, version) =
            text.split_once("/_history/").map_or((text, None), |(current, version)| (current, Some(version)));
        let (before, id) = current.rsplit_once('/')?;
        let (base, name) = before.rsplit_once('/').map_or((None, before), |(base, name)| (Some(base), name));
        let is_base =
            |base: &str| (base.starts_with("http://") || base.starts_with("https://")) && !base.contains(['?', '#']);
        let is_reference = is_id(id) && version.is_none_or(is_id) && base.is_none_or(is_base);
        let resource_type = ResourceType::named(name).filter(|_| is_reference)?;
        Some(Self { base, resource_type, id, version })
    }

    /// Parses exactly `Type/id`: no base address, no version.
    pub fn parse_relative(text: &'a str) -> Result<Self, ReferenceError> {
        let (resource_type, id) = text.split_once('/').ok_or(ReferenceError::NotRelative)?;
        if !is_id(id) {
            return Err(ReferenceError::Id);
        }
        Ok(Self { base: None, resource_type: resource_type.parse()?, id, version: None })
    }

    pub fn is_relative(&self) -> bool {
        self.base.is_none()
    }

    pub fn resource_type(&self) -> ResourceType {
        self.resource_type
    }

    pub fn id(&self) -> &'a str {
        self.id
    }

    pub fn version(&self) -> Option<&'a str> {
        self.version
    }

    /// Whether both refer to the same resource, of any version. A relative reference is one to the server's own.
    pub fn is_same_resource(&self, other: &Self, own: OwnAddresses<'_>) -> bool {
        let foreign_base = |reference: &Self| reference.base.filter(|base| !own.is_base(base));
        let is_same_server = match (foreign_base(self), foreign_base(other)) {
            (None, None) => true,
            (Some(left), Some(right)) => left == right,
            _ => false,
        };
        is_same_server && (self.resource_type, self.id) == (other.resource_type, other.id)
    }
}

impl fmt::Display for ResourceReference<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(base) = self.base {
            write!(f, "{base}/")?;
        }
        write!(f, "{}/{}", self.resource_type, self.id)?;
        self.version.map_or(Ok(()), |version| write!(f, "/_history/{version}"))
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReferenceError {
    #[error("a reference is written Type/id")]
    NotRelative,
    #[error(transparent)]
    Type(#[from] UnknownResourceType),
    #[error("the id of a reference is 1 to 64 letters, digits, - and .")]
    Id,
}

/// Whether the text keeps the grammar of a FHIR id: `[A-Za-z0-9\-\.]{1,64}`.
pub fn is_id(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_1_to_64_letters_digits_hyphens_and_dots() {
        assert!(is_id("a") && is_id("A-1.b") && is_id(&"x".repeat(64)));
        for text in ["", "a b", "a_b", "ä", "a/b", "a\n", &"x".repeat(65)] {
            assert!(!is_id(text), "{text:?}");
        }
    }

    #[test]
    fn references_to_resources() {
        for (text, base, name, id, version) in [
            ("Patient/p-1", None, "Patient", "p-1", None),
            ("Patient/1/_history/2", None, "Patient", "1", Some("2")),
            ("https://example.org/fhir/Patient/1", Some("https://example.org/fhir"), "Patient", "1", None),
            ("http://example.org/Patient/1/_history/2", Some("http://example.org"), "Patient", "1", Some("2")),
        ] {
            let reference = ResourceReference::parse(text).unwrap();
            assert_eq!((reference.base, reference.resource_type().as_str()), (base, name), "{text}");
            assert_eq!((reference.id(), reference.version()), (id, version), "{text}");
            assert_eq!(reference.to_string(), text);
        }
        for text in [
            "Patient",
            "Patient/",
            "Pateint/1",
            "x/Patient/1",
            "/Patient/1",
            "ftp://example.org/Patient/1",
            "Patient/1/_history/",
            "Patient/1#x",
            "http://example.org/Group?member=/Patient/1",
            "Patient/1 ",
        ] {
            assert_eq!(ResourceReference::parse(text), None, "{text}");
        }
    }

    #[test]
    fn other_forms_of_references() {
        let of = |name: &str| Reference::Conditional(name.parse().unwrap());
        for (text, expected) in [
            ("#p1", Reference::Contained("p1")),
            ("#", Reference::Contained("")),
            ("urn:uuid:1", Reference::Urn("urn:uuid:1")),
            ("urn:oid:1.2", Reference::Urn("urn:oid:1.2")),
            ("Patient?identifier=a/b", of("Patient")),
            ("http://example.org/Patient?x=1", Reference::Other("http://example.org/Patient?x=1")),
            ("", Reference::Other("")),
        ] {
            assert_eq!(Reference::parse(text), expected, "{text}");
        }
        assert_eq!(Reference::parse("http://a/Patient/1").resource_type().map(ResourceType::as_str), Some("Patient"));
    }

    #[test]
    fn the_same_resource_by_several_addresses() {
        let paths = ["/sandboxes/sbx_1/fhir".to_owned()];
        let own = OwnAddresses::new("http://localhost/custom", &paths);
        for (left, right, is_same) in [
            ("Patient/1", "Patient/1", true),
            ("Patient/1", "Patient/1/_history/2", true),
            ("Patient/1", "Patient/2", false),
            ("Patient/1", "Group/1", false),
            ("Patient/1", "http://localhost/custom/Patient/1", true),
            ("Patient/1", "https://example.org/sandboxes/sbx_1/fhir/Patient/1/_history/3", true),
            ("Patient/1", "https://example.org/fhir/Patient/1", false),
            ("https://example.org/fhir/Patient/1", "https://example.org/fhir/Patient/1/_history/1", true),
            ("https://example.org/fhir/Patient/1", "https://example.com/fhir/Patient/1", false),
        ] {
            let [first, second] = [left, right].map(|text| ResourceReference::parse(text).unwrap());
            assert_eq!(first.is_same_resource(&second, own), is_same, "{left} {right}");
            assert_eq!(second.is_same_resource(&first, own), is_same, "{right} {left}");
        }
        let local = |text| Reference::local(text, own).map(|reference| reference.to_string());
        assert_eq!(local("http://localhost/custom/Patient/1").as_deref(), Some("Patient/1"));
        assert_eq!(local("Patient/1").as_deref(), Some("Patient/1"));
        assert_eq!(
            (local("https://example.org/fhir/Patient/1"), local("Patient?x=1"), local("#x")),
            (None, None, None)
        );
    }

    #[test]
    fn relative_references_are_exact() {
        let reference = ResourceReference::parse_relative("Patient/p-1").unwrap();
        assert_eq!((reference.resource_type().as_str(), reference.id()), ("Patient", "p-1"));
        let error = |text| ResourceReference::parse_relative(text).unwrap_err();
        assert_eq!(error("Patient"), ReferenceError::NotRelative);
        assert_eq!(error("#contained"), ReferenceError::NotRelative);
        assert_eq!(error("Patient/"), ReferenceError::Id);
        assert_eq!(error("Patient/1/_history/2"), ReferenceError::Id);
        assert_eq!(error("https://example.org/Patient/1"), ReferenceError::Id);
        assert!(matches!(error("Pateint/1"), ReferenceError::Type(_)));
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_parsed(text in ".*", like in "(https?://a(/b)?/)?[#A-Za-z?:]{0,8}/?[a-z0-9.-]{0,5}(/_history/[0-9]?)?") {
            for text in [&text, &like] {
                if let Reference::Resource(reference) = Reference::parse(text) {
                    proptest::prop_assert_eq!(&reference.to_string(), text);
                }
            }
        }
    }
}
