//! Draws the marks of a page as a scanner or a fax machine would see them.

use ab_glyph_rasterizer::{Point, Rasterizer, point};
use ttf_parser::OutlineBuilder;

use super::bitmap::Bitmap;
use crate::font::{Face, Fonts};
use crate::handwriting::{SeededRandom, Stroke};
use crate::layout::Page;
use crate::layout::mark::{Mark, PAGE_HEIGHT, PAGE_WIDTH, Run, SLANT, Shade};

/// Dots per inch, horizontally and vertically.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Resolution {
    pub(crate) across: f32,
    pub(crate) down: f32,
}

impl Resolution {
    /// Fax resolution "fine".
    pub(crate) const FAX: Self = Self { across: 204.0, down: 196.0 };
    pub(crate) const SCANNER: Self = Self { across: 300.0, down: 300.0 };

    pub(crate) fn size(self) -> (u32, u32) {
        let pixels = |points: f32, dots: f32| (points / 72.0 * dots).round() as u32;
        // A fax line has 1728 dots, so the edges of the paper are cropped or padded.
        let width = if self == Self::FAX { 1728 } else { pixels(PAGE_WIDTH, self.across) };
        (width, pixels(PAGE_HEIGHT, self.down))
    }
}

/// The placement of the paper on the scanner: a small rotation, and a shift in points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Placement {
    pub(crate) turn: f32,
    pub(crate) right: f32,
    pub(crate) down: f32,
}

impl Placement {
    pub(crate) const STRAIGHT: Self = Self { turn: 0.0, right: 0.0, down: 0.0 };

    /// Rotates by up to a third of a degree, and never by 0.
    pub(crate) fn askew(dice: &mut SeededRandom) -> Self {
        let turn = 0.0022 + dice.below(1000) as f32 * 0.000_003_4;
        let turn = if dice.below(2) == 0 { turn } else { -turn };
        Self { turn, right: dice.within(3.0), down: dice.within(3.0) }
    }

    /// The position of a point of the page. For such small angles, the sine is the angle and the cosine is 1.
    pub(crate) fn of(self, x: f32, y: f32) -> (f32, f32) {
        let (across, along) = (x - PAGE_WIDTH / 2.0, y - PAGE_HEIGHT / 2.0);
        (x - self.turn * along + self.right, y + self.turn * across + self.down)
    }
}

/// The darkness of a page, one byte for each pixel. 255 is black.
pub(crate) struct Canvas {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) ink: Vec<u8>,
    resolution: Resolution,
    placement: Placement,
    rasterizer: Rasterizer,
}

impl Canvas {
    pub(crate) fn new(resolution: Resolution, placement: Placement) -> Self {
        let (width, height) = resolution.size();
        Self::of_size(width, height, resolution, placement)
    }

    pub(crate) fn of_size(width: u32, height: u32, resolution: Resolution, placement: Placement) -> Self {
        let ink = vec![0; width as usize * height as usize];
        Self { width, height, ink, resolution, placement, rasterizer: Rasterizer::new(0, 0) }
    }

    pub(crate) fn page(&mut self, page: &Page, fonts: &Fonts) {
        for mark in page {
            match mark {
                Mark::Text(run) => self.text(run, fonts.of(run.style.weight)),
                // Too light to be reproduced.
                Mark::Bar { shade: Shade::Light, .. } => {}
                Mark::Bar { x, y, width, height, .. } => {
                    let corners = [(*x, *y), (x + width, *y), (x + width, y + height), (*x, y + height)];
                    let outline: Vec<Point> = corners.into_iter().map(|(x, y)| self.pixel(x, y)).collect();
                    self.fill(&[outline], true);
                }
                Mark::Ink { x, y, width, height, strokes } => self.handwriting(strokes, (*x, *y), (*width, *height)),
            }
        }
    }

    /// Handwriting in the upper left corner of the picture.
    pub(crate) fn ink_alone(&mut self, mark: &Mark) {
        if let Mark::Ink { width, height, strokes, .. } = mark {
            self.handwriting(strokes, (0.0, 0.0), (*width, *height));
        }
    }

    /// Applies the threshold and specks of a scanner. Without random numbers, the result is sharp.
    pub(crate) fn developed(&self, dice: Option<&mut SeededRandom>) -> Bitmap {
        let mut picture = Bitmap::white(self.width, self.height);
        let Some(dice) = dice else {
            self.expose(&mut picture, |_| 112);
            return picture;
        };
        let grain = dice.roll();
        self.expose(&mut picture, |place| 84 + grain_of(grain, place) % 72);
        for _ in 0..60 + dice.below(90) {
            let (x, y) = (dice.below(self.width.into()) as u32, dice.below(self.height.into()) as u32);
            for _ in 0..1 + dice.below(4) {
                picture.blacken(x + dice.below(2) as u32, y + dice.below(2) as u32);
            }
        }
        picture
    }

    fn expose(&self, picture: &mut Bitmap, threshold: impl Fn(usize) -> u64) {
        for (y, row) in self.ink.chunks(self.width.max(1) as usize).enumerate() {
            for (x, ink) in row.iter().enumerate().filter(|(_, ink)| **ink > 0) {
                if u64::from(*ink) > threshold(y * self.width as usize + x) {
                    picture.blacken(x as u32, y as u32);
                }
            }
        }
    }

    fn pixel(&self, x: f32, y: f32) -> Point {
        let (x, y) = self.placement.of(x, y);
        // A fax line is slightly narrower than the paper, so the page is centered.
        let cut = (PAGE_WIDTH / 72.0 * self.resolution.across - Resolution::size(self.resolution).0 as f32) / 2.0;
        point(x / 72.0 * self.resolution.across - cut, y / 72.0 * self.resolution.down)
    }

    fn text(&mut self, run: &Run, face: &Face) {
        let scale = run.style.size / f32::from(face.face.units_per_em());
        let slant = if run.style.is_slanted { SLANT } else { 0.0 };
        let mut x = run.x;
        for character in run.text.chars() {
            let mut outline = Outline::default();
            face.face.outline_glyph(face.glyph(character), &mut outline);
            let place =
                |(right, up): (f32, f32)| self.pixel(x + (right + up * slant) * scale, run.baseline - up * scale);
            let contours: Vec<Vec<Point>> =
                outline.contours.iter().map(|contour| contour.iter().map(|at| place(*at)).collect()).collect();
            self.fill(&contours, false);
            x += face.advance(character) * run.style.size;
        }
    }

    /// Each segment of a stroke is a rhombus. The pen is slightly wider for downward strokes.
    fn handwriting(&mut self, strokes: &[Stroke], (left, top): (f32, f32), (width, height): (f32, f32)) {
        const PEN: f32 = 0.55;
        for stroke in strokes {
            for pair in stroke.windows(2) {
                let [(x0, y0), (x1, y1)] = pair else { continue };
                let at = |x: &f32, y: &f32| (left + x / 100.0 * width, top + y / 40.0 * height);
                let ((x0, y0), (x1, y1)) = (at(x0, y0), at(x1, y1));
                let length = ((x1 - x0) * (x1 - x0) + (y1 - y0) * (y1 - y0)).sqrt().max(0.01);
                let (along_x, along_y) = ((x1 - x0) / length * PEN, (y1 - y0) / length * PEN);
                let pen = if y1 > y0 { 1.25 } else { 0.9 };
                let (across_x, across_y) = (-along_y * pen, along_x * pen);
                let corners = [
                    (x0 - along_x * 0.6, y0 - along_y * 0.6),
                    (x0 + across_x, y0 + across_y),
                    (x1 + across_x, y1 + across_y),
                    (x1 + along_x * 0.6, y1 + along_y * 0.6),
                    (x1 - across_x, y1 - across_y),
                    (x0 - across_x, y0 - across_y),
                ];
                let outline: Vec<Point> = corners.into_iter().map(|(x, y)| self.pixel(x, y)).collect();
                self.fill(&[outline], false);
            }
        }
    }

    /// Lines thinner than a dot are drawn one dot wide, because the scanner's threshold would drop them.
    fn fill(&mut self, contours: &[Vec<Point>], is_line: bool) {
        let points = || contours.iter().flatten();
        let (left, right) = bounds(points().map(|point| point.x));
        let (top, bottom) = bounds(points().map(|point| point.y));
        if left > right || right < 0.0 || bottom < 0.0 || left >= self.width as f32 || top >= self.height as f32 {
            return;
        }
        let (x0, y0) = (left.floor() - 1.0, top.floor() - 1.0);
        let (width, height) = ((right - x0).ceil() as usize + 2, (bottom - y0).ceil() as usize + 2);
        self.rasterizer.reset(width, height);
        let origin = point(x0, y0);
        for contour in contours {
            for (from, to) in contour.iter().zip(contour.iter().cycle().skip(1)) {
                self.rasterizer.draw_line(*from - origin, *to - origin);
            }
        }
        let gain = if is_line { 765.0 } else { 255.0 };
        let (x0, y0, full_width, full_height) = (x0 as i64, y0 as i64, i64::from(self.width), i64::from(self.height));
        let ink = &mut self.ink;
        self.rasterizer.for_each_pixel_2d(|x, y, coverage| {
            let (x, y) = (x0 + i64::from(x), y0 + i64::from(y));
            if coverage > 0.0 && (0..full_width).contains(&x) && (0..full_height).contains(&y) {
                let place = usize::try_from(y * full_width + x).unwrap_or(usize::MAX);
                if let Some(pixel) = ink.get_mut(place) {
                    *pixel = pixel.saturating_add((coverage * gain) as u8);
                }
            }
        });
    }
}

fn bounds(values: impl Iterator<Item = f32>) -> (f32, f32) {
    values.fold((f32::INFINITY, f32::NEG_INFINITY), |(least, max), value| (least.min(value), max.max(value)))
}

/// The grain of the paper at one pixel.
fn grain_of(seed: u64, place: usize) -> u64 {
    let mixed = (seed ^ place as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40
}

/// The outline of a glyph as polygons, in the units of the font.
#[derive(Default)]
struct Outline {
    contours: Vec<Vec<(f32, f32)>>,
}

impl Outline {
    fn last(&self) -> (f32, f32) {
        self.contours.last().and_then(|contour| contour.last()).copied().unwrap_or_default()
    }

    fn add(&mut self, x: f32, y: f32) {
        if let Some(contour) = self.contours.last_mut() {
            contour.push((x, y));
        }
    }
}

/// Line segments for a curve. Letters are only a few dots wide.
const PIECES: u8 = 4;

impl OutlineBuilder for Outline {
    fn move_to(&mut self, x: f32, y: f32) {
        self.contours.push(vec![(x, y)]);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.add(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let (x0, y0) = self.last();
        for piece in 1..=PIECES {
            let t = f32::from(piece) / f32::from(PIECES);
            let blend = |a: f32, b: f32, c: f32| a * (1.0 - t) * (1.0 - t) + 2.0 * b * t * (1.0 - t) + c * t * t;
            self.add(blend(x0, x1, x), blend(y0, y1, y));
        }
    }

    /// TrueType has none.
    fn curve_to(&mut self, _: f32, _: f32, _: f32, _: f32, x: f32, y: f32) {
        self.add(x, y);
    }

    fn close(&mut self) {}
}
