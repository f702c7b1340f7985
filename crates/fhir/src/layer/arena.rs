//! Byte strings end to end in one allocation.

use super::LayerError;
use super::codec::{Reader, Writer};

/// Where each string ends is kept only if they differ in length.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Arena {
    bytes: Vec<u8>,
    ends: Vec<u32>,
    /// The length of every string, once it is known to be one.
    width: u32,
}

impl Arena {
    /// Must not be called once the arena is sealed.
    pub(super) fn push(&mut self, string: &[u8]) -> Result<(), LayerError> {
        self.bytes.extend_from_slice(string);
        self.ends.push(u32::try_from(self.bytes.len()).map_err(|_| LayerError::TooLarge)?);
        Ok(())
    }

    /// Ends the building.
    pub(super) fn seal(mut self) -> Self {
        let width = self.ends.first().copied().unwrap_or_default();
        if width > 0 && self.ends.iter().zip(1..).all(|(end, count)| u64::from(*end) == u64::from(width) * count) {
            self.width = width;
            self.ends = Vec::new();
        }
        self.bytes.shrink_to_fit();
        self.ends.shrink_to_fit();
        self
    }

    pub(super) fn len(&self) -> usize {
        match self.width as usize {
            0 => self.ends.len(),
            width => self.bytes.len() / width,
        }
    }

    /// Empty for a number that there is not.
    pub(super) fn get(&self, number: usize) -> &[u8] {
        let (start, end) = match self.width as usize {
            0 => {
                let start = number.checked_sub(1).and_then(|before| self.ends.get(before)).copied();
                (start.unwrap_or_default() as usize, self.ends.get(number).copied().unwrap_or_default() as usize)
            }
            width => (number * width, (number + 1) * width),
        };
        self.bytes.get(start..end).unwrap_or_default()
    }

    /// The first number, in a sorted arena, whose string is not below.
    pub(super) fn partition_point(&self, is_below: impl Fn(&[u8]) -> bool) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            if is_below(self.get(middle)) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.bytes.len() + self.ends.len() * size_of::<u32>()
    }

    pub(super) fn encode(&self, writer: &mut Writer) {
        writer.u32(self.width);
        writer.u32s(&self.ends);
        writer.bytes(&self.bytes);
    }

    pub(super) fn decode(reader: &mut Reader<'_>) -> Result<Self, LayerError> {
        let arena = Self { width: reader.u32()?, ends: reader.u32s()?, bytes: reader.bytes()?.to_vec() };
        let is_sound = match arena.width as usize {
            0 => arena.ends.is_sorted() && arena.ends.last().map_or(0, |end| *end as usize) == arena.bytes.len(),
            width => arena.ends.is_empty() && arena.bytes.len().is_multiple_of(width),
        };
        is_sound.then_some(arena).ok_or(LayerError::Damaged("the ends of its strings"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arena(strings: &[&str]) -> Arena {
        let mut arena = Arena::default();
        strings.iter().for_each(|string| arena.push(string.as_bytes()).unwrap());
        arena.seal()
    }

    #[test]
    fn strings_come_back_whether_of_one_length_or_not() {
        for strings in [&["a", "", "bcd"][..], &["abc", "def", "xyz"], &["", ""], &[]] {
            let arena = arena(strings);
            assert_eq!(arena.len(), strings.len());
            strings.iter().enumerate().for_each(|(at, string)| assert_eq!(arena.get(at), string.as_bytes()));
            assert_eq!(arena.get(strings.len()), b"");
            let mut writer = Writer::default();
            arena.encode(&mut writer);
            assert_eq!(Arena::decode(&mut Reader::new(&writer.finish())).unwrap(), arena);
        }
    }

    #[test]
    fn a_sorted_arena_is_searched() {
        let arena = arena(&["b", "d", "dd"]);
        assert_eq!(
            ["a", "b", "c", "d", "e"].map(|key| arena.partition_point(|it| it < key.as_bytes())),
            [0, 0, 1, 1, 3]
        );
    }
}
