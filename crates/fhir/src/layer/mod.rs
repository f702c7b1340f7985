//! Stub.
use crate::ResourceType;
use crate::definitions::SearchParameter;
use crate::search::Condition;
use std::borrow::Cow;
use std::ops::Range;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DocId(pub u32);
#[derive(Debug, Default)]
pub struct Layer {}
pub struct Candidates {
    pub docs: Vec<DocId>,
    pub exact: bool,
}
#[derive(Debug, thiserror::Error)]
#[error("stub")]
pub struct LayerError;
impl Layer {
    pub const FORMAT: u32 = 1;
    pub fn build(_chunks: Vec<bytes::Bytes>, _threads: usize) -> Result<Self, LayerError> {
        Ok(Self {})
    }
    pub fn decode(_index: &[u8], _segments: Vec<bytes::Bytes>) -> Result<Self, LayerError> {
        Ok(Self {})
    }
    pub fn encode_index(&self) -> Vec<u8> {
        Vec::new()
    }
    pub fn segments(&self) -> &[bytes::Bytes] {
        &[]
    }
    pub fn memory_bytes(&self) -> usize {
        0
    }
    pub fn text<'a>(&'a self, _doc: DocId, _baseline: &str) -> Cow<'a, str> {
        Cow::Borrowed("")
    }
    pub fn get(&self, _: ResourceType, _: &str) -> Option<DocId> {
        None
    }
    pub fn of_type(&self, _: ResourceType) -> Range<u32> {
        0..0
    }
    pub fn key(&self, _: DocId) -> (ResourceType, &str) {
        unreachable!()
    }
    pub fn last_updated(&self, _: DocId) -> Option<i64> {
        None
    }
    pub fn counts(&self) -> Vec<(ResourceType, u64)> {
        Vec::new()
    }
    pub fn candidates(&self, _: ResourceType, _: &Condition) -> Candidates {
        Candidates { docs: Vec::new(), exact: true }
    }
    pub fn estimate(&self, _: ResourceType, _: &Condition) -> usize {
        0
    }
    pub fn referring(&self, _: ResourceType, _: &SearchParameter, _: ResourceType, _: &str) -> Vec<DocId> {
        Vec::new()
    }
}
