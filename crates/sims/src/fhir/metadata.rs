//! The CapabilityStatement (<https://hl7.org/fhir/R4/capabilitystatement.html>), generated from the search definitions.

use std::sync::{Arc, LazyLock};

use fhir::ResourceType;
use fhir::definitions::{SearchParameter, SearchType, Targets};
use fhir::search::StoredParameter;
use fhir::validate::Profile;
use serde_json::{Value, json};
use world::Seq;

use super::interaction_context::InteractionContext;
use super::outcome::{FhirError, excerpt};
use super::reply::{Reply, ReplyContent};
use super::smart::token_url;

pub(crate) fn metadata(context: &InteractionContext<'_>) -> Result<Reply, FhirError> {
    match context.parameter("mode") {
        None | Some("full" | "normative" | "") => {}
        Some(mode) => {
            let message = format!("metadata mode {} is not supported; only the CapabilityStatement is", excerpt(mode));
            return Err(FhirError::new(404, "not-supported", message));
        }
    }
    let stored = context.stored_parameters(Seq::MAX).all();
    let text = statement(context).to_string();
    let text = if stored.is_empty() {
        text.replacen("\"@resources\"", &RESOURCES, 1)
    } else {
        text.replacen("\"@resources\"", &resources(&stored).to_string(), 1)
    };
    Ok(Reply::new(200, ReplyContent::Document { text, name: "metadata" }))
}

fn statement(context: &InteractionContext<'_>) -> Value {
    json!({
        "resourceType": "CapabilityStatement",
        "status": "active",
        "date": context.sandbox.created_at.to_string(),
        "kind": "instance",
        "software": {"name": "Verial", "version": env!("CARGO_PKG_VERSION")},
        "implementation": {"description": "A simulated health record", "url": context.base_url},
        "fhirVersion": "4.0.1",
        "format": ["application/fhir+json", "json"],
        "patchFormat": ["application/json-patch+json", "application/fhir+json"],
        "rest": [{
            "mode": "server",
            "security": {
                "cors": true,
                "service": [{"coding": [{
                    "system": "http://terminology.hl7.org/CodeSystem/restful-security-service",
                    "code": "SMART-on-FHIR",
                }]}],
                "extension": [{
                    "url": "http://fhir-registry.smarthealthit.org/StructureDefinition/oauth-uris",
                    "extension": [{"url": "token", "valueUri": token_url(context)}],
                }],
            },
            "resource": "@resources",
            "interaction": [{"code": "transaction"}, {"code": "batch"}, {"code": "history-system"}, {"code": "search-system"}],
            "operation": [operation("validate", "Resource-validate")],
            "compartment": COMPARTMENTS.map(|name| format!("http://hl7.org/fhir/CompartmentDefinition/{name}")),
        }],
    })
}

/// Cached, because it is long and the same for all sandboxes without search parameters of their own.
static RESOURCES: LazyLock<String> = LazyLock::new(|| resources(&[]).to_string());

/// Search parameters of the sandbox itself, each with one of its types.
type StoredParameterList = [(ResourceType, Arc<StoredParameter>)];

fn resources(stored: &StoredParameterList) -> Value {
    let stored_types = ResourceType::all().filter(|resource_type| resource_type.as_str() != "Parameters");
    Value::Array(stored_types.map(|resource_type| resource(resource_type, stored)).collect())
}

const COMPARTMENTS: [&str; 5] = ["patient", "encounter", "practitioner", "relatedPerson", "device"];

const INTERACTIONS: [&str; 9] =
    ["read", "vread", "update", "patch", "delete", "history-instance", "history-type", "create", "search-type"];

fn resource(resource_type: ResourceType, stored: &StoredParameterList) -> Value {
    let interactions: Vec<Value> = INTERACTIONS.iter().map(|code| json!({ "code": code })).collect();
    let mut operations = vec![operation("validate", "Resource-validate")];
    if resource_type.as_str() == "Patient" {
        operations.push(operation("everything", "Patient-everything"));
    }
    if resource_type.as_str() == "Observation" {
        operations.push(operation("lastn", "Observation-lastn"));
    }
    let mut resource = json!({
        "type": resource_type.as_str(),
        "interaction": interactions,
        "versioning": "versioned-update",
        "readHistory": true,
        "updateCreate": true,
        "conditionalCreate": true,
        "conditionalRead": "full-support",
        "conditionalUpdate": true,
        "conditionalDelete": "multiple",
        "referencePolicy": ["literal", "local"],
    });
    let profiles = Profile::all().filter(|profile| profile.resource_type() == Some(resource_type));
    set_list(&mut resource, "supportedProfile", profiles.map(|profile| json!(profile.url())).collect());
    set_list(&mut resource, "searchInclude", includes(resource_type, stored));
    set_list(&mut resource, "searchRevInclude", reverse_includes(resource_type, stored));
    let stored = stored.iter().filter(|(of, _)| *of == resource_type).map(|(_, parameter)| parameter);
    let searchable = SearchParameter::of(resource_type).filter(|parameter| is_searchable(parameter));
    let searchable = searchable.map(|parameter| (parameter.code(), parameter.canonical(), parameter.search_type()));
    let stored = stored.map(|parameter| (parameter.code(), parameter.url().to_owned(), parameter.search_type()));
    let search_parameters = searchable.chain(stored).map(
        |(code, definition, search_type)| json!({"name": code, "definition": definition, "type": search_type.name()}),
    );
    set_list(&mut resource, "searchParam", search_parameters.collect());
    resource["operation"] = Value::Array(operations);
    resource
}

fn set_list(resource: &mut Value, name: &str, items: Vec<Value>) {
    if !items.is_empty() {
        resource[name] = Value::Array(items);
    }
}

/// Whether search supports the parameter. Parameters without an expression find nothing.
fn is_searchable(parameter: &SearchParameter) -> bool {
    parameter.expression().is_some() && parameter.search_type() != SearchType::Special
}

/// The code and the targets of every reference parameter of a type.
fn references(resource_type: ResourceType, stored: &StoredParameterList) -> impl Iterator<Item = (&str, &Targets)> {
    let standard = SearchParameter::of(resource_type)
        .filter(|parameter| parameter.search_type() == SearchType::Reference)
        .map(|parameter| (parameter.code(), parameter.targets()));
    let stored = stored
        .iter()
        .filter(move |(of, parameter)| *of == resource_type && parameter.search_type() == SearchType::Reference)
        .map(|(_, parameter)| (parameter.code(), parameter.targets()));
    standard.chain(stored)
}

fn includes(resource_type: ResourceType, stored: &StoredParameterList) -> Vec<Value> {
    let names = references(resource_type, stored).map(|(code, _)| json!(format!("{resource_type}:{code}")));
    let mut names: Vec<Value> = names.collect();
    if !names.is_empty() {
        names.insert(0, json!("*"));
    }
    names
}

/// Reference parameters that name the type as a target. Those without targets would be listed for every type.
fn reverse_includes(resource_type: ResourceType, stored: &StoredParameterList) -> Vec<Value> {
    let sources = ResourceType::all().flat_map(|source| references(source, stored).map(move |found| (source, found)));
    let referring =
        sources.filter(|(_, (_, targets))| matches!(targets, Targets::Only(types) if types.contains(&resource_type)));
    referring.map(|(source, (code, _))| json!(format!("{source}:{code}"))).collect()
}

fn operation(name: &str, definition: &str) -> Value {
    json!({"name": name, "definition": format!("http://hl7.org/fhir/OperationDefinition/{definition}")})
}
