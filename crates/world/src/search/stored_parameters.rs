//! The search parameters that are defined by resources of the sandbox.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::{Arc, LazyLock};

use fhir::ResourceType;
use fhir::definitions::{Parameter, SearchParameter};
use fhir::search::{Clause, Condition, Query, SearchValue, StoredParameter};

use super::{Hit, MOST_INCLUDED, distinct_includes};
use crate::{Records, Seq};

/// A cache shared by the searches of one request.
#[derive(Default)]
pub struct SearchCache {
    compiled: RefCell<HashMap<CompiledKey, Option<Arc<SearchParameter>>>>,
    sizes: RefCell<HashMap<ResourceType, TypeSize>>,
}

/// A resource type, and the id and version of a SearchParameter resource. The parameter may not apply to the type.
type CompiledKey = (ResourceType, String, u64);

/// The size of all resources of a type.
#[derive(Clone, Copy)]
struct TypeSize {
    resources: usize,
    bytes: usize,
}

/// The stored parameters of a sandbox as of a log entry.
pub struct StoredParameters<'a> {
    records: &'a Records,
    as_of: Seq,
    cache: Rc<SearchCache>,
    /// The parameters that were read before.
    by_code: RefCell<HashMap<String, Arc<[Versioned]>>>,
}

/// A parameter and the version of its resource.
struct Versioned {
    version: u64,
    parameter: Arc<StoredParameter>,
}

const COLLECTION: &str = "SearchParameter";

impl<'a> StoredParameters<'a> {
    pub fn new(records: &'a Records, as_of: Seq, cache: Rc<SearchCache>) -> Self {
        Self { records, as_of, cache, by_code: RefCell::default() }
    }

    /// The parameter of the type with this code. Of several, the one with the first id.
    pub fn find(&self, resource_type: ResourceType, code: &str) -> Option<Arc<SearchParameter>> {
        self.named(code).iter().find_map(|stored| self.compiled(resource_type, stored))
    }

    fn compiled(&self, resource_type: ResourceType, stored: &Versioned) -> Option<Arc<SearchParameter>> {
        let Versioned { version, parameter } = stored;
        let key = (resource_type, parameter.id().to_owned(), *version);
        let mut compiled = self.cache.compiled.borrow_mut();
        let compile = || parameter.of(resource_type).ok().flatten().map(Arc::new);
        compiled.entry(key).or_insert_with(compile).clone()
    }

    /// The id of another stored parameter of the type with the same code.
    pub fn other(&self, resource_type: ResourceType, parameter: &StoredParameter) -> Option<String> {
        let others = self.named(parameter.code());
        let mut others = others.iter().filter(|other| other.parameter.id() != parameter.id());
        let other = others.find(|other| self.compiled(resource_type, other).is_some());
        other.map(|other| other.parameter.id().to_owned())
    }

    /// All effective parameters, once for each type that they apply to, by type and code.
    pub fn all(&self) -> Vec<(ResourceType, Arc<StoredParameter>)> {
        let mut found: Vec<(ResourceType, Arc<StoredParameter>)> = Vec::new();
        for Versioned { parameter, .. } in self.read(Vec::new()) {
            // Not cached: there may be many, and no search uses them.
            let takes_effect = |kind: &ResourceType| parameter.of(*kind).is_ok_and(|compiled| compiled.is_some());
            found.extend(parameter.types().filter(takes_effect).map(|kind| (kind, Arc::clone(&parameter))));
        }
        // A stable sort, so that of two parameters with one code the first id stays.
        found.sort_by(|(left, one), (right, other)| (left, one.code()).cmp(&(right, other.code())));
        found.dedup_by(|(right, other), (left, one)| (*left, one.code()) == (*right, other.code()));
        found
    }

    fn named(&self, code: &str) -> Arc<[Versioned]> {
        if let Some(known) = self.by_code.borrow().get(code) {
            return Arc::clone(known);
        }
        let read: Arc<[Versioned]> = self.read(vec![is("code", code)]).into();
        self.by_code.borrow_mut().insert(code.to_owned(), Arc::clone(&read));
        read
    }

    /// By id; unusable parameters are left out.
    fn read(&self, mut clauses: Vec<Option<Clause>>) -> Vec<Versioned> {
        let Some(resource_type) = *SEARCH_PARAMETER else { return Vec::new() };
        clauses.push(is("status", "active"));
        let clauses: Vec<Clause> = clauses.into_iter().flatten().collect();
        let hits = self.records.matching(resource_type, &clauses, self.as_of);
        let read = |hit: &Hit<'_>| {
            let parameter = StoredParameter::read(&hit.record.json()).ok().flatten()?;
            Some(Versioned { version: hit.record.version, parameter: Arc::new(parameter) })
        };
        hits.iter().filter_map(read).collect()
    }
}

static SEARCH_PARAMETER: LazyLock<Option<ResourceType>> = LazyLock::new(|| COLLECTION.parse().ok());

fn is(code: &str, value: &str) -> Option<Clause> {
    let parameter = SearchParameter::find((*SEARCH_PARAMETER)?, code)?.into();
    let alternatives = vec![SearchValue::Token { system: None, code: Some(value.to_owned()) }];
    Some(Clause::Simple(Condition { parameter, modifier: None, alternatives }))
}

/// The most matches and included resources of a page.
const MOST_SHOWN: usize = 2 * MOST_INCLUDED;

impl Records {
    /// Estimates the work for the stored parameters of a search, which have no index: the bytes of all resources that
    /// are read for them, times the number of reads.
    pub fn stored_work(&self, searches: &[(ResourceType, &Query)], cache: &SearchCache) -> usize {
        let work = StoredWork { records: self, cache };
        let own = searches.iter().flat_map(|(resource_type, query)| {
            let clauses = query.clauses.iter().map(|clause| work.of_clause(*resource_type, clause));
            clauses.chain(query.sort.iter().map(|sort| work.of_parameter(*resource_type, &sort.parameter)))
        });
        let includes = distinct_includes(searches.iter().map(|(_, query)| *query));
        let included = includes.iter().filter_map(|include| {
            let parameter = include.parameter.as_ref().filter(|parameter| parameter.is_stored())?;
            let TypeSize { resources, bytes } = work.size(include.source);
            // `_include` reads only the resources of the page.
            let read = if include.reverse { bytes } else { bytes / resources.max(1) * resources.min(MOST_SHOWN) };
            Some(read.saturating_mul(parameter.reads_per_resource()))
        });
        own.chain(included).fold(0, usize::saturating_add)
    }
}

struct StoredWork<'a> {
    records: &'a Records,
    cache: &'a SearchCache,
}

impl StoredWork<'_> {
    fn of_clause(&self, resource_type: ResourceType, clause: &Clause) -> usize {
        match clause {
            Clause::Simple(condition) => self.of_parameter(resource_type, &condition.parameter),
            Clause::Chain { parameter, targets } => {
                let beyond = targets.iter().map(|(target, clause)| self.of_clause(*target, clause));
                beyond.fold(self.of_parameter(resource_type, parameter), usize::saturating_add)
            }
            Clause::ReverseChain { source, parameter, clause } => {
                self.of_parameter(*source, parameter).saturating_add(self.of_clause(*source, clause))
            }
        }
    }

    fn of_parameter(&self, resource_type: ResourceType, parameter: &Parameter) -> usize {
        if !parameter.is_stored() {
            return 0;
        }
        self.size(resource_type).bytes.saturating_mul(parameter.reads_per_resource())
    }

    /// The size when it was first needed. Writes of the same request are ignored because they are small.
    fn size(&self, resource_type: ResourceType) -> TypeSize {
        *self.cache.sizes.borrow_mut().entry(resource_type).or_insert_with(|| {
            let in_layers = self.records.layers.iter();
            let in_layers = in_layers.map(|layer| (layer.of_type(resource_type).len(), layer.bytes_of(resource_type)));
            let own = self.records.own_live(resource_type.as_str(), Seq::MAX).map(|record| (1, record.text().len()));
            in_layers.chain(own).fold(TypeSize { resources: 0, bytes: 0 }, |size, (resources, bytes)| TypeSize {
                resources: size.resources + resources,
                bytes: size.bytes + bytes,
            })
        })
    }
}
