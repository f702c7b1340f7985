//! Checks each resource by itself and against those before it, counts it and hands it on.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::fault::{IngestError, InputLocation, Problem};
use super::members::{members, string};
use super::scan::reaches_depth;
use super::seen::Seen;
use super::{Limits, Resource, Summary, text};
use crate::excerpt::Excerpt;
use crate::reference::is_id;
use crate::resource_type::ResourceType;

#[derive(Debug)]
pub(super) struct Ledger {
    limits: Limits,
    seen: Seen,
    counts: BTreeMap<&'static str, u64>,
    resources: u64,
}

impl Ledger {
    pub(super) fn new(limits: Limits) -> Self {
        Self { limits, seen: Seen::default(), counts: BTreeMap::new(), resources: 0 }
    }

    /// Takes what should be one resource, on one line.
    pub(super) fn accept<E>(
        &mut self,
        place: InputLocation,
        line: &str,
        sink: &mut impl FnMut(Resource<'_>) -> Result<(), E>,
    ) -> Result<(), IngestError<E>> {
        let (resource_type, id) = self.enter(line).map_err(|problem| problem.at(place))?;
        let line = line.as_bytes();
        sink(Resource { resource_type, id: &id, line }).map_err(IngestError::Sink)
    }

    pub(super) fn into_summary(self, bytes: u64) -> Summary {
        Summary { counts: self.counts, resources: self.resources, bytes }
    }

    fn enter<'a>(&mut self, line: &'a str) -> Result<(ResourceType, Cow<'a, str>), Problem> {
        let (resource_type, id) = identity(line)?;
        text::check_escapes(line)?;
        if reaches_depth(line.as_bytes(), self.limits.depth) {
            return Err(Problem::TooDeep(self.limits.depth));
        }
        if !self.seen.insert(resource_type, &id) {
            return Err(Problem::Duplicate(resource_type.as_str(), id.into_owned()));
        }
        if self.resources == self.limits.resources {
            return Err(Problem::TooMany(self.limits.resources));
        }
        self.resources += 1;
        *self.counts.entry(resource_type.as_str()).or_default() += 1;
        Ok((resource_type, id))
    }
}

/// What the resource says that it is.
fn identity(line: &str) -> Result<(ResourceType, Cow<'_, str>), Problem> {
    let [resource_type, id] = members(line, "resource", ["resourceType", "id"])?;
    let resource_type = required(resource_type, "resourceType")?.parse()?;
    let id = required(id, "id")?;
    if !is_id(&id) {
        return Err(Problem::InvalidId(Excerpt::of(&id)));
    }
    Ok((resource_type, id))
}

fn required<'a>(value: Option<&'a str>, name: &'static str) -> Result<Cow<'a, str>, Problem> {
    let value = value.ok_or(Problem::Missing("resource", name))?;
    string(value).ok_or(Problem::NotAString(name))
}
