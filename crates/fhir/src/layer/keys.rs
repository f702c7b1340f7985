//! Which documents there are: numbered by type, and by id within a type.

use std::ops::Range;

use super::arena::Arena;
use super::codec::{Reader, Writer};
use super::{DocId, LayerError};
use crate::ResourceType;

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Keys {
    ids: Arena,
    /// Each type that has documents, with the number of its first, by name.
    types: Vec<(ResourceType, u32)>,
}

impl Keys {
    /// Takes sorted keys.
    pub(super) fn build<'a>(keys: impl Iterator<Item = (ResourceType, &'a str)>) -> Result<Self, LayerError> {
        let mut ids = Arena::default();
        let mut types: Vec<(ResourceType, u32)> = Vec::new();
        for ((resource_type, id), number) in keys.zip(0..) {
            ids.push(id.as_bytes())?;
            if types.last().is_none_or(|(last, _)| *last != resource_type) {
                types.push((resource_type, number));
            }
        }
        Ok(Self { ids: ids.seal(), types })
    }

    pub(super) fn len(&self) -> u32 {
        self.ids.len() as u32
    }

    pub(super) fn types(&self) -> impl Iterator<Item = (ResourceType, Range<u32>)> {
        let ends = self.types.iter().skip(1).map(|(_, start)| *start).chain([self.len()]);
        self.types.iter().zip(ends).map(|((resource_type, start), end)| (*resource_type, *start..end))
    }

    pub(super) fn of_type(&self, resource_type: ResourceType) -> Range<u32> {
        match self.types.binary_search_by_key(&resource_type, |(known, _)| *known) {
            Ok(at) => self.types[at].1..self.types.get(at + 1).map_or(self.len(), |(_, start)| *start),
            Err(_) => 0..0,
        }
    }

    pub(super) fn get(&self, resource_type: ResourceType, id: &str) -> Option<DocId> {
        self.find(self.of_type(resource_type), id)
    }

    /// The documents of this id, of whatever type.
    pub(super) fn with_id(&self, id: &str) -> impl Iterator<Item = DocId> {
        self.types().filter_map(move |(_, docs)| self.find(docs, id))
    }

    pub(super) fn key(&self, doc: DocId) -> Option<(ResourceType, &str)> {
        let at = self.types.partition_point(|(_, start)| *start <= doc.number()).checked_sub(1)?;
        Some((self.types[at].0, std::str::from_utf8(self.ids.get(doc.index())).ok()?))
    }

    fn find(&self, docs: Range<u32>, id: &str) -> Option<DocId> {
        let (mut low, mut high) = (docs.start, docs.end);
        while low < high {
            let middle = low.midpoint(high);
            match self.ids.get(middle as usize).cmp(id.as_bytes()) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return Some(DocId::new(middle)),
            }
        }
        None
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.ids.memory_bytes()
    }

    pub(super) fn encode(&self, writer: &mut Writer) {
        self.ids.encode(writer);
        writer.u32(self.types.len() as u32);
        for (resource_type, start) in &self.types {
            writer.bytes(resource_type.as_str().as_bytes());
            writer.u32(*start);
        }
    }

    pub(super) fn decode(reader: &mut Reader<'_>) -> Result<Self, LayerError> {
        let damaged = || LayerError::Damaged("the table of its types");
        let ids = Arena::decode(reader)?;
        let mut types: Vec<(ResourceType, u32)> = Vec::new();
        for _ in 0..reader.u32()? {
            let resource_type = reader.text()?.parse().map_err(|_| damaged())?;
            let start = reader.u32()?;
            let follows = types.last().map_or(start == 0, |(last, before)| *last < resource_type && *before < start);
            if !follows || start as usize >= ids.len() {
                return Err(damaged());
            }
            types.push((resource_type, start));
        }
        let is_sound = types.is_empty() == (ids.len() == 0) && u32::try_from(ids.len()).is_ok();
        is_sound.then_some(Self { ids, types }).ok_or_else(damaged)
    }
}
