//! Parameters that say how results are given, not which (<https://hl7.org/fhir/R4/search.html#return>).

use super::name::{Reader, allow};
use super::{Refusal, resource_type_named};
use crate::ResourceType;
use crate::definitions::{Parameter, SearchParameter, SearchType};
use crate::excerpt::Excerpt;
use crate::search::{Include, IncludeTarget, Query, Sort, Summary, Total};

/// Of one `_sort`.
const MAX_SORTS: usize = 20;

/// None if the parameter is not one of these.
pub(super) fn read(
    query: &mut Query,
    reader: &Reader<'_>,
    resource_type: ResourceType,
    name: &str,
    value: &str,
) -> Option<Result<(), Refusal>> {
    let (code, modifier) = name.split_once(':').map_or((name, None), |(code, modifier)| (code, Some(modifier)));
    let read = match code {
        "_include" | "_revinclude" => include(query, reader, resource_type, code == "_revinclude", modifier, value),
        "_sort" | "_count" | "_summary" | "_elements" | "_total" if modifier.is_some() => {
            Err(Refusal::Unknown(format!("{code} has no modifiers")))
        }
        "_sort" => sort(query, reader, resource_type, value),
        "_count" => count(value).map(|count| query.count = Some(count)),
        "_summary" => summary(value).map(|summary| query.summary = summary),
        "_elements" => elements(value).map(|elements| query.elements = elements),
        "_total" => total(value).map(|total| query.total = total),
        _ => return None,
    };
    Some(read)
}

/// Parts that are not known are ignored one by one. Relevance (`_score`) is the same for all.
fn sort(query: &mut Query, reader: &Reader<'_>, resource_type: ResourceType, value: &str) -> Result<(), Refusal> {
    let parts: Vec<_> = value.split(',').map(str::trim).filter(|part| !part.is_empty()).take(MAX_SORTS + 1).collect();
    if parts.len() > MAX_SORTS {
        return Err(Refusal::Limit(format!("results are sorted by at most {MAX_SORTS} parameters")));
    }
    for part in parts {
        let (code, descending) = part.strip_prefix('-').map_or((part, false), |code| (code, true));
        if code == "_score" {
            continue;
        }
        match sortable(reader, resource_type, code) {
            Ok(parameter) => query.sort.push(Sort { parameter, descending }),
            Err(Refusal::Unknown(reason)) => query.ignored.push((format!("_sort={part}"), reason)),
            Err(other) => return Err(other),
        }
    }
    Ok(())
}

fn sortable(reader: &Reader<'_>, resource_type: ResourceType, code: &str) -> Result<Parameter, Refusal> {
    let parameter = reader.searchable(resource_type, code)?;
    match parameter.search_type() {
        SearchType::Composite => Err(Refusal::Unknown(format!("{code} is a composite and has no order"))),
        _ => Ok(parameter),
    }
}

fn count(value: &str) -> Result<usize, Refusal> {
    let digits = value.bytes().all(|byte| byte.is_ascii_digit());
    let count = value.parse().ok().filter(|_| digits);
    count.ok_or_else(|| Refusal::Fault(format!("is a number from 0 on, not {}", Excerpt::of(value))))
}

fn summary(value: &str) -> Result<Summary, Refusal> {
    Ok(match value {
        "true" => Summary::True,
        "false" => Summary::False,
        "text" => Summary::Text,
        "data" => Summary::Data,
        "count" => Summary::Count,
        _ => return Err(Refusal::Fault(format!("is true, false, text, data or count, not {}", Excerpt::of(value)))),
    })
}

/// An accurate total is also a good estimate.
fn total(value: &str) -> Result<Total, Refusal> {
    match value {
        "none" => Ok(Total::None),
        "estimate" | "accurate" => Ok(Total::Accurate),
        _ => Err(Refusal::Fault(format!("is none, estimate or accurate, not {}", Excerpt::of(value)))),
    }
}

fn elements(value: &str) -> Result<Vec<String>, Refusal> {
    let names: Vec<_> = value.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    match names.iter().find(|name| !name.bytes().all(|byte| byte.is_ascii_alphanumeric())) {
        Some(name) => Err(Refusal::Fault(format!("lists names of top-level elements, not {}", Excerpt::of(name)))),
        None => Ok(names.into_iter().map(str::to_owned).collect()),
    }
}

/// `Source:parameter`, `Source:parameter:Target`, `Source:*` or `*`.
fn include(
    query: &mut Query,
    reader: &Reader<'_>,
    resource_type: ResourceType,
    reverse: bool,
    modifier: Option<&str>,
    value: &str,
) -> Result<(), Refusal> {
    let iterate = match modifier {
        None => false,
        Some("iterate" | "recurse") => true,
        Some(other) => return Err(Refusal::Unknown(format!("{} is no modifier here, iterate is", Excerpt::of(other)))),
    };
    let mut parts = value.split(':');
    let (source, code, target) = (parts.next().unwrap_or_default(), parts.next(), parts.next());
    let include = |source, parameter, target| Include { reverse, iterate, source, parameter, target };
    if value == "*" {
        let sources = ResourceType::all().filter(|source| points(*source, resource_type, reverse, iterate));
        query.includes.extend(sources.map(|source| include(source, None, IncludeTarget::Any)));
        return Ok(());
    }
    let (Some(code), None) = (code, parts.next()) else {
        return Err(Refusal::Fault("is written Type:parameter, Type:parameter:Target or *".into()));
    };
    let source = resource_type_named(source)?;
    let parameter = if code == "*" { None } else { Some(reader.reference(source, code)?) };
    let target = match target.filter(|target| !target.is_empty()) {
        None => IncludeTarget::Any,
        Some(target) => {
            let target = resource_type_named(target)?;
            parameter.as_ref().map_or(Ok(()), |parameter| allow(parameter, source, target))?;
            IncludeTarget::Only(target)
        }
    };
    query.includes.push(include(source, parameter, target));
    Ok(())
}

/// Whether `*` means the source: forward the type that is searched, backward all that may point to it; with `iterate`
/// any.
fn points(source: ResourceType, searched: ResourceType, reverse: bool, iterate: bool) -> bool {
    let may_point = |parameter: &SearchParameter| {
        parameter.search_type() == SearchType::Reference && parameter.targets().allow(searched)
    };
    iterate || if reverse { SearchParameter::of(source).any(may_point) } else { source == searched }
}
