//! Skips the byte order mark that some editors write before UTF-8.

const MARK: [u8; 3] = [0xEF, 0xBB, 0xBF];

/// How far the beginning of the input has been recognised as the mark.
#[derive(Debug, Default)]
pub(super) struct ByteOrderMark {
    matched: usize,
    decided: bool,
}

impl ByteOrderMark {
    /// What the input says after the mark: bytes kept back that turned out to be no mark, then the rest of `bytes`.
    pub(super) fn strip<'a>(&mut self, bytes: &'a [u8]) -> (&'static [u8], &'a [u8]) {
        if self.decided {
            return (&[], bytes);
        }
        let before = self.matched;
        self.matched += MARK[before..].iter().zip(bytes).take_while(|(mark, byte)| mark == byte).count();
        let rest = &bytes[self.matched - before..];
        self.decided = self.matched == MARK.len() || !rest.is_empty();
        match self.decided && self.matched < MARK.len() {
            true => (&MARK[..self.matched], rest),
            false => (&[], rest),
        }
    }

    /// At the end of the input: the bytes kept back because they could have become a mark.
    pub(super) fn unfinished(&self) -> &'static [u8] {
        if self.decided { &[] } else { &MARK[..self.matched] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stripped(pieces: &[&[u8]]) -> Vec<u8> {
        let mut mark = ByteOrderMark::default();
        let mut seen = Vec::new();
        for piece in pieces {
            let (replayed, rest) = mark.strip(piece);
            seen.extend_from_slice(replayed);
            seen.extend_from_slice(rest);
        }
        seen.extend_from_slice(mark.unfinished());
        seen
    }

    #[test]
    fn only_a_whole_mark_at_the_very_beginning_is_dropped() {
        assert_eq!(stripped(&[b"\xEF\xBB\xBF{}"]), b"{}");
        assert_eq!(stripped(&[b"\xEF", b"", b"\xBB\xBF", b"{}"]), b"{}");
        assert_eq!(stripped(&[b"\xEF", b"\xBB{}"]), b"\xEF\xBB{}");
        assert_eq!(stripped(&[b"\xEF", b"\xBB"]), b"\xEF\xBB");
        assert_eq!(stripped(&[b"{}", b"\xEF\xBB\xBF"]), b"{}\xEF\xBB\xBF");
        assert_eq!(stripped(&[b"\xEF\xBB\xBF", b"\xEF\xBB\xBF"]), b"\xEF\xBB\xBF");
        assert_eq!(stripped(&[]), b"");
    }
}
