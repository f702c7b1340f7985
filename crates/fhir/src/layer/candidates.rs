//! The documents that can answer a condition.

use std::borrow::Cow;
use std::ops::Range;

use super::doc_set::DocSet;
use super::narrow::{Check, Searched, ways_to_write};
use super::parameter::is_indexed;
use super::terms::Terms;
use super::value::{BY_ID, found, target_type, within};
use super::{DocId, Layer};
use crate::ResourceType;
use crate::definitions::{SearchParameter, SearchType};
use crate::search::{Condition, Modifier, SearchValue};

/// All documents that answer, and if not `exact` perhaps others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidates {
    /// Sorted, each once.
    pub docs: Vec<DocId>,
    /// Whether every one answers, so that none needs to be looked at.
    pub exact: bool,
}

impl Layer {
    /// The documents of the type among which are all for which the condition holds.
    pub fn candidates(&self, resource_type: ResourceType, condition: &Condition) -> Candidates {
        let range = self.of_type(resource_type);
        match self.asked(resource_type, condition) {
            Asked::Unknown => Candidates { docs: range.map(DocId::new).collect(), exact: false },
            Asked::Ids(ids) => {
                let mut docs: Vec<_> = ids.filter_map(|id| self.get(resource_type, id)).collect();
                docs.sort_unstable();
                docs.dedup();
                exactly(negated(docs, condition, range))
            }
            Asked::Missing { missing, present } => {
                let set = self.parameter(resource_type, condition.parameter.code()).map(|index| &index.presence);
                exactly(match (missing, present, set) {
                    (true, true, _) | (true, false, None) => range.map(DocId::new).collect(),
                    (true, false, Some(set)) => set.others(),
                    (false, true, Some(set)) => set.docs(),
                    _ => Vec::new(),
                })
            }
            Asked::Values(None) => exactly(negated(Vec::new(), condition, range)),
            Asked::Values(Some(searched)) => match searched.answer(condition, &range) {
                Candidates { docs, exact: true } => exactly(negated(docs, condition, range)),
                _ if condition.modifier == Some(Modifier::Not) => {
                    Candidates { docs: range.map(DocId::new).collect(), exact: false }
                }
                candidates => candidates,
            },
        }
    }

    /// At least as many as there are candidates, without finding them: to choose where a search begins.
    pub fn estimate(&self, resource_type: ResourceType, condition: &Condition) -> usize {
        let all = self.of_type(resource_type).len();
        if condition.modifier == Some(Modifier::Not) {
            return all;
        }
        match self.asked(resource_type, condition) {
            Asked::Unknown => all,
            Asked::Ids(ids) => ids.count(),
            Asked::Missing { missing, present } => {
                let index = self.parameter(resource_type, condition.parameter.code());
                let count = index.map_or(0, |index| index.presence.count());
                usize::from(missing) * (all - count) + usize::from(present) * count
            }
            Asked::Values(None) => 0,
            Asked::Values(Some(searched)) => searched.estimate(condition),
        }
    }

    /// The documents of type `source` whose reference parameter points to a resource, sorted. It need not be in the
    /// layer; whatever version of it is meant.
    pub fn referring(
        &self,
        source: ResourceType,
        parameter: &SearchParameter,
        target: ResourceType,
        id: &str,
    ) -> Vec<DocId> {
        let Some(index) = self.parameter(source, parameter.code()) else { return Vec::new() };
        let terms = &index.terms;
        let within = self.get(target, id).map(|doc| terms.with_key(&within(doc)));
        let by_id = terms.with_key(&[&[BY_ID], id.as_bytes()].concat());
        let by_id = by_id.filter(|term| target_type(terms.context(*term)) == Some(target)).map(|term| term..term + 1);
        union(terms, &within.into_iter().chain(by_id).collect::<Vec<_>>(), &self.of_type(source))
    }

    fn asked<'a>(
        &'a self,
        resource_type: ResourceType,
        condition: &'a Condition,
    ) -> Asked<'a, impl Iterator<Item = &'a str>> {
        let is_missing = |wanted: bool| condition.alternatives.contains(&SearchValue::Missing(wanted));
        let (missing, present) = (is_missing(true), is_missing(false));
        let parameter = &condition.parameter;
        let is_plain = matches!(condition.modifier, None | Some(Modifier::Not));
        if parameter.code() == "_id" && is_plain && condition.alternatives.iter().all(|it| id(it).is_some()) {
            return Asked::Ids(condition.alternatives.iter().filter_map(id));
        }
        if !is_indexed(parameter) {
            return Asked::Unknown;
        }
        if missing || present {
            let is_only = condition.alternatives.iter().all(|it| matches!(it, SearchValue::Missing(_)));
            let is_negated = condition.modifier == Some(Modifier::Not);
            return if is_only && !is_negated { Asked::Missing { missing, present } } else { Asked::Unknown };
        }
        let searched = |index| Searched {
            keys: &self.keys,
            index,
            search_type: parameter.search_type(),
            modifier: condition.modifier.as_ref(),
        };
        Asked::Values(self.parameter(resource_type, parameter.code()).map(searched))
    }
}

/// What a condition is about.
enum Asked<'a, I> {
    /// Nothing that is indexed.
    Unknown,
    Ids(I),
    Missing {
        missing: bool,
        present: bool,
    },
    /// The values of a parameter, which may have none in any document.
    Values(Option<Searched<'a>>),
}

fn id(wanted: &SearchValue) -> Option<&str> {
    match wanted {
        SearchValue::Token { system: None, code: Some(id) } => Some(id),
        _ => None,
    }
}

fn exactly(docs: Vec<DocId>) -> Candidates {
    Candidates { docs, exact: true }
}

/// The others, if that is what the condition wants.
fn negated(docs: Vec<DocId>, condition: &Condition, range: Range<u32>) -> Vec<DocId> {
    if condition.modifier != Some(Modifier::Not) {
        return docs;
    }
    let mut set = DocSet::new(range);
    docs.iter().for_each(|doc| set.insert(*doc));
    set.others()
}

impl Searched<'_> {
    /// Without regard to `:not`.
    fn answer(&self, condition: &Condition, range: &Range<u32>) -> Candidates {
        let terms = &self.index.terms;
        if self.search_type == SearchType::Composite {
            let mut set = DocSet::new(range.clone());
            condition
                .alternatives
                .iter()
                .flat_map(|wanted| self.composite(wanted, range))
                .for_each(|doc| set.insert(doc));
            return Candidates { docs: set.docs(), exact: false };
        }
        if !self.index.is_whole {
            return Candidates { docs: self.index.presence.docs(), exact: false };
        }
        let runs: Vec<_> = condition.alternatives.iter().flat_map(|wanted| self.answering(wanted)).collect();
        exactly(union(terms, &runs, range))
    }

    fn estimate(&self, condition: &Condition) -> usize {
        let present = self.index.presence.count();
        let estimate = |wanted: &SearchValue| match wanted {
            SearchValue::Composite(_) => present,
            _ if !self.index.is_whole => present,
            _ => self.narrow(wanted).runs.into_iter().map(|run| self.index.terms.docs(run).len()).sum(),
        };
        condition.alternatives.iter().map(estimate).sum::<usize>().min(present)
    }

    /// Runs of the terms that answer.
    fn answering(&self, wanted: &SearchValue) -> Vec<Range<usize>> {
        let terms = &self.index.terms;
        let narrowed = self.narrow(wanted);
        let answers = |term: usize| match &narrowed.check {
            Check::Nothing => true,
            Check::Value => found(self.search_type, terms.key(term), terms.context(term), self.keys)
                .is_some_and(|found| wanted.matches(self.modifier, &found)),
            Check::Context(answers) => answers.get(terms.tag(term)).copied().unwrap_or_default(),
            Check::Contains(text) => std::str::from_utf8(terms.key(term)).is_ok_and(|key| key.contains(text.as_str())),
        };
        if let Check::Nothing = narrowed.check {
            return narrowed.runs;
        }
        let mut runs: Vec<Range<usize>> = Vec::new();
        for term in narrowed.runs.into_iter().flatten().filter(|term| answers(*term)) {
            match runs.last_mut() {
                Some(last) if last.end == term => last.end = term + 1,
                _ => runs.push(term..term + 1),
            }
        }
        runs
    }

    /// The documents that answer each part that is a token, though perhaps not in one place.
    fn composite(&self, wanted: &SearchValue, range: &Range<u32>) -> Vec<DocId> {
        let terms = &self.index.terms;
        let SearchValue::Composite(parts) = wanted else { return Vec::new() };
        let mut docs: Option<Vec<DocId>> = None;
        for (part, number) in parts.iter().zip(0_u8..) {
            let SearchValue::Token { code: Some(code), .. } = part else { continue };
            let answers = |term: usize| {
                let code = terms.key(term).get(1..).unwrap_or_default();
                found(SearchType::Token, code, terms.context(term), self.keys)
                    .is_some_and(|found| part.matches(None, &found))
            };
            let run = |code: Cow<'_, str>| terms.with_key(&[&[number], code.as_bytes()].concat());
            let runs: Vec<_> =
                ways_to_write(code).flat_map(run).filter(|term| answers(*term)).map(|term| term..term + 1).collect();
            let of_part = union(terms, &runs, range);
            docs = Some(match docs {
                Some(docs) => docs.into_iter().filter(|doc| of_part.binary_search(doc).is_ok()).collect(),
                None => of_part,
            });
        }
        docs.unwrap_or_else(|| self.index.presence.docs())
    }
}

/// The documents of some terms, sorted, each once.
fn union(terms: &Terms, runs: &[Range<usize>], range: &Range<u32>) -> Vec<DocId> {
    let of_runs = || runs.iter().flat_map(|run| terms.docs(run.clone())).copied();
    if let [run] = runs
        && run.len() == 1
    {
        return of_runs().collect();
    }
    // Where many are found, it is quicker to mark them than to sort them.
    let count: usize = runs.iter().map(|run| terms.docs(run.clone()).len()).sum();
    if count > range.len() / 64 {
        let mut set = DocSet::new(range.clone());
        of_runs().for_each(|doc| set.insert(doc));
        return set.docs();
    }
    let mut docs: Vec<DocId> = of_runs().collect();
    docs.sort_unstable();
    docs.dedup();
    docs
}
