//! search of a type, a compartment or the whole server, by GET and by POST
//! (<https://hl7.org/fhir/R4/http.html#search>).

use std::collections::HashSet;
use std::sync::Arc;

use fhir::ResourceType;
use fhir::definitions::Compartment;
use fhir::search::{Clause, Include, IncludeTarget, Query, SearchError, Summary, Total};
use world::{MOST_INCLUDED, Page, SearchResult, Seq, TypeSearch};

use super::call::Call;
use super::listing::Listing;
use super::outcome::{Issue, Refusal, excerpt, operation_outcome};
use super::paging::{self, Cursor, DEFAULT_COUNT, MOST_COUNT, PAGE};
use super::reply::Reply;
use super::scopes::Permission;
use super::stored_parameters;
use super::subset::Subset;

/// What a search looks at, and the address that its links have.
struct Target {
    path: String,
    types: Vec<ResourceType>,
    /// Whether the types were given by `_type`, which is not a parameter of any of them.
    takes_types: bool,
    compartment: Option<(ResourceType, String)>,
}

impl Target {
    /// Whether nothing but the criteria keeps a search from finding the whole record.
    fn is_whole_system(&self, call: &Call<'_>) -> bool {
        self.takes_types && self.compartment.is_none() && call.parameter(TYPE).is_none()
    }
}

pub(crate) fn of_type(call: &Call<'_>, resource_type: ResourceType) -> Result<Reply, Refusal> {
    let path = resource_type.as_str().to_owned();
    search(call, &Target { path, types: vec![resource_type], takes_types: false, compartment: None })
}

/// `[base]?_type=Patient,Observation&…`: without `_type`, every type that the client may search.
pub(crate) fn of_system(call: &Call<'_>) -> Result<Reply, Refusal> {
    let stored = ResourceType::all().filter(|found| found.as_str() != "Parameters");
    let types = searched_types(call, stored)?;
    search(call, &Target { path: String::new(), types, takes_types: true, compartment: None })
}

/// `Patient/1/Observation`, or `Patient/1/*` for every type of the compartment
/// (<https://hl7.org/fhir/R4/search.html#compartment>).
pub(crate) fn in_compartment(
    call: &Call<'_>,
    (owner, id): (ResourceType, &str),
    member: Option<ResourceType>,
) -> Result<Reply, Refusal> {
    let types = match member {
        Some(member) => vec![member],
        None => searched_types(call, Compartment::of(owner).into_iter().flat_map(Compartment::types))?,
    };
    let name = member.map_or("*", |member| member.as_str());
    let path = format!("{owner}/{id}/{name}");
    let compartment = Some((owner, id.to_owned()));
    search(call, &Target { path, types, takes_types: member.is_none(), compartment })
}

/// The types that `_type` names, or those of `all` that the client may search.
fn searched_types(call: &Call<'_>, all: impl Iterator<Item = ResourceType>) -> Result<Vec<ResourceType>, Refusal> {
    match super::everything::wanted_types(call)? {
        Some(types) => {
            let all: Vec<ResourceType> = all.collect();
            if let Some(other) = types.iter().find(|wanted| !all.contains(wanted)) {
                return Err(Refusal::bad("value", format!("_type: {other} cannot be searched here")));
            }
            types.iter().try_for_each(|wanted| call.require(Permission::Search, *wanted))?;
            Ok(types.into_iter().collect())
        }
        None => {
            let types: Vec<ResourceType> = all.filter(|found| call.may(Permission::Search, *found)).collect();
            if types.is_empty() {
                return Err(Refusal::new(403, "forbidden", "the token has no scope to search anything"));
            }
            Ok(types)
        }
    }
}

fn search(call: &Call<'_>, target: &Target) -> Result<Reply, Refusal> {
    let cursor = Cursor::of(call)?;
    let is_criterion = |name: &str| name != PAGE && !(target.takes_types && name == TYPE);
    let pairs: Vec<_> = call.parameters.iter().filter(|(name, _)| is_criterion(name)).cloned().collect();
    let (mut queries, ignored) = parsed(call, &target.types, pairs, cursor.as_of)?;
    let lost_all =
        queries.iter().all(|query| query.clauses.is_empty()) && ignored.iter().any(|(name, _)| selects(name));
    let ignored: Vec<Issue> = ignored.iter().map(ignored_issue).collect();
    // Without its criteria, a search of the whole system would find everything.
    if (call.prefer.strict && !ignored.is_empty()) || (lost_all && target.is_whole_system(call)) {
        let issues = ignored.into_iter().map(|issue| Issue { severity: "error", ..issue }).collect();
        return Err(Refusal { status: 400, issues, headers: Vec::new() });
    }
    for query in &mut queries {
        query.clauses = permitted(call, std::mem::take(&mut query.clauses))?;
        query.includes = visible(call, std::mem::take(&mut query.includes));
    }
    let searched: Vec<_> = target.types.iter().copied().zip(&queries).collect();
    stored_parameters::check_work(call, &searched)?;
    let Some(first) = queries.first() else { return Err(Refusal::bad("value", "_type names no type")) };
    let count = match first.summary {
        Summary::Count => 0,
        _ => first.count.unwrap_or(DEFAULT_COUNT).min(MOST_COUNT),
    };
    let searches = target.types.iter().zip(&queries).map(|(resource_type, query)| TypeSearch {
        resource_type: *resource_type,
        query,
        among: members(call, target.compartment.as_ref(), *resource_type, cursor.as_of),
    });
    let searches: Vec<TypeSearch<'_>> = searches.collect();
    let page = Page { offset: cursor.offset, count };
    let found = call.records.search_types(&searches, cursor.as_of, page, cursor.included);
    Ok(listed(call, target, first, (cursor, count), &found, ignored))
}

const TYPE: &str = "_type";

/// Whether a parameter says which resources are wanted, and not how they are shown.
fn selects(name: &str) -> bool {
    let shows = ["_sort", "_count", "_summary", "_elements", "_total", "_include", "_revinclude"];
    !shows.contains(&name.split([':', '=']).next().unwrap_or(name))
}

/// Names of parameters, each with the reason why it is ignored.
type Ignored = Vec<(String, String)>;

/// The search as each type reads it. A parameter that one of the types does not have is ignored for all of them.
fn parsed(
    call: &Call<'_>,
    types: &[ResourceType],
    mut pairs: Vec<(String, String)>,
    as_of: Seq,
) -> Result<(Vec<Query>, Ignored), Refusal> {
    let stored = call.stored_parameters(as_of);
    let stored = |resource_type, code: &str| stored.find(resource_type, code);
    let mut all_ignored: Vec<(String, String)> = Vec::new();
    loop {
        let mut queries = Vec::with_capacity(types.len());
        let mut ignored: Vec<(String, String)> = Vec::new();
        for resource_type in types {
            let parsed = fhir::search::parse_for(*resource_type, call.own_addresses(), &stored, &pairs);
            let query = parsed.map_err(|fault| refused(&fault))?;
            for (name, reason) in &query.ignored {
                if !ignored.iter().any(|(known, _)| known == name) {
                    ignored.push((name.clone(), reason.clone()));
                }
            }
            queries.push(query);
        }
        let is_settled = ignored.is_empty() || types.len() == 1;
        pairs.retain(|(name, _)| !ignored.iter().any(|(known, _)| known == name));
        for (name, value) in pairs.iter_mut().filter(|(name, _)| name == "_sort") {
            let is_ignored = |part: &str| ignored.iter().any(|(known, _)| *known == format!("{name}={}", part.trim()));
            *value = value.split(',').filter(|part| !is_ignored(part)).collect::<Vec<_>>().join(",");
        }
        all_ignored.extend(ignored);
        if is_settled {
            return Ok((queries, all_ignored));
        }
    }
}

/// The ids that are in the compartment; none when there is no compartment.
fn members(
    call: &Call<'_>,
    compartment: Option<&(ResourceType, String)>,
    member: ResourceType,
    as_of: Seq,
) -> Option<HashSet<String>> {
    let (owner, id) = compartment?;
    let parameters = Compartment::of(*owner).and_then(|compartment| compartment.parameters(member)).unwrap_or_default();
    let referring =
        parameters.iter().flat_map(|parameter| call.records.referring(member, parameter, *owner, id, as_of));
    let mut ids: HashSet<String> = referring.map(|hit| hit.record.key.to_owned()).collect();
    if member == *owner {
        ids.insert(id.clone());
    }
    Some(ids)
}

fn listed(
    call: &Call<'_>,
    target: &Target,
    query: &Query,
    (cursor, count): (Cursor, usize),
    found: &SearchResult<'_>,
    mut issues: Vec<Issue>,
) -> Reply {
    let mut parameters = query.applied.clone();
    if target.takes_types {
        let types = call.parameters.iter().filter(|(name, _)| name == TYPE).cloned();
        parameters.splice(0..0, types);
    }
    let more_included = found.has_more_included.then(|| cursor.included.saturating_add(MOST_INCLUDED));
    let links = paging::links(call, &target.path, &parameters, cursor, (count, found.total), more_included);
    let total = (query.total == Total::Accurate).then_some(found.total);
    let mut listing = Listing::new(call, "searchset", total, &links);
    let subset = Subset::of_query(query);
    // The matches of a page are shown once, before its included resources.
    for hit in found.matches.iter().filter(|_| cursor.included == 0) {
        listing.found(call, &hit.record, &subset, "match");
    }
    let beside = subset.of_included();
    for hit in found.included.iter().filter(|hit| call.may_see(hit.resource_type)) {
        listing.found(call, &hit.record, &beside, "include");
    }
    if found.has_more_included {
        let message = format!(
            "a page includes at most {MOST_INCLUDED} resources; the link `next` leads to the other resources that are \
             included with these matches"
        );
        issues.push(Issue::warning("incomplete", message));
    }
    if !issues.is_empty() {
        listing.outcome(&operation_outcome(&issues));
    }
    listing.reply()
}

pub(crate) fn refused(fault: &SearchError) -> Refusal {
    let message = format!("{}: {}", excerpt(&fault.parameter), fault.reason);
    Refusal::bad("value", message)
}

pub(crate) fn ignored_issue((name, reason): &(String, String)) -> Issue {
    Issue::warning("not-supported", format!("the parameter {} was ignored: {reason}", excerpt(name)))
}

/// The clauses, without types that the client may not search through; refused when one needs such a type.
pub(crate) fn permitted(call: &Call<'_>, clauses: Vec<Clause>) -> Result<Vec<Clause>, Refusal> {
    if call.scopes.is_none() {
        return Ok(clauses);
    }
    clauses.into_iter().map(|clause| permitted_clause(call, clause)).collect()
}

fn permitted_clause(call: &Call<'_>, clause: Clause) -> Result<Clause, Refusal> {
    match clause {
        Clause::Simple(condition) => Ok(Clause::Simple(condition)),
        Clause::Chain { parameter, targets } => {
            let mut refusal = None;
            let mut kept = Vec::new();
            for (target, clause) in targets {
                let through = call.require(Permission::Search, target).and_then(|()| permitted_clause(call, clause));
                match through {
                    Ok(clause) => kept.push((target, clause)),
                    Err(refused) => refusal = Some(refused),
                }
            }
            match refusal {
                Some(refusal) if kept.is_empty() => Err(refusal),
                _ => Ok(Clause::Chain { parameter, targets: kept }),
            }
        }
        Clause::ReverseChain { source, parameter, clause } => {
            call.require(Permission::Search, source)?;
            let clause = Box::new(permitted_clause(call, *clause)?);
            Ok(Clause::ReverseChain { source, parameter, clause })
        }
    }
}

/// The includes that neither show nor pass through what the client may not see.
fn visible(call: &Call<'_>, includes: Vec<Include>) -> Vec<Include> {
    if call.scopes.is_none() {
        return includes;
    }
    let sources = includes.into_iter().filter(|include| call.may_see(include.source));
    sources.filter_map(|include| visible_targets(call, include)).collect()
}

fn visible_targets(call: &Call<'_>, include: Include) -> Option<Include> {
    let is_target = |target: &ResourceType| {
        let is_allowed = include.parameter.as_ref().is_none_or(|parameter| parameter.targets().allow(*target));
        is_allowed && include.target.allows(*target) && call.may_see(*target)
    };
    let targets: Arc<[ResourceType]> = ResourceType::all().filter(is_target).collect();
    (!targets.is_empty()).then_some(Include { target: IncludeTarget::Among(targets), ..include })
}
