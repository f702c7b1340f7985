//! Type 1 font programs (Adobe Type 1 Font Format, 1990): the outlines of their glyphs.

use std::collections::BTreeMap;

use super::outline::Pen;

const LONGEST_PROGRAM: usize = 4 << 20;
const MOST_GLYPHS: usize = 70_000;
const DEEPEST: usize = 10;
const MOST_STEPS: usize = 20_000;

pub(super) struct Type1 {
    glyphs: BTreeMap<String, Vec<u8>>,
    subroutines: BTreeMap<usize, Vec<u8>>,
    /// The glyph names of codes in the font.
    encoding: BTreeMap<u32, String>,
    /// The size of a unit, in ems.
    pub(super) scale: f32,
}

impl Type1 {
    /// None without glyphs.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let bytes = without_headers(bytes.get(..LONGEST_PROGRAM).unwrap_or(bytes));
        let marker = find(&bytes, b"eexec")?;
        let (clear, rest) = bytes.split_at(marker);
        let hidden = rest.get(5..)?;
        let spaces = hidden.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let hidden = hidden.get(spaces..)?;
        let private = if hidden.iter().take(4).all(u8::is_ascii_hexdigit) {
            decrypted(&of_hex(hidden), 55665, 4)
        } else {
            decrypted(hidden, 55665, 4)
        };
        let skipped = number_after(&private, b"/lenIV").unwrap_or(4);
        let subroutines = subroutines(&private, skipped);
        let glyphs = glyphs(&private, skipped);
        let scale = matrix_scale(clear).unwrap_or(0.001);
        (!glyphs.is_empty()).then(|| Self { glyphs, subroutines, encoding: encoding(clear), scale })
    }

    pub(super) fn name(&self, code: u32) -> Option<&str> {
        self.encoding.get(&code).map(String::as_str)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.glyphs.contains_key(name)
    }

    /// In units of the font.
    pub(super) fn outline(&self, name: &str, pen: &mut Pen) {
        if let Some(program) = self.glyphs.get(name) {
            let mut machine = CharstringInterpreter {
                font: self,
                pen,
                at: (0.0, 0.0),
                stack: Vec::new(),
                popped: Vec::new(),
                flex: None,
                steps: 0,
            };
            machine.run(program, 0);
            machine.pen.close();
        }
    }
}

struct CharstringInterpreter<'a, 'p> {
    font: &'a Type1,
    pen: &'p mut Pen,
    at: (f32, f32),
    stack: Vec<f32>,
    /// Results of `callothersubr`.
    popped: Vec<f32>,
    /// The points of an incomplete flex.
    flex: Option<Vec<(f32, f32)>>,
    steps: usize,
}

impl CharstringInterpreter<'_, '_> {
    /// Returns false at the end of the glyph.
    fn run(&mut self, program: &[u8], depth: usize) -> bool {
        let mut bytes = program.iter().copied();
        while let Some(byte) = bytes.next() {
            self.steps += 1;
            if self.steps > MOST_STEPS || depth > DEEPEST {
                return false;
            }
            let mut next = || f32::from(bytes.next().unwrap_or(0));
            match byte {
                32..=246 => self.push(f32::from(byte) - 139.0),
                247..=250 => {
                    let value = (f32::from(byte) - 247.0) * 256.0 + next() + 108.0;
                    self.push(value);
                }
                251..=254 => {
                    let value = -(f32::from(byte) - 251.0) * 256.0 - next() - 108.0;
                    self.push(value);
                }
                255 => {
                    let raw: Vec<u8> = bytes.by_ref().take(4).collect();
                    let raw = <[u8; 4]>::try_from(raw).unwrap_or_default();
                    self.push(i32::from_be_bytes(raw) as f32);
                }
                10 => {
                    let index = self.stack.pop().unwrap_or(-1.0);
                    let font = self.font;
                    if let Some(program) = font.subroutines.get(&(index.max(0.0) as usize))
                        && !self.run(program, depth + 1)
                    {
                        return false;
                    }
                }
                11 => return true,
                14 => return false,
                12 => {
                    let second = bytes.next().unwrap_or(0);
                    self.escape(second, depth);
                }
                _ => self.operate(byte),
            }
        }
        true
    }

    fn push(&mut self, value: f32) {
        if self.stack.len() < 64 {
            self.stack.push(value);
        }
    }

    fn argument(&self, index: usize) -> f32 {
        self.stack.get(index).copied().unwrap_or(0.0)
    }

    fn operate(&mut self, operator: u8) {
        let [a, b, c, d, e, f] = [0, 1, 2, 3, 4, 5].map(|index| self.argument(index));
        match operator {
            13 => self.at = (a, 0.0),
            21 => self.move_by(a, b),
            22 => self.move_by(a, 0.0),
            4 => self.move_by(0.0, a),
            5 => self.line_by(a, b),
            6 => self.line_by(a, 0.0),
            7 => self.line_by(0.0, a),
            8 => self.curve_by([a, b, c, d, e, f]),
            30 => self.curve_by([0.0, a, b, c, d, 0.0]),
            31 => self.curve_by([a, 0.0, b, c, 0.0, d]),
            9 => self.pen.close(),
            _ => {}
        }
        self.stack.clear();
    }

    fn escape(&mut self, operator: u8, depth: usize) {
        match operator {
            12 => {
                let (divisor, dividend) = (self.stack.pop().unwrap_or(1.0), self.stack.pop().unwrap_or(0.0));
                self.push(if divisor == 0.0 { 0.0 } else { dividend / divisor });
            }
            16 => self.other_subroutine(),
            17 => {
                let value = self.popped.pop().unwrap_or(0.0);
                self.push(value);
            }
            6 => self.accented(depth),
            7 => {
                self.at = (self.argument(0), self.argument(1));
                self.stack.clear();
            }
            33 => {
                self.at = (self.argument(0), self.argument(1));
                self.stack.clear();
            }
            _ => self.stack.clear(),
        }
    }

    /// Flex (0 to 2) and hint replacement (3).
    fn other_subroutine(&mut self) {
        let number = self.stack.pop().unwrap_or(-1.0) as i32;
        let count = self.stack.pop().unwrap_or(0.0).max(0.0) as usize;
        let arguments = self.stack.split_off(self.stack.len().saturating_sub(count));
        match number {
            1 => self.flex = Some(Vec::new()),
            2 => {}
            0 => {
                if let Some([_, a, b, c, d, e, f]) = self.flex.take().and_then(|points| <[_; 7]>::try_from(points).ok())
                {
                    self.pen.cubic(a, b, c);
                    self.pen.cubic(d, e, f);
                }
                self.popped = vec![self.at.1, self.at.0];
            }
            3 => self.popped = vec![3.0],
            _ => self.popped = arguments.into_iter().rev().collect(),
        }
    }

    /// `seac`: an accent over a letter, by their codes in the standard encoding.
    fn accented(&mut self, depth: usize) {
        let [bearing, x, y, base, accent] = [0, 1, 2, 3, 4].map(|index| self.argument(index));
        self.stack.clear();
        let font = self.font;
        let program = |code: f32| font.glyphs.get(super::encoding::standard_name(code.max(0.0) as usize)?);
        let left = self.at.0;
        if let Some(program) = program(base) {
            self.run(program, depth + 1);
            self.pen.close();
        }
        if let Some(program) = program(accent) {
            let outer = self.pen.shift;
            self.pen.shift = (outer.0 + left - bearing + x, outer.1 + y);
            self.stack.clear();
            self.run(program, depth + 1);
            self.pen.close();
            self.pen.shift = outer;
        }
    }

    fn move_by(&mut self, x: f32, y: f32) {
        self.at = (self.at.0 + x, self.at.1 + y);
        match &mut self.flex {
            Some(points) if points.len() < 7 => points.push(self.at),
            Some(_) => {}
            None => self.pen.start(self.at),
        }
    }

    fn line_by(&mut self, x: f32, y: f32) {
        self.at = (self.at.0 + x, self.at.1 + y);
        self.pen.line(self.at);
    }

    fn curve_by(&mut self, [x1, y1, x2, y2, x3, y3]: [f32; 6]) {
        let first = (self.at.0 + x1, self.at.1 + y1);
        let second = (first.0 + x2, first.1 + y2);
        self.at = (second.0 + x3, second.1 + y3);
        self.pen.cubic(first, second, self.at);
    }
}

/// Files for Windows mark their parts with headers of six bytes.
fn without_headers(bytes: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let [0x80, 1 | 2, a, b, c, d, after @ ..] = rest {
        let length = (u32::from_le_bytes([*a, *b, *c, *d]) as usize).min(after.len());
        let (part, next) = after.split_at(length);
        plain.extend_from_slice(part);
        rest = next;
    }
    if plain.is_empty() { bytes.to_vec() } else { plain }
}

fn decrypted(bytes: &[u8], key: u16, skipped: usize) -> Vec<u8> {
    let mut key = key;
    let plain = bytes.iter().map(|byte| {
        let plain = byte ^ (key >> 8) as u8;
        key = u16::from(*byte).wrapping_add(key).wrapping_mul(52845).wrapping_add(22719);
        plain
    });
    plain.skip(skipped).collect()
}

fn of_hex(bytes: &[u8]) -> Vec<u8> {
    let digits: Vec<u8> =
        bytes.iter().filter_map(|byte| char::from(*byte).to_digit(16)).map(|digit| digit as u8).collect();
    digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    super::search::finds(bytes, wanted).next()
}

/// Words separated by spaces. A slash or a bracket starts a new one.
struct Words<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Words<'a> {
    fn next(&mut self) -> Option<&'a [u8]> {
        while self.bytes.get(self.at)?.is_ascii_whitespace() {
            self.at += 1;
        }
        let start = self.at;
        self.at += 1;
        while let Some(byte) = self.bytes.get(self.at) {
            if byte.is_ascii_whitespace() || matches!(byte, b'/' | b'[' | b']' | b'{' | b'}') {
                break;
            }
            self.at += 1;
        }
        self.bytes.get(start..self.at)
    }

    fn number(&mut self) -> Option<usize> {
        std::str::from_utf8(self.next()?).ok()?.parse().ok()
    }

    /// `12 RD`, a space, and that number of bytes.
    fn binary(&mut self) -> Option<&'a [u8]> {
        let length = self.number()?;
        self.next()?;
        let start = self.at + 1;
        let content = self.bytes.get(start..start.checked_add(length)?)?;
        self.at = start + length;
        Some(content)
    }
}

fn number_after(bytes: &[u8], name: &[u8]) -> Option<usize> {
    let at = find(bytes, name)? + name.len();
    Words { bytes, at }.number()
}

fn subroutines(private: &[u8], skipped: usize) -> BTreeMap<usize, Vec<u8>> {
    let mut found = BTreeMap::new();
    let Some(start) = find(private, b"/Subrs") else { return found };
    let mut words = Words { bytes: private, at: start + 6 };
    while let Some(word) = words.next() {
        match word {
            b"/CharStrings" => break,
            b"dup" => {
                let (Some(index), Some(content)) = (words.number(), words.binary()) else { break };
                if found.len() >= MOST_GLYPHS {
                    break;
                }
                found.insert(index, decrypted(content, 4330, skipped));
            }
            _ => {}
        }
    }
    found
}

fn glyphs(private: &[u8], skipped: usize) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let Some(start) = find(private, b"/CharStrings") else { return found };
    let mut words = Words { bytes: private, at: start + 12 };
    while let Some(word) = words.next() {
        if word == b"end" && !found.is_empty() {
            break;
        }
        if let [b'/', name @ ..] = word {
            let Some(content) = words.binary() else { break };
            if found.len() >= MOST_GLYPHS {
                break;
            }
            found.insert(String::from_utf8_lossy(name).into_owned(), decrypted(content, 4330, skipped));
        }
    }
    found
}

/// `dup 65 /A put`.
fn encoding(clear: &[u8]) -> BTreeMap<u32, String> {
    let mut codes = BTreeMap::new();
    let Some(start) = find(clear, b"/Encoding") else { return codes };
    let mut words = Words { bytes: clear, at: start + 9 };
    while let Some(word) = words.next() {
        match word {
            b"StandardEncoding" => {
                let named = (0..256).filter_map(|code| Some((code as u32, super::encoding::standard_name(code)?)));
                return named.map(|(code, name)| (code, name.to_owned())).collect();
            }
            b"dup" => {
                let (Some(code), Some([b'/', name @ ..])) = (words.number(), words.next()) else { continue };
                codes.insert(code.min(255) as u32, String::from_utf8_lossy(name).into_owned());
            }
            b"readonly" | b"def" if !codes.is_empty() => break,
            _ => {}
        }
    }
    codes
}

fn matrix_scale(clear: &[u8]) -> Option<f32> {
    let start = find(clear, b"/FontMatrix")? + 11;
    let rest = clear.get(start..)?;
    let open = rest.iter().take(40).position(|byte| matches!(byte, b'[' | b'{'))?;
    let text = String::from_utf8_lossy(rest.get(open + 1..(open + 100).min(rest.len()))?).into_owned();
    text.split_whitespace().next()?.parse().ok().filter(|scale: &f32| scale.is_finite() && *scale > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encrypted(plain: &[u8], key: u16) -> Vec<u8> {
        let mut key = key;
        let padded = [&[0; 4], plain].concat();
        let encrypt = |byte: &u8| {
            let cipher = byte ^ (key >> 8) as u8;
            key = u16::from(cipher).wrapping_add(key).wrapping_mul(52845).wrapping_add(22719);
            cipher
        };
        padded.iter().map(encrypt).collect()
    }

    /// A square of 100 units, drawn by a subroutine.
    fn font() -> Vec<u8> {
        // 0 600 hsbw, 50 50 rmoveto, subroutine 0, closepath, endchar.
        let glyph = encrypted(&[139, 248, 236, 13, 189, 189, 21, 139, 10, 9, 14], 4330);
        // 100 hlineto, 100 vlineto, -100 hlineto, return.
        let subroutine = encrypted(&[239, 6, 239, 7, 39, 6, 11], 4330);
        let mut private =
            format!("dup /Private 8 dict dup begin /Subrs 1 array\ndup 0 {} RD ", subroutine.len()).into_bytes();
        private.extend(subroutine);
        private.extend(format!(" NP\n2 index /CharStrings 1 dict dup begin\n/A {} RD ", glyph.len()).bytes());
        private.extend(glyph);
        private.extend(b" ND end\nend\n");
        let mut program =
            b"%!PS-AdobeFont-1.0: X\n/FontMatrix [0.001 0 0 0.001 0 0] def\n/Encoding 256 array\ndup 65 /A put\nreadonly def\ncurrentfile eexec\n".to_vec();
        program.extend(encrypted(&private, 55665));
        program
    }

    #[test]
    fn glyphs_have_outlines() {
        let font = Type1::parse(&font()).unwrap();
        assert_eq!((font.name(65), font.has("A"), font.has("B"), font.scale), (Some("A"), true, false, 0.001));
        let mut pen = Pen::default();
        font.outline("A", &mut pen);
        assert_eq!(pen.finish(1.0), [vec![(50.0, 50.0), (150.0, 50.0), (150.0, 150.0), (50.0, 150.0)]]);
    }
}
