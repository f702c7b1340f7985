//! What `%name` stands for (<https://hl7.org/fhir/R4/fhirpath.html#vars>).

use std::borrow::Cow;

pub(super) enum Constant {
    Resource,
    Text(Cow<'static, str>),
}

pub(super) fn is_known(name: &str) -> bool {
    constant(name).is_some()
}

/// Whether the constant stands for the resource.
pub(crate) fn is_resource_constant(name: &str) -> bool {
    matches!(constant(name), Some(Constant::Resource))
}

pub(super) fn constant(name: &str) -> Option<Constant> {
    let text = match name {
        "resource" | "rootResource" | "context" => return Some(Constant::Resource),
        "ucum" => Cow::Borrowed("http://unitsofmeasure.org"),
        "sct" => Cow::Borrowed("http://snomed.info/sct"),
        "loinc" => Cow::Borrowed("http://loinc.org"),
        name => match name.split_once('-') {
            Some(("vs", id)) => Cow::Owned(format!("http://hl7.org/fhir/ValueSet/{id}")),
            Some(("ext", id)) => Cow::Owned(format!("http://hl7.org/fhir/StructureDefinition/{id}")),
            _ => return None,
        },
    };
    Some(Constant::Text(text))
}
