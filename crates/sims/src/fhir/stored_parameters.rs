//! SearchParameter resources, which take effect in their own sandbox: what a write of one must hold, and what a search by
//! one may cost.

use std::cell::Cell;
use std::rc::Rc;

use fhir::ResourceType;
use fhir::search::{Query, StoredParameter, StoredParameterError};
use serde_json::Value;
use world::{Change, Records, SearchCache, Seq, StoredParameters};

use super::call::Call;
use super::outcome::{Issue, Refusal};

/// Clients may write so many active ones into a sandbox.
const MOST_ACTIVE: usize = 100;

/// Resource types of all of those, as each of them counts its own: each is compiled for every type.
const MOST_TYPES: usize = 1_000;

/// Bytes of resources that the searches of one request may read for them; those of a parameter count once for each way
/// that it leads and each of its conditions.
const MOST_WORK: usize = 256 * 1024 * 1024;

const COLLECTION: &str = "SearchParameter";

/// What the searches of one request may still read for stored parameters.
pub(crate) struct SearchBudget {
    left: Cell<usize>,
    cache: Rc<SearchCache>,
}

impl Default for SearchBudget {
    fn default() -> Self {
        Self { left: Cell::new(MOST_WORK), cache: Rc::default() }
    }
}

impl SearchBudget {
    pub(crate) fn cache(&self) -> Rc<SearchCache> {
        Rc::clone(&self.cache)
    }
}

/// Refuses the changes of an interaction that would leave an active SearchParameter without effect.
pub(crate) fn check(call: &Call<'_>, changes: &[Change]) -> Result<(), Refusal> {
    if !call.rules.search_parameters {
        return Ok(());
    }
    // Only JSON is ever kept.
    let json = |change: &Change| serde_json::from_str::<Value>(change.text.as_ref()?).ok();
    let written = changes.iter().filter(|change| &*change.collection == COLLECTION).filter_map(json);
    let written: Vec<Value> = written.filter(|resource| resource["status"] == "active").collect();
    if written.is_empty() {
        return Ok(());
    }
    let mut after = call.world.clone();
    changes.iter().for_each(|change| after.apply(call.world.seq + 1, change));
    let records = after.sandboxes.get(&call.sandbox.id).map_or(call.records, |sandbox| &sandbox.records);
    check_room(call.records, records)?;
    let stored = StoredParameters::new(records, Seq::MAX, Rc::default());
    for resource in &written {
        check_one(&stored, resource).map_err(|fault| {
            let issue = Issue::error("business-rule", fault.reason).at(fault.element);
            Refusal { status: 422, issues: vec![issue], headers: Vec::new() }
        })?;
    }
    Ok(())
}

/// What a scenario brought may be more; then no more can be added.
fn check_room(before: &Records, after: &Records) -> Result<(), Refusal> {
    let ((old, old_types), (new, new_types)) = (active(before), active(after));
    if new > MOST_ACTIVE.max(old) {
        let message = format!("a sandbox takes at most {MOST_ACTIVE} active search parameters");
        return Err(Refusal::new(422, "too-costly", message).at("SearchParameter.status"));
    }
    if new_types > MOST_TYPES.max(old_types) {
        let message = format!(
            "the active search parameters of a sandbox have at most {MOST_TYPES} resource types together: name the types \
             instead of DomainResource or Resource"
        );
        return Err(Refusal::new(422, "too-costly", message).at("SearchParameter.base"));
    }
    Ok(())
}

/// The active ones that were written, and their types.
fn active(records: &Records) -> (usize, usize) {
    let active = records.own(COLLECTION).map(|record| record.json()).filter(|json| json["status"] == "active");
    active.fold((0, 0), |(count, types), json| {
        let read = StoredParameter::read(&json).ok().flatten();
        (count + 1, types + read.map_or(0, |parameter| parameter.types().count()))
    })
}

fn check_one(stored: &StoredParameters<'_>, resource: &Value) -> Result<(), StoredParameterError> {
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

/// Refuses a search that would read too much, together with those before it in the request.
pub(crate) fn check_work(call: &Call<'_>, searches: &[(ResourceType, &Query)]) -> Result<(), Refusal> {
    let SearchBudget { left, cache } = &*call.search_budget;
    if let Some(rest) = left.get().checked_sub(call.records.stored_work(searches, cache)) {
        left.set(rest);
        return Ok(());
    }
    let message = "no index knows the stored search parameters of this search, and there are too many resources to read \
        them all: search by fewer of them in one request, or by parameters of R4";
    Err(Refusal::bad("too-costly", message))
}
