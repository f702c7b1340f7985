//! Loads the Bundle of a scenario step: a batch or transaction, or a collection of resources that are stored by their ids.

use model::FieldErrors;
use model::reading::shortened;
use serde_json::{Map, Value, json};

use super::internal_transaction::internal_context;
use super::reply::ReplyContent;
use super::{bundle, depth};
use crate::scenario::step::{StepContext, StepOutput, object};

const MAX_LISTED: usize = 100;
const MAX_ERROR_CHARS: usize = 1000;

/// Writes all entries or none, even for a batch.
pub(super) fn load(context: &StepContext<'_>, authored: &Value) -> Result<StepOutput, FieldErrors> {
    if !context.sandbox.config["remote"].is_null() {
        let message = "passes everything on to another server, which a scenario cannot write to";
        return Err(FieldErrors::one("sandbox", message));
    }
    let bundle_type = authored["type"].as_str().unwrap_or_default();
    let bundle = if bundle_type == "collection" { as_transaction(authored) } else { authored.clone() };
    let processed = depth::check(&bundle).and_then(|()| {
        bundle::process(&internal_context(context.world, context.sandbox, context.world_context), &bundle)
    });
    let reply = processed.map_err(|error| errors_of(&error.json(), None))?;
    if let ReplyContent::Generated(response) = &reply.content {
        check_responses(response)?;
    }
    let entries = authored["entry"].as_array().map_or(0, Vec::len);
    let written = reply.changes.iter().map(|change| format!("{}/{}", change.collection, change.key));
    let written: Vec<Value> = written.take(MAX_LISTED).map(Value::from).collect();
    Ok(StepOutput {
        summary: format!("{bundle_type} of {entries} entries, {} resources written", reply.changes.len()),
        details: object([("bundle", bundle_type.into()), ("entries", entries.into()), ("written", written.into())]),
        changes: reply.changes,
        arrivals: Vec::new(),
    })
}

/// Resources with an id are stored under it, the others get one. References by fullUrl are resolved.
fn as_transaction(collection: &Value) -> Value {
    let entries = collection["entry"].as_array().map(Vec::as_slice).unwrap_or_default();
    let entries: Vec<Value> = entries.iter().map(as_request).collect();
    if entries.is_empty() {
        return json!({"resourceType": "Bundle", "type": "transaction"});
    }
    json!({"resourceType": "Bundle", "type": "transaction", "entry": entries})
}

fn as_request(entry: &Value) -> Value {
    let resource = &entry["resource"];
    let resource_type = resource["resourceType"].as_str().unwrap_or_default();
    let request = match resource["id"].as_str() {
        Some(id) => json!({"method": "PUT", "url": format!("{resource_type}/{}", super::address::encoded(id))}),
        None => json!({"method": "POST", "url": resource_type}),
    };
    let mut fields = Map::new();
    fields.extend(entry.get("fullUrl").map(|full_url| ("fullUrl".to_owned(), full_url.clone())));
    fields.insert("resource".to_owned(), resource.clone());
    fields.insert("request".to_owned(), request);
    Value::Object(fields)
}

/// Checks the entries of a batch response, because a batch succeeds even if its entries fail.
fn check_responses(bundle: &Value) -> Result<(), FieldErrors> {
    let entries = bundle["entry"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut errors = FieldErrors::new();
    for (index, entry) in entries.iter().enumerate() {
        let response = &entry["response"];
        if response["status"].as_str().is_some_and(|status| status.starts_with(['4', '5'])) {
            errors.merge(errors_of(&response["outcome"], Some(index)));
        }
    }
    errors.into_result()
}

/// The errors of an OperationOutcome.
fn errors_of(outcome: &Value, entry: Option<usize>) -> FieldErrors {
    let mut errors = FieldErrors::new();
    for issue in outcome["issue"].as_array().into_iter().flatten() {
        let diagnostics = issue["diagnostics"].as_str().unwrap_or("was refused");
        let path = match (entry, issue["expression"][0].as_str()) {
            (None, None) => String::new(),
            (None, Some(path)) => format!("{path}: "),
            (Some(entry), None) => format!("Bundle.entry[{entry}]: "),
            (Some(entry), Some(path)) => format!("Bundle.entry[{entry}] {path}: "),
        };
        errors.add("bundle", shortened(&format!("{path}{diagnostics}"), MAX_ERROR_CHARS));
    }
    if errors.is_empty() {
        errors.add("bundle", "was refused");
    }
    errors
}
