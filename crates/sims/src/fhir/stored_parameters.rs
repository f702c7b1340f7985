//! SearchParameter resources take effect in their own sandbox: validation of their writes, and the cost of searches by them.

use std::cell::Cell;
use std::rc::Rc;

use fhir::ResourceType;
use fhir::search::{Query, StoredParameter, StoredParameterError};
use serde_json::Value;
use world::{Change, Records, SearchCache, Seq, StoredParameters};

use super::interaction_context::InteractionContext;
use super::outcome::{FhirError, Issue};

/// The maximum number of active search parameters that clients may write into a sandbox.
const MAX_ACTIVE: usize = 100;

/// The maximum number of resource types of all active parameters together, because each is compiled for every type.
const MAX_TYPES: usize = 1_000;

/// The bytes of resources that the searches of one request may read for stored parameters. The resources of a parameter
/// count once for each of its paths and conditions.
const MAX_WORK: usize = 256 * 1024 * 1024;

const COLLECTION: &str = "SearchParameter";

/// The remaining [`MAX_WORK`] of a request.
pub(crate) struct SearchBudget {
    left: Cell<usize>,
    cache: Rc<SearchCache>,
}

impl Default for SearchBudget {
    fn default() -> Self {
        Self { left: Cell::new(MAX_WORK), cache: Rc::default() }
    }
}

impl SearchBudget {
    pub(crate) fn cache(&self) -> Rc<SearchCache> {
        Rc::clone(&self.cache)
    }
}

/// Rejects changes after which an active SearchParameter would have no effect.
pub(crate) fn check(context: &InteractionContext<'_>, changes: &[Change]) -> Result<(), FhirError> {
    if !context.rules.search_parameters {
        return Ok(());
    }
    // Stored resources are always valid JSON.
    let json = |change: &Change| serde_json::from_str::<Value>(change.text.as_ref()?).ok();
    let written = changes.iter().filter(|change| &*change.collection == COLLECTION).filter_map(json);
    let written: Vec<Value> = written.filter(|resource| resource["status"] == "active").collect();
    if written.is_empty() {
        return Ok(());
    }
    let mut after = context.world.clone();
    changes.iter().for_each(|change| after.apply(context.world.seq + 1, change));
    let records = after.sandboxes.get(&context.sandbox.id).map_or(context.records, |sandbox| &sandbox.records);
    check_limits(context.records, records)?;
    let stored = StoredParameters::new(records, Seq::MAX, Rc::default());
    for resource in &written {
        check_parameter(&stored, resource).map_err(|error| {
            let issue = Issue::error("business-rule", error.reason).at(error.element);
            FhirError { status: 422, issues: vec![issue], headers: Vec::new() }
        })?;
    }
    Ok(())
}

/// Scenarios may exceed the limits. Clients cannot add more then.
fn check_limits(before: &Records, after: &Records) -> Result<(), FhirError> {
    let ((old, old_types), (new, new_types)) = (active(before), active(after));
    if new > MAX_ACTIVE.max(old) {
        let message = format!("a sandbox takes at most {MAX_ACTIVE} active search parameters");
        return Err(FhirError::new(422, "too-costly", message).at("SearchParameter.status"));
    }
    if new_types > MAX_TYPES.max(old_types) {
        let message = format!(
            "the active search parameters of a sandbox have at most {MAX_TYPES} resource types together: name the types \
             instead of DomainResource or Resource"
        );
        return Err(FhirError::new(422, "too-costly", message).at("SearchParameter.base"));
    }
    Ok(())
}

/// The number of active parameters that were written, and of their types.
fn active(records: &Records) -> (usize, usize) {
    let active = records.own(COLLECTION).map(|record| record.json()).filter(|json| json["status"] == "active");
    active.fold((0, 0), |(count, types), json| {
        let read = StoredParameter::read(&json).ok().flatten();
        (count + 1, types + read.map_or(0, |parameter| parameter.types().count()))
    })
}

fn check_parameter(stored: &StoredParameters<'_>, resource: &Value) -> Result<(), StoredParameterError> {
    let Some(parameter) = StoredParameter::read(resource)? else { return Ok(()) };
    for resource_type in parameter.types() {
        if parameter.of(resource_type)?.is_none() {
            continue;
        }
        if let Some(id) = stored.other(resource_type, &parameter) {
            let code = parameter.code();
            let reason = format!("SearchParameter/{id} has the code {code} for {resource_type} already");
            return Err(StoredParameterError { element: "SearchParameter.code", reason });
        }
    }
    Ok(())
}

/// Rejects a search that would read too much, together with the previous searches of the request.
pub(crate) fn check_work(
    context: &InteractionContext<'_>,
    searches: &[(ResourceType, &Query)],
) -> Result<(), FhirError> {
    let SearchBudget { left, cache } = &*context.search_budget;
    if let Some(rest) = left.get().checked_sub(context.records.stored_work(searches, cache)) {
        left.set(rest);
        return Ok(());
    }
    let message = "no index knows the stored search parameters of this search, and there are too many resources to read \
        them all: search by fewer of them in one request, or by parameters of R4";
    Err(FhirError::bad("too-costly", message))
}
