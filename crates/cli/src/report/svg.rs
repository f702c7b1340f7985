//! Draws bar charts of scores as self-contained SVG.

use std::fmt::Write;

use super::html::text;
use crate::output::text::truncate;

/// The chart fits a small phone, so that labels are not scaled down. Labels are above their bars.
const BAR: f64 = 270.0;
const VALUE: f64 = 56.0;
const LABEL: f64 = 18.0;
const HEIGHT: f64 = 44.0;
const LABEL_COLUMNS: usize = 46;

/// One bar: its label, length (0 to 1), CSS class, and confidence interval if there is one.
pub(crate) struct Bar {
    pub(crate) label: String,
    pub(crate) length: Option<f64>,
    pub(crate) class: &'static str,
    pub(crate) interval: Option<(f64, f64)>,
    /// Values that are marked on the bar.
    pub(crate) marks: Vec<f64>,
}

pub(crate) fn bars(title: &str, bars: &[Bar]) -> String {
    let (width, height) = (BAR + VALUE, HEIGHT * bars.len() as f64 + 8.0);
    let title = text(title);
    let mut svg = format!(
        "<svg role=\"img\" aria-label=\"{title}\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\">"
    );
    for (index, bar) in bars.iter().enumerate() {
        draw(&mut svg, bar, HEIGHT * index as f64 + 4.0);
    }
    svg.push_str("</svg>");
    svg
}

fn draw(svg: &mut String, bar: &Bar, top: f64) {
    let (bar_top, thickness) = (top + LABEL, 16.0);
    let middle = bar_top + thickness / 2.0;
    let label = text(&truncate(&bar.label, LABEL_COLUMNS));
    let _ = write!(svg, "<text x=\"0\" y=\"{}\">{label}</text>", top + 13.0);
    let _ = write!(svg, "<rect class=\"track\" x=\"0\" y=\"{bar_top}\" width=\"{BAR}\" height=\"{thickness}\"/>");
    for mark in &bar.marks {
        let x = mark.clamp(0.0, 1.0) * BAR;
        let _ = write!(svg, "<path class=\"mark\" d=\"M{x:.1} {:.1}v{:.1}\"/>", bar_top - 3.0, thickness + 6.0);
    }
    let Some(length) = bar.length else { return };
    let bar_width = (length.clamp(0.0, 1.0) * BAR).max(1.0);
    let _ = write!(
        svg,
        "<rect class=\"{}\" x=\"0\" y=\"{bar_top}\" width=\"{bar_width:.1}\" height=\"{thickness}\"/>",
        bar.class
    );
    if let Some((low, high)) = bar.interval {
        let (left, right) = (low * BAR, high * BAR);
        let _ = write!(
            svg,
            "<path class=\"whisker\" d=\"M{left:.1} {middle:.1}H{right:.1}M{left:.1} {0:.1}v8M{right:.1} {0:.1}v8\"/>",
            middle - 4.0
        );
    }
    let _ = write!(svg, "<text x=\"{}\" y=\"{}\">{length:.4}</text>", BAR + 8.0, middle + 4.0);
}
