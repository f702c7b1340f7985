//! The signature line at the end: signed by name, by hand, or not at all.

use super::flow::{Flow, LEFT, RIGHT};
use super::mark::{Mark, Shade, Style};
use crate::error::DocumentError;
use crate::font::settable;
use crate::handwriting;
use crate::specification::{Document, Signature};

const LABEL_WIDTH: f32 = 62.0;
const LINE_WIDTH: f32 = 230.0;
const DATE_WIDTH: f32 = 120.0;
/// The height above the line.
const ROOM: f32 = 34.0;

pub(super) fn set(flow: &mut Flow<'_>, document: &Document) -> Result<(), DocumentError> {
    let signer = document.signer.as_deref().unwrap_or_default();
    let below = flow.lines(signer, Style::BODY, RIGHT - LEFT - LABEL_WIDTH - DATE_WIDTH);
    let leading = Style::BODY.leading();
    flow.skip(18.0);
    let dates = flow.lines(document.signed_on.as_deref().unwrap_or_default(), Style::BODY, DATE_WIDTH);
    let height = 3.0 + leading * below.len().max(dates.len().saturating_sub(1)) as f32;
    flow.need(ROOM + height)?;
    let x = LEFT + LABEL_WIDTH;
    let line = flow.y + ROOM;
    flow.put(LEFT, line - leading, "Signature:", Style::STRONG);
    match document.signature {
        Signature::Missing => {}
        Signature::Present => signed(flow, x, line, signer),
        Signature::Scanned => {
            let strokes = handwriting::signature(signer);
            flow.mark(Mark::Ink { x: x + 6.0, y: line - ROOM + 2.0, width: 170.0, height: ROOM + 6.0, strokes });
        }
    }
    flow.bar(x, line, LINE_WIDTH, 0.6, Shade::Black);
    for (index, text) in below.iter().enumerate() {
        flow.put(x, line + 3.0 + leading * index as f32, text, Style::BODY);
    }
    if document.signed_on.is_some() {
        dated(flow, line, &dates);
    }
    flow.y = line + height;
    Ok(())
}

/// The name as in a conformed copy, scaled to fit the line.
fn signed(flow: &mut Flow<'_>, x: f32, line: f32, signer: &str) {
    let text = format!("/s/ {}", settable(signer)).trim_end().to_owned();
    let mut style = Style::SIGNED;
    let width = flow.fonts.regular.width(&text, style.size);
    style.size *= (LINE_WIDTH / width).min(1.0);
    flow.put(x + 4.0, line - style.size * 1.3, &text, style);
}

fn dated(flow: &mut Flow<'_>, line: f32, dates: &[String]) {
    let leading = Style::BODY.leading();
    let x = RIGHT - DATE_WIDTH - 36.0;
    flow.put(x, line - leading, "Date:", Style::STRONG);
    flow.bar(x + 32.0, line, DATE_WIDTH, 0.6, Shade::Black);
    // A date that does not fit goes below the line.
    for (index, text) in dates.iter().enumerate() {
        let y = if index == 0 { line - leading } else { line + 3.0 + leading * (index - 1) as f32 };
        flow.put(x + 34.0, y, text, Style::BODY);
    }
}
