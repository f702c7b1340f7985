//! Checks the scopes of requests that are forwarded to a remote server. The response is not inspected, so requests that could
//! return or change several types, and unknown requests, need the scopes for all types.

use fhir::search::Clause;
use fhir::{OwnAddresses, ResourceType};
use serde_json::Value;

use super::bundle::{Entry, criteria, split_criteria};
use super::http::{Request, Response};
use super::interaction::{BodyKind, Interaction};
use super::outcome::FhirError;
use super::scopes::{Permission, Scopes};
use super::{address, media};

/// Parameters that do not select other resources.
const PRESENTATION_PARAMETERS: [&str; 6] = ["_format", "_pretty", "_count", "_since", "_summary", "_elements"];
const ALL: [Permission; 5] =
    [Permission::Create, Permission::Read, Permission::Update, Permission::Delete, Permission::Search];

/// The error response if the scopes do not allow the request. The body of an allowed Bundle is replaced by its parsed form,
/// so that the remote server cannot interpret it differently.
pub fn reject(scopes: &Scopes, request: &mut Request) -> Option<Response> {
    let error = authorize(scopes, request).err()?;
    let headers = vec![("content-type", media::FHIR_JSON.to_owned())];
    Some(Response { status: error.status, headers, body: error.json().to_string(), raw: None })
}

fn authorize(scopes: &Scopes, request: &mut Request) -> Result<(), FhirError> {
    let Ok(interaction) = Interaction::of(&request.method, &address::segments(&request.path)) else {
        return require_all_types(scopes, &ALL);
    };
    if interaction == Interaction::Bundle {
        return authorize_bundle(scopes, request);
    }
    let mut parameters = address::pairs(&request.query);
    if interaction.body() == BodyKind::Form && request.method == "POST" {
        parameters.extend(address::pairs(&String::from_utf8_lossy(&request.body)));
    }
    let own = OwnAddresses::new(&request.base_url, &request.other_paths);
    authorize_interaction(scopes, &interaction, &parameters, request.header("if-none-exist"), own)
}

fn authorize_interaction(
    scopes: &Scopes,
    interaction: &Interaction,
    parameters: &[(String, String)],
    if_none_exist: Option<&str>,
    own: OwnAddresses<'_>,
) -> Result<(), FhirError> {
    for (permission, resource_type) in interaction.needs(if_none_exist.is_some()) {
        require(scopes, permission, resource_type)?;
    }
    match interaction {
        Interaction::Metadata
        | Interaction::SmartConfiguration
        | Interaction::ValidateSystem
        | Interaction::ValidateType(_) => {
            return Ok(());
        }
        Interaction::SystemHistory
        | Interaction::SystemSearch
        | Interaction::CompartmentSearch { .. }
        | Interaction::LastN
        | Interaction::Everything(_) => {
            return require_all_types(scopes, &[Permission::Read, Permission::Search]);
        }
        Interaction::Search(searched)
        | Interaction::ConditionalUpdate(searched)
        | Interaction::ConditionalDelete(searched) => {
            return authorize_search(scopes, *searched, parameters, own);
        }
        Interaction::ConditionalPatch(searched) => {
            require(scopes, Permission::Read, *searched)?;
            return authorize_search(scopes, *searched, parameters, own);
        }
        // The response may contain the existing resource.
        Interaction::Create(created) if if_none_exist.is_some() => {
            require(scopes, Permission::Read, *created)?;
            let text = if_none_exist.unwrap_or_default();
            let text = text.split_once('?').map_or(text, |(_, criteria)| criteria);
            authorize_search(scopes, *created, &address::pairs(text), own)?;
        }
        Interaction::Patch(changed, _) | Interaction::ValidateInstance(changed, _) => {
            require(scopes, Permission::Read, *changed)?
        }
        _ => {}
    }
    if parameters.iter().all(|(name, _)| PRESENTATION_PARAMETERS.contains(&name.as_str())) {
        return Ok(());
    }
    require_all_types(scopes, &ALL)
}

/// Authorizes a search whose criteria only concern the searched type.
fn authorize_search(
    scopes: &Scopes,
    searched: ResourceType,
    parameters: &[(String, String)],
    own: OwnAddresses<'_>,
) -> Result<(), FhirError> {
    let is_criterion = |(name, _): &&(String, String)| !["_format", "_pretty"].contains(&name.as_str());
    let parameters: Vec<_> = parameters.iter().filter(is_criterion).cloned().collect();
    let is_plain = fhir::search::parse_for(searched, own, &|_, _| None, &parameters).is_ok_and(|query| {
        let is_simple = |clause: &Clause| matches!(clause, Clause::Simple(_));
        query.ignored.is_empty() && query.includes.is_empty() && query.clauses.iter().all(is_simple)
    });
    if is_plain { Ok(()) } else { require_all_types(scopes, &[Permission::Read, Permission::Search]) }
}

fn authorize_bundle(scopes: &Scopes, request: &mut Request) -> Result<(), FhirError> {
    let Ok(bundle) = serde_json::from_slice::<Value>(super::json::without_byte_order_mark(&request.body)) else {
        return require_all_types(scopes, &ALL);
    };
    let is_processed = matches!(bundle["type"].as_str(), Some("batch" | "transaction")) && request.query.is_empty();
    let entries = bundle["entry"].as_array().map(Vec::as_slice).unwrap_or_default();
    if !is_processed {
        return require_all_types(scopes, &ALL);
    }
    for (index, entry) in entries.iter().enumerate() {
        authorize_entry(scopes, entry, OwnAddresses::new(&request.base_url, &request.other_paths))
            .map_err(|error| error.in_entry(index))?;
    }
    request.body = bundle.to_string().into_bytes();
    Ok(())
}

fn authorize_entry(scopes: &Scopes, entry: &Value, own: OwnAddresses<'_>) -> Result<(), FhirError> {
    let Ok(mut entry) = Entry::read(entry, own) else { return require_all_types(scopes, &ALL) };
    let mut references = std::collections::BTreeSet::new();
    if let Some(body) = &mut entry.body {
        criteria(body, &mut references)?;
    }
    for reference in &references {
        let Some((searched, text)) = split_criteria(reference) else { continue };
        require(scopes, Permission::Search, searched)?;
        authorize_search(scopes, searched, &address::pairs(text), own)?;
    }
    let if_none_exist = entry.conditions.if_none_exist.as_deref();
    authorize_interaction(scopes, &entry.interaction, &entry.parameters, if_none_exist, own)
}

fn require(scopes: &Scopes, permission: Permission, resource_type: ResourceType) -> Result<(), FhirError> {
    if scopes.allow(permission, resource_type) {
        return Ok(());
    }
    let letter = permission.letter();
    let message = format!("this needs the scope system/{resource_type}.{letter}, which the token does not have");
    Err(FhirError::new(403, "forbidden", message))
}

fn require_all_types(scopes: &Scopes, permissions: &[Permission]) -> Result<(), FhirError> {
    let has_all =
        permissions.iter().all(|permission| ResourceType::all().all(|found| scopes.allow(*permission, found)));
    if has_all {
        return Ok(());
    }
    let letters: String = permissions.iter().map(|permission| permission.letter()).collect();
    let message = format!(
        "a remote server handles this request and may return any type: this needs the scope system/*.{letters}"
    );
    Err(FhirError::new(403, "forbidden", message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn status(scopes: &str, method: &str, address: &str, body: &str) -> u16 {
        let (path, query) = address.split_once('?').unwrap_or((address, ""));
        let mut request = Request {
            method: method.to_owned(),
            path: path.to_owned(),
            query: query.to_owned(),
            body: body.as_bytes().to_vec(),
            base_url: "http://here/fhir".to_owned(),
            ..Request::default()
        };
        reject(&Scopes::parse(scopes), &mut request).map_or(200, |response| response.status)
    }

    #[test]
    fn narrow_scopes_allow_only_their_type() {
        let narrow = "system/Patient.rs";
        for allowed in ["Patient/1", "Patient?name=a&_count=5", "Patient/1/_history", "Patient/_history", "metadata"] {
            assert_eq!(status(narrow, "GET", allowed, ""), 200, "{allowed}");
            assert_eq!(status("system/*.rs", "GET", allowed, ""), 200, "{allowed}");
        }
        for denied in [
            "Observation/1",
            "Observation",
            "_history",
            "Patient/1/$everything",
            "Patient?_has:Observation:subject:code=a",
            "Patient?_revinclude=Observation:subject",
            "Patient?_include=*",
            "Patient?general-practitioner.name=a",
            "Patient?_getpages=1",
            "Patient/1?_getpages=1",
            "Patient/1/Observation",
            "Patient/1/$lookup",
            "?_getpages=1",
            "",
            "Patient/..%2FObservation",
        ] {
            assert_eq!(status(narrow, "GET", denied, ""), 403, "{denied}");
            assert_eq!(status("system/*.cruds", "GET", denied, ""), 200, "{denied}");
        }
        for method in ["POST", "PUT", "PATCH", "DELETE"] {
            assert_eq!(status(narrow, method, "Patient/1", ""), 403, "{method}");
        }
        assert_eq!(
            status("system/Patient.u", "PATCH", "Patient/1", ""),
            403,
            "the response to a patch contains the resource"
        );
    }

    #[test]
    fn every_entry_of_a_bundle_is_authorized() {
        let narrow = "system/Patient.cruds";
        let bundle = |entries: &str| format!(r#"{{"resourceType":"Bundle","type":"batch","entry":[{entries}]}}"#);
        let get = |url: &str| json!({"request": {"method": "GET", "url": url}}).to_string();
        assert_eq!(status(narrow, "POST", "", &bundle(&get("Patient/1"))), 200);
        let referring = json!({"request": {"method": "POST", "url": "Patient"}, "resource": {"resourceType": "Patient",
            "generalPractitioner": [{"reference": "Practitioner?name=a"}]}});
        for denied in [get("Observation/1"), get("Patient?_revinclude=*"), get("$x"), referring.to_string(), "1".into()]
        {
            assert_eq!(status(narrow, "POST", "", &bundle(&format!("{},{denied}", get("Patient/1")))), 403, "{denied}");
        }
        assert_eq!(status(narrow, "POST", "", "<Bundle/>"), 403);
        let twice = format!(r#"{{"entry":[{}],{}"#, get("Observation/1"), &bundle(&get("Patient/1"))[1..]);
        let mut request = Request { method: "POST".into(), body: twice.into_bytes(), ..Request::default() };
        assert_eq!(reject(&Scopes::parse(narrow), &mut request), None);
        assert!(
            !String::from_utf8_lossy(&request.body).contains("Observation"),
            "the first of two duplicate members is forwarded"
        );
    }
}
