//! What an evaluation knows besides the resource: the time, and where references lead.

use std::borrow::Cow;
use std::cell::{Cell, OnceCell, RefCell};

use clinical::PartialDateTime;
use regex::Regex;
use serde_json::Value;

/// Finds what a reference such as `Patient/1` points to; contained resources and entries of the same Bundle are found
/// without it.
pub trait Resolver {
    fn resolve(&self, reference: &str) -> Option<Cow<'_, Value>>;
}

/// Serves one evaluation or many on data that outlives it; it keeps what it resolved.
pub struct Context<'r> {
    /// The result of `now()`, `today()` and `timeOfDay()`.
    pub now: PartialDateTime,
    pub resolver: Option<&'r dyn Resolver>,
    /// How many steps one evaluation may take.
    pub budget: u64,
    /// How many steps all evaluations may take together.
    pub(super) total: u64,
    /// How many they took.
    pub(super) spent: Cell<u64>,
    /// Compiled once, by their text.
    pub(super) patterns: RefCell<Vec<(String, Regex)>>,
    resolved: OnceCell<Box<Slot>>,
}

/// Resolved resources in the order of their first use, in a list because results borrow from it while it grows.
struct Slot {
    reference: String,
    value: Option<Value>,
    next: OnceCell<Box<Slot>>,
}

/// A bound on what one context keeps.
const MOST_RESOLVED: usize = 1_000;

impl<'r> Context<'r> {
    pub const BUDGET: u64 = 1_000_000;

    pub fn at(now: PartialDateTime) -> Self {
        Self {
            now,
            resolver: None,
            budget: Self::BUDGET,
            total: u64::MAX,
            spent: Cell::new(0),
            patterns: RefCell::default(),
            resolved: OnceCell::new(),
        }
    }

    /// Bounds the steps of all evaluations together.
    #[must_use]
    pub fn within(mut self, total: u64) -> Self {
        self.total = total;
        self
    }

    /// Whether no evaluation can be made any more.
    pub fn is_used_up(&self) -> bool {
        self.spent.get() >= self.total
    }

    #[must_use]
    pub fn resolving(mut self, resolver: &'r dyn Resolver) -> Self {
        self.resolver = Some(resolver);
        self
    }

    /// None if the target is not found, `Err` if too many references were resolved.
    pub(super) fn resolve<'v>(&'v self, reference: &str) -> Result<Option<&'v Value>, usize>
    where
        'r: 'v,
    {
        let Some(resolver) = self.resolver else { return Ok(None) };
        let mut place = &self.resolved;
        let mut count = 0;
        while let Some(slot) = place.get() {
            if slot.reference == reference {
                return Ok(slot.value.as_ref());
            }
            place = &slot.next;
            count += 1;
        }
        if count == MOST_RESOLVED {
            return Err(MOST_RESOLVED);
        }
        let value = match resolver.resolve(reference) {
            Some(Cow::Borrowed(value)) => return Ok(Some(value)),
            Some(Cow::Owned(value)) => Some(value),
            None => None,
        };
        let slot = Box::new(Slot { reference: reference.to_owned(), value, next: OnceCell::new() });
        Ok(place.get_or_init(|| slot).value.as_ref())
    }
}
