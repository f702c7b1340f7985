//! Outlines of Compact Font Format programs (Adobe Technical Notes 5176 and 5177), with a limit on the work that a glyph
//! can cause, because subroutines of a hostile font may call each other endlessly.

use super::outline::Pen;

const DEEPEST: usize = 10;
const MOST_STEPS: usize = 50_000;

/// The parts of a font that its outlines need.
pub(super) struct Outlines<'a> {
    glyphs: Index<'a>,
    global: Index<'a>,
    /// One for each font dictionary, or a single one if the font has no CIDs.
    local: Vec<Index<'a>>,
    /// Selects the font dictionary of a glyph.
    selector: Option<&'a [u8]>,
}

/// A list of byte strings.
#[derive(Clone, Copy, Default)]
struct Index<'a> {
    count: usize,
    offset_size: usize,
    offsets: &'a [u8],
    data: &'a [u8],
}

impl<'a> Index<'a> {
    /// Parses the list at an offset, and returns its end.
    fn read(bytes: &'a [u8], at: usize) -> Option<(Self, usize)> {
        let count = usize::from(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?));
        if count == 0 {
            return Some((Self::default(), at + 2));
        }
        let offset_size = usize::from(*bytes.get(at + 2)?);
        if !(1..=4).contains(&offset_size) {
            return None;
        }
        let start = at + 3 + (count + 1) * offset_size;
        let (offsets, data) = (bytes.get(at + 3..start)?, bytes.get(start..)?);
        let index = Self { count, offset_size, offsets, data };
        let end = start.checked_add(index.offset(count)?)?;
        Some((index, end))
    }

    /// The offset from the start of the data.
    fn offset(&self, position: usize) -> Option<usize> {
        let at = position * self.offset_size;
        let bytes = self.offsets.get(at..at + self.offset_size)?;
        bytes.iter().fold(0_usize, |offset, byte| offset << 8 | usize::from(*byte)).checked_sub(1)
    }

    fn get(&self, position: usize) -> Option<&'a [u8]> {
        self.data.get(self.offset(position)?..self.offset(position + 1)?)
    }

    /// Subroutines are numbered from the middle.
    fn subroutine(&self, number: f32) -> Option<&'a [u8]> {
        let bias = match self.count {
            0..1240 => 107.0,
            1240..33900 => 1131.0,
            _ => 32768.0,
        };
        let position = number + bias;
        if position < 0.0 { None } else { self.get(position as usize) }
    }
}

impl<'a> Outlines<'a> {
    pub(super) fn parse(bytes: &'a [u8]) -> Option<Self> {
        let (_, after) = Index::read(bytes, usize::from(*bytes.get(2)?))?;
        let (tops, after) = Index::read(bytes, after)?;
        let (_, after) = Index::read(bytes, after)?;
        let (global, _) = Index::read(bytes, after)?;
        let top = tops.get(0)?;
        let offset = |operator: u16| entry(top, operator).and_then(|operands| operands.first().map(|at| *at as usize));
        let (glyphs, _) = Index::read(bytes, offset(17)?)?;
        let private = |dictionary: &[u8]| -> Index<'a> {
            let subroutines = || {
                let operands = entry(dictionary, 18)?;
                let [size, at] = operands.as_slice() else { return None };
                let (size, at) = (*size as usize, *at as usize);
                let private = bytes.get(at..at.checked_add(size)?)?;
                let from = *entry(private, 19)?.first()? as usize;
                Some(Index::read(bytes, at.checked_add(from)?)?.0)
            };
            subroutines().unwrap_or_default()
        };
        let Some(fonts) = offset(0x0C24) else {
            return Some(Self { glyphs, global, local: vec![private(top)], selector: None });
        };
        let (fonts, _) = Index::read(bytes, fonts)?;
        let local = (0..fonts.count.min(256)).map(|font| fonts.get(font).map(private).unwrap_or_default()).collect();
        let selector = offset(0x0C25).and_then(|at| bytes.get(at..));
        Some(Self { glyphs, global, local, selector })
    }

    pub(super) fn outline(&self, glyph: u16, pen: &mut Pen) {
        let font = self.selector.and_then(|selector| font_of(selector, glyph)).unwrap_or(0);
        let (Some(program), Some(local)) = (self.glyphs.get(usize::from(glyph)), self.local.get(font)) else { return };
        let mut machine = CharstringInterpreter {
            global: self.global,
            local: *local,
            pen,
            at: (0.0, 0.0),
            stack: Vec::new(),
            hints: 0,
            steps: 0,
        };
        machine.run(program, 0);
    }
}

/// The operands of an operator in a dictionary; operators of two bytes are `0x0C` and the second.
fn entry(dictionary: &[u8], wanted: u16) -> Option<Vec<f64>> {
    let mut operands = Vec::new();
    let mut bytes = dictionary.iter().copied();
    while let Some(byte) = bytes.next() {
        let mut next = || i32::from(bytes.next().unwrap_or(0));
        match byte {
            0..=21 => {
                let operator = if byte == 12 { 0x0C00 | next() as u16 } else { u16::from(byte) };
                if operator == wanted {
                    return Some(operands);
                }
                operands.clear();
            }
            28 => {
                let value = (next() << 8 | next()) as i16;
                operands.push(f64::from(value));
            }
            29 => {
                let value = next() << 24 | next() << 16 | next() << 8 | next();
                operands.push(f64::from(value));
            }
            // Skips a decimal number, which none of the needed entries has.
            30 => {
                for pair in bytes.by_ref() {
                    if pair & 0xf == 0xf || pair >> 4 == 0xf {
                        break;
                    }
                }
                operands.push(0.0);
            }
            32..=246 => operands.push(f64::from(byte) - 139.0),
            247..=250 => operands.push(f64::from((i32::from(byte) - 247) * 256 + next() + 108)),
            251..=254 => operands.push(f64::from(-(i32::from(byte) - 251) * 256 - next() - 108)),
            _ => {}
        }
    }
    None
}

/// The font dictionary of a glyph.
fn font_of(selector: &[u8], glyph: u16) -> Option<usize> {
    match selector.first()? {
        0 => selector.get(1 + usize::from(glyph)).map(|font| usize::from(*font)),
        3 => {
            let count = usize::from(u16::from_be_bytes(selector.get(1..3)?.try_into().ok()?));
            let ranges = selector.get(3..3 + count * 3)?.chunks_exact(3);
            let last = ranges.take_while(|range| u16::from_be_bytes([range[0], range[1]]) <= glyph).last()?;
            last.get(2).map(|font| usize::from(*font))
        }
        _ => None,
    }
}

struct CharstringInterpreter<'a, 'p> {
    global: Index<'a>,
    local: Index<'a>,
    pen: &'p mut Pen,
    at: (f32, f32),
    stack: Vec<f32>,
    hints: usize,
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
                28 => {
                    let value = (next() as u16) << 8 | next() as u16;
                    self.push(f32::from(value as i16));
                }
                255 => {
                    let raw: Vec<u8> = bytes.by_ref().take(4).collect();
                    let raw = i32::from_be_bytes(<[u8; 4]>::try_from(raw).unwrap_or_default());
                    self.push(raw as f32 / 65536.0);
                }
                10 | 29 => {
                    let index = if byte == 10 { self.local } else { self.global };
                    let number = self.stack.pop().unwrap_or(-100_000.0);
                    if let Some(program) = index.subroutine(number)
                        && !self.run(program, depth + 1)
                    {
                        return false;
                    }
                }
                11 => return true,
                14 => return false,
                12 => {
                    let operator = bytes.next().unwrap_or(0);
                    self.flex(operator);
                }
                19 | 20 => {
                    self.count_hints();
                    // One bit for each hint.
                    for _ in 0..self.hints.div_ceil(8) {
                        let _ = bytes.next();
                    }
                }
                1 | 3 | 18 | 23 => self.count_hints(),
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

    fn count_hints(&mut self) {
        self.hints += self.stack.len() / 2;
        self.stack.clear();
    }

    fn operate(&mut self, operator: u8) {
        let stack = std::mem::take(&mut self.stack);
        // A width may come before the first move.
        let last = |count: usize| stack.get(stack.len().saturating_sub(count)..).unwrap_or_default();
        match operator {
            21 => {
                if let [x, y] = last(2) {
                    self.move_by(*x, *y);
                }
            }
            22 => self.move_by(last(1).first().copied().unwrap_or(0.0), 0.0),
            4 => self.move_by(0.0, last(1).first().copied().unwrap_or(0.0)),
            5 => self.lines(&stack),
            6 | 7 => {
                for (index, length) in stack.iter().enumerate() {
                    let is_across = (index % 2 == 0) == (operator == 6);
                    if is_across { self.line_by(*length, 0.0) } else { self.line_by(0.0, *length) }
                }
            }
            8 => self.curves(&stack),
            24 => {
                let (curves, line) = stack.split_at(stack.len().saturating_sub(2));
                self.curves(curves);
                self.lines(line);
            }
            25 => {
                let (lines, curve) = stack.split_at(stack.len().saturating_sub(6));
                self.lines(lines);
                self.curves(curve);
            }
            26 | 27 => self.straight_curves(&stack, operator == 27),
            30 | 31 => self.turning_curves(&stack, operator == 31),
            _ => {}
        }
    }

    fn lines(&mut self, operands: &[f32]) {
        for pair in operands.chunks_exact(2) {
            self.line_by(pair[0], pair[1]);
        }
    }

    fn curves(&mut self, operands: &[f32]) {
        for curve in operands.chunks_exact(6) {
            self.curve_by([curve[0], curve[1], curve[2], curve[3], curve[4], curve[5]]);
        }
    }

    /// `hhcurveto` and `vvcurveto`: curves that start and end in the same direction.
    fn straight_curves(&mut self, operands: &[f32], is_across: bool) {
        let (mut aside, rest) = match operands {
            [first, rest @ ..] if operands.len() % 4 == 1 => (*first, rest),
            _ => (0.0, operands),
        };
        for curve in rest.chunks_exact(4) {
            let [a, b, c, d] = [curve[0], curve[1], curve[2], curve[3]];
            self.curve_by(if is_across { [a, aside, b, c, d, 0.0] } else { [aside, a, b, c, 0.0, d] });
            aside = 0.0;
        }
    }

    /// `hvcurveto` and `vhcurveto`: curves that turn by a right angle.
    fn turning_curves(&mut self, operands: &[f32], starts_across: bool) {
        let mut is_across = starts_across;
        let mut rest = operands;
        while let [a, b, c, d, after @ ..] = rest {
            let (last, after) = match after {
                [last] => (*last, &[][..]),
                after => (0.0, after),
            };
            self.curve_by(if is_across { [*a, 0.0, *b, *c, last, *d] } else { [0.0, *a, *b, *c, *d, last] });
            is_across = !is_across;
            rest = after;
        }
    }

    fn flex(&mut self, operator: u8) {
        let stack = std::mem::take(&mut self.stack);
        match (operator, stack.as_slice()) {
            (35, [curves @ .., _]) if curves.len() == 12 => self.curves(curves),
            (34, [a, b, c, d, e, f, g]) => {
                self.curve_by([*a, 0.0, *b, *c, *d, 0.0]);
                self.curve_by([*e, 0.0, *f, -c, *g, 0.0]);
            }
            (36, [a, b, c, d, e, f, g, h, i]) => {
                self.curve_by([*a, *b, *c, *d, *e, 0.0]);
                self.curve_by([*f, 0.0, *g, *h, *i, -(b + d + h)]);
            }
            (37, [a, b, c, d, e, f, g, h, i, j, last]) => {
                let (dx, dy) = (a + c + e + g + i, b + d + f + h + j);
                self.curve_by([*a, *b, *c, *d, *e, *f]);
                let end = if dx.abs() > dy.abs() { (*last, -dy) } else { (-dx, *last) };
                self.curve_by([*g, *h, *i, *j, end.0, end.1]);
            }
            _ => {}
        }
    }

    fn move_by(&mut self, x: f32, y: f32) {
        self.at = (self.at.0 + x, self.at.1 + y);
        self.pen.start(self.at);
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
