//! Finds where a JSON value ends, without parsing it: strings, escapes and nesting are all that it sees.

/// How far a value has been scanned. What it takes for a value may still be no JSON; that it ends there is certain.
#[derive(Debug, Clone)]
pub(super) struct Span {
    mode: Mode,
    depth: usize,
    deepest: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Scalar,
    Structure,
    String,
    Escape,
}

impl Span {
    /// A value that begins with this byte, which is still to be scanned.
    pub(super) fn starting_with(byte: u8) -> Self {
        let mode = if matches!(byte, b'"' | b'{' | b'[') { Mode::Structure } else { Mode::Scalar };
        Self { mode, depth: 0, deepest: 0 }
    }

    /// Scans on; tells how many of the bytes still belong to the value if it ends within them or just before one.
    pub(super) fn advance(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        while at < bytes.len() {
            match self.mode {
                Mode::Scalar => return bytes.iter().position(|byte| ends_scalar(*byte)),
                Mode::Structure => at += self.structure(&bytes[at..]),
                Mode::String => {
                    at += find([b'"', b'\\'], &bytes[at..])? + 1;
                    self.mode = if bytes[at - 1] == b'"' { Mode::Structure } else { Mode::Escape };
                }
                Mode::Escape => {
                    at += 1;
                    self.mode = Mode::String;
                }
            }
            if self.depth == 0 && self.mode == Mode::Structure {
                return Some(at);
            }
        }
        None
    }

    /// Scans to the next string or to the end of the value, and tells how many bytes that took.
    fn structure(&mut self, bytes: &[u8]) -> usize {
        for (at, byte) in bytes.iter().enumerate() {
            match byte {
                b'"' => {
                    self.mode = Mode::String;
                    return at + 1;
                }
                b'{' | b'[' => {
                    self.depth += 1;
                    self.deepest = self.deepest.max(self.depth);
                }
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        return at + 1;
                    }
                }
                _ => {}
            }
        }
        bytes.len()
    }
}

/// Whether the value that a text begins with nests so many arrays and objects.
pub(super) fn reaches_depth(text: &[u8], levels: usize) -> bool {
    // Counted in bytes, block by block, which the compiler turns into vector instructions.
    let opens = |byte: &u8| u8::from(matches!(byte, b'{' | b'['));
    let openers: usize = text.chunks(255).map(|block| usize::from(block.iter().map(opens).sum::<u8>())).sum();
    openers >= levels && {
        let mut span = Span::starting_with(text.first().copied().unwrap_or_default());
        span.advance(text);
        span.deepest >= levels
    }
}

fn ends_scalar(byte: u8) -> bool {
    is_white_space(byte) || matches!(byte, b',' | b']' | b'}')
}

pub(super) fn is_white_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

/// Where the first of some bytes stands, eight at a time (Mycroft's test for a zero byte within a word).
pub(super) fn find<const COUNT: usize>(wanted: [u8; COUNT], bytes: &[u8]) -> Option<usize> {
    const ONES: u64 = u64::MAX / 255;
    const HIGH_BITS: u64 = ONES << 7;
    let (words, tail) = bytes.as_chunks::<8>();
    for (at, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let hits = wanted.iter().fold(0, |hits, byte| {
            let zero_where_equal = word ^ (ONES * u64::from(*byte));
            hits | (zero_where_equal.wrapping_sub(ONES) & !zero_where_equal)
        });
        let first = (hits & HIGH_BITS).trailing_zeros() as usize / 8;
        if first < 8 {
            return Some(at * 8 + first);
        }
    }
    let at = tail.iter().position(|byte| wanted.contains(byte))?;
    Some(words.len() * 8 + at)
}

/// Appends the tokens of valid JSON without the white space between them.
pub(super) fn squeeze(text: &str, into: &mut String) {
    let mut rest = text;
    while let Some(&first) = rest.as_bytes().first() {
        let mut bytes = rest.bytes();
        let length = match first {
            b'"' => Span::starting_with(first).advance(rest.as_bytes()),
            _ if is_white_space(first) => bytes.position(|byte| !is_white_space(byte)),
            _ => bytes.position(|byte| byte == b'"' || is_white_space(byte)),
        };
        let (run, after) = rest.split_at(length.unwrap_or(rest.len()));
        if !is_white_space(first) {
            into.push_str(run);
        }
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The value ends at the mark, wherever the text is cut in two.
    fn check(text: &str) {
        let end = text.find('|').unwrap();
        let bytes = text.replacen('|', "", 1).into_bytes();
        for cut in 0..=bytes.len() {
            let mut span = Span::starting_with(bytes[0]);
            let found = match span.advance(&bytes[..cut]) {
                None => span.advance(&bytes[cut..]).map(|length| cut + length),
                found => found,
            };
            assert_eq!(found, Some(end), "{text} cut at {cut}");
        }
    }

    #[test]
    fn a_value_ends_where_its_own_bracket_or_quote_closes() {
        check(r#"{"a":[1,{"b":"}"}]}|,{}"#);
        check(r#"{"a":"\"}","b\\":"\\"}| "#);
        check(r#"[]|]"#);
        check(r#""a\\\"b"|:1"#);
        check(r#"-1.50e+2|,3"#);
        check("true|\n}");
    }

    #[test]
    fn nesting_counts_outside_strings() {
        let text = br#"{"a":[["[[[["],{}]}"#;
        assert!(reaches_depth(text, 3));
        assert!(!reaches_depth(text, 4));
    }

    #[test]
    fn the_first_of_the_bytes_is_found_in_any_block() {
        for length in 0..70 {
            let mut bytes = vec![b'.'; length];
            assert_eq!(find([b'a', b'b'], &bytes), None);
            for at in (0..length).rev() {
                bytes[at] = if at % 2 == 0 { b'a' } else { b'b' };
                assert_eq!(find([b'a', b'b'], &bytes), Some(at));
            }
        }
    }

    #[test]
    fn squeezing_keeps_strings_as_they_are() {
        let mut line = String::new();
        squeeze("{ \"a b\" :\r\n\t[ 1.50 , \"\\\" \\n\" ,true ]\n}", &mut line);
        assert_eq!(line, r#"{"a b":[1.50,"\" \n",true]}"#);
    }
}
