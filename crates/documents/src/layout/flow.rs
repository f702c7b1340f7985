//! Places lines and blocks one below the other, on as many pages as they need.

use super::mark::{Mark, PAGE_HEIGHT, PAGE_WIDTH, Run, Shade, Style};
use super::wrap::wrap;
use crate::error::DocumentError;
use crate::font::Fonts;

pub(crate) const LEFT: f32 = 62.0;
pub(crate) const RIGHT: f32 = PAGE_WIDTH - LEFT;
pub(crate) const TEXT_WIDTH: f32 = RIGHT - LEFT;
const TOP: f32 = 54.0;
/// From the last line of the footer to the edge of the paper.
const MARGIN_BELOW: f32 = 36.0;

pub(crate) type Page = Vec<Mark>;

pub(crate) struct Flow<'a> {
    pub(crate) fonts: &'a Fonts,
    pub(crate) pages: Vec<Page>,
    /// The position of the next line or block.
    pub(crate) y: f32,
    most_pages: usize,
    /// At the top of every page but the first.
    continued: String,
    footer: Vec<String>,
}

impl<'a> Flow<'a> {
    pub(crate) fn new(fonts: &'a Fonts, continued: &str, footer: &str, most_pages: usize) -> Self {
        let small = |text: &str, width: f32| wrap(&fonts.regular, text, Style::SMALL.size, width);
        let continued = small(continued, TEXT_WIDTH - 60.0).into_iter().next().unwrap_or_default();
        let footer = small(footer, TEXT_WIDTH - 90.0);
        Self { fonts, pages: vec![Page::new()], y: TOP, most_pages, continued, footer }
    }

    /// The text of the footer on every page.
    fn footer_top(&self) -> f32 {
        PAGE_HEIGHT - MARGIN_BELOW - Style::SMALL.leading() * self.footer.len() as f32
    }

    fn bottom(&self) -> f32 {
        self.footer_top() - 14.0
    }

    pub(crate) fn left_on_page(&self) -> f32 {
        self.bottom() - self.y
    }

    /// The maximum height of a block on one page.
    pub(crate) fn whole_page(&self) -> f32 {
        self.bottom() - TOP - 60.0
    }

    /// Starts a new page if the height does not fit on this one.
    pub(crate) fn need(&mut self, height: f32) -> Result<(), DocumentError> {
        if height <= self.left_on_page() || self.is_at_top() {
            return Ok(());
        }
        self.new_page()
    }

    fn is_at_top(&self) -> bool {
        self.y <= TOP
    }

    pub(crate) fn new_page(&mut self) -> Result<(), DocumentError> {
        if self.pages.len() >= self.most_pages {
            return Err(DocumentError::TooManyPages { max: self.most_pages });
        }
        self.pages.push(Page::new());
        self.y = TOP;
        let continued = format!("{} (continued)", self.continued);
        self.put(LEFT, self.y, &continued, Style::SMALL);
        self.y += Style::SMALL.leading() + 2.0;
        self.bar(LEFT, self.y, TEXT_WIDTH, 0.5, Shade::Grey);
        self.y += 12.0;
        Ok(())
    }

    /// Vertical space, which is left out at the top of a page.
    pub(crate) fn skip(&mut self, height: f32) {
        if !self.is_at_top() {
            self.y += height;
        }
    }

    /// A line of text with its top at `y`.
    pub(crate) fn put(&mut self, x: f32, y: f32, text: &str, style: Style) {
        if !text.is_empty() {
            self.mark(Mark::Text(Run { x, baseline: y + style.ascent(), text: text.to_owned(), style }));
        }
    }

    pub(crate) fn bar(&mut self, x: f32, y: f32, width: f32, height: f32, shade: Shade) {
        self.mark(Mark::Bar { x, y, width, height, shade });
    }

    pub(crate) fn mark(&mut self, mark: Mark) {
        if let Some(page) = self.pages.last_mut() {
            page.push(mark);
        }
    }

    pub(crate) fn lines(&self, text: &str, style: Style, width: f32) -> Vec<String> {
        wrap(self.fonts.of(style.weight), text, style.size, width)
    }

    /// Wrapped text with an indent. A blank line has half the height of a line. A paragraph does not leave a single line
    /// at the end of a page.
    pub(crate) fn paragraphs(&mut self, text: &str, style: Style, indent: f32) -> Result<(), DocumentError> {
        let lines = self.lines(text, style, TEXT_WIDTH - indent);
        for (index, line) in lines.iter().enumerate() {
            if line.is_empty() {
                self.skip(style.leading() / 2.0);
                continue;
            }
            let is_first = index == 0 || lines.get(index - 1).is_none_or(String::is_empty);
            let has_more = lines.get(index + 1).is_some_and(|next| !next.is_empty());
            let together = if is_first && has_more { 2.0 } else { 1.0 };
            self.need(style.leading() * together)?;
            self.put(LEFT + indent, self.y, line, style);
            self.y += style.leading();
        }
        Ok(())
    }

    /// Adds the footer and number to every page.
    pub(crate) fn finish(mut self) -> Vec<Page> {
        let (count, top, style) = (self.pages.len(), self.footer_top(), Style::SMALL);
        for (index, page) in self.pages.iter_mut().enumerate() {
            page.push(Mark::Bar { x: LEFT, y: top - 5.0, width: TEXT_WIDTH, height: 0.5, shade: Shade::Grey });
            let number = format!("Page {} of {count}", index + 1);
            let width = self.fonts.regular.width(&number, style.size);
            let at = |x: f32, line: usize, text: &str| {
                let baseline = top + style.leading() * line as f32 + style.ascent();
                Mark::Text(Run { x, baseline, text: text.to_owned(), style })
            };
            let mut footer = self.footer.iter().enumerate().filter(|(_, text)| !text.is_empty());
            // The number comes after the first line, in reading order.
            page.extend(footer.next().map(|(line, text)| at(LEFT, line, text)));
            page.push(at(RIGHT - width, 0, &number));
            page.extend(footer.map(|(line, text)| at(LEFT, line, text)));
        }
        self.pages
    }
}
