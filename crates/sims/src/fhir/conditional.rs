//! Conditional interactions (<https://hl7.org/fhir/R4/http.html#cond-update>): the resource is named by a search.

use fhir::ResourceType;
use fhir::search::Query;
use serde_json::Value;
use world::{Page, Seq};

use super::call::Call;
use super::outcome::{Refusal, excerpt};
use super::reply::Reply;
use super::scopes::Permission;
use super::{address, create, patch as patching, search, stored_parameters, update as updating, write};

/// What the criteria find.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Match {
    None,
    One(String),
    Many,
}

/// Of criteria as a header or a reference writes them: `identifier=…`, perhaps after `?` or `Patient?`.
pub(crate) fn find_text(call: &Call<'_>, resource_type: ResourceType, criteria: &str) -> Result<Match, Refusal> {
    let criteria = criteria.split_once('?').map_or(criteria, |(_, criteria)| criteria);
    find(call, resource_type, &address::pairs(criteria))
}

/// A conditional delete removes at most so many resources; all of a transaction together too.
pub(crate) const MOST_DELETED: usize = 10_000;

pub(crate) fn find(
    call: &Call<'_>,
    resource_type: ResourceType,
    criteria: &[(String, String)],
) -> Result<Match, Refusal> {
    let mut found = find_several(call, resource_type, criteria, 2)?;
    Ok(match (found.pop(), found.is_empty()) {
        (None, _) => Match::None,
        (Some(one), true) => Match::One(one),
        (Some(_), false) => Match::Many,
    })
}

/// The ids that the criteria find, at most so many.
fn find_several(
    call: &Call<'_>,
    resource_type: ResourceType,
    criteria: &[(String, String)],
    most: usize,
) -> Result<Vec<String>, Refusal> {
    call.require(Permission::Search, resource_type)?;
    let stored = call.stored_parameters(Seq::MAX);
    let stored = |resource_type, code: &str| stored.find(resource_type, code);
    let query = fhir::search::parse_for(resource_type, call.own_addresses(), &stored, criteria)
        .map_err(|fault| search::refused(&fault))?;
    stored_parameters::check_work(call, &[(resource_type, &query)])?;
    if let Some((name, reason)) = query.ignored.first() {
        // A criterion that is left out would name another resource.
        return Err(Refusal::bad("not-supported", format!("the criterion {}: {reason}", excerpt(name))));
    }
    if query.clauses.is_empty() {
        return Err(Refusal::precondition(
            "required",
            "a conditional interaction needs criteria, such as identifier=…",
        ));
    }
    let clauses = search::permitted(call, query.clauses)?;
    let query = Query { clauses, ..Query::default() };
    let found = call.records.search(resource_type, &query, Seq::MAX, Page { offset: 0, count: most });
    Ok(found.matches.iter().map(|hit| hit.record.key.to_owned()).collect())
}

/// Which resource a conditional update writes to, and whether it may only be a new one.
pub(crate) fn update_target(call: &Call<'_>, resource_type: ResourceType, body: &Value) -> Result<String, Refusal> {
    let given = body.get("id").and_then(Value::as_str);
    match (find(call, resource_type, &call.parameters)?, given) {
        (Match::Many, _) => Err(create::several(resource_type)),
        (Match::One(id), Some(given)) if given != id => {
            let message = format!("the criteria find {resource_type}/{id}, but the id is {}", excerpt(given));
            Err(Refusal::bad("invalid", message).at(&format!("{resource_type}.id")))
        }
        (Match::One(id), _) => Ok(id),
        (Match::None, Some(given)) if call.records.get(resource_type.as_str(), given).live().is_some() => {
            let message = format!("the criteria do not find {resource_type}/{}, which there is", excerpt(given));
            Err(Refusal::new(409, "conflict", message))
        }
        (Match::None, Some(given)) => Ok(given.to_owned()),
        (Match::None, None) => Ok((call.context.new_id)()),
    }
}

pub(crate) fn update(call: &Call<'_>, resource_type: ResourceType, body: &Value) -> Result<Reply, Refusal> {
    write::check(resource_type, body)?;
    let id = update_target(call, resource_type, body)?;
    updating::update(call, resource_type, &id, &with_id(body, &id))
}

/// The resource with the id that the criteria gave it.
pub(crate) fn with_id(body: &Value, id: &str) -> Value {
    let mut resource = body.clone();
    if let Value::Object(fields) = &mut resource
        && !fields.contains_key("id")
    {
        fields.shift_insert(fields.len().min(1), "id".to_owned(), id.into());
    }
    resource
}

/// Which resource a conditional patch changes; there must be one.
pub(crate) fn patch_target(call: &Call<'_>, resource_type: ResourceType) -> Result<String, Refusal> {
    match find(call, resource_type, &call.parameters)? {
        Match::One(id) => Ok(id),
        Match::None => Err(Refusal::not_found(format!("the criteria find no {resource_type}"))),
        Match::Many => Err(create::several(resource_type)),
    }
}

pub(crate) fn patch(call: &Call<'_>, resource_type: ResourceType, body: &Value) -> Result<Reply, Refusal> {
    let id = patch_target(call, resource_type)?;
    patching::patch(call, resource_type, &id, body)
}

/// The resources that a conditional delete removes: all that the criteria find.
pub(crate) fn delete_targets(call: &Call<'_>, resource_type: ResourceType) -> Result<Vec<String>, Refusal> {
    let found = find_several(call, resource_type, &call.parameters, MOST_DELETED + 1)?;
    if found.len() > MOST_DELETED {
        let message = format!("the criteria find more than {MOST_DELETED} resources; narrow them down");
        return Err(Refusal::precondition("too-costly", message));
    }
    Ok(found)
}

pub(crate) fn delete(call: &Call<'_>, resource_type: ResourceType) -> Result<Reply, Refusal> {
    super::delete::delete_all(call, resource_type, &delete_targets(call, resource_type)?)
}
