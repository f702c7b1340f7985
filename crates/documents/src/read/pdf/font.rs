//! The text and widths of the codes of a font (ISO 32000-1, 9.6 and 9.7).

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use super::cmap::CodeMap;
use super::encoding::{self, MAC_ROMAN, STANDARD, WIN_ANSI};
use super::file::File;
use super::object::{Dictionary, Object};
use super::outline::{Program, Selector};
use super::paint::raster::Contour;
use crate::error::DocumentError;
use crate::font::Fonts;

pub(super) struct Font {
    /// The Unicode map of the font.
    unicode: CodeMap,
    codes: Codes,
    widths: BTreeMap<u32, f32>,
    default_width: f32,
    /// The dictionary of the font program, which is that of the descendant in a composite font.
    dictionary: Dictionary,
    /// The font program, which is read when the first glyph is drawn.
    program: OnceCell<(Program, Selector)>,
    outlines: RefCell<BTreeMap<u32, Rc<Vec<Contour>>>>,
}

enum Codes {
    /// Codes of one byte, with their text in the encoding.
    Single(Vec<Option<String>>),
    /// Codes of several bytes. With `is_unicode`, they are UTF-16.
    Several { lengths: CodeMap, is_unicode: bool },
}

/// One code of a string that is shown.
pub(super) struct Glyph {
    pub(super) text: String,
    /// In ems.
    pub(super) width: f32,
    /// Whether word spacing applies to it.
    pub(super) is_space: bool,
    pub(super) code: u32,
    /// The text of the code in the encoding, regardless of the Unicode map.
    encoded: Option<String>,
}

impl Font {
    pub(super) fn read(file: &File<'_>, dictionary: &Dictionary) -> Result<Self, DocumentError> {
        let unicode = match file.resolve(dictionary.get("ToUnicode"))?.as_ref() {
            Object::Stream(stream) => CodeMap::read(&file.content(stream)?, file.budget)?,
            _ => CodeMap::default(),
        };
        match dictionary.get("Subtype").name() {
            Some("Type0") => Self::composite(file, dictionary, unicode),
            _ => Self::simple(file, dictionary, unicode),
        }
    }

    fn simple(file: &File<'_>, dictionary: &Dictionary, unicode: CodeMap) -> Result<Self, DocumentError> {
        let texts = encoded(file, dictionary)?;
        let scale = match dictionary.get("Subtype").name() {
            // Its widths are in the units of its own matrix.
            Some("Type3") => match file.resolve(dictionary.get("FontMatrix"))?.array() {
                [first, ..] => first.number().unwrap_or(0.001) as f32,
                [] => 0.001,
            },
            _ => 0.001,
        };
        let first = file.resolve(dictionary.get("FirstChar"))?.whole().unwrap_or(0);
        let listed = file.resolve(dictionary.get("Widths"))?;
        let mut widths = BTreeMap::new();
        for (index, width) in listed.array().iter().take(256).enumerate() {
            let width = file.resolve(width)?.number().unwrap_or(0.0) as f32 * scale;
            widths.insert((first + index) as u32, width);
        }
        if widths.is_empty() {
            widths = usual_widths(dictionary, &texts);
        }
        let dictionary = dictionary.clone();
        let (program, outlines) = (OnceCell::new(), RefCell::default());
        Ok(Self { unicode, codes: Codes::Single(texts), widths, default_width: 0.5, dictionary, program, outlines })
    }

    fn composite(file: &File<'_>, dictionary: &Dictionary, unicode: CodeMap) -> Result<Self, DocumentError> {
        let encoding = file.resolve(dictionary.get("Encoding"))?;
        let lengths = match encoding.as_ref() {
            Object::Stream(stream) => CodeMap::read(&file.content(stream)?, file.budget)?,
            _ => CodeMap::default(),
        };
        let is_unicode = encoding.name().is_some_and(|name| name.contains("UCS2") || name.contains("UTF16"));
        let descendants = file.resolve(dictionary.get("DescendantFonts"))?;
        let descendant = match descendants.array().first() {
            Some(descendant) => file.resolve(descendant)?.into_owned(),
            None => Object::Null,
        };
        let empty = Dictionary::default();
        let descendant = descendant.dictionary().unwrap_or(&empty);
        let default_width = file.resolve(descendant.get("DW"))?.number().unwrap_or(1000.0) as f32 / 1000.0;
        let listed = file.resolve(descendant.get("W"))?;
        let widths = composite_widths(file, listed.array())?;
        let (codes, dictionary) = (Codes::Several { lengths, is_unicode }, descendant.clone());
        let (program, outlines) = (OnceCell::new(), RefCell::default());
        Ok(Self { unicode, codes, widths, default_width, dictionary, program, outlines })
    }

    /// The dictionary of a font whose glyphs are drawn by content streams.
    pub(super) fn type3(&self) -> Option<&Dictionary> {
        Some(&self.dictionary).filter(|dictionary| dictionary.get("Subtype").name() == Some("Type3"))
    }

    /// The name of a code's glyph.
    pub(super) fn glyph_name(&self, file: &File<'_>, glyph: &Glyph) -> Result<Option<String>, DocumentError> {
        let (_, selector) = self.program(file)?;
        Ok(selector.names.get(&glyph.code).cloned())
    }

    /// The contours of a glyph in ems, and the text that a person sees. None for a symbol font that is not embedded.
    pub(super) fn shape(
        &self,
        file: &File<'_>,
        glyph: &Glyph,
    ) -> Result<(Rc<Vec<Contour>>, Option<String>), DocumentError> {
        const MOST_KEPT: usize = 10_000;
        let (program, selector) = self.program(file)?;
        // A font that is not embedded is displayed by its encoding, regardless of the Unicode map.
        let text = match program {
            Program::Symbols => None,
            Program::Substitute => glyph.encoded.as_deref().map(plainer),
            _ => Some(glyph.text.clone()),
        };
        if let Some(outline) = self.outlines.borrow().get(&glyph.code) {
            return Ok((Rc::clone(outline), text));
        }
        let outline = Rc::new(program.outline(selector, glyph.code, glyph.encoded.as_deref()));
        file.budget.spend(1000)?;
        let mut outlines = self.outlines.borrow_mut();
        if outlines.len() >= MOST_KEPT {
            outlines.clear();
        }
        outlines.insert(glyph.code, Rc::clone(&outline));
        Ok((outline, text))
    }

    fn program(&self, file: &File<'_>) -> Result<&(Program, Selector), DocumentError> {
        if let Some(program) = self.program.get() {
            return Ok(program);
        }
        let is_composite = matches!(self.codes, Codes::Several { .. });
        let program = Program::load(file, &self.dictionary, is_composite)?;
        let encoding = file.resolve(self.dictionary.get("Encoding"))?;
        let glyphs_of_cids = match file.resolve(self.dictionary.get("CIDToGIDMap"))?.as_ref() {
            Object::Stream(stream) => Some(file.content(stream)?),
            _ => None,
        };
        let is_encoded = encoding.name().is_some()
            || encoding.dictionary().is_some_and(|details| details.get("BaseEncoding").name().is_some());
        let names = match encoding.dictionary() {
            Some(details) => differences(file, details)?,
            None => BTreeMap::new(),
        };
        let selector = Selector { is_composite, names, is_encoded, glyphs_of_cids };
        Ok(self.program.get_or_init(|| (program, selector)))
    }

    pub(super) fn glyphs(&self, string: &[u8]) -> Vec<Glyph> {
        let mut glyphs = Vec::new();
        let mut rest = string;
        while let Some(first) = rest.first() {
            let length = match &self.codes {
                Codes::Single(_) => 1,
                Codes::Several { lengths, .. } => {
                    lengths.code_length(*first).or(self.unicode.code_length(*first)).unwrap_or(2)
                }
            };
            let (code, after) = rest.split_at(length.min(rest.len()));
            rest = after;
            glyphs.push(self.glyph(code));
        }
        glyphs
    }

    fn glyph(&self, bytes: &[u8]) -> Glyph {
        let code = bytes.iter().fold(0, |code: u32, byte| (code << 8) | u32::from(*byte));
        let own = || match &self.codes {
            Codes::Single(texts) => texts.get(code as usize).cloned().flatten(),
            Codes::Several { is_unicode: true, .. } => char::from_u32(code).map(String::from),
            Codes::Several { .. } => None,
        };
        let encoded = own();
        let text = self.unicode.text(code).map(ToOwned::to_owned).or_else(|| encoded.clone()).unwrap_or_default();
        let width = self.widths.get(&code).copied().unwrap_or(self.default_width);
        Glyph { text: plainer(&text), width, is_space: bytes == [32], code, encoded }
    }
}

/// Replaces ligatures by their letters and special spaces by spaces.
fn plainer(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            'ﬀ' => plain.push_str("ff"),
            'ﬁ' => plain.push_str("fi"),
            'ﬂ' => plain.push_str("fl"),
            'ﬃ' => plain.push_str("ffi"),
            'ﬄ' => plain.push_str("ffl"),
            '\u{ad}' => plain.push('-'),
            _ if character.is_whitespace() => plain.push(' '),
            _ if character.is_control() => {}
            _ => plain.push(character),
        }
    }
    plain
}

/// The named encoding with its differences.
fn encoded(file: &File<'_>, dictionary: &Dictionary) -> Result<Vec<Option<String>>, DocumentError> {
    let encoding = file.resolve(dictionary.get("Encoding"))?;
    let details = encoding.dictionary();
    let base = encoding.name().or_else(|| details.and_then(|details| details.get("BaseEncoding").name()));
    let upper = match base {
        Some("MacRomanEncoding") => MAC_ROMAN,
        Some("StandardEncoding") => STANDARD,
        // Without a name, most files use this encoding, despite the standard.
        _ => WIN_ANSI,
    };
    let mut texts: Vec<Option<String>> =
        encoding::table(upper).into_iter().map(|character| character.map(String::from)).collect();
    let names = match details {
        Some(details) => differences(file, details)?,
        None => BTreeMap::new(),
    };
    for (code, name) in &names {
        if let Some(place) = texts.get_mut(*code as usize) {
            *place = encoding::of_glyph(name);
        }
    }
    Ok(texts)
}

/// `[65 /A /B 97 /a]`: the glyph names of consecutive codes.
fn differences(file: &File<'_>, encoding: &Dictionary) -> Result<BTreeMap<u32, String>, DocumentError> {
    let listed = file.resolve(encoding.get("Differences"))?;
    let (mut names, mut code) = (BTreeMap::new(), 0_u32);
    for item in listed.array().iter().take(1000) {
        match item {
            Object::Number(number) => code = *number as u32,
            Object::Name(name) => {
                names.insert(code, name.clone());
                code = code.saturating_add(1);
            }
            _ => {}
        }
    }
    Ok(names)
}

/// Standard fonts may lack widths. Helvetica has those of our own face, and the others are similar.
fn usual_widths(dictionary: &Dictionary, texts: &[Option<String>]) -> BTreeMap<u32, f32> {
    let name = dictionary.get("BaseFont").name().unwrap_or_default();
    let Ok(fonts) = Fonts::load() else { return BTreeMap::new() };
    let face = if name.contains("Bold") { &fonts.bold } else { &fonts.regular };
    let width = |text: &String| match name {
        name if name.contains("Courier") => 0.6,
        name if name.contains("Times") => text.chars().map(|character| face.advance(character)).sum::<f32>() * 0.9,
        _ => text.chars().map(|character| face.advance(character)).sum(),
    };
    let known = texts.iter().enumerate().filter_map(|(code, text)| Some((code as u32, text.as_ref()?)));
    known.map(|(code, text)| (code, width(text))).collect()
}

/// `1 [500 600] 10 20 700`: a width for each code from 1, and the same one for 10 to 20.
fn composite_widths(file: &File<'_>, items: &[Object]) -> Result<BTreeMap<u32, f32>, DocumentError> {
    const MOST: usize = 100_000;
    let mut widths = BTreeMap::new();
    let mut rest = items;
    while let [first, second, after @ ..] = rest {
        let Some(first) = first.whole().and_then(|first| u32::try_from(first).ok()) else { break };
        match (file.resolve(second)?.as_ref(), after) {
            (Object::Array(listed), after) => {
                file.budget.spend(listed.len())?;
                let listed = listed.iter().take(MOST).enumerate();
                widths.extend(listed.map(|(index, width)| {
                    (first.saturating_add(index as u32), width.number().unwrap_or(0.0) as f32 / 1000.0)
                }));
                rest = after;
            }
            (last, [width, after @ ..]) => {
                let last = last.whole().and_then(|last| u32::try_from(last).ok()).unwrap_or(first);
                let width = width.number().unwrap_or(0.0) as f32 / 1000.0;
                file.budget.spend(last.saturating_sub(first).min(0x1_0000) as usize)?;
                widths.extend((first..=last).take(0x1_0000).map(|code| (code, width)));
                rest = after;
            }
            (_, []) => break,
        }
        if widths.len() > MOST {
            break;
        }
    }
    Ok(widths)
}
