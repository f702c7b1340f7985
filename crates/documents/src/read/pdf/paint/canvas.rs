//! A page as gray pixels. Each pixel also has the value that it would have without the glyph that it shows.

use std::collections::BTreeMap;
use std::ops::Not as _;
use std::rc::Rc;

use super::raster::{Area, Contour, FillRule, Mask, fill};
use crate::error::DocumentError;
use crate::read::budget::Budget;

/// Clips that are not rectangles, within each other. Each keeps a mask.
const DEEPEST_CLIP: usize = 32;
/// Paint with less opacity does not change a pixel.
pub(super) const LEAST_OPACITY: f32 = 1.0 / 512.0;
/// Paint with this opacity hides everything below it.
const OPAQUE: f32 = 0.99;

/// How paint combines with the content below it (ISO 32000-1, 11.3.5). Other modes count as `Normal`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::read::pdf) enum Blend {
    #[default]
    Normal,
    Multiply,
    Screen,
    Darken,
    Lighten,
    Difference,
}

impl Blend {
    pub(in crate::read::pdf) fn named(name: &str) -> Self {
        match name {
            "Multiply" | "ColorBurn" => Self::Multiply,
            "Screen" | "ColorDodge" => Self::Screen,
            "Darken" => Self::Darken,
            "Lighten" => Self::Lighten,
            "Difference" | "Exclusion" => Self::Difference,
            _ => Self::Normal,
        }
    }

    fn of(self, below: f32, painted: f32) -> f32 {
        match self {
            Self::Normal => painted,
            Self::Multiply => below * painted / 255.0,
            Self::Screen => below + painted - below * painted / 255.0,
            Self::Darken => below.min(painted),
            Self::Lighten => below.max(painted),
            Self::Difference => (below - painted).abs(),
        }
    }
}

/// The paint of a shape.
#[derive(Clone, Copy, Debug)]
pub(in crate::read::pdf) struct Ink {
    /// From 0, black, to 255, white. None if it cannot be determined.
    pub(in crate::read::pdf) luma: Option<f32>,
    pub(in crate::read::pdf) opacity: f32,
    pub(in crate::read::pdf) blend: Blend,
}

/// The part of the page that may be painted on.
#[derive(Clone, Debug)]
pub(in crate::read::pdf) struct Clip {
    pub(in crate::read::pdf) area: Area,
    mask: Option<Rc<Mask>>,
    depth: usize,
}

impl Clip {
    pub(in crate::read::pdf) fn all(area: Area) -> Self {
        Self { area, mask: None, depth: 0 }
    }

    /// Intersects the clip with the inside of the contours. Without contours, it becomes empty.
    pub(in crate::read::pdf) fn narrowed(
        &self,
        contours: &[Contour],
        rule: FillRule,
        budget: &Budget,
    ) -> Result<Self, DocumentError> {
        if let [contour] = contours
            && let Some(area) = rectangle(contour)
        {
            return Ok(Self { area: self.area.intersection(area), ..self.clone() });
        }
        let nothing = Self { area: Area::EMPTY, mask: None, depth: self.depth };
        if self.depth >= DEEPEST_CLIP {
            return Err(DocumentError::TooLarge("too many clips are within each other"));
        }
        let Some(mut mask) = fill(contours, rule, self.area, budget)? else { return Ok(nothing) };
        let area = mask.area;
        if let Some(earlier) = &self.mask {
            let places = (area.top..area.bottom).flat_map(|y| (area.left..area.right).map(move |x| (x, y)));
            for (covered, (x, y)) in mask.coverage.iter_mut().zip(places) {
                *covered = (u16::from(*covered) * u16::from(earlier.at(x, y)) / 255) as u8;
            }
        }
        Ok(Self { area, mask: Some(Rc::new(mask)), depth: self.depth + 1 })
    }

    pub(super) fn is_rectangle(&self) -> bool {
        self.mask.is_none()
    }

    /// From 0 to 1.
    fn at(&self, x: usize, y: usize) -> f32 {
        self.mask.as_ref().map_or(1.0, |mask| f32::from(mask.at(x, y)) / 255.0)
    }
}

/// The pixels of a rectangle whose sides are parallel to those of the page, to the nearest edges.
fn rectangle(contour: &Contour) -> Option<Area> {
    let corners = match contour.as_slice() {
        [corners @ .., last] if corners.len() == 4 && corners.first() == Some(last) => corners,
        corners => corners,
    };
    let [(x0, y0), (x1, y1), (x2, y2), (x3, y3)] = corners.try_into().ok()?;
    let near = |a: f32, b: f32| (a - b).abs() < 0.01;
    let is_upright = near(x0, x1) && near(x2, x3) && near(y1, y2) && near(y3, y0);
    let is_lying = near(y0, y1) && near(y2, y3) && near(x1, x2) && near(x3, x0);
    (is_upright || is_lying).then(|| Area {
        left: x0.min(x2).round() as usize,
        top: y0.min(y2).round() as usize,
        right: x0.max(x2).round() as usize,
        bottom: y0.max(y2).round() as usize,
    })
}

#[derive(Clone, Copy, Debug)]
struct Pixel {
    displayed: f32,
    /// The value without the glyph that owns the pixel.
    without: f32,
    /// A glyph, from 1; 0 for none.
    owner: u32,
    /// The part of the pixel that the glyph covers.
    share: u8,
    /// False below a picture or pattern that cannot be decoded.
    is_known: bool,
}

impl Pixel {
    /// The change by the glyph.
    fn contrast(self) -> f32 {
        if self.owner == 0 { 0.0 } else { (self.displayed - self.without).abs() }
    }
}

const PAPER: Pixel = Pixel { displayed: 255.0, without: 255.0, owner: 0, share: 0, is_known: true };

pub(in crate::read::pdf) struct Canvas {
    pub(in crate::read::pdf) area: Area,
    pixels: Vec<Pixel>,
}

impl Canvas {
    pub(in crate::read::pdf) fn white(width: usize, height: usize) -> Self {
        let area = Area { left: 0, top: 0, right: width, bottom: height };
        Self { area, pixels: vec![PAPER; width * height] }
    }

    /// Paints a shape. `owner` is the glyph that it is part of, or 0.
    pub(in crate::read::pdf) fn paint(
        &mut self,
        mask: &Mask,
        clip: &Clip,
        ink: Ink,
        owner: u32,
        budget: &Budget,
    ) -> Result<(), DocumentError> {
        let area = mask.area.intersection(clip.area).intersection(self.area);
        if area.is_empty() {
            return Ok(());
        }
        budget.spend(area.width() * area.height() / 2)?;
        for y in area.top..area.bottom {
            for x in area.left..area.right {
                let covered = f32::from(mask.at(x, y)) / 255.0;
                if covered > 0.0 {
                    self.dab((x, y), covered * clip.at(x, y), ink, owner);
                }
            }
        }
        Ok(())
    }

    /// Paints a whole rectangle.
    pub(in crate::read::pdf) fn paint_area(
        &mut self,
        area: Area,
        clip: &Clip,
        ink: Ink,
        budget: &Budget,
    ) -> Result<(), DocumentError> {
        let area = area.intersection(clip.area).intersection(self.area);
        if area.is_empty() {
            return Ok(());
        }
        budget.spend(area.width() * area.height() / 2)?;
        for y in area.top..area.bottom {
            for x in area.left..area.right {
                self.dab((x, y), clip.at(x, y), ink, 0);
            }
        }
        Ok(())
    }

    /// Paints one pixel within the clip.
    pub(in crate::read::pdf) fn dot(
        &mut self,
        (x, y): (usize, usize),
        covered: f32,
        clip: &Clip,
        ink: Ink,
        owner: u32,
    ) {
        self.dab((x, y), covered * clip.at(x, y), ink, owner);
    }

    /// Paints the part of a pixel that a shape covers.
    fn dab(&mut self, (x, y): (usize, usize), covered: f32, ink: Ink, owner: u32) {
        let Some(pixel) = self.pixels.get_mut(y * self.area.right + x) else { return };
        let opacity = covered * ink.opacity;
        if opacity < LEAST_OPACITY {
            return;
        }
        let Some(luma) = ink.luma else {
            pixel.is_known = false;
            return;
        };
        let is_normal = ink.blend == Blend::Normal;
        let is_opaque = opacity > OPAQUE && is_normal;
        let mixed = |below: f32| {
            if is_opaque { luma } else { below + (ink.blend.of(below, luma) - below) * opacity }
        };
        let (before, after, contrast) = (pixel.displayed, mixed(pixel.displayed), pixel.displayed - pixel.without);
        let is_own = owner != 0 && pixel.owner == owner;
        let is_stronger = owner != 0 && !is_own && (after - before).abs() > pixel.contrast();
        let adds = is_own && (after - pixel.without).abs() >= contrast.abs();
        let share = (covered * 255.0) as u8;
        if is_stronger {
            *pixel = Pixel { displayed: after, without: before, owner, share, is_known: pixel.is_known };
        } else if adds {
            (pixel.displayed, pixel.share) = (after, pixel.share.max(share));
        } else {
            // Both shapes are assumed to cover the same part of the pixel, so that a shape with the same outline as another
            // hides it completely, including its edges.
            let hidden = ink.opacity * (f32::from(share) / f32::from(pixel.share.max(1))).min(1.0);
            pixel.without = if is_own { pixel.without } else { mixed(pixel.without) };
            let is_hiding = is_normal && pixel.owner != 0;
            pixel.displayed = if is_hiding { pixel.without + contrast * (1.0 - hidden) } else { after };
        }
        pixel.is_known |= is_opaque;
    }

    /// The change of a pixel of the finished page by a glyph.
    pub(in crate::read::pdf) fn contrast(&self, x: usize, y: usize, owner: u32) -> f32 {
        match self.pixels.get(y * self.area.right + x) {
            Some(pixel) if pixel.owner == owner && pixel.is_known => (pixel.displayed - pixel.without).abs(),
            _ => 0.0,
        }
    }

    /// The displayed value, if it is known.
    pub(in crate::read::pdf) fn luma(&self, x: usize, y: usize) -> Option<f32> {
        self.pixels.get(y * self.area.right + x).filter(|pixel| pixel.is_known).map(|pixel| pixel.displayed)
    }

    /// Whether the whole area already has the color of this ink.
    pub(super) fn is_all(&self, area: Area, luma: f32) -> bool {
        self.any(area, |pixel| pixel.displayed != luma || !pixel.is_known).not()
    }

    /// Whether an area shows glyphs.
    pub(super) fn has_glyphs(&self, area: Area) -> bool {
        self.any(area, |pixel| pixel.owner != 0)
    }

    fn any(&self, area: Area, is_it: impl Fn(&Pixel) -> bool) -> bool {
        let area = area.intersection(self.area);
        let row = |y: usize| self.pixels.get(y * self.area.right + area.left..y * self.area.right + area.right);
        (area.top..area.bottom).filter_map(row).any(|row| row.iter().any(&is_it))
    }

    /// The ink of a part of a glyph in pixels, and how many of them currently show each other glyph.
    pub(super) fn overlaps(&self, mask: &Mask, owner: u32) -> (usize, BTreeMap<u32, usize>) {
        const INK: u8 = 100;
        let area = mask.area.intersection(self.area);
        let (mut ink, mut below) = (0, BTreeMap::new());
        for (x, y) in (area.top..area.bottom).flat_map(|y| (area.left..area.right).map(move |x| (x, y))) {
            if mask.at(x, y) < INK {
                continue;
            }
            ink += 1;
            let pixel = self.pixels.get(y * self.area.right + x);
            if let Some(pixel) = pixel.filter(|pixel| pixel.owner != owner && pixel.contrast() > 64.0) {
                *below.entry(pixel.owner).or_insert(0) += 1;
            }
        }
        (ink, below)
    }

    /// Whether two pages look the same. Unknown pixels are never the same.
    pub(in crate::read::pdf) fn looks_like(&self, other: &Self) -> bool {
        const UNSEEN: f32 = 12.0;
        let is_same = |(one, two): (&Pixel, &Pixel)| {
            one.is_known && two.is_known && (one.displayed - two.displayed).abs() <= UNSEEN
        };
        self.area == other.area && self.pixels.iter().zip(&other.pixels).all(is_same)
    }
}
