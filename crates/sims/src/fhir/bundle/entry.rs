//! One entry of a batch or transaction, read as the request that it stands for.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fhir::OwnAddresses;
use serde_json::Value;
use world::{Sandbox, World};

use crate::fhir::call::{Call, Conditions};
use crate::fhir::outcome::{Refusal, excerpt};
use crate::fhir::route::{Action, Body};
use crate::fhir::{address, media};

#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) full_url: Option<String>,
    pub(crate) action: Action,
    pub(crate) parameters: Vec<(String, String)>,
    pub(crate) conditions: Conditions,
    /// The resource, or the patch.
    pub(crate) body: Option<Value>,
}

impl Entry {
    pub(crate) fn read(entry: &Value, own: OwnAddresses<'_>) -> Result<Self, Refusal> {
        let request = &entry["request"];
        let text = |name: &str| request[name].as_str();
        let method = text("method").ok_or_else(|| Refusal::bad("required", "the entry has no request.method"))?;
        let url = text("url").ok_or_else(|| Refusal::bad("required", "the entry has no request.url"))?;
        let relative = own.below(url).unwrap_or(url);
        let (path, query) = relative.split_once('?').unwrap_or((relative, ""));
        if path.contains("://") {
            return Err(Refusal::bad("invalid", format!("the address {} is not of this server", excerpt(url))));
        }
        let action = Action::of(method, &address::segments(path))?;
        if action == Action::Bundle {
            return Err(Refusal::bad("not-supported", "a Bundle cannot be processed within another one"));
        }
        let since = text("ifModifiedSince").and_then(|text| text.parse::<jiff::Timestamp>().ok());
        let since = since.map(|since| model::Timestamp(since.as_millisecond()));
        let conditions = Conditions {
            if_match: text("ifMatch").map(ToOwned::to_owned),
            if_none_match: text("ifNoneMatch").map(ToOwned::to_owned),
            if_modified_since: since.map(crate::fhir::moments::http_date),
            if_none_exist: text("ifNoneExist").map(ToOwned::to_owned),
        };
        let body = match action.body() {
            Body::Patch => Some(patch(&entry["resource"])?),
            _ => entry.get("resource").cloned(),
        };
        let full_url = entry["fullUrl"].as_str().map(ToOwned::to_owned);
        Ok(Self { full_url, action, parameters: address::pairs(query), conditions, body })
    }

    /// The call for this entry, on the world as the entries before have left it.
    pub(crate) fn call<'a>(&self, outer: &Call<'a>, world: &'a World, sandbox: &'a Sandbox) -> Call<'a> {
        Call {
            world,
            sandbox,
            records: &sandbox.records,
            conditions: self.conditions.clone(),
            raw_accept: None,
            parameters: self.parameters.clone(),
            ..outer.clone()
        }
    }
}

/// A FHIRPath Patch is a resource itself; a JSON Patch travels as the data of a Binary.
fn patch(resource: &Value) -> Result<Value, Refusal> {
    if resource["resourceType"] == "Parameters" {
        return Ok(resource.clone());
    }
    if resource["resourceType"] != "Binary" || resource["contentType"].as_str() != Some(media::JSON_PATCH) {
        let message = format!("a PATCH needs Parameters, or a Binary with the contentType {}", media::JSON_PATCH);
        return Err(Refusal::new(415, "not-supported", message));
    }
    let data: String = resource["data"].as_str().unwrap_or_default().split_ascii_whitespace().collect();
    let bytes = STANDARD.decode(data).map_err(|_| Refusal::bad("value", "the data of the Binary is no base64"))?;
    serde_json::from_slice(&bytes).map_err(|fault| Refusal::bad("invalid", format!("the patch is no JSON: {fault}")))
}
