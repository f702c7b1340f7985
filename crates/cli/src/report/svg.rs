//! Charts as SVG: bars of scores, drawn here and needing nothing from elsewhere.

use std::fmt::Write;

use super::html::text;
use crate::output::text::cut;

const LABEL: f64 = 260.0;
const BAR: f64 = 420.0;
const HEIGHT: f64 = 26.0;
const LABEL_COLUMNS: usize = 38;

/// One bar: its label, how long it is (0 to 1), what stands beside it, and its interval where there is one.
pub(crate) struct Bar {
    pub(crate) label: String,
    pub(crate) length: Option<f64>,
    pub(crate) class: &'static str,
    pub(crate) interval: Option<(f64, f64)>,
    /// Values that are marked on the track.
    pub(crate) marks: Vec<f64>,
}

pub(crate) fn bars(title: &str, bars: &[Bar]) -> String {
    let (width, height) = (LABEL + BAR + 80.0, HEIGHT * bars.len() as f64 + 8.0);
    let title = text(title);
    let mut svg = format!(
        "<svg role=\"img\" aria-label=\"{title}\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\">"
    );
    for (place, bar) in bars.iter().enumerate() {
        draw(&mut svg, bar, HEIGHT * place as f64 + 4.0);
    }
    svg.push_str("</svg>");
    svg
}

fn draw(svg: &mut String, bar: &Bar, top: f64) {
    let (middle, thick) = (top + HEIGHT / 2.0, HEIGHT - 10.0);
    let _ = write!(
        svg,
        "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>",
        LABEL - 8.0,
        middle + 4.0,
        text(&cut(&bar.label, LABEL_COLUMNS))
    );
    let _ = write!(svg, "<rect class=\"track\" x=\"{LABEL}\" y=\"{}\" width=\"{BAR}\" height=\"{thick}\"/>", top + 5.0);
    for mark in &bar.marks {
        let place = LABEL + mark.clamp(0.0, 1.0) * BAR;
        let _ = write!(svg, "<path class=\"mark\" d=\"M{place:.1} {:.1}v{:.1}\"/>", top + 2.0, HEIGHT - 4.0);
    }
    let Some(length) = bar.length else { return };
    let drawn = (length.clamp(0.0, 1.0) * BAR).max(1.0);
    let _ = write!(
        svg,
        "<rect class=\"{}\" x=\"{LABEL}\" y=\"{}\" width=\"{drawn:.1}\" height=\"{thick}\"/>",
        bar.class,
        top + 5.0
    );
    if let Some((low, high)) = bar.interval {
        let (left, right) = (LABEL + low * BAR, LABEL + high * BAR);
        let _ = write!(
            svg,
            "<path class=\"whisker\" d=\"M{left:.1} {middle:.1}H{right:.1}M{left:.1} {0:.1}v8M{right:.1} {0:.1}v8\"/>",
            middle - 4.0
        );
    }
    let _ = write!(svg, "<text x=\"{}\" y=\"{}\">{length:.4}</text>", LABEL + BAR + 8.0, middle + 4.0);
}
