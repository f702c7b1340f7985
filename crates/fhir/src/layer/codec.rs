//! Flat little-endian arrays, each after its length.

use super::{DocId, LayerError};

#[derive(Debug, Default)]
pub(super) struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    pub(super) fn u32(&mut self, value: u32) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    pub(super) fn u64(&mut self, value: u64) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.u64(bytes.len() as u64);
        self.bytes.extend_from_slice(bytes);
    }

    pub(super) fn u32s(&mut self, values: &[u32]) {
        self.u64(values.len() as u64);
        values.iter().for_each(|value| self.u32(*value));
    }

    pub(super) fn u64s(&mut self, values: &[u64]) {
        self.u64(values.len() as u64);
        values.iter().for_each(|value| self.u64(*value));
    }

    pub(super) fn docs(&mut self, docs: &[DocId]) {
        self.u64(docs.len() as u64);
        docs.iter().for_each(|doc| self.u32(doc.number()));
    }

    pub(super) fn finish(self) -> Vec<u8> {
        self.bytes
    }
}

/// Allocates no more than the bytes that it reads.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    pub(super) fn u32(&mut self) -> Result<u32, LayerError> {
        self.array().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Result<u64, LayerError> {
        self.array().map(u64::from_le_bytes)
    }

    pub(super) fn bytes(&mut self) -> Result<&'a [u8], LayerError> {
        self.run(1)
    }

    pub(super) fn text(&mut self) -> Result<&'a str, LayerError> {
        std::str::from_utf8(self.bytes()?).map_err(|_| LayerError::Damaged("text that is no UTF-8"))
    }

    pub(super) fn u32s(&mut self) -> Result<Vec<u32>, LayerError> {
        let (values, _) = self.run(4)?.as_chunks();
        Ok(values.iter().map(|value| u32::from_le_bytes(*value)).collect())
    }

    pub(super) fn u64s(&mut self) -> Result<Vec<u64>, LayerError> {
        let (values, _) = self.run(8)?.as_chunks();
        Ok(values.iter().map(|value| u64::from_le_bytes(*value)).collect())
    }

    pub(super) fn docs(&mut self) -> Result<Vec<DocId>, LayerError> {
        let (values, _) = self.run(4)?.as_chunks();
        Ok(values.iter().map(|value| DocId::new(u32::from_le_bytes(*value))).collect())
    }

    fn array<const LENGTH: usize>(&mut self) -> Result<[u8; LENGTH], LayerError> {
        let (array, rest) = self.rest.split_first_chunk().ok_or(CUT_OFF)?;
        self.rest = rest;
        Ok(*array)
    }

    /// As many items of some bytes each as the number before them says.
    fn run(&mut self, item_bytes: usize) -> Result<&'a [u8], LayerError> {
        let count = usize::try_from(self.u64()?).map_err(|_| CUT_OFF)?;
        let length = count.checked_mul(item_bytes).ok_or(CUT_OFF)?;
        let (run, rest) = self.rest.split_at_checked(length).ok_or(CUT_OFF)?;
        self.rest = rest;
        Ok(run)
    }
}

const CUT_OFF: LayerError = LayerError::Damaged("it is cut off");

/// A check against accidents, not against forgery. Every step is one-to-one, so that one changed word always shows.
pub(super) fn checksum(bytes: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    let mix = |sum: u64, word: u64| (sum ^ word).wrapping_mul(FACTOR).rotate_left(29);
    let (blocks, tail) = bytes.as_chunks::<32>();
    let mut lanes = [1, 2, 3, 4];
    for block in blocks {
        let (words, _) = block.as_chunks();
        for (lane, word) in lanes.iter_mut().zip(words) {
            *lane = mix(*lane, u64::from_le_bytes(*word));
        }
    }
    let sum = lanes.into_iter().chain(tail.iter().map(|byte| u64::from(*byte))).fold(bytes.len() as u64, mix);
    sum ^ (sum >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let mut writer = Writer::default();
        writer.u32(7);
        writer.u64s(&[1, u64::MAX]);
        writer.bytes(b"text");
        writer.u32s(&[3]);
        let bytes = writer.finish();
        let mut reader = Reader::new(&bytes);
        assert_eq!((reader.u32(), reader.u64s(), reader.text()), (Ok(7), Ok(vec![1, u64::MAX]), Ok("text")));
        assert_eq!(reader.u32s(), Ok(vec![3]));
        assert!(reader.is_at_end() && reader.u32().is_err());
    }

    #[test]
    fn a_length_beyond_the_bytes_is_refused_before_it_is_allocated() {
        for length in [1, 1 << 40, u64::MAX / 4, u64::MAX] {
            assert!(Reader::new(&length.to_le_bytes()).u32s().is_err());
            assert!(Reader::new(&length.to_le_bytes()).u64s().is_err());
            assert!(Reader::new(&length.to_le_bytes()).bytes().is_err());
        }
    }

    #[test]
    fn every_flipped_bit_shows() {
        let mut bytes: Vec<u8> = (0..101).collect();
        let sum = checksum(&bytes);
        for bit in 0..bytes.len() * 8 {
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(checksum(&bytes), sum);
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        assert_ne!(checksum(&bytes[..100]), sum);
    }
}
