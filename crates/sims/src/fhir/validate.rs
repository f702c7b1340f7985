//! `$validate` (<https://hl7.org/fhir/R4/resource-operation-validate.html>), without profiles.

use fhir::ResourceType;
use serde_json::Value;

use super::call::Call;
use super::outcome::{Issue, Refusal, operation_outcome};
use super::read::live;
use super::reply::{Content, Reply};
use super::scopes::Permission;

/// Of the stored resource when there is no body.
pub(crate) fn instance(call: &Call<'_>, resource_type: ResourceType, id: &str, body: &Value) -> Result<Reply, Refusal> {
    if !body.is_null() {
        return validate(resource_type, Some(id), body);
    }
    call.require(Permission::Read, resource_type)?;
    let record = live(resource_type, id, call.records.get(resource_type.as_str(), id))?;
    validate(resource_type, Some(id), &record.json())
}

pub(crate) fn validate(resource_type: ResourceType, id: Option<&str>, body: &Value) -> Result<Reply, Refusal> {
    let resource = if body["resourceType"] == "Parameters" { inside_parameters(body)? } else { body };
    let mut issues = Vec::new();
    if resource["resourceType"].as_str().is_some_and(|name| name != resource_type.as_str()) {
        issues.push(Issue::error("invalid", format!("is not a {resource_type}")).at("Resource.resourceType"));
    }
    if let (Some(id), Some(given)) = (id, resource["id"].as_str())
        && id != given
    {
        issues.push(Issue::error("invalid", format!("must be {id}")).at(format!("{resource_type}.id")));
    }
    if let Err(faults) = fhir::validate(resource) {
        issues.extend(faults.iter().map(Issue::from));
    }
    if issues.is_empty() {
        issues.push(Issue::information("the structure is that of R4; profiles and invariants were not looked at"));
    }
    Ok(Reply::new(200, Content::Made(operation_outcome(&issues))))
}

fn inside_parameters(body: &Value) -> Result<&Value, Refusal> {
    let parameters = body["parameter"].as_array().map(Vec::as_slice).unwrap_or_default();
    let found = parameters.iter().find(|parameter| parameter["name"] == "resource");
    found.and_then(|parameter| parameter.get("resource")).ok_or_else(|| {
        Refusal::bad("required", "the Parameters have no parameter named resource").at("Parameters.parameter")
    })
}
