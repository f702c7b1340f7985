//! The marks on a page, in points relative to its upper left corner.

use crate::font::Weight;
use crate::handwriting::Stroke;

/// US letter.
pub(crate) const PAGE_WIDTH: f32 = 612.0;
pub(crate) const PAGE_HEIGHT: f32 = 792.0;

#[derive(Clone, Debug)]
pub(crate) enum Mark {
    Text(Run),
    /// A filled rectangle. Lines are thin rectangles.
    Bar {
        x: f32,
        y: f32,
        width: f32,
        height: f32,
        shade: Shade,
    },
    /// Handwriting, which is a picture in every format.
    Ink {
        x: f32,
        y: f32,
        width: f32,
        height: f32,
        strokes: Vec<Stroke>,
    },
}

#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub(crate) x: f32,
    /// The position of the baseline.
    pub(crate) baseline: f32,
    pub(crate) text: String,
    pub(crate) style: Style,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Style {
    pub(crate) weight: Weight,
    pub(crate) size: f32,
    pub(crate) shade: Shade,
    pub(crate) is_slanted: bool,
}

/// The slant of oblique letters: the shift to the right for each point up.
pub(crate) const SLANT: f32 = 0.21;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shade {
    Black,
    Grey,
    /// The background of table headings, which scanners and fax machines do not reproduce.
    Light,
}

impl Shade {
    /// From 0, black, to 1, white.
    pub(crate) fn level(self) -> f32 {
        match self {
            Self::Black => 0.0,
            Self::Grey => 0.35,
            Self::Light => 0.92,
        }
    }
}

impl Style {
    pub(crate) const BODY: Self = Self::new(Weight::Regular, 10.0);
    pub(crate) const STRONG: Self = Self::new(Weight::Bold, 10.0);
    pub(crate) const TITLE: Self = Self::new(Weight::Bold, 15.0);
    pub(crate) const HEADING: Self = Self::new(Weight::Bold, 11.0);
    pub(crate) const LETTERHEAD: Self = Self::new(Weight::Bold, 16.0);
    pub(crate) const CELL: Self = Self::new(Weight::Regular, 9.0);
    pub(crate) const CELL_HEADING: Self = Self::new(Weight::Bold, 9.0);
    pub(crate) const SMALL: Self = Self { shade: Shade::Grey, ..Self::new(Weight::Regular, 8.5) };
    pub(crate) const SIGNED: Self = Self { is_slanted: true, ..Self::new(Weight::Regular, 12.0) };

    const fn new(weight: Weight, size: f32) -> Self {
        Self { weight, size, shade: Shade::Black, is_slanted: false }
    }

    /// From one line to the next.
    pub(crate) fn leading(self) -> f32 {
        self.size * 1.32
    }

    /// From the top of a line to its baseline.
    pub(crate) fn ascent(self) -> f32 {
        self.size * 0.98
    }
}
