//! The two faces for all text, with the widths and glyphs of characters.
//!
//! Arimo has the widths of Helvetica and Arial, and the letters of Latin (Vietnamese too), Greek and Cyrillic.

use ttf_parser::GlyphId;
use unicode_normalization::UnicodeNormalization;

use crate::error::DocumentError;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Weight {
    Regular,
    Bold,
}

pub(crate) struct Fonts {
    pub(crate) regular: Face,
    pub(crate) bold: Face,
}

pub(crate) struct Face {
    pub(crate) face: ttf_parser::Face<'static>,
    pub(crate) data: &'static [u8],
    pub(crate) name: &'static str,
    units_per_em: f32,
}

static REGULAR: &[u8] = include_bytes!("../fonts/Arimo-Regular.ttf");
static BOLD: &[u8] = include_bytes!("../fonts/Arimo-Bold.ttf");

impl Fonts {
    pub(crate) fn load() -> Result<Self, DocumentError> {
        Ok(Self { regular: Face::read(REGULAR, "Arimo")?, bold: Face::read(BOLD, "Arimo-Bold")? })
    }

    pub(crate) fn of(&self, weight: Weight) -> &Face {
        match weight {
            Weight::Regular => &self.regular,
            Weight::Bold => &self.bold,
        }
    }
}

impl Face {
    fn read(data: &'static [u8], name: &'static str) -> Result<Self, DocumentError> {
        let face = ttf_parser::Face::parse(data, 0).map_err(|_| DocumentError::Font)?;
        let units_per_em = f32::from(face.units_per_em());
        Ok(Self { face, data, name, units_per_em })
    }

    /// The glyph of a character: its own, else that of its base letter or of a similar character, else an empty box. The
    /// text layer always has the character itself.
    pub(crate) fn glyph(&self, character: char) -> GlyphId {
        let own = self.face.glyph_index(character);
        let plainer = || character.nfkd().next().filter(|base| *base != character).or_else(|| like(character));
        own.or_else(|| self.face.glyph_index(plainer()?)).unwrap_or(GlyphId(0))
    }

    /// In ems.
    pub(crate) fn advance(&self, character: char) -> f32 {
        let units = self.face.glyph_hor_advance(self.glyph(character)).unwrap_or_default();
        f32::from(units) / self.units_per_em
    }

    /// In points, at a size in points.
    pub(crate) fn width(&self, text: &str, size: f32) -> f32 {
        text.chars().map(|character| self.advance(character)).sum::<f32>() * size
    }
}

/// Form symbols that the face does not have.
fn like(character: char) -> Option<char> {
    match character {
        '☐' | '▢' | '❑' => Some('□'),
        '☑' | '☒' | '▣' => Some('■'),
        '✓' | '✔' => Some('√'),
        '✗' | '✘' => Some('×'),
        _ => None,
    }
}

/// Normalizes text for layout: composed letters, one kind of space, and no invisible characters.
pub(crate) fn settable(text: &str) -> String {
    let visible = |character: &char| !character.is_control() && !is_invisible(*character);
    let spaced = text.nfc().map(|character| if character.is_whitespace() { ' ' } else { character });
    spaced.filter(visible).collect()
}

/// Soft hyphens, joiners, direction marks, byte order marks.
fn is_invisible(character: char) -> bool {
    matches!(character, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_patients_have_glyphs() {
        let fonts = Fonts::load().unwrap();
        for face in [&fonts.regular, &fonts.bold] {
            for name in ["Nuñez", "Müller", "Đặng Thị Hồng", "Łukasz Żółć", "Şeyma Öğüt", "Ἑλένη Παπαδοπούλου", "Ирина"]
            {
                let boxes: String = name.nfc().filter(|letter| face.glyph(*letter) == GlyphId(0)).collect();
                assert_eq!(boxes, "", "{name}");
            }
            for sign in "≥≤±µ°•–—“”…½→€™☐☑✓".chars() {
                assert_ne!(face.glyph(sign), GlyphId(0), "{sign}");
            }
            assert_eq!(face.glyph('山'), GlyphId(0));
            assert!(face.advance('山') > 0.0 && face.advance('i') < face.advance('W'));
        }
    }

    #[test]
    fn what_cannot_be_seen_is_not_set() {
        assert_eq!(settable("a\u{301}\tb\u{200b}c\u{0}\u{202e}d\u{a0}e"), "ábcd e".replacen('b', " b", 1));
    }
}
