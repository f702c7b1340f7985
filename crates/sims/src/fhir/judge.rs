//! What a token allows of requests that another server answers. Nothing here sees the answer: whatever could show or change
//! more than one type, or is not understood, needs the scopes for every type.

use fhir::search::Clause;
use fhir::{OwnAddresses, ResourceType};
use serde_json::Value;

use super::bundle::{Entry, criteria, split_criteria};
use super::http::{Request, Response};
use super::outcome::Refusal;
use super::route::{Action, Body};
use super::scopes::{Permission, Scopes};
use super::{address, media};

/// Parameters that only change how an answer looks.
const HARMLESS: [&str; 6] = ["_format", "_pretty", "_count", "_since", "_summary", "_elements"];
const ALL: [Permission; 5] =
    [Permission::Create, Permission::Read, Permission::Update, Permission::Delete, Permission::Search];

/// The answer to a request that the scopes do not allow. The body of one that they do is left as it was understood here,
/// so that the other server cannot understand it differently.
pub fn refusal(scopes: &Scopes, request: &mut Request) -> Option<Response> {
    let refused = judge(scopes, request).err()?;
    let headers = vec![("content-type", media::FHIR_JSON.to_owned())];
    Some(Response { status: refused.status, headers, body: refused.json().to_string(), raw: None })
}

fn judge(scopes: &Scopes, request: &mut Request) -> Result<(), Refusal> {
    let Ok(action) = Action::of(&request.method, &address::segments(&request.path)) else {
        return everything(scopes, &ALL);
    };
    if action == Action::Bundle {
        return bundle(scopes, request);
    }
    let mut parameters = address::pairs(&request.query);
    if action.body() == Body::Form && request.method == "POST" {
        parameters.extend(address::pairs(&String::from_utf8_lossy(&request.body)));
    }
    let own = OwnAddresses::new(&request.base_url, &request.other_paths);
    interaction(scopes, &action, &parameters, request.header("if-none-exist"), own)
}

fn interaction(
    scopes: &Scopes,
    action: &Action,
    parameters: &[(String, String)],
    if_none_exist: Option<&str>,
    own: OwnAddresses<'_>,
) -> Result<(), Refusal> {
    for (permission, resource_type) in action.needs(if_none_exist.is_some()) {
        require(scopes, permission, resource_type)?;
    }
    match action {
        Action::Metadata | Action::SmartConfiguration | Action::ValidateSystem | Action::ValidateType(_) => {
            return Ok(());
        }
        Action::SystemHistory
        | Action::SystemSearch
        | Action::CompartmentSearch { .. }
        | Action::LastN
        | Action::Everything(_) => {
            return everything(scopes, &[Permission::Read, Permission::Search]);
        }
        Action::Search(searched) | Action::ConditionalUpdate(searched) | Action::ConditionalDelete(searched) => {
            return search(scopes, *searched, parameters, own);
        }
        Action::ConditionalPatch(searched) => {
            require(scopes, Permission::Read, *searched)?;
            return search(scopes, *searched, parameters, own);
        }
        // What is there already may be answered.
        Action::Create(created) if if_none_exist.is_some() => {
            require(scopes, Permission::Read, *created)?;
            let text = if_none_exist.unwrap_or_default();
            let text = text.split_once('?').map_or(text, |(_, criteria)| criteria);
            search(scopes, *created, &address::pairs(text), own)?;
        }
        Action::Patch(changed, _) | Action::ValidateInstance(changed, _) => {
            require(scopes, Permission::Read, *changed)?
        }
        _ => {}
    }
    if parameters.iter().all(|(name, _)| HARMLESS.contains(&name.as_str())) {
        return Ok(());
    }
    everything(scopes, &ALL)
}

/// Criteria that look at nothing but the resources themselves.
fn search(
    scopes: &Scopes,
    searched: ResourceType,
    parameters: &[(String, String)],
    own: OwnAddresses<'_>,
) -> Result<(), Refusal> {
    let looks = |(name, _): &&(String, String)| !["_format", "_pretty"].contains(&name.as_str());
    let parameters: Vec<_> = parameters.iter().filter(looks).cloned().collect();
    let is_plain = fhir::search::parse_for(searched, own, &|_, _| None, &parameters).is_ok_and(|query| {
        let is_own = |clause: &Clause| matches!(clause, Clause::Simple(_));
        query.ignored.is_empty() && query.includes.is_empty() && query.clauses.iter().all(is_own)
    });
    if is_plain { Ok(()) } else { everything(scopes, &[Permission::Read, Permission::Search]) }
}

fn bundle(scopes: &Scopes, request: &mut Request) -> Result<(), Refusal> {
    let Ok(bundle) = serde_json::from_slice::<Value>(super::json::without_mark(&request.body)) else {
        return everything(scopes, &ALL);
    };
    let is_processed = matches!(bundle["type"].as_str(), Some("batch" | "transaction")) && request.query.is_empty();
    let entries = bundle["entry"].as_array().map(Vec::as_slice).unwrap_or_default();
    if !is_processed {
        return everything(scopes, &ALL);
    }
    for (index, entry) in entries.iter().enumerate() {
        one_entry(scopes, entry, OwnAddresses::new(&request.base_url, &request.other_paths))
            .map_err(|refusal| refusal.in_entry(index))?;
    }
    request.body = bundle.to_string().into_bytes();
    Ok(())
}

fn one_entry(scopes: &Scopes, entry: &Value, own: OwnAddresses<'_>) -> Result<(), Refusal> {
    let Ok(mut entry) = Entry::read(entry, own) else { return everything(scopes, &ALL) };
    let mut references = std::collections::BTreeSet::new();
    if let Some(body) = &mut entry.body {
        criteria(body, &mut references)?;
    }
    for reference in &references {
        let Some((searched, text)) = split_criteria(reference) else { continue };
        require(scopes, Permission::Search, searched)?;
        search(scopes, searched, &address::pairs(text), own)?;
    }
    let if_none_exist = entry.conditions.if_none_exist.as_deref();
    interaction(scopes, &entry.action, &entry.parameters, if_none_exist, own)
}

fn require(scopes: &Scopes, permission: Permission, resource_type: ResourceType) -> Result<(), Refusal> {
    if scopes.allow(permission, resource_type) {
        return Ok(());
    }
    let letter = permission.letter();
    let message = format!("this needs the scope system/{resource_type}.{letter}, which the token does not have");
    Err(Refusal::new(403, "forbidden", message))
}

fn everything(scopes: &Scopes, permissions: &[Permission]) -> Result<(), Refusal> {
    let has_all =
        permissions.iter().all(|permission| ResourceType::all().all(|found| scopes.allow(*permission, found)));
    if has_all {
        return Ok(());
    }
    let letters: String = permissions.iter().map(|permission| permission.letter()).collect();
    let message =
        format!("another server answers here, perhaps with any type: this needs the scope system/*.{letters}");
    Err(Refusal::new(403, "forbidden", message))
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
        refusal(&Scopes::parse(scopes), &mut request).map_or(200, |response| response.status)
    }

    #[test]
    fn a_narrow_scope_gets_what_it_names_and_no_more() {
        let narrow = "system/Patient.rs";
        for allowed in ["Patient/1", "Patient?name=a&_count=5", "Patient/1/_history", "Patient/_history", "metadata"] {
            assert_eq!(status(narrow, "GET", allowed, ""), 200, "{allowed}");
            assert_eq!(status("system/*.rs", "GET", allowed, ""), 200, "{allowed}");
        }
        for refused in [
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
            assert_eq!(status(narrow, "GET", refused, ""), 403, "{refused}");
            assert_eq!(status("system/*.cruds", "GET", refused, ""), 200, "{refused}");
        }
        for method in ["POST", "PUT", "PATCH", "DELETE"] {
            assert_eq!(status(narrow, method, "Patient/1", ""), 403, "{method}");
        }
        assert_eq!(status("system/Patient.u", "PATCH", "Patient/1", ""), 403, "a patch answers what is there");
    }

    #[test]
    fn every_entry_of_a_bundle_is_judged_as_it_is_passed_on() {
        let narrow = "system/Patient.cruds";
        let bundle = |entries: &str| format!(r#"{{"resourceType":"Bundle","type":"batch","entry":[{entries}]}}"#);
        let get = |url: &str| json!({"request": {"method": "GET", "url": url}}).to_string();
        assert_eq!(status(narrow, "POST", "", &bundle(&get("Patient/1"))), 200);
        let referring = json!({"request": {"method": "POST", "url": "Patient"}, "resource": {"resourceType": "Patient",
            "generalPractitioner": [{"reference": "Practitioner?name=a"}]}});
        for refused in
            [get("Observation/1"), get("Patient?_revinclude=*"), get("$x"), referring.to_string(), "1".into()]
        {
            assert_eq!(
                status(narrow, "POST", "", &bundle(&format!("{},{refused}", get("Patient/1")))),
                403,
                "{refused}"
            );
        }
        assert_eq!(status(narrow, "POST", "", "<Bundle/>"), 403);
        let twice = format!(r#"{{"entry":[{}],{}"#, get("Observation/1"), &bundle(&get("Patient/1"))[1..]);
        let mut request = Request { method: "POST".into(), body: twice.into_bytes(), ..Request::default() };
        assert_eq!(refusal(&Scopes::parse(narrow), &mut request), None);
        assert!(
            !String::from_utf8_lossy(&request.body).contains("Observation"),
            "the first of two members is passed on"
        );
    }
}
