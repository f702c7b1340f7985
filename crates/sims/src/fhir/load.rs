//! What a scenario brings into the record: a Bundle as a client would send it, or a collection of resources that are put
//! where their ids say.

use model::FieldErrors;
use model::reading::shortened;
use serde_json::{Map, Value, json};

use super::reply::Content;
use super::transact::own_call;
use super::{bundle, depth};
use crate::scenario::step::{StepContext, StepOutput, object};

const MOST_TOLD: usize = 100;
const LONGEST_FAULT: usize = 1000;

/// All of it or nothing, also for a batch: what an author gives is to be there as given.
pub(super) fn load(context: &StepContext<'_>, given: &Value) -> Result<StepOutput, FieldErrors> {
    if !context.sandbox.config["remote"].is_null() {
        let message = "passes everything on to another server, which a scenario cannot write to";
        return Err(FieldErrors::one("sandbox", message));
    }
    let kind = given["type"].as_str().unwrap_or_default();
    let sent = if kind == "collection" { as_transaction(given) } else { given.clone() };
    let processed = depth::check(&sent)
        .and_then(|()| bundle::process(&own_call(context.world, context.sandbox, context.world_context), &sent));
    let reply = processed.map_err(|refusal| refused(&refusal.json(), None))?;
    if let Content::Made(answer) = &reply.content {
        check_answers(answer)?;
    }
    let entries = given["entry"].as_array().map_or(0, Vec::len);
    let written = reply.changes.iter().map(|change| format!("{}/{}", change.collection, change.key));
    let written: Vec<Value> = written.take(MOST_TOLD).map(Value::from).collect();
    Ok(StepOutput {
        summary: format!("{kind} of {entries} entries, {} resources written", reply.changes.len()),
        details: object([("bundle", kind.into()), ("entries", entries.into()), ("written", written.into())]),
        changes: reply.changes,
        arrivals: Vec::new(),
    })
}

/// Resources with an id are put there; the others get one. References between them by fullUrl are resolved.
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
    let kind = resource["resourceType"].as_str().unwrap_or_default();
    let request = match resource["id"].as_str() {
        Some(id) => json!({"method": "PUT", "url": format!("{kind}/{}", super::address::encoded(id))}),
        None => json!({"method": "POST", "url": kind}),
    };
    let mut fields = Map::new();
    fields.extend(entry.get("fullUrl").map(|full_url| ("fullUrl".to_owned(), full_url.clone())));
    fields.insert("resource".to_owned(), resource.clone());
    fields.insert("request".to_owned(), request);
    Value::Object(fields)
}

/// A batch is answered even if its entries fail.
fn check_answers(answer: &Value) -> Result<(), FieldErrors> {
    let entries = answer["entry"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut errors = FieldErrors::new();
    for (index, entry) in entries.iter().enumerate() {
        let response = &entry["response"];
        if response["status"].as_str().is_some_and(|status| status.starts_with(['4', '5'])) {
            errors.merge(refused(&response["outcome"], Some(index)));
        }
    }
    errors.into_result()
}

/// The text of an OperationOutcome.
fn refused(outcome: &Value, entry: Option<usize>) -> FieldErrors {
    let mut errors = FieldErrors::new();
    for issue in outcome["issue"].as_array().into_iter().flatten() {
        let said = issue["diagnostics"].as_str().unwrap_or("was refused");
        let place = match (entry, issue["expression"][0].as_str()) {
            (None, None) => String::new(),
            (None, Some(place)) => format!("{place}: "),
            (Some(entry), None) => format!("Bundle.entry[{entry}]: "),
            (Some(entry), Some(place)) => format!("Bundle.entry[{entry}] {place}: "),
        };
        errors.add("bundle", shortened(&format!("{place}{said}"), LONGEST_FAULT));
    }
    if errors.is_empty() {
        errors.add("bundle", "was refused");
    }
    errors
}
