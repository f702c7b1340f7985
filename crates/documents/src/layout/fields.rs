//! Lays out labels with their values, in two columns as on a form.

use serde_json::{Map, Value};

use super::flow::{Flow, LEFT, TEXT_WIDTH};
use super::mark::Style;
use crate::error::DocumentError;
use crate::font::settable;
use crate::specification::plain;

const GAP: f32 = 8.0;
const GUTTER: f32 = 18.0;
const WIDEST_LABEL: f32 = 130.0;

/// Puts two fields side by side if both are short, else one below the other.
pub(super) fn set(flow: &mut Flow<'_>, fields: &Map<String, Value>) -> Result<(), DocumentError> {
    let fields: Vec<(String, String)> =
        fields.iter().map(|(label, value)| (format!("{}:", settable(label)), plain(value))).collect();
    let half = (TEXT_WIDTH - GUTTER) / 2.0;
    let labels = fields.iter().map(|(label, _)| flow.fonts.bold.width(label, Style::STRONG.size));
    let label_width = labels.fold(40.0, f32::max).min(WIDEST_LABEL);
    let is_short = |flow: &Flow<'_>, field: Option<&(String, String)>| {
        field.is_some_and(|(label, value)| {
            !value.contains('\n')
                && flow.fonts.bold.width(label, Style::STRONG.size) <= label_width
                && flow.fonts.regular.width(&settable(value), Style::BODY.size) <= half - label_width - GAP
        })
    };
    let mut index = 0;
    while let Some(field) = fields.get(index) {
        let second = fields.get(index + 1);
        if let Some(second) = second.filter(|_| is_short(flow, Some(field)) && is_short(flow, second)) {
            flow.need(Style::BODY.leading())?;
            let y = flow.y;
            one(flow, LEFT, label_width, half, field)?;
            flow.y = y;
            one(flow, LEFT + half + GUTTER, label_width, half, second)?;
            index += 2;
        } else {
            one(flow, LEFT, label_width, TEXT_WIDTH, field)?;
            index += 1;
        }
        flow.y += 2.5;
    }
    Ok(())
}

fn one(
    flow: &mut Flow<'_>,
    x: f32,
    label_width: f32,
    width: f32,
    (label, value): &(String, String),
) -> Result<(), DocumentError> {
    let leading = Style::BODY.leading();
    let labels = flow.lines(label, Style::STRONG, label_width);
    let values = flow.lines(value, Style::BODY, width - label_width - GAP);
    flow.need(leading * labels.len() as f32)?;
    for (line, label) in labels.iter().enumerate() {
        flow.put(x, flow.y + leading * line as f32, label, Style::STRONG);
    }
    let below = flow.y + leading * labels.len() as f32;
    for (line, value) in values.iter().enumerate() {
        if line >= labels.len() {
            flow.need(leading)?;
        }
        flow.put(x + label_width + GAP, flow.y, value, Style::BODY);
        flow.y += leading;
    }
    // The value is shorter than its label.
    if values.len() < labels.len() {
        flow.y = below;
    }
    Ok(())
}
