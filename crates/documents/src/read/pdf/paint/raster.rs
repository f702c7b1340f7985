//! Converts outlines to pixel coverage.

use crate::error::DocumentError;
use crate::read::budget::Budget;

/// In pixels, from the upper left corner of the page.
pub(in crate::read::pdf) type Point = (f32, f32);
pub(in crate::read::pdf) type Contour = Vec<Point>;

/// The maximum coordinate. No page is that large.
const FARTHEST: f32 = 100_000.0;
/// Half the width of the thinnest line, in pixels.
const HAIRLINE: f32 = 0.35;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::read::pdf) enum FillRule {
    NonZero,
    EvenOdd,
}

/// A rectangle of whole pixels; `right` and `bottom` are exclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::read::pdf) struct Area {
    pub(in crate::read::pdf) left: usize,
    pub(in crate::read::pdf) top: usize,
    pub(in crate::read::pdf) right: usize,
    pub(in crate::read::pdf) bottom: usize,
}

impl Area {
    pub(in crate::read::pdf) const EMPTY: Self = Self { left: 0, top: 0, right: 0, bottom: 0 };

    pub(in crate::read::pdf) fn width(self) -> usize {
        self.right.saturating_sub(self.left)
    }

    pub(in crate::read::pdf) fn height(self) -> usize {
        self.bottom.saturating_sub(self.top)
    }

    pub(in crate::read::pdf) fn is_empty(self) -> bool {
        self.width() == 0 || self.height() == 0
    }

    pub(in crate::read::pdf) fn intersection(self, other: Self) -> Self {
        Self {
            left: self.left.max(other.left),
            top: self.top.max(other.top),
            right: self.right.min(other.right),
            bottom: self.bottom.min(other.bottom),
        }
    }

    pub(in crate::read::pdf) fn union(self, other: Self) -> Self {
        Self {
            left: self.left.min(other.left),
            top: self.top.min(other.top),
            right: self.right.max(other.right),
            bottom: self.bottom.max(other.bottom),
        }
    }

    pub(in crate::read::pdf) fn bounds(self) -> Bounds {
        Bounds { left: self.left as f32, top: self.top as f32, right: self.right as f32, bottom: self.bottom as f32 }
    }

    /// Grown by a margin on all sides.
    pub(in crate::read::pdf) fn grown(self, margin: usize) -> Self {
        Self {
            left: self.left.saturating_sub(margin),
            top: self.top.saturating_sub(margin),
            right: self.right.saturating_add(margin),
            bottom: self.bottom.saturating_add(margin),
        }
    }
}

/// The smallest rectangle around some points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::read::pdf) struct Bounds {
    pub(in crate::read::pdf) left: f32,
    pub(in crate::read::pdf) top: f32,
    pub(in crate::read::pdf) right: f32,
    pub(in crate::read::pdf) bottom: f32,
}

impl Bounds {
    /// None without points, or if one of them is not a finite number.
    pub(in crate::read::pdf) fn of(points: impl Iterator<Item = Point>) -> Option<Self> {
        let mut bounds: Option<Self> = None;
        for (x, y) in points {
            if !x.is_finite() || !y.is_finite() {
                return None;
            }
            let last = bounds.unwrap_or(Self { left: x, top: y, right: x, bottom: y });
            bounds = Some(Self {
                left: last.left.min(x),
                top: last.top.min(y),
                right: last.right.max(x),
                bottom: last.bottom.max(y),
            });
        }
        bounds
    }

    pub(in crate::read::pdf) fn width(self) -> f32 {
        self.right - self.left
    }

    pub(in crate::read::pdf) fn height(self) -> f32 {
        self.bottom - self.top
    }

    pub(in crate::read::pdf) fn grown(self, margin: f32) -> Self {
        Self {
            left: self.left - margin,
            top: self.top - margin,
            right: self.right + margin,
            bottom: self.bottom + margin,
        }
    }

    /// None if they do not overlap.
    pub(in crate::read::pdf) fn intersection(self, other: Self) -> Option<Self> {
        let both = Self {
            left: self.left.max(other.left),
            top: self.top.max(other.top),
            right: self.right.min(other.right),
            bottom: self.bottom.min(other.bottom),
        };
        (both.left < both.right && both.top < both.bottom).then_some(both)
    }

    /// Every pixel that is touched. Negative coordinates become 0.
    pub(in crate::read::pdf) fn area(self) -> Area {
        Area {
            left: self.left.floor() as usize,
            top: self.top.floor() as usize,
            right: self.right.ceil() as usize,
            bottom: self.bottom.ceil() as usize,
        }
    }
}

/// The coverage of each pixel, from 0 to 255.
#[derive(Clone, Debug)]
pub(in crate::read::pdf) struct Mask {
    pub(in crate::read::pdf) area: Area,
    pub(in crate::read::pdf) coverage: Vec<u8>,
}

impl Mask {
    pub(in crate::read::pdf) fn at(&self, x: usize, y: usize) -> u8 {
        let area = self.area;
        if x < area.left || x >= area.right || y < area.top || y >= area.bottom {
            return 0;
        }
        self.coverage.get((y - area.top) * area.width() + (x - area.left)).copied().unwrap_or(0)
    }
}

impl Mask {
    /// The union of both masks.
    pub(in crate::read::pdf) fn merged(&self, other: &Self) -> Self {
        let area = self.area.union(other.area);
        let places = (area.top..area.bottom).flat_map(|y| (area.left..area.right).map(move |x| (x, y)));
        Self { area, coverage: places.map(|(x, y)| self.at(x, y).max(other.at(x, y))).collect() }
    }
}

/// The inside of closed contours within the area. None if it is empty.
pub(in crate::read::pdf) fn fill(
    contours: &[Contour],
    rule: FillRule,
    within: Area,
    budget: &Budget,
) -> Result<Option<Mask>, DocumentError> {
    let Some(bounds) = Bounds::of(contours.iter().flatten().copied()) else { return Ok(None) };
    let area = bounds.area().intersection(within);
    if area.is_empty() {
        return Ok(None);
    }
    let mut rows = Accumulator::new(area, budget)?;
    for contour in contours {
        for (from, to) in contour.iter().zip(contour.iter().cycle().skip(1)) {
            rows.line(*from, *to)?;
        }
    }
    Ok(Some(rows.finish(rule)))
}

/// Whether a closed contour is much narrower than a pixel.
pub(in crate::read::pdf) fn is_thin(contour: &Contour) -> bool {
    let sides = || contour.iter().zip(contour.iter().cycle().skip(1));
    let twice_the_area: f32 = sides().map(|((x0, y0), (x1, y1))| x0 * y1 - x1 * y0).sum();
    let around: f32 = sides().map(|((x0, y0), (x1, y1))| (x1 - x0).hypot(y1 - y0)).sum();
    twice_the_area.abs() < around * HAIRLINE
}

/// The lines between the points of each contour, drawn with a pen. With caps, they are extended by half the pen width.
pub(in crate::read::pdf) fn stroke(
    contours: &[Contour],
    width: f32,
    has_caps: bool,
    within: Area,
    budget: &Budget,
) -> Result<Option<Mask>, DocumentError> {
    let half = (width / 2.0).clamp(HAIRLINE, FARTHEST);
    let Some(bounds) = Bounds::of(contours.iter().flatten().copied()) else { return Ok(None) };
    let bounds = bounds.grown(half);
    let area = bounds.area().intersection(within);
    if area.is_empty() {
        return Ok(None);
    }
    let mut rows = Accumulator::new(area, budget)?;
    for contour in contours {
        for pair in contour.windows(2) {
            let [(x0, y0), (x1, y1)] = [pair[0], pair[1]];
            let (dx, dy) = (x1 - x0, y1 - y0);
            let length = (dx * dx + dy * dy).sqrt();
            if !length.is_finite() || (length <= 0.0 && !has_caps) {
                continue;
            }
            let (dx, dy) = if length > 0.0 { (dx / length * half, dy / length * half) } else { (half, 0.0) };
            let (capx, capy) = if has_caps { (dx, dy) } else { (0.0, 0.0) };
            let ((x0, y0), (x1, y1)) = ((x0 - capx, y0 - capy), (x1 + capx, y1 + capy));
            // All of these have the same orientation, so that overlapping ones add up.
            let corners = [(x0 - dy, y0 + dx), (x1 - dy, y1 + dx), (x1 + dy, y1 - dx), (x0 + dy, y0 - dx)];
            for (from, to) in corners.iter().zip(corners.iter().cycle().skip(1)) {
                rows.line(*from, *to)?;
            }
        }
    }
    Ok(Some(rows.finish(FillRule::NonZero)))
}

/// Signed areas, row by row: the sum from the left is the winding number of a pixel.
struct Accumulator<'a> {
    area: Area,
    stride: usize,
    sums: Vec<f32>,
    budget: &'a Budget,
}

impl<'a> Accumulator<'a> {
    fn new(area: Area, budget: &'a Budget) -> Result<Self, DocumentError> {
        let stride = area.width() + 2;
        budget.spend(stride * area.height() / 4)?;
        Ok(Self { area, stride, sums: vec![0.0; stride * area.height()], budget })
    }

    fn line(&mut self, from: Point, to: Point) -> Result<(), DocumentError> {
        let (left, top) = (self.area.left as f32, self.area.top as f32);
        let near = |(x, y): Point| ((x - left).clamp(-FARTHEST, FARTHEST), (y - top).clamp(-FARTHEST, FARTHEST));
        let (from, to) = (near(from), near(to));
        let (direction, (x0, y0), (x1, y1)) = if from.1 < to.1 { (1.0, from, to) } else { (-1.0, to, from) };
        if y0 >= y1 {
            return Ok(());
        }
        let slope = (x1 - x0) / (y1 - y0);
        let first = y0.max(0.0) as usize;
        let last = (y1.ceil().max(0.0) as usize).min(self.area.height());
        self.budget.spend(2 + last.saturating_sub(first))?;
        let widest = self.area.width() as f32;
        let mut x = if y0 < 0.0 { x0 - y0 * slope } else { x0 };
        for y in first..last {
            let height = (y as f32 + 1.0).min(y1) - (y as f32).max(y0);
            let next = x + slope * height;
            let (low, high) = if x < next { (x, next) } else { (next, x) };
            self.segment(y, low.clamp(0.0, widest), high.clamp(0.0, widest), height * direction)?;
            x = next;
        }
        Ok(())
    }

    /// One row's part of a line, from `low` to `high`, which spans a signed height.
    fn segment(&mut self, y: usize, low: f32, high: f32, height: f32) -> Result<(), DocumentError> {
        let start = y * self.stride;
        let Some(row) = self.sums.get_mut(start..start + self.stride) else { return Ok(()) };
        let mut add = |index: usize, amount: f32| {
            if let Some(sum) = row.get_mut(index) {
                *sum += amount;
            }
        };
        let (floor, ceiling) = (low.floor(), high.ceil());
        let (first, last) = (floor as usize, ceiling as usize);
        if last <= first + 1 {
            let middle = 0.5 * (low + high) - floor;
            add(first, height - height * middle);
            add(first + 1, height * middle);
            return Ok(());
        }
        self.budget.spend(last - first)?;
        let per_pixel = 1.0 / (high - low);
        let (after_first, into_last) = (1.0 - (low - floor), high - ceiling + 1.0);
        let in_first = 0.5 * per_pixel * after_first * after_first;
        let beyond_last = 0.5 * per_pixel * into_last * into_last;
        add(first, height * in_first);
        if last == first + 2 {
            add(first + 1, height * (1.0 - in_first - beyond_last));
        } else {
            let through_second = per_pixel * (after_first + 0.5);
            add(first + 1, height * (through_second - in_first));
            for x in first + 2..last - 1 {
                add(x, height * per_pixel);
            }
            let through_all = through_second + (last - first - 3) as f32 * per_pixel;
            add(last - 1, height * (1.0 - through_all - beyond_last));
        }
        add(last, height * beyond_last);
        Ok(())
    }

    fn finish(self, rule: FillRule) -> Mask {
        let width = self.area.width();
        let mut coverage = Vec::with_capacity(width * self.area.height());
        for row in self.sums.chunks(self.stride) {
            let mut sum = 0.0_f32;
            coverage.extend(row.iter().take(width).map(|part| {
                sum += part;
                let wound = sum.abs();
                let covered = match rule {
                    FillRule::NonZero => wound.min(1.0),
                    FillRule::EvenOdd => {
                        let rest = wound % 2.0;
                        if rest > 1.0 { 2.0 - rest } else { rest }
                    }
                };
                (covered * 255.0 + 0.5) as u8
            }));
        }
        Mask { area: self.area, coverage }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: Area = Area { left: 0, top: 0, right: 10, bottom: 10 };

    fn rectangle(left: f32, top: f32, right: f32, bottom: f32) -> Contour {
        vec![(left, top), (right, top), (right, bottom), (left, bottom)]
    }

    fn total(contours: &[Contour], rule: FillRule) -> u32 {
        let mask = fill(contours, rule, PAGE, &Budget::new()).unwrap();
        mask.map_or(0, |mask| mask.coverage.iter().map(|covered| u32::from(*covered)).sum::<u32>() / 255)
    }

    #[test]
    fn areas_are_exact() {
        assert_eq!(total(&[rectangle(1.0, 1.0, 4.0, 3.0)], FillRule::NonZero), 6);
        assert_eq!(total(&[rectangle(-5.0, -5.0, 4.0, 3.0)], FillRule::NonZero), 12);
        assert_eq!(total(&[rectangle(-50.0, -50.0, 50.0, 50.0)], FillRule::NonZero), 100);
        assert_eq!(total(&[rectangle(20.0, 1.0, 30.0, 3.0)], FillRule::NonZero), 0);
        assert_eq!(total(&[vec![(0.0, 0.0), (8.0, 0.0), (0.0, 8.0)]], FillRule::NonZero), 32);
        assert_eq!(total(&[vec![(f32::NAN, 0.0), (8.0, 0.0), (0.0, 8.0)]], FillRule::NonZero), 0);
        let nested = [rectangle(0.0, 0.0, 4.0, 4.0), rectangle(1.0, 1.0, 3.0, 3.0)];
        assert_eq!((total(&nested, FillRule::NonZero), total(&nested, FillRule::EvenOdd)), (16, 12));
    }

    #[test]
    fn lines_are_as_wide_as_the_pen() {
        let line = vec![vec![(0.0, 5.0), (10.0, 5.0)]];
        let mask = stroke(&line, 4.0, false, PAGE, &Budget::new()).unwrap().unwrap();
        assert_eq!((mask.at(5, 3), mask.at(5, 6), mask.at(5, 1), mask.at(5, 8)), (255, 255, 0, 0));
    }
}
