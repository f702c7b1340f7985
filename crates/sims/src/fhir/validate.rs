//! `$validate` (<https://hl7.org/fhir/R4/resource-operation-validate.html>): structure, references, invariants, and the
//! profiles that are known.

use fhir::ResourceType;
use fhir::fhirpath::{Moment, MomentKind};
use fhir::validate::{Finding, Profile, conformance, impossible_references, is_base_profile};
use serde_json::Value;

use super::call::Call;
use super::outcome::{Issue, Refusal, excerpt, operation_outcome};
use super::read::live;
use super::reply::{Content, Reply};
use super::scopes::Permission;

/// So many profiles are looked at, of those that are asked for and of those that the resource claims.
const MOST_PROFILES: usize = 20;
/// So many problems are told.
const MOST_ISSUES: usize = 1_000;

/// Of the stored resource when there is no body.
pub(crate) fn instance(call: &Call<'_>, resource_type: ResourceType, id: &str, body: &Value) -> Result<Reply, Refusal> {
    if !body.is_null() {
        return validate(call, Some(resource_type), Some(id), body);
    }
    call.require(Permission::Read, resource_type)?;
    let record = live(resource_type, id, call.records.get(resource_type.as_str(), id))?;
    validate(call, Some(resource_type), Some(id), &record.json())
}

/// `resource_type` and `id` are those of the address.
pub(crate) fn validate(
    call: &Call<'_>,
    resource_type: Option<ResourceType>,
    id: Option<&str>,
    body: &Value,
) -> Result<Reply, Refusal> {
    let input = Input::read(call, resource_type, body)?;
    let mut issues = call.ignored_parameters(&["profile", "mode"])?;
    if input.mode.as_deref() == Some("delete") {
        issues.push(Issue::information("nothing speaks against a deletion"));
        return Ok(Reply::new(200, Content::Made(operation_outcome(&issues))));
    }
    let resource = input.resource;
    if let Some(resource_type) = resource_type
        && resource["resourceType"].as_str().is_some_and(|name| name != resource_type.as_str())
    {
        issues.push(Issue::error("invalid", format!("is not a {resource_type}")).at("Resource.resourceType"));
    }
    if let (Some(id), Some(given)) = (id, resource["id"].as_str())
        && id != given
    {
        let name = resource["resourceType"].as_str().unwrap_or("Resource");
        issues.push(Issue::error("invalid", format!("must be {id}")).at(format!("{}.id", excerpt(name))));
    }
    match fhir::validate(resource) {
        Err(faults) => issues.extend(faults.iter().map(Issue::from)),
        Ok(()) => issues.extend(beyond_structure(call, resource)?),
    }
    let has_structure = !issues.iter().any(|issue| issue.severity == "error");
    let (profiles, note) = considered(input.profiles.iter().map(String::as_str));
    issues.extend(note);
    for profile in profiles {
        issues.extend(by_profile(call, profile, resource, true)?.into_iter().filter(|_| has_structure));
        if !has_structure && Profile::find(profile).is_none() && is_base_profile(profile).is_none() {
            issues.push(unknown_profile(profile, true));
        }
    }
    shorten(&mut issues);
    if issues.is_empty() {
        issues.push(Issue::information("no problems were found"));
    }
    Ok(Reply::new(200, Content::Made(operation_outcome(&issues))))
}

/// What R4 asks for beyond the structure, and the profiles that the resource claims.
fn beyond_structure(call: &Call<'_>, resource: &Value) -> Result<Vec<Issue>, Refusal> {
    if !call.rules.references {
        // The author wants a permissive server.
        return Ok(Vec::new());
    }
    let mut issues: Vec<Issue> = impossible_references(resource).iter().map(Issue::from).collect();
    issues.extend(conformance(resource, now(call)?).iter().map(of_finding));
    let claimed = resource["meta"]["profile"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let (profiles, note) = considered(claimed);
    issues.extend(note);
    for claimed in profiles {
        issues.extend(by_profile(call, claimed, resource, false)?);
    }
    Ok(issues)
}

/// Each profile once, and not too many of them; then a note says so.
fn considered<'p>(profiles: impl Iterator<Item = &'p str>) -> (Vec<&'p str>, Option<Issue>) {
    let mut kept: Vec<&str> = Vec::new();
    for profile in profiles {
        if kept.contains(&profile) {
            continue;
        }
        if kept.len() == MOST_PROFILES {
            let message = format!("only the first {MOST_PROFILES} profiles were looked at");
            return (kept, Some(Issue::warning("too-costly", message)));
        }
        kept.push(profile);
    }
    (kept, None)
}

fn shorten(issues: &mut Vec<Issue>) {
    if issues.len() > MOST_ISSUES {
        issues.truncate(MOST_ISSUES);
        issues.push(Issue::warning("too-costly", format!("only the first {MOST_ISSUES} problems are shown")));
    }
}

fn by_profile(call: &Call<'_>, canonical: &str, resource: &Value, is_asked: bool) -> Result<Vec<Issue>, Refusal> {
    if let Some(profile) = Profile::find(canonical) {
        return Ok(profile.check(resource, now(call)?).iter().map(of_finding).collect());
    }
    Ok(match is_base_profile(canonical) {
        Some(known) if resource["resourceType"] == known.as_str() => Vec::new(),
        Some(known) => vec![Issue::error("invalid", format!("is not a {known}")).at("Resource.resourceType")],
        None => vec![unknown_profile(canonical, is_asked)],
    })
}

/// An error if the client asks for the profile; a warning if the resource claims it.
fn unknown_profile(canonical: &str, is_asked: bool) -> Issue {
    let message = format!(
        "the profile {} is not known; known are the types of R4 and the profiles of US Core 6.1.0",
        excerpt(canonical)
    );
    if is_asked { Issue::error("not-found", message) } else { Issue::warning("not-found", message) }
}

fn of_finding(finding: &Finding) -> Issue {
    let issue = Issue::from(&finding.fault);
    if finding.is_warning { Issue { severity: "warning", ..issue } } else { issue }
}

fn now(call: &Call<'_>) -> Result<Moment, Refusal> {
    let now = call.now().to_string();
    Moment::parse(MomentKind::DateTime, &now).ok_or_else(|| Refusal::new(422, "exception", "the time is not known"))
}

/// What is to be looked at, and by which profiles.
struct Input<'b> {
    resource: &'b Value,
    profiles: Vec<String>,
    mode: Option<String>,
}

impl<'b> Input<'b> {
    fn read(call: &Call<'_>, resource_type: Option<ResourceType>, body: &'b Value) -> Result<Self, Refusal> {
        let of_address = |wanted: &str| {
            let found = call.parameters.iter().filter(move |(name, _)| name == wanted);
            found.map(|(_, value)| value.clone()).filter(|value| !value.is_empty()).collect::<Vec<String>>()
        };
        let mut input =
            Self { resource: body, profiles: of_address("profile"), mode: of_address("mode").into_iter().next() };
        if body["resourceType"] != "Parameters" {
            return input.checked();
        }
        let parameters = body["parameter"].as_array().map(Vec::as_slice).unwrap_or_default();
        let named = |name: &'static str| parameters.iter().filter(move |parameter| parameter["name"] == name);
        match named("resource").find_map(|parameter| parameter.get("resource")) {
            Some(resource) => input.resource = resource,
            // Parameters can be what is to be looked at, where no other type is wanted.
            None if resource_type.is_none_or(|wanted| wanted.as_str() == "Parameters") => return input.checked(),
            None => {
                let message = "the Parameters have no parameter named resource";
                return Err(Refusal::bad("required", message).at("Parameters.parameter"));
            }
        }
        let text = |parameter: &Value| {
            let mut fields = parameter.as_object()?.iter();
            fields.find(|(key, _)| key.starts_with("value"))?.1.as_str().map(ToOwned::to_owned)
        };
        input.profiles.extend(named("profile").filter_map(text));
        input.mode = named("mode").find_map(text).or(input.mode);
        input.checked()
    }

    fn checked(self) -> Result<Self, Refusal> {
        match self.mode.as_deref() {
            None | Some("create" | "update" | "delete" | "profile") => Ok(self),
            Some(other) => {
                let message = format!("the mode is create, update, delete or profile, not `{}`", excerpt(other));
                Err(Refusal::bad("value", message))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_and_problems_are_bounded() {
        let names: Vec<String> = (0..50).map(|index| format!("http://e/{}", index / 2)).collect();
        let (few, note) = considered(names[..40].iter().map(String::as_str));
        assert_eq!((few.len(), note.is_none()), (20, true));
        let (many, note) = considered(names.iter().map(String::as_str));
        assert_eq!((many.len(), note.is_some()), (20, true));
        let mut issues: Vec<Issue> = (0..5_000).map(|_| Issue::information("x")).collect();
        shorten(&mut issues);
        assert_eq!(issues.len(), MOST_ISSUES + 1);
    }
}
