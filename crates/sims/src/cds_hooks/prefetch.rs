//! Prefetch (CDS Hooks 2.0, "Providing FHIR Resources to a CDS Service"): fills in a service's templates and runs the queries
//! on the playground's FHIR server.

use model::SandboxId;
use serde_json::{Map, Value};
use world::{Context, World};

use super::chart::fhir_server;
use super::definition::ServiceDefinition;
use crate::fhir::address;
use crate::fhir::handle::{self, FhirClient};
use crate::fhir::http::Request;

/// The maximum size of all results. Further results are left out, and the service must query them itself.
const MAX_BYTES: usize = 2 << 20;
/// Results must be a single page, so the largest page size is used.
const MAX_PAGE_SIZE: &str = "1000";

/// The results by key. Failed queries are left out, and empty results are null.
pub(super) fn prefetch(
    world: &World,
    context: &Context<'_>,
    base_url: &str,
    definition: &ServiceDefinition,
    hook_context: &Value,
) -> Map<String, Value> {
    let mut results = Map::new();
    let Some(server) = fhir_server(world) else { return results };
    let mut bytes = 0;
    for (key, template) in &definition.prefetch {
        let Some(address) = fill(template, hook_context, context) else { continue };
        let Some((result, size)) = query_fhir(world, context, &server.id, base_url, &address) else { continue };
        bytes += size;
        if bytes > MAX_BYTES {
            break;
        }
        results.insert(key.clone(), result);
    }
    results
}

/// Fills in a template. None if a token has no value.
fn fill(template: &str, hook_context: &Value, context: &Context<'_>) -> Option<String> {
    let mut address = String::new();
    let mut rest = template;
    while let Some((before, token)) = rest.split_once("{{") {
        let (token, after) = token.split_once("}}")?;
        address.push_str(before);
        address.push_str(&address::encoded(&value(token.trim(), hook_context, context)?));
        rest = after;
    }
    address.push_str(rest);
    Some(address)
}

/// The value of a token: a primitive member of the context, the user's id, or the date.
fn value(token: &str, hook_context: &Value, context: &Context<'_>) -> Option<String> {
    if let Some(name) = token.strip_prefix("context.") {
        return match hook_context.get(name)? {
            Value::String(text) => Some(text.clone()),
            value @ (Value::Number(_) | Value::Bool(_)) => Some(value.to_string()),
            _ => None,
        };
    }
    let kind = match token {
        "userPractitionerId" => "Practitioner",
        "userPractitionerRoleId" => "PractitionerRole",
        "userPatientId" => "Patient",
        "userRelatedPersonId" => "RelatedPerson",
        "today()" => return context.now.to_string().get(..10).map(ToOwned::to_owned),
        _ => return None,
    };
    let (user_type, id) = hook_context.get("userId")?.as_str()?.split_once('/')?;
    (user_type == kind).then(|| id.to_owned())
}

/// The result of a query and its size.
fn query_fhir(
    world: &World,
    context: &Context<'_>,
    server: &SandboxId,
    base_url: &str,
    address: &str,
) -> Option<(Value, usize)> {
    let (path, query) = address.split_once('?').unwrap_or((address, ""));
    let is_counted = query.split('&').any(|pair| pair.starts_with("_count="));
    let is_search = !path.trim_matches('/').contains('/');
    let separator = if query.is_empty() { "" } else { "&" };
    let query =
        if is_search && !is_counted { format!("{query}{separator}_count={MAX_PAGE_SIZE}") } else { query.to_owned() };
    let request = Request {
        method: "GET".to_owned(),
        path: path.trim_matches('/').to_owned(),
        query,
        base_url: base_url.to_owned(),
        ..Request::default()
    };
    // Queries of the EHR itself are not logged.
    let client = FhirClient { name: "ehr".to_owned(), scopes: None };
    let response = handle::handle(world, server, &client, &request, context).answer;
    match response.status {
        200 => read_result(&response.body, is_counted),
        404 | 410 => Some((Value::Null, 4)),
        _ => None,
    }
}

/// "The resulting response MUST be rendered in a single page — no next page links allowed."
fn read_result(body: &str, is_counted: bool) -> Option<(Value, usize)> {
    if body.len() > MAX_BYTES {
        return None;
    }
    let mut result: Value = serde_json::from_str(body).ok()?;
    if result["resourceType"] != "Bundle" || result["type"] != "searchset" {
        return Some((result, body.len()));
    }
    if result["entry"].as_array().is_none_or(Vec::is_empty) {
        return Some((Value::Null, 4));
    }
    let has_next = |link: &Value| link["relation"] == "next";
    if let Some(links) = result.get_mut("link").and_then(Value::as_array_mut) {
        if links.iter().any(has_next) && !is_counted {
            return None;
        }
        links.retain(|link| !has_next(link));
    }
    Some((result, body.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Timestamp;
    use serde_json::json;

    #[test]
    fn tokens_are_filled_from_the_context() {
        let new_id = String::new;
        let context = Context { now: Timestamp(1_776_945_600_000), new_id: &new_id };
        let hook_context =
            json!({"userId": "PractitionerRole/d/1", "patientId": "p 1&x=2", "n": 7, "ok": true, "orders": {}});
        for (template, expected) in [
            ("Patient/{{context.patientId}}", Some("Patient/p%201%26x%3D2")),
            (
                "Condition?patient={{context.patientId}}&n={{ context.n }}&ok={{context.ok}}",
                Some("Condition?patient=p%201%26x%3D2&n=7&ok=true"),
            ),
            ("PractitionerRole/{{userPractitionerRoleId}}", Some("PractitionerRole/d/1")),
            ("Practitioner/{{userPractitionerId}}", None),
            ("Appointment?date=ge{{today()}}", Some("Appointment?date=ge2026-04-23")),
            ("Patient/{{context.orders}}", None),
            ("Patient/{{context.orders.id}}", None),
            ("Patient/{{entity.id}}", None),
            ("Patient/{{context.patientId", None),
            ("Patient?active=true", Some("Patient?active=true")),
        ] {
            assert_eq!(fill(template, &hook_context, &context).as_deref(), expected, "{template}");
        }
    }
}
