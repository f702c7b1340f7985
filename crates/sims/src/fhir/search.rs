//! search, by GET and by POST (<https://hl7.org/fhir/R4/http.html#search>).

use fhir::ResourceType;
use fhir::definitions::Targets;
use fhir::search::{Clause, Include, IncludeTarget, Query, SearchFault, Summary, Total};
use world::{Found, Page};

use super::call::Call;
use super::listing::Listing;
use super::outcome::{Issue, Refusal, excerpt, operation_outcome};
use super::paging::{self, Cursor, DEFAULT_COUNT, MOST_COUNT, PAGE};
use super::reply::Reply;
use super::scopes::Permission;
use super::subset::Subset;

pub(crate) fn search(call: &Call<'_>, resource_type: ResourceType) -> Result<Reply, Refusal> {
    let cursor = Cursor::of(call)?;
    let pairs: Vec<_> = call.parameters.iter().filter(|(name, _)| name != PAGE).cloned().collect();
    let mut query =
        fhir::search::parse_for(resource_type, call.own_addresses(), &pairs).map_err(|fault| refused(&fault))?;
    let ignored: Vec<Issue> = query.ignored.iter().map(ignored).collect();
    if call.prefer.strict && !ignored.is_empty() {
        let issues = ignored.into_iter().map(|issue| Issue { severity: "error", ..issue }).collect();
        return Err(Refusal { status: 400, issues, headers: Vec::new() });
    }
    query.clauses = permitted(call, std::mem::take(&mut query.clauses))?;
    query.includes = visible(call, std::mem::take(&mut query.includes));
    let count = match query.summary {
        Summary::Count => 0,
        _ => query.count.unwrap_or(DEFAULT_COUNT).min(MOST_COUNT),
    };
    let page = Page { offset: cursor.offset, count };
    let found = call.records.search(resource_type, &query, cursor.as_of, page);
    Ok(listed(call, resource_type, &query, (cursor, count), &found, &ignored))
}

fn listed(
    call: &Call<'_>,
    resource_type: ResourceType,
    query: &Query,
    (cursor, count): (Cursor, usize),
    found: &Found<'_>,
    ignored: &[Issue],
) -> Reply {
    let links = paging::links(call, resource_type.as_str(), &query.understood, cursor, (count, found.total));
    let total = (query.total == Total::Accurate).then_some(found.total);
    let mut listing = Listing::new(call, "searchset", total, &links);
    let subset = Subset::of_query(query);
    for hit in &found.matches {
        listing.found(call, &hit.record, &subset, "match");
    }
    let beside = subset.of_included();
    for hit in found.included.iter().filter(|hit| call.may_see(hit.resource_type)) {
        listing.found(call, &hit.record, &beside, "include");
    }
    if !ignored.is_empty() {
        listing.outcome(&operation_outcome(ignored));
    }
    listing.reply()
}

pub(crate) fn refused(fault: &SearchFault) -> Refusal {
    let message = format!("{}: {}", excerpt(&fault.parameter), fault.reason);
    Refusal::bad("value", message)
}

fn ignored((name, reason): &(String, String)) -> Issue {
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
        Clause::Own(condition) => Ok(Clause::Own(condition)),
        Clause::Forward { parameter, targets } => {
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
                _ => Ok(Clause::Forward { parameter, targets: kept }),
            }
        }
        Clause::Reverse { source, parameter, then } => {
            call.require(Permission::Search, source)?;
            let then = Box::new(permitted_clause(call, *then)?);
            Ok(Clause::Reverse { source, parameter, then })
        }
    }
}

/// The includes that neither show nor pass through what the client may not see.
fn visible(call: &Call<'_>, includes: Vec<Include>) -> Vec<Include> {
    if call.scopes.is_none() {
        return includes;
    }
    let sources = includes.into_iter().filter(|include| call.may_see(include.source));
    sources.flat_map(|include| visible_targets(call, &include)).collect()
}

fn visible_targets(call: &Call<'_>, include: &Include) -> Vec<Include> {
    let is_target = |target: &ResourceType| match (include.target, include.parameter.map(|found| found.targets())) {
        (IncludeTarget::Only(only), _) => only == *target,
        (IncludeTarget::Any, None | Some(Targets::Any)) => true,
        (IncludeTarget::Any, Some(targets)) => targets.allow(*target),
    };
    let targets = ResourceType::all().filter(is_target).filter(|target| call.may_see(*target));
    targets.map(|target| Include { target: IncludeTarget::Only(target), ..include.clone() }).collect()
}
