//! Conditional interactions (<https://hl7.org/fhir/R4/http.html#cond-update>): the resource is found by a search.

use fhir::ResourceType;
use fhir::search::Query;
use serde_json::Value;
use world::{Page, Seq};

use super::interaction_context::InteractionContext;
use super::outcome::{FhirError, excerpt};
use super::reply::Reply;
use super::scopes::Permission;
use super::{
    address, create, patch as patch_interaction, search, stored_parameters, update as update_interaction, write,
};

/// The number of resources that criteria match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CriteriaMatch {
    None,
    One(String),
    Many,
}

/// Evaluates criteria from a header or a reference: `identifier=…`, optionally after `?` or `Patient?`.
pub(crate) fn find_text(
    context: &InteractionContext<'_>,
    resource_type: ResourceType,
    criteria: &str,
) -> Result<CriteriaMatch, FhirError> {
    let criteria = criteria.split_once('?').map_or(criteria, |(_, criteria)| criteria);
    find(context, resource_type, &address::pairs(criteria))
}

/// The maximum number of resources that a conditional delete removes. Also the limit of all deletes of a transaction.
pub(crate) const MAX_DELETED: usize = 10_000;

pub(crate) fn find(
    context: &InteractionContext<'_>,
    resource_type: ResourceType,
    criteria: &[(String, String)],
) -> Result<CriteriaMatch, FhirError> {
    let mut found = find_several(context, resource_type, criteria, 2)?;
    Ok(match (found.pop(), found.is_empty()) {
        (None, _) => CriteriaMatch::None,
        (Some(one), true) => CriteriaMatch::One(one),
        (Some(_), false) => CriteriaMatch::Many,
    })
}

/// Up to `limit` ids of resources that match the criteria.
fn find_several(
    context: &InteractionContext<'_>,
    resource_type: ResourceType,
    criteria: &[(String, String)],
    limit: usize,
) -> Result<Vec<String>, FhirError> {
    context.require(Permission::Search, resource_type)?;
    let stored = context.stored_parameters(Seq::MAX);
    let stored = |resource_type, code: &str| stored.find(resource_type, code);
    let query = fhir::search::parse_for(resource_type, context.own_addresses(), &stored, criteria)
        .map_err(|error| search::search_error(&error))?;
    stored_parameters::check_work(context, &[(resource_type, &query)])?;
    if let Some((name, reason)) = query.ignored.first() {
        // Without this criterion, another resource could match.
        return Err(FhirError::bad("not-supported", format!("the criterion {}: {reason}", excerpt(name))));
    }
    if query.clauses.is_empty() {
        return Err(FhirError::precondition(
            "required",
            "a conditional interaction needs criteria, such as identifier=…",
        ));
    }
    let clauses = search::restrict_clauses(context, query.clauses)?;
    let query = Query { clauses, ..Query::default() };
    let found = context.records.search(resource_type, &query, Seq::MAX, Page { offset: 0, count: limit });
    Ok(found.matches.iter().map(|hit| hit.record.key.to_owned()).collect())
}

/// The id that a conditional update writes to.
pub(crate) fn update_target(
    context: &InteractionContext<'_>,
    resource_type: ResourceType,
    body: &Value,
) -> Result<String, FhirError> {
    let given = body.get("id").and_then(Value::as_str);
    match (find(context, resource_type, &context.parameters)?, given) {
        (CriteriaMatch::Many, _) => Err(create::multiple_matches(resource_type)),
        (CriteriaMatch::One(id), Some(given)) if given != id => {
            let message = format!("the criteria match {resource_type}/{id}, but the id is {}", excerpt(given));
            Err(FhirError::bad("invalid", message).at(&format!("{resource_type}.id")))
        }
        (CriteriaMatch::One(id), _) => Ok(id),
        (CriteriaMatch::None, Some(given)) if context.records.get(resource_type.as_str(), given).live().is_some() => {
            let message = format!("the criteria do not match the existing resource {resource_type}/{}", excerpt(given));
            Err(FhirError::new(409, "conflict", message))
        }
        (CriteriaMatch::None, Some(given)) => Ok(given.to_owned()),
        (CriteriaMatch::None, None) => Ok((context.world_context.new_id)()),
    }
}

pub(crate) fn update(
    context: &InteractionContext<'_>,
    resource_type: ResourceType,
    body: &Value,
) -> Result<Reply, FhirError> {
    write::check(resource_type, body)?;
    let id = update_target(context, resource_type, body)?;
    update_interaction::update(context, resource_type, &id, &with_id(body, &id))
}

/// The resource with the id of the match.
pub(crate) fn with_id(body: &Value, id: &str) -> Value {
    let mut resource = body.clone();
    if let Value::Object(fields) = &mut resource
        && !fields.contains_key("id")
    {
        fields.shift_insert(fields.len().min(1), "id".to_owned(), id.into());
    }
    resource
}

/// The id that a conditional patch changes. Exactly one resource must match.
pub(crate) fn patch_target(context: &InteractionContext<'_>, resource_type: ResourceType) -> Result<String, FhirError> {
    match find(context, resource_type, &context.parameters)? {
        CriteriaMatch::One(id) => Ok(id),
        CriteriaMatch::None => Err(FhirError::not_found(format!("the criteria match no {resource_type}"))),
        CriteriaMatch::Many => Err(create::multiple_matches(resource_type)),
    }
}

pub(crate) fn patch(
    context: &InteractionContext<'_>,
    resource_type: ResourceType,
    body: &Value,
) -> Result<Reply, FhirError> {
    let id = patch_target(context, resource_type)?;
    patch_interaction::patch(context, resource_type, &id, body)
}

/// The ids that a conditional delete removes: all matches.
pub(crate) fn delete_targets(
    context: &InteractionContext<'_>,
    resource_type: ResourceType,
) -> Result<Vec<String>, FhirError> {
    let found = find_several(context, resource_type, &context.parameters, MAX_DELETED + 1)?;
    if found.len() > MAX_DELETED {
        let message = format!("the criteria match more than {MAX_DELETED} resources; use narrower criteria");
        return Err(FhirError::precondition("too-costly", message));
    }
    Ok(found)
}

pub(crate) fn delete(context: &InteractionContext<'_>, resource_type: ResourceType) -> Result<Reply, FhirError> {
    super::delete::delete_all(context, resource_type, &delete_targets(context, resource_type)?)
}
