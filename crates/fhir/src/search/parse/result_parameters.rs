//! Parses the parameters that control the result, not the matches (<https://hl7.org/fhir/R4/search.html#return>).

use super::parameter_name::{ParameterReader, check_target};
use super::{ParameterError, parse_resource_type};
use crate::ResourceType;
use crate::definitions::{Parameter, SearchParameter, SearchType};
use crate::excerpt::Excerpt;
use crate::search::{Include, IncludeTarget, Query, Sort, Summary, Total};

/// The most keys of one `_sort`.
const MAX_SORTS: usize = 20;

/// Returns `None` for any other parameter.
pub(super) fn read(
    query: &mut Query,
    reader: &ParameterReader<'_>,
    resource_type: ResourceType,
    name: &str,
    value: &str,
) -> Option<Result<(), ParameterError>> {
    let (code, modifier) = name.split_once(':').map_or((name, None), |(code, modifier)| (code, Some(modifier)));
    let read = match code {
        "_include" | "_revinclude" => include(query, reader, resource_type, code == "_revinclude", modifier, value),
        "_sort" | "_count" | "_summary" | "_elements" | "_total" if modifier.is_some() => {
            Err(ParameterError::Unknown(format!("{code} has no modifiers")))
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

/// Unknown keys are ignored one by one. `_score` is skipped, because all matches have the same score.
fn sort(
    query: &mut Query,
    reader: &ParameterReader<'_>,
    resource_type: ResourceType,
    value: &str,
) -> Result<(), ParameterError> {
    let parts: Vec<_> = value.split(',').map(str::trim).filter(|part| !part.is_empty()).take(MAX_SORTS + 1).collect();
    if parts.len() > MAX_SORTS {
        return Err(ParameterError::Limit(format!("results can be sorted by at most {MAX_SORTS} parameters")));
    }
    for part in parts {
        let (code, descending) = part.strip_prefix('-').map_or((part, false), |code| (code, true));
        if code == "_score" {
            continue;
        }
        match sortable(reader, resource_type, code) {
            Ok(parameter) => query.sort.push(Sort { parameter, descending }),
            Err(ParameterError::Unknown(reason)) => query.ignored.push((format!("_sort={part}"), reason)),
            Err(other) => return Err(other),
        }
    }
    Ok(())
}

fn sortable(
    reader: &ParameterReader<'_>,
    resource_type: ResourceType,
    code: &str,
) -> Result<Parameter, ParameterError> {
    let parameter = reader.searchable(resource_type, code)?;
    match parameter.search_type() {
        SearchType::Composite => {
            Err(ParameterError::Unknown(format!("{code} is a composite parameter and cannot be used for sorting")))
        }
        _ => Ok(parameter),
    }
}

fn count(value: &str) -> Result<usize, ParameterError> {
    let digits = value.bytes().all(|byte| byte.is_ascii_digit());
    let count = value.parse().ok().filter(|_| digits);
    count.ok_or_else(|| ParameterError::Invalid(format!("expected a whole number from 0, got {}", Excerpt::of(value))))
}

fn summary(value: &str) -> Result<Summary, ParameterError> {
    Ok(match value {
        "true" => Summary::True,
        "false" => Summary::False,
        "text" => Summary::Text,
        "data" => Summary::Data,
        "count" => Summary::Count,
        _ => {
            return Err(ParameterError::Invalid(format!(
                "expected true, false, text, data or count, got {}",
                Excerpt::of(value)
            )));
        }
    })
}

/// An accurate total also satisfies `estimate`.
fn total(value: &str) -> Result<Total, ParameterError> {
    match value {
        "none" => Ok(Total::None),
        "estimate" | "accurate" => Ok(Total::Accurate),
        _ => Err(ParameterError::Invalid(format!("expected none, estimate or accurate, got {}", Excerpt::of(value)))),
    }
}

fn elements(value: &str) -> Result<Vec<String>, ParameterError> {
    let names: Vec<_> = value.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    match names.iter().find(|name| !name.bytes().all(|byte| byte.is_ascii_alphanumeric())) {
        Some(name) => {
            Err(ParameterError::Invalid(format!("expected names of top-level elements, got {}", Excerpt::of(name))))
        }
        None => Ok(names.into_iter().map(str::to_owned).collect()),
    }
}

/// Parses `Source:parameter`, `Source:parameter:Target`, `Source:*` or `*`.
fn include(
    query: &mut Query,
    reader: &ParameterReader<'_>,
    resource_type: ResourceType,
    reverse: bool,
    modifier: Option<&str>,
    value: &str,
) -> Result<(), ParameterError> {
    let iterate = match modifier {
        None => false,
        Some("iterate" | "recurse") => true,
        Some(other) => {
            return Err(ParameterError::Unknown(format!(
                "{} is not a modifier of includes; use iterate",
                Excerpt::of(other)
            )));
        }
    };
    let mut parts = value.split(':');
    let (source, code, target) = (parts.next().unwrap_or_default(), parts.next(), parts.next());
    let include = |source, parameter, target| Include { reverse, iterate, source, parameter, target };
    if value == "*" {
        let sources = ResourceType::all().filter(|source| can_reference(*source, resource_type, reverse, iterate));
        query.includes.extend(sources.map(|source| include(source, None, IncludeTarget::Any)));
        return Ok(());
    }
    let (Some(code), None) = (code, parts.next()) else {
        return Err(ParameterError::Invalid("expected Type:parameter, Type:parameter:Target or *".into()));
    };
    let source = parse_resource_type(source)?;
    let parameter = if code == "*" { None } else { Some(reader.reference(source, code)?) };
    let target = match target.filter(|target| !target.is_empty()) {
        None => IncludeTarget::Any,
        Some(target) => {
            let target = parse_resource_type(target)?;
            parameter.as_ref().map_or(Ok(()), |parameter| check_target(parameter, source, target))?;
            IncludeTarget::Only(target)
        }
    };
    query.includes.push(include(source, parameter, target));
    Ok(())
}

/// Whether `*` includes the source type: for `_include` the searched type, for `_revinclude` all types that can
/// reference it; with `iterate` all types.
fn can_reference(source: ResourceType, searched: ResourceType, reverse: bool, iterate: bool) -> bool {
    let can_reference_searched = |parameter: &SearchParameter| {
        parameter.search_type() == SearchType::Reference && parameter.targets().allow(searched)
    };
    iterate || if reverse { SearchParameter::of(source).any(can_reference_searched) } else { source == searched }
}
