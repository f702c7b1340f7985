//! Prints the text of a page without a picture again, at its positions. Leaves out lines, colors and small pictures.

use super::file::File;
use super::lines::TextRun;
use super::object::Object;
use super::pages::Page;
use crate::error::DocumentError;
use crate::font::{Fonts, Weight};
use crate::layout::mark::{Mark, PAGE_HEIGHT, PAGE_WIDTH, Run, Shade, Style};
use crate::picture::Png;
use crate::picture::draw::{Canvas, Placement, Resolution};
use crate::read::PageImage;

/// The maximum number of characters that are printed.
const MOST_LETTERS: usize = 20_000;
const LARGEST_LETTER: f32 = 200.0;
/// The approximate cost of drawing a character.
const STEPS_OF_A_LETTER: usize = 500;

pub(super) fn page(
    file: &File<'_>,
    page: &Page,
    number: usize,
    pieces: &[TextRun],
) -> Result<PageImage, DocumentError> {
    let frame = Frame::of(file, page)?;
    let mut left = MOST_LETTERS;
    let mut marks = Vec::new();
    for piece in pieces {
        let Some(run) = frame.placed(piece) else { continue };
        let letters = run.text.chars().count();
        file.budget.spend(letters * STEPS_OF_A_LETTER)?;
        left = match left.checked_sub(letters) {
            Some(left) => left,
            None => break,
        };
        marks.push(Mark::Text(run));
    }
    let mut canvas = Canvas::new(Resolution::FAX, Placement::STRAIGHT);
    canvas.page(&marks, &Fonts::load()?);
    let png = Png::of_bitmap(&canvas.developed(None));
    Ok(PageImage::png(number, png, Some(Resolution::FAX.across as u32)))
}

/// The visible part of a page in points, scaled to fax paper.
struct Frame {
    left: f32,
    top: f32,
    scale: f32,
}

impl Frame {
    fn of(file: &File<'_>, page: &Page) -> Result<Self, DocumentError> {
        let listed = file.resolve(page.dictionary.get("MediaBox"))?;
        let numbers: Vec<f32> =
            listed.array().iter().take(4).filter_map(Object::number).map(|one| one as f32).collect();
        let [x0, y0, x1, y1] = <[f32; 4]>::try_from(numbers).unwrap_or([0.0, 0.0, PAGE_WIDTH, PAGE_HEIGHT]);
        let (width, height) = ((x1 - x0).abs(), (y1 - y0).abs());
        let scale = (PAGE_WIDTH / width).min(PAGE_HEIGHT / height);
        let is_sane = scale.is_finite() && (0.01..=100.0).contains(&scale);
        Ok(Self { left: x0.min(x1), top: y0.max(y1), scale: if is_sane { scale } else { 1.0 } })
    }

    /// None if it is off the paper.
    fn placed(&self, piece: &TextRun) -> Option<Run> {
        let (x, baseline) = ((piece.at.0 - self.left) * self.scale, (self.top - piece.at.1) * self.scale);
        let size = piece.size * self.scale;
        let is_there = (-PAGE_WIDTH..PAGE_WIDTH).contains(&x)
            && (0.0..PAGE_HEIGHT + LARGEST_LETTER).contains(&baseline)
            && (0.5..=LARGEST_LETTER).contains(&size);
        let style = Style { weight: Weight::Regular, size, shade: Shade::Black, is_slanted: false };
        is_there.then(|| Run { x, baseline, text: piece.text.clone(), style })
    }
}
