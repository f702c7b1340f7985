//! From an interaction to the file that knows it.

use serde_json::Value;

use super::call::Call;
use super::outcome::{Refusal, excerpt};
use super::reply::Reply;
use super::route::{Action, Body};
use super::{
    bundle, conditional, create, delete, everything, history, last_n, metadata, patch, read, search, smart, update,
    validate,
};

pub(crate) fn perform(call: &Call<'_>, action: &Action, body: Option<&Value>) -> Result<Reply, Refusal> {
    for (permission, resource_type) in action.needs(call.conditions.if_none_exist.is_some()) {
        call.require(permission, resource_type)?;
    }
    let missing = Value::Null;
    let body = match (action.body(), body) {
        (Body::Resource | Body::Patch, None) => {
            return Err(Refusal::bad("required", "the request has no body"));
        }
        (_, body) => body.unwrap_or(&missing),
    };
    let with_input;
    let call = match action.body() {
        Body::Input if !body.is_null() => {
            with_input = Call { parameters: input(call, body)?, ..call.clone() };
            &with_input
        }
        _ => call,
    };
    match action {
        Action::Metadata => metadata::metadata(call),
        Action::SmartConfiguration => Ok(smart::configuration(call)),
        Action::Bundle => bundle::process(call, body),
        Action::SystemHistory => history::of_system(call),
        Action::TypeHistory(resource_type) => history::of_type(call, *resource_type),
        Action::InstanceHistory(resource_type, id) => history::of_instance(call, *resource_type, id),
        Action::Search(resource_type) => search::of_type(call, *resource_type),
        Action::SystemSearch => search::of_system(call),
        Action::CompartmentSearch { owner, id, member } => search::in_compartment(call, (*owner, id), *member),
        Action::LastN => last_n::last_n(call),
        Action::Create(resource_type) => create::create(call, *resource_type, body),
        Action::ConditionalUpdate(resource_type) => conditional::update(call, *resource_type, body),
        Action::ConditionalPatch(resource_type) => conditional::patch(call, *resource_type, body),
        Action::ConditionalDelete(resource_type) => conditional::delete(call, *resource_type),
        Action::Read(resource_type, id) => read::read(call, *resource_type, id),
        Action::VersionRead(resource_type, id, version) => read::version_read(call, *resource_type, id, version),
        Action::Update(resource_type, id) => update::update(call, *resource_type, id, body),
        Action::Patch(resource_type, id) => patch::patch(call, *resource_type, id, body),
        Action::Delete(resource_type, id) => delete::delete(call, *resource_type, id),
        Action::ValidateSystem => validate::validate(call, None, None, body),
        Action::ValidateType(resource_type) => validate::validate(call, Some(*resource_type), None, body),
        Action::ValidateInstance(resource_type, id) => validate::instance(call, *resource_type, id, body),
        Action::Everything(id) => everything::everything(call, id),
    }
}

/// The parameters of an operation, from the address and from a Parameters resource.
fn input(call: &Call<'_>, body: &Value) -> Result<Vec<(String, String)>, Refusal> {
    if body["resourceType"] != "Parameters" {
        let message = "the input of an operation is a Parameters resource";
        return Err(Refusal::bad("invalid", message).at("Resource.resourceType"));
    }
    fhir::validate(body).map_err(|faults| Refusal::invalid(&faults))?;
    let mut parameters = call.parameters.clone();
    for parameter in body["parameter"].as_array().into_iter().flatten() {
        let name = parameter["name"].as_str().unwrap_or_default();
        let mut fields = parameter.as_object().into_iter().flatten();
        let value = fields.find(|(key, _)| key.starts_with("value")).map(|(_, value)| match value {
            Value::String(text) => Ok(text.clone()),
            Value::Number(_) | Value::Bool(_) => Ok(value.to_string()),
            _ => Err(Refusal::bad("value", format!("the parameter {} must be a simple value", excerpt(name)))),
        });
        if let Some(value) = value {
            parameters.push((name.to_owned(), value?));
        }
    }
    Ok(parameters)
}
