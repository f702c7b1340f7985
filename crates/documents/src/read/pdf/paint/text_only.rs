//! Decides whether a page shows only legible text: no pictures, no drawings, no faint text.
//!
//! Two kinds of content are allowed because ordinary writers produce them: content that changes no pixel, such as a white
//! background, and the rules and light bands of forms and tables, if they do not touch text.

use std::collections::BTreeMap;

use super::canvas::{Canvas, Ink};
use super::glyphs::GlyphMark;
use super::raster::{Area, Bounds, Contour, Mask};
use super::{Clip, PIXELS_PER_POINT};
use crate::error::DocumentError;
use crate::read::budget::Budget;

/// The maximum thickness of a rule, in pixels.
const THICKEST_RULE: f32 = 2.0 * PIXELS_PER_POINT;
/// The minimum length of a horizontal rule. Shorter lines could form letters.
const SHORTEST_RULE: f32 = 110.0 * PIXELS_PER_POINT;
/// The minimum length of a rule at which vertical rules may end, as in a table.
const TABLE_RULE: f32 = 300.0 * PIXELS_PER_POINT;
/// The minimum distance between parallel rules. Closer ones could form areas.
const APART: f32 = 6.0 * PIXELS_PER_POINT;
/// The maximum distance between the ends of the rules of a table.
const NEAR: f32 = 3.0;
/// The maximum distance between the sides of two rules that form one line.
const SAME_LINE: f32 = 0.75;
/// The minimum lightness of a band behind text, so that a fax machine does not reproduce it.
const LIGHTEST_BAND: f32 = 225.0;
/// An invisible difference in lightness, of 255.
const UNSEEN: f32 = 6.0;
/// The minimum difference between text and its surroundings.
const CLEAR: f32 = 80.0;
/// Rules and bands of one page.
const MOST_BARS: usize = 5_000;
const DRAWING: &str = "a drawing";

/// The first content of a page that is not text.
#[derive(Default)]
pub(in crate::read::pdf) struct Plain {
    other: Option<&'static str>,
    bars: Vec<Bar>,
    /// The ink of each glyph in pixels, and how many of them overlap with other glyphs.
    overlaps: BTreeMap<u32, (usize, usize)>,
}

/// A rule, or a band behind text.
#[derive(Clone, Copy)]
struct Bar {
    bounds: Bounds,
    luma: f32,
}

/// A shape that is about to be painted, not as part of a glyph.
pub(super) struct Shape<'a> {
    pub(super) contours: &'a [Contour],
    /// The width of the pen. None for a filled shape.
    pub(super) pen: Option<f32>,
    /// The extension of lines beyond their ends.
    pub(super) cap: f32,
    pub(super) clip: &'a Clip,
    pub(super) ink: Ink,
}

impl Plain {
    /// Keeps the first finding.
    pub(in crate::read::pdf) fn note(&mut self, what: &'static str) {
        self.other.get_or_insert(what);
    }

    /// Examines the outline instead of pixels, because readers paint thin shapes more strongly than their area, and invisible shapes
    /// add up.
    pub(super) fn shape(&mut self, shape: &Shape<'_>, canvas: &Canvas, budget: &Budget) -> Result<(), DocumentError> {
        let Shape { contours, pen, cap, clip, ink } = shape;
        if ink.opacity <= 0.0 || self.other.is_some() {
            return Ok(());
        }
        for contour in *contours {
            let Some(bounds) = Bounds::of(contour.iter().copied()) else { continue };
            let margin = pen.map_or_else(|| hairline(bounds), |pen| pen.max(1.0) / 2.0 + cap);
            let area = bounds.grown(margin).area().intersection(clip.area).intersection(canvas.area);
            if area.is_empty() {
                continue;
            }
            budget.spend(area.width() * area.height() / 4)?;
            let Some(luma) = ink.luma.filter(|_| ink.opacity >= 1.0 && clip.is_rectangle()) else {
                self.note(DRAWING);
                break;
            };
            if canvas.is_all(area, luma) {
                continue;
            }
            let Some(bars) = bars(contour, *pen, *cap) else {
                self.note(DRAWING);
                break;
            };
            for bar in bars {
                self.bar(bar, luma, clip.area.intersection(canvas.area), canvas, budget)?;
            }
        }
        Ok(())
    }

    fn bar(
        &mut self,
        bounds: Bounds,
        luma: f32,
        visible: Area,
        canvas: &Canvas,
        budget: &Budget,
    ) -> Result<(), DocumentError> {
        let Some(bounds) = bounds.intersection(visible.bounds()) else { return Ok(()) };
        let area = bounds.area().intersection(visible);
        budget.spend(area.width() * area.height() / 4)?;
        let is_rule = bounds.width().min(bounds.height()) <= THICKEST_RULE;
        let is_band = || luma >= LIGHTEST_BAND && bounds.width() >= TABLE_RULE && !canvas.has_glyphs(area);
        if self.bars.len() < MOST_BARS && (is_rule || is_band()) {
            self.bars.push(Bar { bounds, luma });
        } else {
            self.note(DRAWING);
        }
        Ok(())
    }

    /// A part of a glyph that is about to be painted.
    pub(super) fn ink(&mut self, mask: &Mask, luma: Option<f32>, owner: u32, canvas: &Canvas) {
        if luma.is_none() {
            self.note("text in a pattern");
        }
        let (ink, below) = canvas.overlaps(mask, owner);
        let own = self.overlaps.entry(owner).or_default();
        own.0 += ink;
        own.1 += below.values().sum::<usize>();
        let mut is_struck = is_struck(*own);
        for (other, pixels) in below {
            let other = self.overlaps.entry(other).or_default();
            other.1 += pixels;
            is_struck |= self::is_struck(*other);
        }
        if is_struck {
            self.note("text over other text");
        }
    }

    /// The first content of the page that is not clear text.
    pub(super) fn finish(
        mut self,
        glyphs: &[GlyphMark],
        canvas: &Canvas,
        budget: &Budget,
    ) -> Result<Option<&'static str>, DocumentError> {
        for (mark, number) in glyphs.iter().zip(1..) {
            let (has_trace, is_said) = (mark.has_trace(canvas, number, UNSEEN), is_said(&mark.text));
            if has_trace && !is_said {
                self.note("a symbol without text");
            } else if has_trace && !(mark.is_visible(canvas, number) && mark.is_clear(canvas, CLEAR)) {
                self.note("text that is faint, small or partly hidden");
            }
        }
        let bars = std::mem::take(&mut self.bars);
        let table: Vec<Bounds> = bars.iter().filter(|bar| bar.is_table_rule()).map(|bar| bar.bounds).collect();
        for (index, bar) in bars.iter().enumerate() {
            budget.spend(index + table.len() + glyphs.len())?;
            let earlier = bars.get(..index).unwrap_or_default();
            if !bar.is_long_enough(&table) || earlier.iter().any(|earlier| bar.clashes_with(earlier)) {
                self.note(DRAWING);
            } else if bar.is_rule() && glyphs.iter().any(|glyph| glyph.is_crossed_by(&bar.bounds)) {
                self.note("a line through text");
            }
        }
        Ok(self.other)
    }
}

/// Whether a glyph's ink overlaps with other glyphs as much as with strikethrough.
fn is_struck((ink, overlap): (usize, usize)) -> bool {
    const FEW: usize = 3;
    overlap > FEW && overlap * 8 > ink
}

impl Bar {
    fn is_rule(&self) -> bool {
        self.bounds.width().min(self.bounds.height()) <= THICKEST_RULE
    }

    fn is_horizontal(&self) -> bool {
        self.bounds.width() >= self.bounds.height()
    }

    fn is_table_rule(&self) -> bool {
        self.is_rule() && self.is_horizontal() && self.bounds.width() >= TABLE_RULE
    }

    fn is_long_enough(&self, table: &[Bounds]) -> bool {
        match (self.is_rule(), self.is_horizontal()) {
            (true, true) => self.bounds.width() >= SHORTEST_RULE,
            (true, false) => is_between(&self.bounds, table),
            (false, _) => true,
        }
    }

    /// Whether it covers a part of an earlier bar, or is so close that both form one area.
    fn clashes_with(&self, earlier: &Self) -> bool {
        let (one, two) = (self.bounds, earlier.bounds);
        let is_lighter = self.luma > earlier.luma + UNSEEN;
        let is_over = one.grown(-SAME_LINE / 2.0).intersection(two).is_some();
        let is_parallel = self.is_rule() && earlier.is_rule() && self.is_horizontal() == earlier.is_horizontal();
        let near = |a: f32, b: f32| (a - b).abs() <= SAME_LINE;
        let is_same_line = match self.is_horizontal() {
            true => near(one.top, two.top) && near(one.bottom, two.bottom),
            false => near(one.left, two.left) && near(one.right, two.right),
        };
        // As below a letterhead: two lines of the same length do not form another shape.
        let is_double = self.is_table_rule() && near(one.left, two.left) && near(one.right, two.right);
        let is_too_near = is_parallel && !is_same_line && !is_double && one.grown(APART).intersection(two).is_some();
        (is_over && is_lighter) || is_too_near
    }
}

/// Whether characters have a defined meaning. Private-use characters have none.
fn is_said(text: &str) -> bool {
    let is_private = |c: char| matches!(c, '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..='\u{10ffff}' | '\u{fffd}');
    !text.trim().is_empty() && !text.contains(is_private)
}

/// Whether a vertical rule starts and ends at horizontal ones.
fn is_between(rule: &Bounds, table: &[Bounds]) -> bool {
    let x = (rule.left + rule.right) / 2.0;
    let ends_at = |y: f32| {
        let is_at = |line: &&Bounds| line.top - NEAR <= y && y <= line.bottom + NEAR;
        table.iter().filter(is_at).any(|line| line.left - NEAR <= x && x <= line.right + NEAR)
    };
    ends_at(rule.top) && ends_at(rule.bottom)
}

/// The growth of a thin shape on each side, because readers paint it as a hairline.
fn hairline(bounds: Bounds) -> f32 {
    (0.5 - bounds.width().min(bounds.height())).max(0.0) / 2.0
}

/// The bars of a contour that consists of bars only: a filled rectangle, or horizontal and vertical lines.
fn bars(contour: &Contour, pen: Option<f32>, cap: f32) -> Option<Vec<Bounds>> {
    let near = |a: f32, b: f32| (a - b).abs() < 0.05;
    let sides = || contour.iter().zip(contour.iter().skip(1));
    if !sides().all(|(from, to)| near(from.0, to.0) || near(from.1, to.1)) {
        return None;
    }
    match pen {
        Some(width) => {
            let half = width.max(0.5) / 2.0;
            let line = |(from, to): (&(f32, f32), &(f32, f32))| {
                let line = Bounds::of([*from, *to].into_iter())?;
                let (across, down) = if near(from.1, to.1) { (cap, half) } else { (half, cap) };
                Some(Bounds {
                    left: line.left - across,
                    top: line.top - down,
                    right: line.right + across,
                    bottom: line.bottom + down,
                })
            };
            sides().filter(|(from, to)| from != to || cap > 0.0).map(line).collect()
        }
        None if (4..=5).contains(&contour.len()) => {
            let bounds = Bounds::of(contour.iter().copied())?;
            Some(vec![bounds.grown(hairline(bounds))])
        }
        None => None,
    }
}
