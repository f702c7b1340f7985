//! Embeds a face in a PDF file: its used glyphs, their widths, and the character of each code.
//!
//! A code is the number of a character among those that the document uses, not the number of a glyph. So characters that share a
//! glyph, such as the box for missing glyphs, stay distinct in the text layer.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use ttf_parser::{GlyphId, RawFace, Tag};

use super::pdf_file::{PdfFile, Reference};
use crate::font::Face;

pub(super) struct Codes {
    codes: BTreeMap<char, u16>,
}

impl Codes {
    pub(super) fn new(used: &BTreeSet<char>) -> Self {
        // Code 0 is the box for missing glyphs.
        Self { codes: used.iter().copied().zip(1..).collect() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.codes.is_empty()
    }

    /// As a string of a content stream.
    pub(super) fn encode(&self, text: &str) -> String {
        let code = |character: char| self.codes.get(&character).copied().unwrap_or(0);
        let digits: String = text.chars().map(|character| format!("{:04X}", code(character))).collect();
        format!("<{digits}>")
    }

    fn pairs(&self) -> impl Iterator<Item = (char, u16)> {
        self.codes.iter().map(|(character, code)| (*character, *code))
    }
}

pub(super) fn embed(file: &mut PdfFile, face: &Face, codes: &Codes) -> Reference {
    let glyphs: BTreeSet<GlyphId> = codes.pairs().map(|(character, _)| face.glyph(character)).collect();
    let font = subset(face, &glyphs);
    let program = file.add_stream(&format!("/Length1 {}", font.len()), &font);
    // A prefix of six letters marks a subset of the face.
    let name = format!("VERIAL+{}", face.name);
    let em = |value: i16| i32::from(value) * 1000 / i32::from(face.face.units_per_em());
    let bounds = face.face.global_bounding_box();
    let (ascent, descent) = (em(face.face.ascender()), em(face.face.descender()));
    let descriptor = file.add(&format!(
        "<</Type /FontDescriptor /FontName /{name} /Flags 4 /FontBBox [{} {} {} {}] /ItalicAngle 0 /Ascent {ascent} \
         /Descent {descent} /CapHeight 716 /StemV 80 /FontFile2 {program}>>",
        em(bounds.x_min),
        em(bounds.y_min),
        em(bounds.x_max),
        em(bounds.y_max)
    ));
    let glyph_of_code = codes.pairs().flat_map(|(character, _)| face.glyph(character).0.to_be_bytes());
    let map: Vec<u8> = [0, 0].into_iter().chain(glyph_of_code).collect();
    let map = file.add_stream("", &map);
    let widths: Vec<String> =
        codes.pairs().map(|(character, _)| format!("{:.0}", face.advance(character) * 1000.0)).collect();
    let descendant = file.add(&format!(
        "<</Type /Font /Subtype /CIDFontType2 /BaseFont /{name} /CIDSystemInfo <</Registry (Adobe) /Ordering (Identity) \
         /Supplement 0>> /FontDescriptor {descriptor} /CIDToGIDMap {map} /DW 750 /W [1 [{}]]>>",
        widths.join(" ")
    ));
    let unicode = file.add_stream("", to_unicode(codes).as_bytes());
    file.add(&format!(
        "<</Type /Font /Subtype /Type0 /BaseFont /{name} /Encoding /Identity-H /DescendantFonts [{descendant}] /ToUnicode {unicode}>>"
    ))
}

/// ISO 32000-1, 9.10.3.
fn to_unicode(codes: &Codes) -> String {
    let mut map = String::from(
        "/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n/CIDSystemInfo <</Registry (Adobe) /Ordering (UCS) \
         /Supplement 0>> def\n/CMapName /Adobe-Identity-UCS def\n/CMapType 2 def\n1 begincodespacerange\n<0000> <FFFF>\n\
         endcodespacerange\n",
    );
    let lines: Vec<String> = codes
        .pairs()
        .map(|(character, code)| {
            let mut units = [0; 2];
            let digits: String = character.encode_utf16(&mut units).iter().map(|unit| format!("{unit:04X}")).collect();
            format!("<{code:04X}> <{digits}>\n")
        })
        .collect();
    for block in lines.chunks(100) {
        map.push_str(&format!("{} beginbfchar\n{}endbfchar\n", block.len(), block.concat()));
    }
    map.push_str("endcmap\nCMapName currentdict /CMap defineresource pop\nend\nend\n");
    map
}

/// A TrueType file in which all unused glyphs are empty. Glyphs keep their numbers.
fn subset(face: &Face, glyphs: &BTreeSet<GlyphId>) -> Vec<u8> {
    let Ok(raw) = RawFace::parse(face.data, 0) else { return face.data.to_vec() };
    let table = |name: &[u8; 4]| raw.table(Tag::from_bytes(name)).unwrap_or_default();
    let (head, loca, glyf) = (table(b"head"), table(b"loca"), table(b"glyf"));
    let is_long = head.get(51) == Some(&1);
    let place = |glyph: u16| offset(loca, usize::from(glyph), is_long);
    let outline = |glyph: u16| glyf.get(place(glyph)?..place(glyph.checked_add(1)?)?);
    let mut wanted: BTreeSet<u16> = glyphs.iter().map(|glyph| glyph.0).chain([0]).collect();
    let mut waiting: Vec<u16> = wanted.iter().copied().collect();
    while let Some(glyph) = waiting.pop() {
        let parts = outline(glyph).map(components).unwrap_or_default();
        waiting.extend(parts.into_iter().filter(|part| wanted.insert(*part)));
    }
    let (mut outlines, mut places) = (Vec::new(), Vec::new());
    for glyph in 0..face.face.number_of_glyphs() {
        places.extend((outlines.len() as u32).to_be_bytes());
        if let Some(outline) = outline(glyph).filter(|_| wanted.contains(&glyph)) {
            outlines.extend_from_slice(outline);
            outlines.resize(outlines.len().next_multiple_of(4), 0);
        }
    }
    places.extend((outlines.len() as u32).to_be_bytes());
    let mut head = head.to_vec();
    if let Some(format) = head.get_mut(50..52) {
        format.copy_from_slice(&[0, 1]);
    }
    let (hhea, hmtx, maxp) = (table(b"hhea"), table(b"hmtx"), table(b"maxp"));
    assemble(&[
        (b"glyf", &outlines),
        (b"head", &head),
        (b"hhea", hhea),
        (b"hmtx", hmtx),
        (b"loca", &places),
        (b"maxp", maxp),
    ])
}

pub(crate) fn offset(loca: &[u8], index: usize, is_long: bool) -> Option<usize> {
    if is_long {
        let bytes = loca.get(index * 4..index * 4 + 4)?;
        return Some(u32::from_be_bytes(bytes.try_into().ok()?) as usize);
    }
    let bytes = loca.get(index * 2..index * 2 + 2)?;
    Some(usize::from(u16::from_be_bytes(bytes.try_into().ok()?)) * 2)
}

/// The components of a composite glyph.
pub(crate) fn components(outline: &[u8]) -> Vec<u16> {
    let number = |at: usize| Some(u16::from_be_bytes(outline.get(at..at + 2)?.try_into().ok()?));
    let mut parts = Vec::new();
    // A negative number of contours marks a composite.
    if number(0).is_none_or(|contours| contours < 0x8000) {
        return parts;
    }
    let mut at = 10;
    while let (Some(flags), Some(glyph)) = (number(at), number(at + 2)) {
        parts.push(glyph);
        let arguments = if flags & 0x1 != 0 { 4 } else { 2 };
        let scale = [(0x8, 2), (0x40, 4), (0x80, 8)]
            .into_iter()
            .find(|(flag, _)| flags & flag != 0)
            .map_or(0, |(_, size)| size);
        at += 4 + arguments + scale;
        if flags & 0x20 == 0 {
            break;
        }
    }
    parts
}

/// The directory, then the tables, each padded to four bytes.
fn assemble(tables: &[(&[u8; 4], &[u8])]) -> Vec<u8> {
    let count = tables.len() as u16;
    let power = count.ilog2();
    let range = 16 << power;
    let mut file = vec![0, 1, 0, 0];
    file.extend([count, range, power as u16, count * 16 - range].into_iter().flat_map(u16::to_be_bytes));
    let mut offset = (12 + tables.len() * 16) as u32;
    for (name, table) in tables {
        let sum = table.chunks(4).fold(0_u32, |sum, word| {
            let bytes = word.iter().copied().chain([0; 3]);
            sum.wrapping_add(bytes.take(4).fold(0, |word, byte| (word << 8) | u32::from(byte)))
        });
        file.extend_from_slice(*name);
        file.extend([sum, offset, table.len() as u32].into_iter().flat_map(u32::to_be_bytes));
        offset += (table.len() as u32).next_multiple_of(4);
    }
    for (_, table) in tables {
        file.extend_from_slice(table);
        file.resize(file.len().next_multiple_of(4), 0);
    }
    file
}
