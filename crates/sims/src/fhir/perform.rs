//! From an interaction to the file that knows it.

use serde_json::Value;

use super::call::Call;
use super::outcome::Refusal;
use super::reply::Reply;
use super::route::{Action, Body};
use super::{
    bundle, conditional, create, delete, everything, history, metadata, patch, read, search, smart, update, validate,
};

pub(crate) fn perform(call: &Call<'_>, action: &Action, body: Option<&Value>) -> Result<Reply, Refusal> {
    for (permission, resource_type) in action.needs(call.conditions.if_none_exist.is_some()) {
        call.require(permission, resource_type)?;
    }
    let missing = Value::Null;
    let body = match (action.body(), body) {
        (Body::Resource | Body::JsonPatch, None) => {
            return Err(Refusal::bad("required", "the request has no body"));
        }
        (_, body) => body.unwrap_or(&missing),
    };
    match action {
        Action::Metadata => metadata::metadata(call),
        Action::SmartConfiguration => Ok(smart::configuration(call)),
        Action::Bundle => bundle::process(call, body),
        Action::SystemHistory => history::of_system(call),
        Action::TypeHistory(resource_type) => history::of_type(call, *resource_type),
        Action::InstanceHistory(resource_type, id) => history::of_instance(call, *resource_type, id),
        Action::Search(resource_type) => search::search(call, *resource_type),
        Action::Create(resource_type) => create::create(call, *resource_type, body),
        Action::ConditionalUpdate(resource_type) => conditional::update(call, *resource_type, body),
        Action::ConditionalPatch(resource_type) => conditional::patch(call, *resource_type, body),
        Action::ConditionalDelete(resource_type) => conditional::delete(call, *resource_type),
        Action::Read(resource_type, id) => read::read(call, *resource_type, id),
        Action::VersionRead(resource_type, id, version) => read::version_read(call, *resource_type, id, version),
        Action::Update(resource_type, id) => update::update(call, *resource_type, id, body),
        Action::Patch(resource_type, id) => patch::patch(call, *resource_type, id, body),
        Action::Delete(resource_type, id) => delete::delete(call, *resource_type, id),
        Action::ValidateType(resource_type) => validate::validate(*resource_type, None, body),
        Action::ValidateInstance(resource_type, id) => validate::instance(call, *resource_type, id, body),
        Action::Everything(id) => everything::everything(call, id),
    }
}
