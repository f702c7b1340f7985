//! search of a type, a compartment or the whole server, by GET and by POST
//! (<https://hl7.org/fhir/R4/http.html#search>).

use std::collections::HashSet;
use std::sync::Arc;

use fhir::ResourceType;
use fhir::definitions::Compartment;
use fhir::search::{Clause, Include, IncludeTarget, Query, SearchError, Summary, Total};
use world::{MOST_INCLUDED, Page, SearchResult, Seq, TypeSearch};

use super::bundle_writer::BundleWriter;
use super::interaction_context::InteractionContext;
use super::outcome::{FhirError, Issue, excerpt, operation_outcome};
use super::paging::{self, Cursor, DEFAULT_COUNT, MAX_COUNT, PAGE};
use super::reply::Reply;
use super::scopes::Permission;
use super::stored_parameters;
use super::subset::Subset;

/// The scope of a search, and the path of its links.
struct SearchTarget {
    path: String,
    types: Vec<ResourceType>,
    /// Whether `_type` selects the types, so that it is not passed on as a criterion.
    uses_type_parameter: bool,
    compartment: Option<(ResourceType, String)>,
}

impl SearchTarget {
    /// Whether only the criteria limit the search.
    fn is_whole_system(&self, context: &InteractionContext<'_>) -> bool {
        self.uses_type_parameter && self.compartment.is_none() && context.parameter(TYPE).is_none()
    }
}

pub(crate) fn of_type(context: &InteractionContext<'_>, resource_type: ResourceType) -> Result<Reply, FhirError> {
    let path = resource_type.as_str().to_owned();
    search(context, &SearchTarget { path, types: vec![resource_type], uses_type_parameter: false, compartment: None })
}

/// `[base]?_type=Patient,Observation&…`: without `_type`, every type that the client may search.
pub(crate) fn of_system(context: &InteractionContext<'_>) -> Result<Reply, FhirError> {
    let stored = ResourceType::all().filter(|found| found.as_str() != "Parameters");
    let types = searched_types(context, stored)?;
    search(context, &SearchTarget { path: String::new(), types, uses_type_parameter: true, compartment: None })
}

/// `Patient/1/Observation`, or `Patient/1/*` for every type of the compartment
/// (<https://hl7.org/fhir/R4/search.html#compartment>).
pub(crate) fn in_compartment(
    context: &InteractionContext<'_>,
    (owner, id): (ResourceType, &str),
    member: Option<ResourceType>,
) -> Result<Reply, FhirError> {
    let types = match member {
        Some(member) => vec![member],
        None => searched_types(context, Compartment::of(owner).into_iter().flat_map(Compartment::types))?,
    };
    let name = member.map_or("*", |member| member.as_str());
    let path = format!("{owner}/{id}/{name}");
    let compartment = Some((owner, id.to_owned()));
    search(context, &SearchTarget { path, types, uses_type_parameter: member.is_none(), compartment })
}

/// The types that `_type` names, or those of `all` that the client may search.
fn searched_types(
    context: &InteractionContext<'_>,
    all: impl Iterator<Item = ResourceType>,
) -> Result<Vec<ResourceType>, FhirError> {
    match super::everything::wanted_types(context)? {
        Some(types) => {
            let all: Vec<ResourceType> = all.collect();
            if let Some(other) = types.iter().find(|wanted| !all.contains(wanted)) {
                return Err(FhirError::bad("value", format!("_type: {other} cannot be searched here")));
            }
            types.iter().try_for_each(|wanted| context.require(Permission::Search, *wanted))?;
            Ok(types.into_iter().collect())
        }
        None => {
            let types: Vec<ResourceType> = all.filter(|found| context.may(Permission::Search, *found)).collect();
            if types.is_empty() {
                return Err(FhirError::new(403, "forbidden", "the token has no scope to search anything"));
            }
            Ok(types)
        }
    }
}

fn search(context: &InteractionContext<'_>, target: &SearchTarget) -> Result<Reply, FhirError> {
    let cursor = Cursor::of(context)?;
    let is_criterion = |name: &str| name != PAGE && !(target.uses_type_parameter && name == TYPE);
    let pairs: Vec<_> = context.parameters.iter().filter(|(name, _)| is_criterion(name)).cloned().collect();
    let (mut queries, ignored) = parse_queries(context, &target.types, pairs, cursor.as_of)?;
    let lost_all_criteria = queries.iter().all(|query| query.clauses.is_empty())
        && ignored.iter().any(|(name, _)| is_selection_criterion(name));
    let ignored: Vec<Issue> = ignored.iter().map(ignored_issue).collect();
    // A search of the whole system without criteria would return everything.
    if (context.prefer.strict && !ignored.is_empty()) || (lost_all_criteria && target.is_whole_system(context)) {
        let issues = ignored.into_iter().map(|issue| Issue { severity: "error", ..issue }).collect();
        return Err(FhirError { status: 400, issues, headers: Vec::new() });
    }
    for query in &mut queries {
        query.clauses = restrict_clauses(context, std::mem::take(&mut query.clauses))?;
        query.includes = restrict_includes(context, std::mem::take(&mut query.includes));
    }
    let searched: Vec<_> = target.types.iter().copied().zip(&queries).collect();
    stored_parameters::check_work(context, &searched)?;
    let Some(first) = queries.first() else { return Err(FhirError::bad("value", "_type has no resource type")) };
    let count = match first.summary {
        Summary::Count => 0,
        _ => first.count.unwrap_or(DEFAULT_COUNT).min(MAX_COUNT),
    };
    let searches = target.types.iter().zip(&queries).map(|(resource_type, query)| TypeSearch {
        resource_type: *resource_type,
        query,
        among: members(context, target.compartment.as_ref(), *resource_type, cursor.as_of),
    });
    let searches: Vec<TypeSearch<'_>> = searches.collect();
    let page = Page { offset: cursor.offset, count };
    let found = context.records.search_types(&searches, cursor.as_of, page, cursor.included);
    Ok(search_reply(context, target, first, (cursor, count), &found, ignored))
}

const TYPE: &str = "_type";

/// Whether a parameter selects resources, instead of changing how they are returned.
fn is_selection_criterion(name: &str) -> bool {
    let presentation = ["_sort", "_count", "_summary", "_elements", "_total", "_include", "_revinclude"];
    !presentation.contains(&name.split([':', '=']).next().unwrap_or(name))
}

/// Names of ignored parameters with the reason.
type IgnoredParameters = Vec<(String, String)>;

/// Parses the search for each type. A parameter that one of the types does not have is ignored for all of them.
fn parse_queries(
    context: &InteractionContext<'_>,
    types: &[ResourceType],
    mut pairs: Vec<(String, String)>,
    as_of: Seq,
) -> Result<(Vec<Query>, IgnoredParameters), FhirError> {
    let stored = context.stored_parameters(as_of);
    let stored = |resource_type, code: &str| stored.find(resource_type, code);
    let mut all_ignored: Vec<(String, String)> = Vec::new();
    loop {
        let mut queries = Vec::with_capacity(types.len());
        let mut ignored: Vec<(String, String)> = Vec::new();
        for resource_type in types {
            let parsed = fhir::search::parse_for(*resource_type, context.own_addresses(), &stored, &pairs);
            let query = parsed.map_err(|error| search_error(&error))?;
            for (name, reason) in &query.ignored {
                if !ignored.iter().any(|(known, _)| known == name) {
                    ignored.push((name.clone(), reason.clone()));
                }
            }
            queries.push(query);
        }
        let is_complete = ignored.is_empty() || types.len() == 1;
        pairs.retain(|(name, _)| !ignored.iter().any(|(known, _)| known == name));
        for (name, value) in pairs.iter_mut().filter(|(name, _)| name == "_sort") {
            let is_ignored = |part: &str| ignored.iter().any(|(known, _)| *known == format!("{name}={}", part.trim()));
            *value = value.split(',').filter(|part| !is_ignored(part)).collect::<Vec<_>>().join(",");
        }
        all_ignored.extend(ignored);
        if is_complete {
            return Ok((queries, all_ignored));
        }
    }
}

/// The ids in the compartment. None if the search is not limited to one.
fn members(
    context: &InteractionContext<'_>,
    compartment: Option<&(ResourceType, String)>,
    member: ResourceType,
    as_of: Seq,
) -> Option<HashSet<String>> {
    let (owner, id) = compartment?;
    let parameters = Compartment::of(*owner).and_then(|compartment| compartment.parameters(member)).unwrap_or_default();
    let referring =
        parameters.iter().flat_map(|parameter| context.records.referring(member, parameter, *owner, id, as_of));
    let mut ids: HashSet<String> = referring.map(|hit| hit.record.key.to_owned()).collect();
    if member == *owner {
        ids.insert(id.clone());
    }
    Some(ids)
}

fn search_reply(
    context: &InteractionContext<'_>,
    target: &SearchTarget,
    query: &Query,
    (cursor, count): (Cursor, usize),
    found: &SearchResult<'_>,
    mut issues: Vec<Issue>,
) -> Reply {
    let mut parameters = query.applied.clone();
    if target.uses_type_parameter {
        let types = context.parameters.iter().filter(|(name, _)| name == TYPE).cloned();
        parameters.splice(0..0, types);
    }
    let more_included = found.has_more_included.then(|| cursor.included.saturating_add(MOST_INCLUDED));
    let links = paging::links(context, &target.path, &parameters, cursor, (count, found.total), more_included);
    let total = (query.total == Total::Accurate).then_some(found.total);
    let mut bundle = BundleWriter::new(context, "searchset", total, &links);
    let subset = Subset::of_query(query);
    // The matches of a page are only returned with its first part of included resources.
    for hit in found.matches.iter().filter(|_| cursor.included == 0) {
        bundle.add_result(context, &hit.record, &subset, "match");
    }
    let included_subset = subset.of_included();
    for hit in found.included.iter().filter(|hit| context.may_see(hit.resource_type)) {
        bundle.add_result(context, &hit.record, &included_subset, "include");
    }
    if found.has_more_included {
        let message = format!(
            "a page includes at most {MOST_INCLUDED} resources; the link `next` leads to the other resources that are \
             included with these matches"
        );
        issues.push(Issue::warning("incomplete", message));
    }
    if !issues.is_empty() {
        bundle.add_outcome(&operation_outcome(&issues));
    }
    bundle.reply()
}

pub(crate) fn search_error(error: &SearchError) -> FhirError {
    let message = format!("{}: {}", excerpt(&error.parameter), error.reason);
    FhirError::bad("value", message)
}

pub(crate) fn ignored_issue((name, reason): &(String, String)) -> Issue {
    Issue::warning("not-supported", format!("the parameter {} was ignored: {reason}", excerpt(name)))
}

/// Restricts the clauses to types that the client may search. Fails if a clause cannot be evaluated without others.
pub(crate) fn restrict_clauses(
    context: &InteractionContext<'_>,
    clauses: Vec<Clause>,
) -> Result<Vec<Clause>, FhirError> {
    if context.scopes.is_none() {
        return Ok(clauses);
    }
    clauses.into_iter().map(|clause| restrict_clause(context, clause)).collect()
}

fn restrict_clause(context: &InteractionContext<'_>, clause: Clause) -> Result<Clause, FhirError> {
    match clause {
        Clause::Simple(condition) => Ok(Clause::Simple(condition)),
        Clause::Chain { parameter, targets } => {
            let mut error = None;
            let mut permitted = Vec::new();
            for (target, clause) in targets {
                let through =
                    context.require(Permission::Search, target).and_then(|()| restrict_clause(context, clause));
                match through {
                    Ok(clause) => permitted.push((target, clause)),
                    Err(denied) => error = Some(denied),
                }
            }
            match error {
                Some(error) if permitted.is_empty() => Err(error),
                _ => Ok(Clause::Chain { parameter, targets: permitted }),
            }
        }
        Clause::ReverseChain { source, parameter, clause } => {
            context.require(Permission::Search, source)?;
            let clause = Box::new(restrict_clause(context, *clause)?);
            Ok(Clause::ReverseChain { source, parameter, clause })
        }
    }
}

/// Restricts the includes to types that the client may see.
fn restrict_includes(context: &InteractionContext<'_>, includes: Vec<Include>) -> Vec<Include> {
    if context.scopes.is_none() {
        return includes;
    }
    let sources = includes.into_iter().filter(|include| context.may_see(include.source));
    sources.filter_map(|include| restrict_include(context, include)).collect()
}

fn restrict_include(context: &InteractionContext<'_>, include: Include) -> Option<Include> {
    let is_target = |target: &ResourceType| {
        let is_allowed = include.parameter.as_ref().is_none_or(|parameter| parameter.targets().allow(*target));
        is_allowed && include.target.allows(*target) && context.may_see(*target)
    };
    let targets: Arc<[ResourceType]> = ResourceType::all().filter(is_target).collect();
    (!targets.is_empty()).then_some(Include { target: IncludeTarget::Among(targets), ..include })
}
