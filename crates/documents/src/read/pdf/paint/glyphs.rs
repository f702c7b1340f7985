//! Decides whether a person would see a glyph.

use super::canvas::Canvas;
use super::raster::{Bounds, Mask};
use crate::read::pdf::lines::TextPosition;

/// The smallest visible difference in lightness, of 255.
const LEAST_CONTRAST: f32 = 32.0;
/// The part of a glyph's ink that must be visible.
const LEAST_SHARE: f32 = 0.5;
/// The minimum difference of the strongest pixel, regardless of the stroke width.
const LEAST_PEAK: f32 = 20.0;
/// The minimum of the longer side of a letter's or digit's ink, in pixels. The x-height of 4 point print is 3 pixels.
const LEAST_EXTENT: f32 = 2.6;
/// The maximum number of characters of a glyph, such as a ligature.
const MOST_CHARACTERS: usize = 4;
/// The minimum width of each of them, in ems.
const LEAST_WIDTH: f32 = 0.1;
/// Coverage below this is noise.
const LEAST_COVERAGE: u8 = 6;

/// A glyph that was drawn, with its text.
pub(in crate::read::pdf) struct GlyphMark {
    pub(in crate::read::pdf) text: String,
    pub(in crate::read::pdf) start: TextPosition,
    pub(in crate::read::pdf) end: TextPosition,
    /// Whether the print is large enough.
    pub(in crate::read::pdf) is_large_enough: bool,
    /// The size of an em in pixels.
    pub(in crate::read::pdf) em: f32,
    mask: Option<Mask>,
    /// The bounds of the whole shape, including parts off the page.
    bounds: Option<Bounds>,
    /// The lightness of its ink.
    luma: Option<f32>,
}

impl GlyphMark {
    pub(in crate::read::pdf) fn new(
        text: String,
        start: TextPosition,
        end: TextPosition,
        is_large_enough: bool,
        em: f32,
    ) -> Self {
        Self { text, start, end, is_large_enough, em, mask: None, bounds: None, luma: None }
    }

    /// Whether another glyph is the same, drawn again at nearly the same position.
    pub(super) fn is_printed_over_by(&self, other: &Self) -> bool {
        let size = self.start.size.max(0.01);
        let (dx, dy) = (other.start.at.0 - self.start.at.0, other.start.at.1 - self.start.at.1);
        let is_near = dx.abs() <= size * 0.12 && dy.abs() <= size * 0.12;
        let is_as_large = (other.start.size - self.start.size).abs() <= size * 0.1;
        self.text == other.text && is_near && is_as_large && self.is_large_enough == other.is_large_enough
    }

    /// The size of the mask after another is added.
    pub(super) fn size_with(&self, mask: &Mask) -> usize {
        let area = self.mask.as_ref().map_or(mask.area, |own| own.area.union(mask.area));
        area.width() * area.height()
    }

    /// Adds a part of its shape. `bounds` are those of the whole part, including parts off the page.
    pub(super) fn add(&mut self, mask: Mask, bounds: Bounds, luma: Option<f32>) {
        self.luma = luma;
        let last = self.bounds.unwrap_or(bounds);
        self.bounds = Some(Bounds {
            left: last.left.min(bounds.left),
            top: last.top.min(bounds.top),
            right: last.right.max(bounds.right),
            bottom: last.bottom.max(bounds.bottom),
        });
        self.mask = Some(match self.mask.take() {
            Some(own) => own.merged(&mask),
            None => mask,
        });
    }

    pub(super) fn is_visible(&self, canvas: &Canvas, number: u32) -> bool {
        // Spaces are invisible and harmless.
        if self.text.chars().all(char::is_whitespace) {
            return true;
        }
        let (Some(mask), Some(bounds)) = (&self.mask, self.bounds) else { return false };
        self.is_large_enough
            && self.has_room(bounds)
            && is_painted(mask, bounds, canvas, number)
            && stands_out(mask, self.luma, canvas)
    }

    /// Whether any part is visible on the finished page.
    pub(super) fn has_trace(&self, canvas: &Canvas, number: u32, unseen: f32) -> bool {
        self.mask.as_ref().is_some_and(|mask| pixels(mask).any(|(_, x, y)| canvas.contrast(x, y, number) > unseen))
    }

    /// Whether its ink differs that much from its surroundings.
    pub(super) fn is_clear(&self, canvas: &Canvas, least: f32) -> bool {
        let Some(mask) = &self.mask else { return false };
        let around = mask.area.grown(2).intersection(canvas.area);
        let places = (around.top..around.bottom).flat_map(|y| (around.left..around.right).map(move |x| (x, y)));
        let outside = places.filter(|(x, y)| mask.at(*x, *y) < LEAST_COVERAGE).filter_map(|(x, y)| canvas.luma(x, y));
        let (sum, count) = outside.fold((0.0_f32, 0.0_f32), |(sum, count), luma| (sum + luma, count + 1.0));
        self.luma.is_some_and(|luma| count > 0.0 && (luma - sum / count).abs() >= least)
    }

    /// Whether a line goes through its ink.
    pub(super) fn is_crossed_by(&self, line: &Bounds) -> bool {
        const TOUCH: f32 = 0.4;
        self.bounds.is_some_and(|own| {
            own.left + TOUCH < line.right
                && line.left + TOUCH < own.right
                && own.top + TOUCH < line.bottom
                && line.top + TOUCH < own.bottom
        })
    }

    /// Whether the ink is large enough for its text.
    fn has_room(&self, bounds: Bounds) -> bool {
        let extent = bounds.width().max(bounds.height());
        let characters = self.text.chars().count();
        let is_letter = self.text.chars().any(char::is_alphanumeric);
        let is_wide = characters < 2 || extent >= characters as f32 * LEAST_WIDTH * self.em;
        characters <= MOST_CHARACTERS && is_wide && (!is_letter || extent >= LEAST_EXTENT)
    }
}

/// Whether most of the glyph's pixels on the finished page would differ without the glyph.
fn is_painted(mask: &Mask, bounds: Bounds, canvas: &Canvas, number: u32) -> bool {
    let (mut ink, mut seen, mut peak) = (0.0_f32, 0.0_f32, 0.0_f32);
    for (covered, x, y) in pixels(mask) {
        let (contrast, share) = (canvas.contrast(x, y, number), f32::from(covered) / 255.0);
        ink += share;
        if contrast >= share * LEAST_CONTRAST {
            seen += share;
            peak = peak.max(contrast);
        }
    }
    // Parts off the page count as ink, too.
    let on_page = (mask.area.width() * mask.area.height()) as f32;
    let whole = bounds.width() * bounds.height();
    ink *= (whole / on_page.max(1.0)).max(1.0);
    ink > 0.0 && seen >= ink * LEAST_SHARE && peak >= LEAST_PEAK
}

/// Whether the ink differs from its surroundings, on the page and by its color.
fn stands_out(mask: &Mask, luma: Option<f32>, canvas: &Canvas) -> bool {
    let (mut inside, mut weight, mut cubes) = (0.0_f32, 0.0_f32, 0.0_f32);
    let (mut outside, mut count) = (0.0_f32, 0.0_f32);
    let around = mask.area.grown(2).intersection(canvas.area);
    for y in around.top..around.bottom {
        for x in around.left..around.right {
            let Some(luma) = canvas.luma(x, y) else { continue };
            let covered = mask.at(x, y);
            let share = f32::from(covered) / 255.0;
            inside += luma * share * share;
            weight += share * share;
            cubes += share * share * share;
            if covered < LEAST_COVERAGE {
                outside += luma;
                count += 1.0;
            }
        }
    }
    if weight <= 0.0 || count <= 0.0 {
        return weight > 0.0;
    }
    // Partly covered pixels show only a part of the contrast.
    let (difference, full) = ((inside / weight - outside / count).abs(), cubes / weight);
    let differs = luma.is_none_or(|luma| (luma - outside / count).abs() >= LEAST_CONTRAST * 0.35);
    differs && difference >= LEAST_CONTRAST * 0.35 * full
}

fn pixels(mask: &Mask) -> impl Iterator<Item = (u8, usize, usize)> {
    let area = mask.area;
    let places = (area.top..area.bottom).flat_map(move |y| (area.left..area.right).map(move |x| (x, y)));
    mask.coverage
        .iter()
        .zip(places)
        .filter(|(covered, _)| **covered >= LEAST_COVERAGE)
        .map(|(covered, (x, y))| (*covered, x, y))
}
