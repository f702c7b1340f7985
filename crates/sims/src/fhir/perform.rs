//! Dispatches an interaction to its module.

use serde_json::Value;

use super::interaction::{BodyKind, Interaction};
use super::interaction_context::InteractionContext;
use super::outcome::{FhirError, excerpt};
use super::reply::Reply;
use super::{
    bundle, conditional, create, delete, everything, history, last_n, metadata, patch, read, search, smart, update,
    validate,
};

pub(crate) fn perform(
    context: &InteractionContext<'_>,
    interaction: &Interaction,
    body: Option<&Value>,
) -> Result<Reply, FhirError> {
    for (permission, resource_type) in interaction.needs(context.conditions.if_none_exist.is_some()) {
        context.require(permission, resource_type)?;
    }
    let missing = Value::Null;
    let body = match (interaction.body(), body) {
        (BodyKind::Resource | BodyKind::Patch, None) => {
            return Err(FhirError::bad("required", "the request has no body"));
        }
        (_, body) => body.unwrap_or(&missing),
    };
    let with_input;
    let context = match interaction.body() {
        BodyKind::Input if !body.is_null() => {
            with_input = InteractionContext { parameters: input(context, body)?, ..context.clone() };
            &with_input
        }
        _ => context,
    };
    match interaction {
        Interaction::Metadata => metadata::metadata(context),
        Interaction::SmartConfiguration => Ok(smart::configuration(context)),
        Interaction::Bundle => bundle::process(context, body),
        Interaction::SystemHistory => history::of_system(context),
        Interaction::TypeHistory(resource_type) => history::of_type(context, *resource_type),
        Interaction::InstanceHistory(resource_type, id) => history::of_instance(context, *resource_type, id),
        Interaction::Search(resource_type) => search::of_type(context, *resource_type),
        Interaction::SystemSearch => search::of_system(context),
        Interaction::CompartmentSearch { owner, id, member } => search::in_compartment(context, (*owner, id), *member),
        Interaction::LastN => last_n::last_n(context),
        Interaction::Create(resource_type) => create::create(context, *resource_type, body),
        Interaction::ConditionalUpdate(resource_type) => conditional::update(context, *resource_type, body),
        Interaction::ConditionalPatch(resource_type) => conditional::patch(context, *resource_type, body),
        Interaction::ConditionalDelete(resource_type) => conditional::delete(context, *resource_type),
        Interaction::Read(resource_type, id) => read::read(context, *resource_type, id),
        Interaction::VersionRead(resource_type, id, version) => {
            read::version_read(context, *resource_type, id, version)
        }
        Interaction::Update(resource_type, id) => update::update(context, *resource_type, id, body),
        Interaction::Patch(resource_type, id) => patch::patch(context, *resource_type, id, body),
        Interaction::Delete(resource_type, id) => delete::delete(context, *resource_type, id),
        Interaction::ValidateSystem => validate::validate(context, None, None, body),
        Interaction::ValidateType(resource_type) => validate::validate(context, Some(*resource_type), None, body),
        Interaction::ValidateInstance(resource_type, id) => validate::instance(context, *resource_type, id, body),
        Interaction::Everything(id) => everything::everything(context, id),
    }
}

/// The parameters of an operation, from the URL and from a Parameters resource.
fn input(context: &InteractionContext<'_>, body: &Value) -> Result<Vec<(String, String)>, FhirError> {
    if body["resourceType"] != "Parameters" {
        let message = "the input of an operation must be a Parameters resource";
        return Err(FhirError::bad("invalid", message).at("Resource.resourceType"));
    }
    fhir::validate(body).map_err(|faults| FhirError::invalid(&faults))?;
    let mut parameters = context.parameters.clone();
    for parameter in body["parameter"].as_array().into_iter().flatten() {
        let name = parameter["name"].as_str().unwrap_or_default();
        let mut fields = parameter.as_object().into_iter().flatten();
        let value = fields.find(|(key, _)| key.starts_with("value")).map(|(_, value)| match value {
            Value::String(text) => Ok(text.clone()),
            Value::Number(_) | Value::Bool(_) => Ok(value.to_string()),
            _ => Err(FhirError::bad("value", format!("the parameter {} must be a simple value", excerpt(name)))),
        });
        if let Some(value) = value {
            parameters.push((name.to_owned(), value?));
        }
    }
    Ok(parameters)
}
