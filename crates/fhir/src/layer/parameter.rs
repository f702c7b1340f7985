//! The index of one search parameter of one resource type.

use std::ops::Range;

use super::blocks::Blocks;
use super::codec::{Reader, Writer};
use super::doc_set::DocSet;
use super::keys::Keys;
use super::terms::{Gathered, Terms};
use super::value::Value;
use super::{DocId, LayerError};
use crate::ResourceType;
use crate::definitions::{SearchParameter, SearchType};
use crate::search::IndexedValue;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Index {
    pub(super) presence: DocSet,
    pub(super) terms: Terms,
    pub(super) blocks: Blocks,
    /// Whether the terms say all that the parameter finds.
    pub(super) is_whole: bool,
}

/// Whether the parameter is indexed. Ids are in the key table; the time of the last update comes, for a document that
/// does not say it, from the reader; what has no expression finds nothing.
pub(super) fn is_indexed(parameter: &SearchParameter) -> bool {
    !parameter.is_stored()
        && parameter.expression().is_some()
        && parameter.search_type() != SearchType::Special
        && !matches!(parameter.code(), "_id" | "_lastUpdated")
}

/// The indexed parameters of a type, by code.
pub(super) fn indexed(resource_type: ResourceType) -> Vec<&'static SearchParameter> {
    let mut parameters: Vec<_> = SearchParameter::of(resource_type).filter(|it| is_indexed(it)).collect();
    // Stable: of two with one code the type's own stands before the inherited one.
    parameters.sort_by_key(|parameter| parameter.code());
    parameters.dedup_by_key(|parameter| parameter.code());
    parameters
}

impl Index {
    /// Takes parts whose documents follow each other.
    pub(super) fn merge(search_type: SearchType, parts: Vec<Part>, range: Range<u32>) -> Result<Self, LayerError> {
        let mut presence = DocSet::new(range);
        parts.iter().flat_map(|part| &part.docs).for_each(|doc| presence.insert(*doc));
        let is_whole = parts.iter().all(|part| part.is_whole);
        let terms: Vec<Terms> = parts.into_iter().map(|part| part.terms).collect();
        Ok(Self::new(search_type, presence, Terms::merge(&terms)?, is_whole))
    }

    fn new(search_type: SearchType, presence: DocSet, terms: Terms, is_whole: bool) -> Self {
        let blocks = match search_type {
            SearchType::Date | SearchType::Number | SearchType::Quantity => Blocks::new(&terms),
            _ => Blocks::default(),
        };
        Self { presence, terms, blocks, is_whole }
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.presence.memory_bytes() + self.terms.memory_bytes() + self.blocks.memory_bytes()
    }

    pub(super) fn encode(&self, writer: &mut Writer) {
        writer.u32(u32::from(self.is_whole));
        self.presence.encode(writer);
        self.terms.encode(writer);
    }

    pub(super) fn decode(
        search_type: SearchType,
        reader: &mut Reader<'_>,
        range: Range<u32>,
    ) -> Result<Self, LayerError> {
        let is_whole = reader.u32()? == 1;
        let presence = DocSet::decode(reader, range.clone())?;
        Ok(Self::new(search_type, presence, Terms::decode(reader, &range)?, is_whole))
    }
}

/// What some consecutive documents give to an index.
#[derive(Debug)]
pub(super) struct Part {
    docs: Vec<DocId>,
    terms: Terms,
    is_whole: bool,
}

impl Part {
    pub(super) fn is_empty(&self) -> bool {
        self.docs.is_empty()
    }
}

/// Collects a part, document after document.
#[derive(Debug, Default)]
pub(super) struct Collector {
    docs: Vec<DocId>,
    gathered: Gathered,
    value: Value,
    is_partial: bool,
}

impl Collector {
    pub(super) fn add(&mut self, search_type: SearchType, found: &[IndexedValue], doc: DocId, keys: &Keys) {
        if !found.is_empty() {
            self.docs.push(doc);
        }
        for found in found {
            if let (SearchType::Composite, IndexedValue::Composite(parts)) = (search_type, found) {
                self.components(parts, doc);
            } else if self.value.set(search_type, found, keys) {
                self.gathered.add(&self.value.key, &self.value.context, doc);
            } else {
                self.is_partial = true;
            }
        }
    }

    fn components(&mut self, parts: &[Vec<IndexedValue>], doc: DocId) {
        self.is_partial = true;
        for (part, number) in parts.iter().zip(0..) {
            for found in part {
                if let IndexedValue::Token(concept) = found {
                    self.value.set_component(number, concept);
                    self.gathered.add(&self.value.key, &self.value.context, doc);
                }
            }
        }
    }

    pub(super) fn finish(self) -> Result<Part, LayerError> {
        Ok(Part { terms: self.gathered.finish()?, docs: self.docs, is_whole: !self.is_partial })
    }
}
