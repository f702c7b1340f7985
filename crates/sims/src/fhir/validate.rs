//! `$validate` (<https://hl7.org/fhir/R4/resource-operation-validate.html>): structure, references, invariants, and the
//! profiles that are known.

use clinical::PartialDateTime;
use fhir::ResourceType;
use fhir::validate::{Finding, Profile, conformance, impossible_references, is_base_profile};
use serde_json::Value;

use super::interaction_context::InteractionContext;
use super::outcome::{FhirError, Issue, excerpt, operation_outcome};
use super::read::live;
use super::reply::{Reply, ReplyContent};
use super::scopes::Permission;

/// The maximum number of requested profiles and of claimed profiles that are checked.
const MAX_PROFILES: usize = 20;
/// The maximum number of issues that are returned.
const MAX_ISSUES: usize = 1_000;

/// Validates the body, or the stored resource if there is no body.
pub(crate) fn instance(
    context: &InteractionContext<'_>,
    resource_type: ResourceType,
    id: &str,
    body: &Value,
) -> Result<Reply, FhirError> {
    if !body.is_null() {
        return validate(context, Some(resource_type), Some(id), body);
    }
    context.require(Permission::Read, resource_type)?;
    let record = live(resource_type, id, context.records.get(resource_type.as_str(), id))?;
    validate(context, Some(resource_type), Some(id), &record.json())
}

/// `resource_type` and `id` are those of the URL.
pub(crate) fn validate(
    context: &InteractionContext<'_>,
    resource_type: Option<ResourceType>,
    id: Option<&str>,
    body: &Value,
) -> Result<Reply, FhirError> {
    let input = ValidationInput::read(context, resource_type, body)?;
    let mut issues = context.ignored_parameters(&["profile", "mode"])?;
    if input.mode.as_deref() == Some("delete") {
        issues.push(Issue::information("the resource can be deleted"));
        return Ok(Reply::new(200, ReplyContent::Generated(operation_outcome(&issues))));
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
        Err(errors) => issues.extend(errors.iter().map(Issue::from)),
        Ok(()) => issues.extend(conformance_issues(context, resource)?),
    }
    let has_structure = !issues.iter().any(|issue| issue.severity == "error");
    let (profiles, warning) = limit_profiles(input.profiles.iter().map(String::as_str));
    issues.extend(warning);
    for profile in profiles {
        issues.extend(by_profile(context, profile, resource, true)?.into_iter().filter(|_| has_structure));
        if !has_structure && Profile::find(profile).is_none() && is_base_profile(profile).is_none() {
            issues.push(unknown_profile(profile, true));
        }
    }
    shorten(&mut issues);
    if issues.is_empty() {
        issues.push(Issue::information("no problems were found"));
    }
    Ok(Reply::new(200, ReplyContent::Generated(operation_outcome(&issues))))
}

/// Invariants, references, and the profiles that the resource claims.
fn conformance_issues(context: &InteractionContext<'_>, resource: &Value) -> Result<Vec<Issue>, FhirError> {
    if !context.rules.references {
        // The config disables these checks.
        return Ok(Vec::new());
    }
    let mut issues: Vec<Issue> = impossible_references(resource).iter().map(Issue::from).collect();
    issues.extend(conformance(resource, now(context)?).iter().map(issue_from_finding));
    let claimed = resource["meta"]["profile"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let (profiles, warning) = limit_profiles(claimed);
    issues.extend(warning);
    for claimed in profiles {
        issues.extend(by_profile(context, claimed, resource, false)?);
    }
    Ok(issues)
}

/// The distinct profiles, up to the limit, with a warning if there are more.
fn limit_profiles<'p>(profiles: impl Iterator<Item = &'p str>) -> (Vec<&'p str>, Option<Issue>) {
    let mut distinct: Vec<&str> = Vec::new();
    for profile in profiles {
        if distinct.contains(&profile) {
            continue;
        }
        if distinct.len() == MAX_PROFILES {
            let message = format!("only the first {MAX_PROFILES} profiles were checked");
            return (distinct, Some(Issue::warning("too-costly", message)));
        }
        distinct.push(profile);
    }
    (distinct, None)
}

fn shorten(issues: &mut Vec<Issue>) {
    if issues.len() > MAX_ISSUES {
        issues.truncate(MAX_ISSUES);
        issues.push(Issue::warning("too-costly", format!("only the first {MAX_ISSUES} problems are shown")));
    }
}

fn by_profile(
    context: &InteractionContext<'_>,
    canonical: &str,
    resource: &Value,
    is_requested: bool,
) -> Result<Vec<Issue>, FhirError> {
    if let Some(profile) = Profile::find(canonical) {
        return Ok(profile.check(resource, now(context)?).iter().map(issue_from_finding).collect());
    }
    Ok(match is_base_profile(canonical) {
        Some(known) if resource["resourceType"] == known.as_str() => Vec::new(),
        Some(known) => vec![Issue::error("invalid", format!("is not a {known}")).at("Resource.resourceType")],
        None => vec![unknown_profile(canonical, is_requested)],
    })
}

/// An error if the client requests the profile, a warning if the resource claims it.
fn unknown_profile(canonical: &str, is_requested: bool) -> Issue {
    let message = format!(
        "the profile {} is not known; known are the types of R4 and the profiles of US Core 6.1.0",
        excerpt(canonical)
    );
    if is_requested { Issue::error("not-found", message) } else { Issue::warning("not-found", message) }
}

fn issue_from_finding(finding: &Finding) -> Issue {
    let issue = Issue::from(&finding.fault);
    if finding.is_warning { Issue { severity: "warning", ..issue } } else { issue }
}

fn now(context: &InteractionContext<'_>) -> Result<PartialDateTime, FhirError> {
    let now = context.now().to_string();
    PartialDateTime::parse_fhir(&now).ok_or_else(|| FhirError::new(422, "exception", "the time is not known"))
}

/// The resource to validate, the profiles and the mode.
struct ValidationInput<'b> {
    resource: &'b Value,
    profiles: Vec<String>,
    mode: Option<String>,
}

impl<'b> ValidationInput<'b> {
    fn read(
        context: &InteractionContext<'_>,
        resource_type: Option<ResourceType>,
        body: &'b Value,
    ) -> Result<Self, FhirError> {
        let url_values = |wanted: &str| {
            let found = context.parameters.iter().filter(move |(name, _)| name == wanted);
            found.map(|(_, value)| value.clone()).filter(|value| !value.is_empty()).collect::<Vec<String>>()
        };
        let mut input =
            Self { resource: body, profiles: url_values("profile"), mode: url_values("mode").into_iter().next() };
        if body["resourceType"] != "Parameters" {
            return input.checked();
        }
        let parameters = body["parameter"].as_array().map(Vec::as_slice).unwrap_or_default();
        let named = |name: &'static str| parameters.iter().filter(move |parameter| parameter["name"] == name);
        match named("resource").find_map(|parameter| parameter.get("resource")) {
            Some(resource) => input.resource = resource,
            // A Parameters resource can itself be validated if no other type is expected.
            None if resource_type.is_none_or(|wanted| wanted.as_str() == "Parameters") => return input.checked(),
            None => {
                let message = "the Parameters have no parameter named resource";
                return Err(FhirError::bad("required", message).at("Parameters.parameter"));
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

    fn checked(self) -> Result<Self, FhirError> {
        match self.mode.as_deref() {
            None | Some("create" | "update" | "delete" | "profile") => Ok(self),
            Some(other) => {
                let message = format!("the mode must be create, update, delete or profile, got `{}`", excerpt(other));
                Err(FhirError::bad("value", message))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_and_issues_are_limited() {
        let names: Vec<String> = (0..50).map(|index| format!("http://e/{}", index / 2)).collect();
        let (few, warning) = limit_profiles(names[..40].iter().map(String::as_str));
        assert_eq!((few.len(), warning.is_none()), (20, true));
        let (many, warning) = limit_profiles(names.iter().map(String::as_str));
        assert_eq!((many.len(), warning.is_some()), (20, true));
        let mut issues: Vec<Issue> = (0..5_000).map(|_| Issue::information("x")).collect();
        shorten(&mut issues);
        assert_eq!(issues.len(), MAX_ISSUES + 1);
    }
}
