//! Paints a page in gray and tracks its glyphs, to determine which of them are visible.
//!
//! The pixels only serve to determine what each glyph changes on the finished page, considering everything that is painted
//! before or after it.

mod canvas;
pub(super) mod color;
mod function;
mod glyphs;
mod image;
mod layers;
pub(super) mod raster;
mod text_only;

use std::collections::BTreeMap;
use std::rc::Rc;

pub(super) use canvas::{Blend, Clip, Ink};
pub(super) use color::ColorSpace;
pub(super) use function::numbers;
pub(super) use glyphs::GlyphMark;
pub(super) use image::Picture;
pub(super) use layers::Layers;

use canvas::LEAST_OPACITY;
use text_only::{Plain, Shape};

pub(super) use canvas::Canvas;
use raster::{Area, Bounds, Contour, FillRule, Mask, Point};

use super::matrix::Matrix;
use crate::error::DocumentError;
use crate::read::budget::Budget;

/// 108 dots per inch: strokes of 4 point print are about half a pixel wide.
const PIXELS_PER_POINT: f32 = 1.5;
/// The maximum size in points. Larger pages are scaled down as if printed on 17 inch paper.
const LONGEST_SIDE: f32 = 1224.0;
/// The pixels of all pictures of a document.
pub(super) const MOST_IMAGE_PIXELS: usize = 96 << 20;
const MOST_GLYPHS: usize = 200_000;
/// Bytes of the glyph masks of one page.
const MOST_MASKS: usize = 32 << 20;
const TILE: usize = 16;

/// The shown part of a page, in its own units.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) left: f32,
    pub(super) bottom: f32,
    pub(super) right: f32,
    pub(super) top: f32,
}

/// The part of the graphics state that affects the appearance.
#[derive(Clone)]
pub(super) struct Graphics {
    pub(super) clip: Clip,
    pub(super) fill: Color,
    pub(super) stroke: Color,
    pub(super) fill_opacity: f32,
    pub(super) stroke_opacity: f32,
    /// The opacity of the enclosing groups.
    pub(super) group_opacity: f32,
    pub(super) blend: Blend,
    /// Whether there is a mask, which is not evaluated. Masked text does not count.
    pub(super) has_soft_mask: bool,
    pub(super) line_width: f32,
    /// Whether lines extend beyond their ends by half their width.
    pub(super) has_caps: bool,
    /// Dashed lines are painted as if they had no gaps.
    pub(super) is_dashed: bool,
    pub(super) text_mode: u8,
}

#[derive(Clone)]
pub(super) struct Color {
    pub(super) space: ColorSpace,
    pub(super) luma: Option<f32>,
}

impl Graphics {
    pub(super) fn new(area: Area) -> Self {
        let black = Color { space: ColorSpace::Gray, luma: Some(0.0) };
        Self {
            clip: Clip::all(area),
            fill: black.clone(),
            stroke: black,
            fill_opacity: 1.0,
            stroke_opacity: 1.0,
            group_opacity: 1.0,
            blend: Blend::Normal,
            has_soft_mask: false,
            line_width: 1.0,
            has_caps: false,
            is_dashed: false,
            text_mode: 0,
        }
    }

    pub(super) fn fill_ink(&self) -> Ink {
        Ink { luma: self.fill.luma, opacity: self.fill_opacity * self.group_opacity, blend: self.blend }
    }

    pub(super) fn stroke_ink(&self) -> Ink {
        Ink { luma: self.stroke.luma, opacity: self.stroke_opacity * self.group_opacity, blend: self.blend }
    }
}

pub(super) struct Painter {
    /// From the units of the page to pixels.
    pub(super) device: Matrix,
    /// The size of one unit of the page in points.
    pub(super) points_per_unit: f32,
    canvas: Canvas,
    glyphs: Vec<GlyphMark>,
    /// The glyphs by text and approximate position, to find those that are printed twice.
    placed: BTreeMap<(String, i32, i32), u32>,
    pub(super) layers: Rc<Layers>,
    /// The number of enclosing hidden layers.
    pub(super) hidden: usize,
    /// The glyph that a content stream is drawing, or 0.
    pub(super) owner: u32,
    tiles: Tiles,
    masks_left: usize,
    /// Present if the page is checked for content other than text.
    plain: Option<Plain>,
    has_unread: bool,
}

impl Painter {
    /// `cells` are the positions of glyphs, in units of the page. Nothing else is painted.
    pub(super) fn new(
        frame: Frame,
        layers: Rc<Layers>,
        cells: &[Bounds],
        budget: &Budget,
    ) -> Result<Self, DocumentError> {
        let (width, height) = (frame.right - frame.left, frame.top - frame.bottom);
        let points_per_unit = (LONGEST_SIDE / width.max(height)).min(1.0);
        let scale = points_per_unit * PIXELS_PER_POINT;
        let pixels = |length: f32| ((length * scale).ceil() as usize).max(1);
        let device = Matrix([scale, 0.0, 0.0, -scale, -frame.left * scale, frame.top * scale]);
        let (width, height) = (pixels(width), pixels(height));
        budget.spend(width * height / 8)?;
        let canvas = Canvas::white(width, height);
        let mut tiles = Tiles::new(canvas.area);
        cells.iter().for_each(|cell| tiles.mark(*cell, device));
        let (glyphs, placed, masks_left) = (Vec::new(), BTreeMap::new(), MOST_MASKS);
        Ok(Self {
            device,
            points_per_unit,
            canvas,
            glyphs,
            placed,
            layers,
            hidden: 0,
            owner: 0,
            tiles,
            masks_left,
            plain: None,
            has_unread: false,
        })
    }

    /// A painter of the whole page that also checks for content other than text.
    pub(super) fn strict(frame: Frame, layers: Rc<Layers>, budget: &Budget) -> Result<Self, DocumentError> {
        Ok(Self { plain: Some(Plain::default()), ..Self::whole(frame, layers, budget)? })
    }

    /// A painter of the whole page, including parts without glyphs.
    pub(super) fn whole(frame: Frame, layers: Rc<Layers>, budget: &Budget) -> Result<Self, DocumentError> {
        let everywhere = Bounds { left: frame.left, top: frame.bottom, right: frame.right, bottom: frame.top };
        Self::new(frame, layers, &[everywhere], budget)
    }

    /// Reports content that is not text. It only counts if that is checked.
    pub(super) fn note(&mut self, what: &'static str) {
        if let Some(plain) = self.plain.as_mut().filter(|_| self.hidden == 0) {
            plain.note(what);
        }
    }

    /// Reports content that is not painted as PDF readers do.
    pub(super) fn note_unread(&mut self, what: &'static str) {
        self.has_unread |= self.hidden == 0;
        self.note(what);
    }

    pub(super) fn has_unread(&self) -> bool {
        self.has_unread
    }

    /// The first content of the page that is not clear text.
    pub(super) fn finish_plain(self, budget: &Budget) -> Result<Option<&'static str>, DocumentError> {
        self.plain.map_or(Ok(None), |plain| plain.finish(&self.glyphs, &self.canvas, budget))
    }

    pub(super) fn area(&self) -> Area {
        self.canvas.area
    }

    /// Starts a glyph and returns its number, from 1.
    pub(super) fn begin(&mut self, mark: GlyphMark) -> Result<u32, DocumentError> {
        if let Some(number) = self.same(&mark) {
            return Ok(number);
        }
        if self.glyphs.len() >= MOST_GLYPHS {
            return Err(DocumentError::TooLarge("a page has more than 200 000 letters"));
        }
        let (column, row) = self.place(&mark);
        self.placed.insert((mark.text.clone(), column, row), self.glyphs.len() as u32 + 1);
        self.glyphs.push(mark);
        Ok(self.glyphs.len() as u32)
    }

    /// The glyph that this one is printed over, which makes it bold.
    fn same(&self, mark: &GlyphMark) -> Option<u32> {
        let (column, row) = self.place(mark);
        let around = [-1, 0, 1].into_iter().flat_map(|down| [-1, 0, 1].map(|right| (right, down)));
        let mut near = around.filter_map(|(right, down)| {
            self.placed.get(&(mark.text.clone(), column.saturating_add(right), row.saturating_add(down))).copied()
        });
        near.find(|number| {
            let earlier = (*number as usize).checked_sub(1).and_then(|index| self.glyphs.get(index));
            earlier.is_some_and(|earlier| earlier.is_printed_over_by(mark))
        })
    }

    /// Squares of four pixels.
    fn place(&self, mark: &GlyphMark) -> (i32, i32) {
        let (x, y) = self.device.apply(mark.start.at);
        ((x / 4.0).floor() as i32, (y / 4.0).floor() as i32)
    }

    /// All glyphs, with whether they are visible.
    pub(super) fn finish(self) -> (Vec<(GlyphMark, bool)>, Canvas) {
        let (canvas, glyphs) = (self.canvas, self.glyphs);
        let glyphs = glyphs
            .into_iter()
            .zip(1..)
            .map(|(mark, number)| {
                let is_visible = mark.is_visible(&canvas, number);
                (mark, is_visible)
            })
            .collect();
        (glyphs, canvas)
    }

    pub(super) fn fill(
        &mut self,
        contours: &[Contour],
        rule: FillRule,
        graphics: &Graphics,
        owner: u32,
        budget: &Budget,
    ) -> Result<(), DocumentError> {
        if self.hidden > 0 || !self.matters(contours, 0.0, owner) {
            return Ok(());
        }
        let within = if owner == 0 { graphics.clip.area } else { self.area() };
        let mut mask = raster::fill(contours, rule, within, budget)?;
        // Readers paint every pixel that a shape touches, regardless of its width.
        let thin: Vec<Contour> = match owner {
            0 => contours.iter().filter(|contour| raster::is_thin(contour)).cloned().collect(),
            _ => Vec::new(),
        };
        if let Some(lines) = raster::stroke(&thin, 0.0, false, within, budget)? {
            mask = Some(match mask {
                Some(mask) => {
                    budget.spend(mask.coverage.len() + lines.coverage.len())?;
                    mask.merged(&lines)
                }
                None => lines,
            });
        }
        match mask {
            Some(mask) => self.lay(mask, (contours, None), graphics, owner, budget),
            None => Ok(()),
        }
    }

    pub(super) fn stroke(
        &mut self,
        contours: &[Contour],
        width: f32,
        graphics: &Graphics,
        owner: u32,
        budget: &Budget,
    ) -> Result<(), DocumentError> {
        if self.hidden > 0 || !self.matters(contours, width, owner) {
            return Ok(());
        }
        let within = if owner == 0 { graphics.clip.area } else { self.area() };
        if graphics.is_dashed {
            self.note_unread("a dashed line");
        }
        match raster::stroke(contours, width, graphics.has_caps && owner == 0, within, budget)? {
            Some(mask) => self.lay(mask, (contours, Some(width)), graphics, owner, budget),
            None => Ok(()),
        }
    }

    /// Paints a mask, filled or with a pen, and keeps it if it is part of a glyph.
    fn lay(
        &mut self,
        mask: Mask,
        (contours, pen): (&[Contour], Option<f32>),
        graphics: &Graphics,
        owner: u32,
        budget: &Budget,
    ) -> Result<(), DocumentError> {
        let ink = if pen.is_some() { graphics.stroke_ink() } else { graphics.fill_ink() };
        if ink.opacity > 0.0 && ink.opacity < LEAST_OPACITY {
            self.note_unread("ink that is almost transparent");
        }
        if let Some(plain) = &mut self.plain {
            budget.spend(mask.coverage.len())?;
            match owner {
                0 => {
                    let cap = if graphics.has_caps { pen.unwrap_or(0.0) / 2.0 } else { 0.0 };
                    let shape = Shape { contours, pen, cap, clip: &graphics.clip, ink };
                    plain.shape(&shape, &self.canvas, budget)?;
                }
                _ => plain.ink(&mask, ink.luma, owner, &self.canvas),
            }
        }
        let ink = if owner != 0 && graphics.has_soft_mask { Ink { opacity: 0.0, ..ink } } else { ink };
        self.canvas.paint(&mask, &graphics.clip, ink, owner, budget)?;
        if owner != 0
            && let Some(bounds) = Bounds::of(contours.iter().flatten().copied())
        {
            self.keep(mask, bounds, ink.luma, owner);
        }
        Ok(())
    }

    fn keep(&mut self, mask: Mask, bounds: Bounds, luma: Option<f32>, owner: u32) {
        let glyph = (owner as usize).checked_sub(1).and_then(|index| self.glyphs.get_mut(index));
        let Some(glyph) = glyph else { return };
        let Some(left) = self.masks_left.checked_sub(glyph.size_with(&mask)) else {
            return self.note("more text than is looked at");
        };
        self.masks_left = left;
        glyph.add(mask, bounds, luma);
    }

    /// Paints everything within the clip.
    pub(super) fn flood(&mut self, ink: Ink, clip: &Clip, budget: &Budget) -> Result<(), DocumentError> {
        if self.hidden > 0 {
            return Ok(());
        }
        self.canvas.paint_area(clip.area, clip, ink, budget)
    }

    /// Whether a picture with this matrix may overlap a glyph.
    pub(super) fn shows_picture(&self, placed: Matrix, owner: u32) -> bool {
        self.hidden == 0 && self.matters(&[square(placed)], 0.0, owner)
    }

    /// Paints a picture: the unit square, transformed.
    pub(super) fn picture(
        &mut self,
        picture: &Picture,
        placed: Matrix,
        graphics: &Graphics,
        owner: u32,
        budget: &Budget,
    ) -> Result<(), DocumentError> {
        let corners = square(placed);
        let (Some(bounds), Some(inverse)) = (Bounds::of(corners.iter().copied()), placed.inverse()) else {
            return Ok(());
        };
        let area = bounds.area().intersection(self.area());
        let painted = area.intersection(graphics.clip.area);
        if painted.is_empty() {
            return Ok(());
        }
        budget.spend(area.width() * area.height() * 4)?;
        let mut mask = Mask { area, coverage: Vec::with_capacity(area.width() * area.height()) };
        let ink = graphics.fill_ink();
        for y in area.top..area.bottom {
            for x in area.left..area.right {
                let (luma, opacity) = sampled(picture, inverse, (x, y), ink.luma);
                mask.coverage.push((opacity * 255.0) as u8);
                let is_painted = x >= painted.left && x < painted.right && y >= painted.top && y < painted.bottom;
                if opacity > 0.0 && is_painted {
                    self.canvas.dot((x, y), opacity, &graphics.clip, Ink { luma, ..ink }, owner);
                }
            }
        }
        if owner != 0 {
            self.keep(mask, bounds, ink.luma, owner);
        }
        Ok(())
    }

    fn matters(&self, contours: &[Contour], margin: f32, owner: u32) -> bool {
        owner != 0
            || Bounds::of(contours.iter().flatten().copied()).is_some_and(|bounds| {
                let area = bounds.area().grown(margin.clamp(0.0, 10_000.0) as usize);
                self.tiles.any(area)
            })
    }
}

fn square(placed: Matrix) -> Contour {
    [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)].into_iter().map(|corner| placed.apply(corner)).collect()
}

/// The mean of nine samples within a pixel.
fn sampled(picture: &Picture, inverse: Matrix, (x, y): (usize, usize), current: Option<f32>) -> (Option<f32>, f32) {
    let (mut light, mut opacity) = (Some(0.0_f32), 0.0_f32);
    for (right, down) in [0, 1, 2].into_iter().flat_map(|down| [0, 1, 2].map(|right| (right, down))) {
        let place = (x as f32 + (right as f32 + 0.5) / 3.0, y as f32 + (down as f32 + 0.5) / 3.0);
        let (across, up) = inverse.apply(place);
        if !(0.0..1.0).contains(&across) || !(0.0..1.0).contains(&up) {
            continue;
        }
        let (luma, part) = picture.at(across, 1.0 - up, current);
        opacity += part;
        light = if part > 0.0 { light.zip(luma).map(|(light, luma)| light + luma * part) } else { light };
    }
    if opacity > 0.0 { (light.map(|light| light / opacity), opacity / 9.0) } else { (None, 0.0) }
}

/// Which parts of the page have glyphs.
struct Tiles {
    columns: usize,
    rows: usize,
    used: Vec<bool>,
}

impl Tiles {
    fn new(area: Area) -> Self {
        let (columns, rows) = (area.right.div_ceil(TILE), area.bottom.div_ceil(TILE));
        Self { columns, rows, used: vec![false; columns * rows] }
    }

    fn range(&self, area: Area) -> (std::ops::Range<usize>, std::ops::Range<usize>) {
        let columns = area.left / TILE..area.right.div_ceil(TILE).min(self.columns);
        let rows = area.top / TILE..area.bottom.div_ceil(TILE).min(self.rows);
        (columns, rows)
    }

    fn mark(&mut self, cell: Bounds, device: Matrix) {
        let corners: [Point; 4] =
            [(cell.left, cell.top), (cell.right, cell.top), (cell.right, cell.bottom), (cell.left, cell.bottom)];
        match Bounds::of(corners.into_iter().map(|corner| device.apply(corner))) {
            Some(bounds) => {
                let (columns, rows) = self.range(bounds.area().grown(2));
                for row in rows {
                    let (from, to) = (row * self.columns + columns.start, row * self.columns + columns.end);
                    if let Some(tiles) = self.used.get_mut(from..to.max(from)) {
                        tiles.fill(true);
                    }
                }
            }
            None => self.used.fill(true),
        }
    }

    fn any(&self, area: Area) -> bool {
        let (columns, mut rows) = self.range(area);
        rows.any(|row| {
            let (from, to) = (row * self.columns + columns.start, row * self.columns + columns.end);
            self.used.get(from..to.max(from)).is_some_and(|tiles| tiles.contains(&true))
        })
    }
}
