//! Which interaction a method and a path ask for (<https://hl7.org/fhir/R4/http.html#summary>).

use std::borrow::Cow;

use fhir::definitions::Compartment;
use fhir::{ResourceType, is_id};

use super::outcome::{Refusal, excerpt};
use super::scopes::Permission;

/// One interaction, with what its address says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Metadata,
    SmartConfiguration,
    Bundle,
    SystemHistory,
    /// Of several types, or of all.
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

/// What the body of a request must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Body {
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

impl Action {
    pub(crate) fn of(method: &str, segments: &[Cow<'_, str>]) -> Result<Self, Refusal> {
        let segments: Vec<&str> = segments.iter().map(|segment| &**segment).collect();
        match segments[..] {
            [] => match method {
                "GET" | "HEAD" => Ok(Action::SystemSearch),
                "POST" => Ok(Action::Bundle),
                _ => Err(impossible(method, "GET, POST")),
            },
            ["metadata"] => only(method, "GET", Action::Metadata),
            [".well-known", "smart-configuration"] => only(method, "GET", Action::SmartConfiguration),
            ["_history"] => only(method, "GET", Action::SystemHistory),
            ["_search"] => only(method, "POST", Action::SystemSearch),
            ["$validate"] => only(method, "POST", Action::ValidateSystem),
            ["Parameters", "$validate"] => match "Parameters".parse() {
                Ok(parameters) => only(method, "POST", Action::ValidateType(parameters)),
                Err(_) => Err(unknown_operation("$validate")),
            },
            [operation] if operation.starts_with('$') => Err(unknown_operation(operation)),
            [name, ref rest @ ..] => of_type(method, stored_type(name)?, rest),
        }
    }

    pub(crate) fn body(&self) -> Body {
        match self {
            Action::Bundle
            | Action::Create(_)
            | Action::ConditionalUpdate(_)
            | Action::Update(..)
            | Action::ValidateSystem
            | Action::ValidateType(_) => Body::Resource,
            Action::ValidateInstance(..) => Body::Optional,
            Action::Everything(_) | Action::LastN => Body::Input,
            Action::Patch(..) | Action::ConditionalPatch(_) => Body::Patch,
            Action::Search(_) | Action::SystemSearch | Action::CompartmentSearch { .. } => Body::Form,
            _ => Body::None,
        }
    }

    /// What the client must be allowed before anything is looked at.
    pub(crate) fn needs(&self, is_conditional: bool) -> Vec<(Permission, ResourceType)> {
        match self {
            Action::Search(found)
            | Action::TypeHistory(found)
            | Action::CompartmentSearch { member: Some(found), .. } => vec![(Permission::Search, *found)],
            Action::Create(found) if is_conditional => vec![(Permission::Create, *found), (Permission::Search, *found)],
            Action::Create(found) => vec![(Permission::Create, *found)],
            Action::ConditionalUpdate(found) | Action::ConditionalPatch(found) => {
                vec![(Permission::Update, *found), (Permission::Search, *found)]
            }
            Action::ConditionalDelete(found) => vec![(Permission::Delete, *found), (Permission::Search, *found)],
            Action::Read(found, _) | Action::InstanceHistory(found, _) | Action::VersionRead(found, ..) => {
                vec![(Permission::Read, *found)]
            }
            Action::Update(found, _) | Action::Patch(found, _) => vec![(Permission::Update, *found)],
            Action::Delete(found, _) => vec![(Permission::Delete, *found)],
            _ => Vec::new(),
        }
    }

    pub(crate) fn is_write(&self) -> bool {
        self.needs(false).iter().any(|(permission, _)| !matches!(permission, Permission::Read | Permission::Search))
    }
}

fn of_type(method: &str, resource_type: ResourceType, rest: &[&str]) -> Result<Action, Refusal> {
    match rest {
        [] => match method {
            "GET" | "HEAD" => Ok(Action::Search(resource_type)),
            "POST" => Ok(Action::Create(resource_type)),
            "PUT" => Ok(Action::ConditionalUpdate(resource_type)),
            "PATCH" => Ok(Action::ConditionalPatch(resource_type)),
            "DELETE" => Ok(Action::ConditionalDelete(resource_type)),
            _ => Err(impossible(method, "GET, POST, PUT, PATCH, DELETE")),
        },
        ["_search"] => only(method, "POST", Action::Search(resource_type)),
        ["_history"] => only(method, "GET", Action::TypeHistory(resource_type)),
        ["$validate"] => only(method, "POST", Action::ValidateType(resource_type)),
        ["$lastn"] if resource_type.as_str() == "Observation" => match method {
            "GET" | "HEAD" | "POST" => Ok(Action::LastN),
            _ => Err(impossible(method, "GET, POST")),
        },
        [operation, ..] if operation.starts_with('$') => Err(unknown_operation(operation)),
        [id, rest @ ..] => of_instance(method, resource_type, checked_id(id)?, rest),
    }
}

fn of_instance(method: &str, resource_type: ResourceType, id: String, rest: &[&str]) -> Result<Action, Refusal> {
    match rest {
        [] => match method {
            "GET" | "HEAD" => Ok(Action::Read(resource_type, id)),
            "PUT" => Ok(Action::Update(resource_type, id)),
            "PATCH" => Ok(Action::Patch(resource_type, id)),
            "DELETE" => Ok(Action::Delete(resource_type, id)),
            _ => Err(impossible(method, "GET, PUT, PATCH, DELETE")),
        },
        ["_history"] => only(method, "GET", Action::InstanceHistory(resource_type, id)),
        ["_history", version] => only(method, "GET", Action::VersionRead(resource_type, id, (*version).to_owned())),
        ["$validate"] => match method {
            "POST" | "GET" | "HEAD" => Ok(Action::ValidateInstance(resource_type, id)),
            _ => Err(impossible(method, "POST, GET")),
        },
        ["$everything"] if resource_type.as_str() == "Patient" => match method {
            "GET" | "HEAD" | "POST" => Ok(Action::Everything(id)),
            _ => Err(impossible(method, "GET, POST")),
        },
        [operation] if operation.starts_with('$') => Err(unknown_operation(operation)),
        [name] => only(method, "GET", in_compartment(resource_type, id, name)?),
        [name, "_search"] => only(method, "POST", in_compartment(resource_type, id, name)?),
        _ => Err(Refusal::not_found("no such address; resources are at Type/id and Type/id/_history/version")),
    }
}

/// `Patient/1/Observation` or `Patient/1/*`
fn in_compartment(owner: ResourceType, id: String, name: &str) -> Result<Action, Refusal> {
    let Some(compartment) = Compartment::of(owner) else {
        let message =
            format!("{owner} has no compartment; Patient, Encounter, Practitioner, RelatedPerson and Device do");
        return Err(Refusal::new(404, "not-supported", message));
    };
    if name == "*" {
        return Ok(Action::CompartmentSearch { owner, id, member: None });
    }
    let member = stored_type(name)?;
    if compartment.parameters(member).is_none() {
        let message = format!("{member} does not belong to the {owner} compartment");
        return Err(Refusal::new(404, "not-supported", message));
    }
    Ok(Action::CompartmentSearch { owner, id, member: Some(member) })
}

/// The one interaction that an address has. HEAD is like GET.
fn only(method: &str, known: &str, action: Action) -> Result<Action, Refusal> {
    let is_known = method == known || (method == "HEAD" && known == "GET");
    if is_known { Ok(action) } else { Err(impossible(method, known)) }
}

/// 405 with the methods that there are.
fn impossible(method: &str, known: &str) -> Refusal {
    let message = format!("{} is not possible here; possible: {known}", excerpt(method));
    Refusal::new(405, "not-supported", message).with_header("allow", known.to_owned())
}

fn stored_type(name: &str) -> Result<ResourceType, Refusal> {
    if name == "Parameters" {
        return Err(Refusal::new(404, "not-supported", "Parameters go to operations and are never stored"));
    }
    name.parse().map_err(|unknown: fhir::UnknownResourceType| Refusal::not_found(unknown.to_string()))
}

fn checked_id(id: &str) -> Result<String, Refusal> {
    if is_id(id) {
        return Ok(id.to_owned());
    }
    let message = format!("an id is 1 to 64 letters, digits, - and ., not `{}`", excerpt(id));
    Err(Refusal::bad("value", message))
}

fn unknown_operation(name: &str) -> Refusal {
    let message = format!(
        "there is no operation {} here; there are Patient/id/$everything, Observation/$lastn, $validate, Type/$validate and Type/id/$validate",
        excerpt(name)
    );
    Refusal::new(404, "not-supported", message)
}
