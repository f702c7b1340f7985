//! One entry of a batch or transaction, as a request.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fhir::OwnAddresses;
use serde_json::Value;
use world::{Sandbox, World};

use crate::fhir::interaction::{BodyKind, Interaction};
use crate::fhir::interaction_context::{Conditions, InteractionContext};
use crate::fhir::outcome::{FhirError, excerpt};
use crate::fhir::{address, media};

/// The request of an entry.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) full_url: Option<String>,
    pub(crate) interaction: Interaction,
    pub(crate) parameters: Vec<(String, String)>,
    pub(crate) conditions: Conditions,
    /// The resource, or the patch.
    pub(crate) body: Option<Value>,
}

impl Entry {
    pub(crate) fn read(entry: &Value, own: OwnAddresses<'_>) -> Result<Self, FhirError> {
        let request = &entry["request"];
        let text = |name: &str| request[name].as_str();
        let method = text("method").ok_or_else(|| FhirError::bad("required", "the entry has no request.method"))?;
        let url = text("url").ok_or_else(|| FhirError::bad("required", "the entry has no request.url"))?;
        let relative = own.below(url).unwrap_or(url);
        let (path, query) = relative.split_once('?').unwrap_or((relative, ""));
        if path.contains("://") {
            return Err(FhirError::bad("invalid", format!("the URL {} is not on this server", excerpt(url))));
        }
        let interaction = Interaction::of(method, &address::segments(path))?;
        if interaction == Interaction::Bundle {
            return Err(FhirError::bad("not-supported", "a Bundle cannot be nested in another one"));
        }
        let modified_since = text("ifModifiedSince").and_then(|text| text.parse::<jiff::Timestamp>().ok());
        let modified_since = modified_since.map(|since| model::Timestamp(since.as_millisecond()));
        let conditions = Conditions {
            if_match: text("ifMatch").map(ToOwned::to_owned),
            if_none_match: text("ifNoneMatch").map(ToOwned::to_owned),
            if_modified_since: modified_since.map(crate::fhir::moments::http_date),
            if_none_exist: text("ifNoneExist").map(ToOwned::to_owned),
        };
        let body = match interaction.body() {
            BodyKind::Patch => Some(patch(&entry["resource"])?),
            _ => entry.get("resource").cloned(),
        };
        let full_url = entry["fullUrl"].as_str().map(ToOwned::to_owned);
        Ok(Self { full_url, interaction, parameters: address::pairs(query), conditions, body })
    }

    /// The context of this entry, with the world after the entries before it.
    pub(crate) fn context<'a>(
        &self,
        outer: &InteractionContext<'a>,
        world: &'a World,
        sandbox: &'a Sandbox,
    ) -> InteractionContext<'a> {
        InteractionContext {
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

/// Reads a patch: Parameters with a FHIRPath Patch, or a Binary with a JSON Patch.
fn patch(resource: &Value) -> Result<Value, FhirError> {
    if resource["resourceType"] == "Parameters" {
        return Ok(resource.clone());
    }
    if resource["resourceType"] != "Binary" || resource["contentType"].as_str() != Some(media::JSON_PATCH) {
        let message = format!("a PATCH needs Parameters, or a Binary with the contentType {}", media::JSON_PATCH);
        return Err(FhirError::new(415, "not-supported", message));
    }
    let data: String = resource["data"].as_str().unwrap_or_default().split_ascii_whitespace().collect();
    let bytes =
        STANDARD.decode(data).map_err(|_| FhirError::bad("value", "the data of the Binary is not valid base64"))?;
    serde_json::from_slice(&bytes)
        .map_err(|fault| FhirError::bad("invalid", format!("the patch is not valid JSON: {fault}")))
}
