//! Measures how often the charts have the must-support elements of US Core 6.1.0.

use serde_json::Value;

use crate::spec::SpecError;

/// How often the resources of a profile have an element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ElementSupport {
    pub profile: String,
    pub element: String,
    /// The number of resources of the profile.
    pub resources: u64,
    /// The number of these that have the element.
    pub with: u64,
}

/// Counts elements in groups of resources. A profile without resources has zeros.
pub fn must_support(groups: impl IntoIterator<Item = Vec<Value>>) -> Result<Vec<ElementSupport>, SpecError> {
    let table = model::yaml::parse(include_str!("../tables/must-support.yaml")).map_err(SpecError::Data)?;
    let mut counts = Vec::new();
    for (profile, elements) in table.as_object().into_iter().flatten() {
        for element in elements.as_array().into_iter().flatten().filter_map(Value::as_str) {
            let (profile, element) = (profile.clone(), element.to_owned());
            counts.push(ElementSupport { profile, element, resources: 0, with: 0 });
        }
    }
    for resource in groups.into_iter().flatten() {
        for support in counts.iter_mut().filter(|support| has_profile(&resource, &support.profile)) {
            let path: Vec<&str> = support.element.split('.').collect();
            support.resources += 1;
            support.with += u64::from(is_there(&resource, &path));
        }
    }
    Ok(counts)
}

fn has_profile(resource: &Value, profile: &str) -> bool {
    resource["meta"]["profile"][0].as_str().is_some_and(|url| url.rsplit('/').next() == Some(profile))
}

/// A name that ends in `[x]` matches any member with this prefix.
fn is_there(value: &Value, path: &[&str]) -> bool {
    match (value, path) {
        (Value::Null, _) => false,
        (_, []) => true,
        (Value::Array(items), path) => items.iter().any(|item| is_there(item, path)),
        (Value::Object(members), [first, rest @ ..]) => match first.strip_suffix("[x]") {
            Some(start) => members.iter().any(|(name, value)| name.starts_with(start) && is_there(value, rest)),
            None => members.get(*first).is_some_and(|value| is_there(value, rest)),
        },
        _ => false,
    }
}
