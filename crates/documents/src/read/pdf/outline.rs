//! The outlines of glyphs: from the embedded font program, or from our own face if the
//! file relies on standard fonts.

use std::collections::BTreeMap;

use ttf_parser::cff;
use ttf_parser::{Face, GlyphId, OutlineBuilder, PlatformId};

use super::cff::Outlines;
use super::encoding;
use super::file::File;
use super::object::{Dictionary, Object};
use super::paint::raster::{Contour, Point};
use super::type1::Type1;
use crate::error::DocumentError;
use crate::font::Fonts;
use crate::read::budget::LARGEST_STREAM;
use crate::read::pdf::stream::unpacked;
use crate::write::embedded_font::{components, offset};

/// Points of one glyph.
const MOST_POINTS: usize = 20_000;

/// Collects contours, with curves as short lines.
#[derive(Debug, Default)]
pub(super) struct Pen {
    contours: Vec<Contour>,
    last: Point,
    points: usize,
    /// Added to every point.
    pub(super) shift: Point,
}

impl Pen {
    pub(super) fn start(&mut self, point: Point) {
        self.last = point;
        self.contours.push(Vec::new());
        self.put(point);
    }

    pub(super) fn line(&mut self, point: Point) {
        if self.contours.is_empty() {
            self.start(self.last);
        }
        self.last = point;
        self.put(point);
    }

    pub(super) fn cubic(&mut self, first: Point, second: Point, end: Point) {
        const PARTS: usize = 6;
        let start = self.last;
        for part in 1..=PARTS {
            let t = part as f32 / PARTS as f32;
            let u = 1.0 - t;
            let blend = |a: f32, b: f32, c: f32, d: f32| {
                u * u * u * a + 3.0 * u * u * t * b + 3.0 * u * t * t * c + t * t * t * d
            };
            self.line((blend(start.0, first.0, second.0, end.0), blend(start.1, first.1, second.1, end.1)));
        }
    }

    pub(super) fn close(&mut self) {}

    fn put(&mut self, (x, y): Point) {
        self.points += 1;
        if let Some(contour) = self.contours.last_mut().filter(|_| self.points <= MOST_POINTS) {
            contour.push((x + self.shift.0, y + self.shift.1));
        }
    }

    /// Scales all lengths.
    pub(super) fn finish(self, scale: f32) -> Vec<Contour> {
        let scaled = |contour: Contour| contour.into_iter().map(|(x, y)| (x * scale, y * scale)).collect();
        self.contours.into_iter().filter(|contour| contour.len() > 2).map(scaled).collect()
    }
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        self.start((x, y));
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.line((x, y));
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let (x0, y0) = self.last;
        let third = |from: f32, to: f32| from + (to - from) * 2.0 / 3.0;
        self.cubic((third(x0, x1), third(y0, y1)), (third(x, x1), third(y, y1)), (x, y));
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.cubic((x1, y1), (x2, y2), (x, y));
    }

    fn close(&mut self) {}
}

/// The source of outlines.
pub(super) enum Program {
    TrueType(Vec<u8>),
    /// With a map from CIDs to glyphs, if they differ.
    Cff {
        bytes: Vec<u8>,
        cids: Option<BTreeMap<u16, u16>>,
    },
    Type1(Box<Type1>),
    /// No readable program is embedded. Readers display the characters of the encoding in their own font.
    Substitute,
    /// As above, in a symbol font, where a code is not the letter of its encoding.
    Symbols,
}

/// Maps the codes of a font to glyphs.
pub(super) struct Selector {
    pub(super) is_composite: bool,
    /// Names from `Differences`.
    pub(super) names: BTreeMap<u32, String>,
    /// Whether the font dictionary has an encoding.
    pub(super) is_encoded: bool,
    pub(super) glyphs_of_cids: Option<Vec<u8>>,
}

impl Program {
    pub(super) fn load(file: &File<'_>, font: &Dictionary, is_composite: bool) -> Result<Self, DocumentError> {
        let descriptor = file.resolve(font.get("FontDescriptor"))?;
        let empty = Dictionary::default();
        let descriptor = descriptor.dictionary().unwrap_or(&empty);
        for name in ["FontFile2", "FontFile3", "FontFile"] {
            let Object::Stream(stream) = file.resolve(descriptor.get(name))?.into_owned() else { continue };
            let bytes = match unpacked(file, &stream.dictionary, file.packed(&stream)?, LARGEST_STREAM) {
                Ok(content) => content.bytes,
                Err(DocumentError::Damaged(_)) => continue,
                Err(error) => return Err(error),
            };
            file.budget.spend(bytes.len() / 4)?;
            match Self::of(bytes) {
                Some(Self::Cff { bytes, .. }) if is_composite => {
                    let cids = glyphs_of_cids(&bytes, file)?;
                    return Ok(Self::Cff { bytes, cids });
                }
                Some(program) => return Ok(program),
                None => {}
            }
        }
        let name = file.resolve(font.get("BaseFont"))?;
        let name = name.name().unwrap_or_default().to_lowercase();
        let is_symbols = ["symbol", "dingbat", "webding", "wingding"].iter().any(|part| name.contains(part));
        Ok(if is_symbols { Self::Symbols } else { Self::Substitute })
    }

    /// Detects the format by the first bytes, because some files declare the wrong one.
    fn of(bytes: Vec<u8>) -> Option<Self> {
        if let Ok(face) = Face::parse(&bytes, 0) {
            return match face.raw_face().table(ttf_parser::Tag::from_bytes(b"CFF ")) {
                Some(table) => Some(Self::Cff { bytes: table.to_vec(), cids: None }),
                None => Some(Self::TrueType(bytes)),
            };
        }
        if bytes.starts_with(b"%!") || bytes.starts_with(&[0x80, 1]) {
            return Type1::parse(&bytes).map(|font| Self::Type1(Box::new(font)));
        }
        // An OpenType file that only has outlines has no other table that a face needs.
        if let Ok(raw) = ttf_parser::RawFace::parse(&bytes, 0)
            && let Some(table) = raw.table(ttf_parser::Tag::from_bytes(b"CFF "))
        {
            return Some(Self::Cff { bytes: table.to_vec(), cids: None });
        }
        cff::Table::parse(&bytes).is_some().then_some(Self::Cff { bytes, cids: None })
    }

    /// The contours of a code's glyph, in ems. `text` is its text in the encoding.
    pub(super) fn outline(&self, selector: &Selector, code: u32, text: Option<&str>) -> Vec<Contour> {
        let mut pen = Pen::default();
        let scale = match self {
            Self::TrueType(bytes) => {
                let Ok(face) = Face::parse(bytes, 0) else { return Vec::new() };
                if let Some(glyph) = true_type_glyph(&face, selector, code, text)
                    && has_few_parts(&face, glyph)
                {
                    face.outline_glyph(glyph, &mut pen);
                }
                1.0 / f32::from(face.units_per_em())
            }
            Self::Cff { bytes, cids } => {
                let Some(table) = cff::Table::parse(bytes) else { return Vec::new() };
                let glyph = match (selector.is_composite, cids) {
                    (false, _) => cff_glyph(&table, selector, code, text),
                    (true, None) => u16::try_from(code).ok().map(GlyphId),
                    (true, Some(cids)) => u16::try_from(code).ok().and_then(|cid| cids.get(&cid)).copied().map(GlyphId),
                };
                if let (Some(glyph), Some(outlines)) = (glyph, Outlines::parse(bytes)) {
                    outlines.outline(glyph.0, &mut pen);
                }
                Some(table.matrix().sx).filter(|scale| *scale > 0.0).unwrap_or(0.001)
            }
            Self::Type1(font) => {
                let name = names(selector, code, text).into_iter().find(|name| font.has(name));
                let name = name.as_deref().or_else(|| font.name(code));
                font.outline(name.unwrap_or(".notdef"), &mut pen);
                font.scale
            }
            Self::Substitute | Self::Symbols => {
                let (Ok(fonts), Some(character)) = (Fonts::load(), text.and_then(|text| text.chars().next())) else {
                    return Vec::new();
                };
                let face = &fonts.regular;
                face.face.outline_glyph(face.glyph(character), &mut pen);
                1.0 / f32::from(face.face.units_per_em())
            }
        };
        pen.finish(scale)
    }
}

/// The names that a simple font may have for the glyph.
fn names(selector: &Selector, code: u32, text: Option<&str>) -> Vec<String> {
    if let Some(name) = selector.names.get(&code) {
        return vec![name.clone()];
    }
    if !selector.is_encoded {
        return Vec::new();
    }
    let character = text.and_then(|text| text.chars().next());
    character.map(encoding::names_of).unwrap_or_default()
}

fn true_type_glyph(face: &Face<'_>, selector: &Selector, code: u32, text: Option<&str>) -> Option<GlyphId> {
    if selector.is_composite {
        return match &selector.glyphs_of_cids {
            Some(map) => {
                let at = usize::try_from(code).ok()?.checked_mul(2)?;
                Some(GlyphId(u16::from_be_bytes(map.get(at..at + 2)?.try_into().ok()?)))
            }
            None => u16::try_from(code).ok().map(GlyphId),
        };
    }
    let character = text.and_then(|text| text.chars().next());
    let named = selector.names.get(&code).and_then(|name| face.glyph_index_by_name(name));
    let by_character = || face.glyph_index(character.filter(|_| selector.is_encoded)?);
    let by_code = || {
        let tables = face.tables().cmap?.subtables;
        let of = |wanted: u32| {
            tables
                .into_iter()
                .filter(|table| table.platform_id != PlatformId::Unicode)
                .find_map(|table| table.glyph_index(wanted))
        };
        of(0xF000 + code).or_else(|| of(code))
    };
    let by_name = || names(selector, code, text).iter().find_map(|name| face.glyph_index_by_name(name));
    let is_real = |glyph: &GlyphId| glyph.0 != 0;
    by_character()
        .filter(is_real)
        .or_else(|| named.filter(is_real))
        .or_else(|| by_name().filter(is_real))
        .or_else(|| by_code().filter(is_real))
        .or_else(|| face.tables().cmap.is_none().then(|| u16::try_from(code).ok().map(GlyphId)).flatten())
}

fn cff_glyph(table: &cff::Table<'_>, selector: &Selector, code: u32, text: Option<&str>) -> Option<GlyphId> {
    let named = names(selector, code, text);
    let named = named.iter().find_map(|name| table.glyph_index_by_name(name));
    named.or_else(|| table.glyph_index(u8::try_from(code).ok()?))
}

/// None for a font without CIDs, which is addressed by glyph number.
fn glyphs_of_cids(bytes: &[u8], file: &File<'_>) -> Result<Option<BTreeMap<u16, u16>>, DocumentError> {
    let Some(table) = cff::Table::parse(bytes) else { return Ok(None) };
    if table.glyph_cid(GlyphId(0)).is_none() {
        return Ok(None);
    }
    let count = table.number_of_glyphs();
    // Each lookup searches ranges, of which there may be as many as glyphs.
    file.budget.spend(usize::from(count) * usize::from(count) / 64 + usize::from(count))?;
    Ok(Some((0..count).filter_map(|glyph| Some((table.glyph_cid(GlyphId(glyph))?, glyph))).collect()))
}

/// Whether a glyph has few enough components. In a hostile font, components may have many components themselves.
fn has_few_parts(face: &Face<'_>, glyph: GlyphId) -> bool {
    const MOST_PARTS: usize = 64;
    let table = |name: &[u8; 4]| face.raw_face().table(ttf_parser::Tag::from_bytes(name)).unwrap_or_default();
    let (head, loca, glyf) = (table(b"head"), table(b"loca"), table(b"glyf"));
    let is_long = head.get(51) == Some(&1);
    let outline = |glyph: u16| {
        let (from, to) = (usize::from(glyph), usize::from(glyph) + 1);
        glyf.get(offset(loca, from, is_long)?..offset(loca, to, is_long)?)
    };
    let (mut waiting, mut parts) = (vec![glyph.0], 0);
    while let Some(part) = waiting.pop() {
        parts += 1;
        if parts > MOST_PARTS {
            return false;
        }
        waiting.extend(outline(part).map(components).unwrap_or_default().into_iter().take(MOST_PARTS + 1));
    }
    true
}
