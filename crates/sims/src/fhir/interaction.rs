//! Determines the interaction of a method and path (<https://hl7.org/fhir/R4/http.html#summary>).

use std::borrow::Cow;

use fhir::definitions::Compartment;
use fhir::{ResourceType, is_id};

use super::outcome::{FhirError, excerpt};
use super::scopes::Permission;

/// An interaction, with the parameters of its path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Interaction {
    Metadata,
    SmartConfiguration,
    Bundle,
    SystemHistory,
    /// A search of several types or all types.
    SystemSearch,
    Search(ResourceType),
    /// `Patient/1/Observation`; without a type for `Patient/1/*`.
    CompartmentSearch {
        owner: ResourceType,
        id: String,
        member: Option<ResourceType>,
    },
    LastN,
    Create(ResourceType),
    ConditionalUpdate(ResourceType),
    ConditionalPatch(ResourceType),
    ConditionalDelete(ResourceType),
    TypeHistory(ResourceType),
    ValidateSystem,
    ValidateType(ResourceType),
    Read(ResourceType, String),
    Update(ResourceType, String),
    Patch(ResourceType, String),
    Delete(ResourceType, String),
    InstanceHistory(ResourceType, String),
    VersionRead(ResourceType, String, String),
    ValidateInstance(ResourceType, String),
    Everything(String),
}

/// What the body of a request contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyKind {
    None,
    Resource,
    /// A resource, or nothing.
    Optional,
    /// A JSON Patch, or Parameters with a FHIRPath Patch.
    Patch,
    Form,
    /// The parameters of an operation: Parameters, a form, or nothing.
    Input,
}

impl Interaction {
    pub(crate) fn of(method: &str, segments: &[Cow<'_, str>]) -> Result<Self, FhirError> {
        let segments: Vec<&str> = segments.iter().map(|segment| &**segment).collect();
        match segments[..] {
            [] => match method {
                "GET" | "HEAD" => Ok(Interaction::SystemSearch),
                "POST" => Ok(Interaction::Bundle),
                _ => Err(method_not_allowed(method, "GET, POST")),
            },
            ["metadata"] => only(method, "GET", Interaction::Metadata),
            [".well-known", "smart-configuration"] => only(method, "GET", Interaction::SmartConfiguration),
            ["_history"] => only(method, "GET", Interaction::SystemHistory),
            ["_search"] => only(method, "POST", Interaction::SystemSearch),
            ["$validate"] => only(method, "POST", Interaction::ValidateSystem),
            ["Parameters", "$validate"] => match "Parameters".parse() {
                Ok(parameters) => only(method, "POST", Interaction::ValidateType(parameters)),
                Err(_) => Err(unknown_operation("$validate")),
            },
            [operation] if operation.starts_with('$') => Err(unknown_operation(operation)),
            [name, ref rest @ ..] => of_type(method, stored_type(name)?, rest),
        }
    }

    pub(crate) fn body(&self) -> BodyKind {
        match self {
            Interaction::Bundle
            | Interaction::Create(_)
            | Interaction::ConditionalUpdate(_)
            | Interaction::Update(..)
            | Interaction::ValidateSystem
            | Interaction::ValidateType(_) => BodyKind::Resource,
            Interaction::ValidateInstance(..) => BodyKind::Optional,
            Interaction::Everything(_) | Interaction::LastN => BodyKind::Input,
            Interaction::Patch(..) | Interaction::ConditionalPatch(_) => BodyKind::Patch,
            Interaction::Search(_) | Interaction::SystemSearch | Interaction::CompartmentSearch { .. } => {
                BodyKind::Form
            }
            _ => BodyKind::None,
        }
    }

    /// The permissions that the client needs.
    pub(crate) fn needs(&self, is_conditional: bool) -> Vec<(Permission, ResourceType)> {
        match self {
            Interaction::Search(found)
            | Interaction::TypeHistory(found)
            | Interaction::CompartmentSearch { member: Some(found), .. } => vec![(Permission::Search, *found)],
            Interaction::Create(found) if is_conditional => {
                vec![(Permission::Create, *found), (Permission::Search, *found)]
            }
            Interaction::Create(found) => vec![(Permission::Create, *found)],
            Interaction::ConditionalUpdate(found) | Interaction::ConditionalPatch(found) => {
                vec![(Permission::Update, *found), (Permission::Search, *found)]
            }
            Interaction::ConditionalDelete(found) => vec![(Permission::Delete, *found), (Permission::Search, *found)],
            Interaction::Read(found, _)
            | Interaction::InstanceHistory(found, _)
            | Interaction::VersionRead(found, ..) => {
                vec![(Permission::Read, *found)]
            }
            Interaction::Update(found, _) | Interaction::Patch(found, _) => vec![(Permission::Update, *found)],
            Interaction::Delete(found, _) => vec![(Permission::Delete, *found)],
            _ => Vec::new(),
        }
    }

    pub(crate) fn is_write(&self) -> bool {
        self.needs(false).iter().any(|(permission, _)| !matches!(permission, Permission::Read | Permission::Search))
    }
}

fn of_type(method: &str, resource_type: ResourceType, rest: &[&str]) -> Result<Interaction, FhirError> {
    match rest {
        [] => match method {
            "GET" | "HEAD" => Ok(Interaction::Search(resource_type)),
            "POST" => Ok(Interaction::Create(resource_type)),
            "PUT" => Ok(Interaction::ConditionalUpdate(resource_type)),
            "PATCH" => Ok(Interaction::ConditionalPatch(resource_type)),
            "DELETE" => Ok(Interaction::ConditionalDelete(resource_type)),
            _ => Err(method_not_allowed(method, "GET, POST, PUT, PATCH, DELETE")),
        },
        ["_search"] => only(method, "POST", Interaction::Search(resource_type)),
        ["_history"] => only(method, "GET", Interaction::TypeHistory(resource_type)),
        ["$validate"] => only(method, "POST", Interaction::ValidateType(resource_type)),
        ["$lastn"] if resource_type.as_str() == "Observation" => match method {
            "GET" | "HEAD" | "POST" => Ok(Interaction::LastN),
            _ => Err(method_not_allowed(method, "GET, POST")),
        },
        [operation, ..] if operation.starts_with('$') => Err(unknown_operation(operation)),
        [id, rest @ ..] => of_instance(method, resource_type, checked_id(id)?, rest),
    }
}

fn of_instance(method: &str, resource_type: ResourceType, id: String, rest: &[&str]) -> Result<Interaction, FhirError> {
    match rest {
        [] => match method {
            "GET" | "HEAD" => Ok(Interaction::Read(resource_type, id)),
            "PUT" => Ok(Interaction::Update(resource_type, id)),
            "PATCH" => Ok(Interaction::Patch(resource_type, id)),
            "DELETE" => Ok(Interaction::Delete(resource_type, id)),
            _ => Err(method_not_allowed(method, "GET, PUT, PATCH, DELETE")),
        },
        ["_history"] => only(method, "GET", Interaction::InstanceHistory(resource_type, id)),
        ["_history", version] => {
            only(method, "GET", Interaction::VersionRead(resource_type, id, (*version).to_owned()))
        }
        ["$validate"] => match method {
            "POST" | "GET" | "HEAD" => Ok(Interaction::ValidateInstance(resource_type, id)),
            _ => Err(method_not_allowed(method, "POST, GET")),
        },
        ["$everything"] if resource_type.as_str() == "Patient" => match method {
            "GET" | "HEAD" | "POST" => Ok(Interaction::Everything(id)),
            _ => Err(method_not_allowed(method, "GET, POST")),
        },
        [operation] if operation.starts_with('$') => Err(unknown_operation(operation)),
        [name] => only(method, "GET", in_compartment(resource_type, id, name)?),
        [name, "_search"] => only(method, "POST", in_compartment(resource_type, id, name)?),
        _ => Err(FhirError::not_found("unknown path; resources are at Type/id and Type/id/_history/version")),
    }
}

/// `Patient/1/Observation` or `Patient/1/*`
fn in_compartment(owner: ResourceType, id: String, name: &str) -> Result<Interaction, FhirError> {
    let Some(compartment) = Compartment::of(owner) else {
        let message =
            format!("{owner} has no compartment; Patient, Encounter, Practitioner, RelatedPerson and Device do");
        return Err(FhirError::new(404, "not-supported", message));
    };
    if name == "*" {
        return Ok(Interaction::CompartmentSearch { owner, id, member: None });
    }
    let member = stored_type(name)?;
    if compartment.parameters(member).is_none() {
        let message = format!("{member} does not belong to the {owner} compartment");
        return Err(FhirError::new(404, "not-supported", message));
    }
    Ok(Interaction::CompartmentSearch { owner, id, member: Some(member) })
}

/// Allows only one method. HEAD is treated like GET.
fn only(method: &str, known: &str, interaction: Interaction) -> Result<Interaction, FhirError> {
    let is_known = method == known || (method == "HEAD" && known == "GET");
    if is_known { Ok(interaction) } else { Err(method_not_allowed(method, known)) }
}

/// 405 with the allowed methods.
fn method_not_allowed(method: &str, known: &str) -> FhirError {
    let message = format!("method {} is not allowed here; allowed: {known}", excerpt(method));
    FhirError::new(405, "not-supported", message).with_header("allow", known.to_owned())
}

fn stored_type(name: &str) -> Result<ResourceType, FhirError> {
    if name == "Parameters" {
        return Err(FhirError::new(
            404,
            "not-supported",
            "Parameters are the input of operations and cannot be stored",
        ));
    }
    name.parse().map_err(|unknown: fhir::UnknownResourceType| FhirError::not_found(unknown.to_string()))
}

fn checked_id(id: &str) -> Result<String, FhirError> {
    if is_id(id) {
        return Ok(id.to_owned());
    }
    let message = format!("an id must have 1 to 64 letters, digits, - and ., got `{}`", excerpt(id));
    Err(FhirError::bad("value", message))
}

fn unknown_operation(name: &str) -> FhirError {
    let message = format!(
        "there is no operation {} here; there are Patient/id/$everything, Observation/$lastn, $validate, Type/$validate and Type/id/$validate",
        excerpt(name)
    );
    FhirError::new(404, "not-supported", message)
}
