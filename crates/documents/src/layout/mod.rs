//! Lays out a document on its pages.

mod fields;
mod flow;
pub(crate) mod mark;
mod signature;
mod table;
mod wrap;

pub(crate) use flow::Page;
use flow::{Flow, LEFT, RIGHT, TEXT_WIDTH};
use mark::{Shade, Style};

use crate::error::DocumentError;
use crate::font::Fonts;
use crate::specification::{Document, Letterhead, Section};

pub(crate) fn pages(document: &Document, fonts: &Fonts, most_pages: usize) -> Result<Vec<Page>, DocumentError> {
    let mut flow = Flow::new(fonts, &document.title, document.footer.as_deref().unwrap_or_default(), most_pages);
    if let Some(letterhead) = &document.letterhead {
        set_letterhead(&mut flow, letterhead)?;
    }
    if let Some(date) = &document.date {
        flow.paragraphs(date, Style::BODY, 0.0)?;
        flow.skip(10.0);
    }
    if !document.recipient.is_empty() {
        flow.paragraphs(&document.recipient.join("\n"), Style::BODY, 0.0)?;
        flow.skip(14.0);
    }
    flow.paragraphs(&document.title, Style::TITLE, 0.0)?;
    flow.skip(6.0);
    if !document.header.is_empty() {
        flow.bar(LEFT, flow.y, TEXT_WIDTH, 0.8, Shade::Black);
        flow.y += 7.0;
        fields::set(&mut flow, &document.header)?;
        flow.y += 3.0;
        flow.bar(LEFT, flow.y, TEXT_WIDTH, 0.8, Shade::Black);
        flow.y += 4.0;
    }
    for section in &document.sections {
        set_section(&mut flow, section)?;
    }
    signature::set(&mut flow, document)?;
    Ok(flow.finish())
}

/// Centered, with a double rule below.
fn set_letterhead(flow: &mut Flow<'_>, letterhead: &Letterhead) -> Result<(), DocumentError> {
    let mut lines = vec![(letterhead.name.as_str(), Style::LETTERHEAD)];
    lines.extend(letterhead.lines.iter().map(|line| (line.as_str(), Style::SMALL)));
    for (text, style) in lines {
        for line in flow.lines(text, style, TEXT_WIDTH) {
            flow.need(style.leading())?;
            let width = flow.fonts.of(style.weight).width(&line, style.size);
            flow.put((LEFT + RIGHT - width) / 2.0, flow.y, &line, style);
            flow.y += style.leading();
        }
    }
    flow.y += 5.0;
    flow.bar(LEFT, flow.y, TEXT_WIDTH, 1.6, Shade::Black);
    flow.bar(LEFT, flow.y + 3.0, TEXT_WIDTH, 0.5, Shade::Black);
    flow.y += 20.0;
    Ok(())
}

fn set_section(flow: &mut Flow<'_>, section: &Section) -> Result<(), DocumentError> {
    flow.skip(12.0);
    if let Some(heading) = &section.heading {
        // A heading stays on the same page as its first lines.
        flow.need(Style::HEADING.leading() + Style::BODY.leading() * 3.0)?;
        flow.paragraphs(heading, Style::HEADING, 0.0)?;
        flow.y += 2.0;
    }
    if let Some(text) = &section.text {
        flow.paragraphs(text, Style::BODY, 0.0)?;
    }
    if !section.fields.is_empty() {
        flow.skip(3.0);
        fields::set(flow, &section.fields)?;
    }
    for item in &section.list {
        flow.need(Style::BODY.leading())?;
        flow.put(LEFT + 6.0, flow.y, "•", Style::BODY);
        flow.paragraphs(item, Style::BODY, 18.0)?;
        flow.y += 1.5;
    }
    if let Some(table) = &section.table {
        flow.skip(4.0);
        table::set(flow, table)?;
    }
    Ok(())
}
