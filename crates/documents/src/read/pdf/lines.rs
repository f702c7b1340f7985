//! Joins the glyphs of a page to words and lines, in the order of the content.

use crate::error::DocumentError;
use crate::read::budget::Budget;

/// The start or end of a text, with its direction and size.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextPosition {
    pub(super) at: (f32, f32),
    /// The direction as a unit vector.
    pub(super) direction: (f32, f32),
    pub(super) size: f32,
}

/// Text without gaps, positioned relative to the lower left corner of the page.
#[derive(Debug)]
pub(super) struct TextRun {
    pub(super) at: (f32, f32),
    pub(super) size: f32,
    pub(super) text: String,
}

pub(super) struct Lines<'a> {
    text: String,
    pieces: Vec<TextRun>,
    /// The end of the last glyph.
    end: Option<TextPosition>,
    budget: &'a Budget,
}

impl<'a> Lines<'a> {
    pub(super) fn new(budget: &'a Budget) -> Self {
        Self { text: String::new(), pieces: Vec::new(), end: None, budget }
    }

    pub(super) fn add(&mut self, glyph: &str, start: TextPosition, end: TextPosition) -> Result<(), DocumentError> {
        if glyph.is_empty() {
            return Ok(());
        }
        let gap = self.end.map_or(Gap::None, |last| gap(last, start));
        let ends_with_space = self.text.ends_with([' ', '\t', '\n']);
        match gap {
            Gap::Line => {
                self.text.truncate(self.text.trim_end_matches([' ', '\t']).len());
                self.text.push('\n');
            }
            Gap::Wide if !glyph.starts_with(' ') && !self.text.ends_with(['\t', '\n']) => self.text.push('\t'),
            Gap::Word if !ends_with_space && !glyph.starts_with(' ') => self.text.push(' '),
            _ => {}
        }
        self.budget.say(glyph.len() + 1)?;
        self.text.push_str(glyph);
        match self.pieces.last_mut() {
            Some(piece) if matches!(gap, Gap::None) => piece.text.push_str(glyph),
            _ => self.pieces.push(TextRun { at: start.at, size: start.size, text: glyph.to_owned() }),
        }
        self.end = Some(end);
        Ok(())
    }

    /// The text of the page, with positions.
    pub(super) fn finish(self) -> (String, Vec<TextRun>) {
        let lines: Vec<&str> = self.text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
        (lines.join("\n"), self.pieces)
    }
}

enum Gap {
    None,
    Word,
    /// A gap as between the cells of a table.
    Wide,
    Line,
}

fn gap(last: TextPosition, next: TextPosition) -> Gap {
    let size = last.size.max(next.size).max(0.01);
    let (dx, dy) = (next.at.0 - last.at.0, next.at.1 - last.at.1);
    let along = dx * last.direction.0 + dy * last.direction.1;
    let across = (dx * last.direction.1 - dy * last.direction.0).abs();
    let turned = last.direction.0 * next.direction.0 + last.direction.1 * next.direction.1 < 0.9;
    if turned || across > size * 0.55 || along < -size * 1.5 {
        Gap::Line
    } else if along > size * 1.2 {
        Gap::Wide
    } else if along > size * 0.17 {
        Gap::Word
    } else {
        Gap::None
    }
}
