//! The immutable base of a playground: the resources of a dataset revision and the index by which they are searched,
//! built once, stored as blobs and shared.

mod arena;
mod blocks;
mod build;
mod candidates;
mod case;
mod codec;
mod compose;
mod displays;
mod doc_set;
mod documents;
mod error;
mod fields;
mod keys;
mod lines;
mod narrow;
mod parallel;
mod parameter;
mod stored;
mod terms;
mod value;

use std::borrow::Cow;
use std::ops::Range;

pub use candidates::Candidates;
pub use error::LayerError;

use crate::ResourceType;
use documents::Documents;
use keys::Keys;
use parameter::Index;

/// All resources of a dataset revision.
#[derive(Debug, PartialEq, Eq)]
pub struct Layer {
    keys: Keys,
    documents: Documents,
    /// Those that find anything, by type and code.
    parameters: Vec<Parameter>,
}

/// The number of a document: documents are numbered by resource type, and by id within a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DocId(u32);

#[derive(Debug, PartialEq, Eq)]
struct Parameter {
    resource_type: ResourceType,
    code: &'static str,
    index: Index,
}

impl DocId {
    pub fn new(number: u32) -> Self {
        Self(number)
    }

    pub fn number(self) -> u32 {
        self.0
    }

    fn index(self) -> usize {
        self.0 as usize
    }
}

impl Layer {
    /// Makes the layer of NDJSON: each chunk has whole lines, each line a resource with its `resourceType` and `id`.
    ///
    /// The result is the same however the lines are distributed and however many threads there are.
    pub fn build<C: AsRef<[u8]> + Sync>(chunks: Vec<C>, threads: usize) -> Result<Self, LayerError> {
        build::build(chunks, threads)
    }

    /// How many documents there are.
    pub fn len(&self) -> usize {
        self.keys.len() as usize
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many documents each type has, by name; types without any are left out.
    pub fn counts(&self) -> impl Iterator<Item = (ResourceType, usize)> {
        self.keys.types().map(|(resource_type, docs)| (resource_type, docs.len()))
    }

    pub fn get(&self, resource_type: ResourceType, id: &str) -> Option<DocId> {
        self.keys.get(resource_type, id)
    }

    /// The numbers of a type's documents.
    pub fn of_type(&self, resource_type: ResourceType) -> Range<u32> {
        self.keys.of_type(resource_type)
    }

    /// How long the text of a type's documents is.
    pub fn bytes_of(&self, resource_type: ResourceType) -> usize {
        self.of_type(resource_type).map(|doc| self.written(DocId::new(doc)).len()).sum()
    }

    /// The type and id of a document; `None` for a number that there is not.
    pub fn key(&self, doc: DocId) -> Option<(ResourceType, &str)> {
        if doc.number() < self.keys.len() { self.keys.key(doc) } else { None }
    }

    /// The document's JSON, compact, as version 1. `baseline`, an instant, is the `meta.lastUpdated` of a document
    /// that has none of its own.
    pub fn text(&self, doc: DocId, baseline: &str) -> Cow<'_, str> {
        self.documents.text(doc, baseline)
    }

    /// The document's text without a baseline, for what does not look at `meta.lastUpdated`.
    pub fn written(&self, doc: DocId) -> &str {
        self.documents.written(doc)
    }

    /// Milliseconds since 1970; `None` if the document does not say and the baseline counts.
    pub fn last_updated(&self, doc: DocId) -> Option<i64> {
        self.documents.last_updated(doc)
    }

    /// The text of the documents, in pieces of at most about 16 MiB.
    pub fn segments(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.documents.segments.iter().map(String::as_bytes)
    }

    /// What the layer holds in memory, text and index.
    pub fn memory_bytes(&self) -> usize {
        self.documents.memory_bytes() + self.index_bytes()
    }

    fn index_bytes(&self) -> usize {
        self.keys.memory_bytes() + self.parameters.iter().map(|it| it.index.memory_bytes()).sum::<usize>()
    }

    fn parameter(&self, resource_type: ResourceType, code: &str) -> Option<&Index> {
        let wanted = (resource_type, code);
        let at = self.parameters.binary_search_by(|it| (it.resource_type, it.code).cmp(&wanted)).ok()?;
        Some(&self.parameters[at].index)
    }
}
