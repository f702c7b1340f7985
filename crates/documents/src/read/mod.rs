//! Extracts text and pictures from documents.

mod budget;
mod dimensions;
mod filter;
mod pdf;
mod tiff;

use std::ops::ControlFlow;

use crate::error::DocumentError;
use crate::picture::Png;
use budget::{Budget, MAX_FILE_SIZE, STEPS};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    Pdf,
    Tiff,
    Png,
    Jpeg,
}

/// The text of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtractedText {
    pub kind: FileKind,
    /// The text of each page. Empty for a page without a text layer.
    pub pages: Vec<String>,
}

impl ExtractedText {
    /// Whether no page has text, so that only OCR can read the file.
    pub fn needs_ocr(&self) -> bool {
        self.pages.iter().all(|page| page.trim().is_empty())
    }

    /// The text of all pages, separated by form feeds.
    pub fn joined(&self) -> String {
        self.pages.join("\u{c}")
    }
}

/// The picture of a page, for OCR and for display.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageImage {
    /// From 1.
    pub page: usize,
    pub content_type: &'static str,
    pub bytes: Vec<u8>,
    /// The horizontal resolution, if the file has it. OCR needs it, because it estimates it badly.
    pub dots_per_inch: Option<u32>,
}

impl PageImage {
    /// The number of pixels according to the picture's header.
    pub fn pixels(&self) -> u64 {
        dimensions::of(&self.bytes).map_or(0, |(width, height)| width.saturating_mul(height))
    }

    pub(crate) fn png(page: usize, png: Png, dots_per_inch: Option<u32>) -> Self {
        Self { page, content_type: "image/png", bytes: png.0, dots_per_inch }
    }
}

impl FileKind {
    pub fn content_type(self) -> &'static str {
        match self {
            Self::Pdf => "application/pdf",
            Self::Tiff => "image/tiff",
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
        }
    }
}

/// Detects the kind of a file by its first bytes. A PDF may have up to a kilobyte of other data before it.
pub fn kind(bytes: &[u8]) -> Option<FileKind> {
    if bytes.starts_with(b"II*\0") || bytes.starts_with(b"MM\0*") {
        return Some(FileKind::Tiff);
    }
    if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        return Some(FileKind::Png);
    }
    if bytes.starts_with(b"\xff\xd8\xff") {
        return Some(FileKind::Jpeg);
    }
    let start = bytes.get(..1024 + 5).unwrap_or(bytes);
    start.windows(5).any(|window| window == b"%PDF-").then_some(FileKind::Pdf)
}

/// Extracts the text layer. A missing text layer is not an error: see [`ExtractedText::needs_ocr`].
pub fn text(bytes: &[u8]) -> Result<ExtractedText, DocumentError> {
    read_text(bytes, &Budget::new())
}

/// The same as [`text`], with its cost in steps, for callers that limit the total cost of several files. One file
/// costs at most 400 million steps, which takes seconds.
pub fn text_and_cost(bytes: &[u8]) -> (Result<ExtractedText, DocumentError>, u64) {
    let budget = Budget::new();
    let read = read_text(bytes, &budget);
    (read, STEPS - budget.left())
}

/// Extracts the text that a person would see: the text layer without text that is invisible, covered, off the page, too small or
/// too faint. A page that is a picture has none: see [`ExtractedText::needs_ocr`].
pub fn visible_text(bytes: &[u8]) -> Result<ExtractedText, DocumentError> {
    read_pages(bytes, |bytes| pdf::visible_text(bytes, &Budget::new()))
}

/// The same as [`visible_text`], with its cost in steps.
pub fn visible_text_and_cost(bytes: &[u8]) -> (Result<ExtractedText, DocumentError>, u64) {
    let budget = Budget::new();
    let read = read_pages(bytes, |bytes| pdf::visible_text(bytes, &budget));
    (read, STEPS - budget.left())
}

/// Describes the first content of a document that is not clear text, with the cost in steps: a picture, a drawing, an
/// annotation, faint text, an attached file. Thin rules and light bands as in tables are allowed.
pub fn non_text_content_and_cost(bytes: &[u8]) -> (Result<Option<String>, DocumentError>, u64) {
    let budget = Budget::new();
    let found = bounded_file_kind(bytes).and_then(|kind| match kind {
        FileKind::Pdf => pdf::non_text_content(bytes, &budget).map(|found| {
            found.map(|(page, what)| if page == 0 { what.to_owned() } else { format!("{what} on page {page}") })
        }),
        FileKind::Tiff | FileKind::Png | FileKind::Jpeg => Ok(Some("a picture".to_owned())),
    });
    (found, STEPS - budget.left())
}

/// Whether all pages of two documents look the same, with the cost in steps. Pictures are compared by their pixels.
pub fn same_appearance_and_cost(one: &[u8], two: &[u8]) -> (Result<bool, DocumentError>, u64) {
    if one == two {
        return (Ok(true), (one.len() / 8) as u64);
    }
    let budgets = [Budget::new(), Budget::new()];
    let compared = || match (bounded_file_kind(one)?, bounded_file_kind(two)?) {
        (FileKind::Pdf, FileKind::Pdf) => pdf::have_same_appearance([one, two], [&budgets[0], &budgets[1]]),
        (FileKind::Tiff, FileKind::Tiff) => {
            let (pages, others) = (tiff::images(one, &budgets[0])?, tiff::images(two, &budgets[1])?);
            let is_whole = pages.len() == tiff::count(one)? && others.len() == tiff::count(two)?;
            Ok(is_whole && pages == others)
        }
        // Other pictures are only the same if their bytes are equal, which was checked above.
        _ => Ok(false),
    };
    let compared = compared();
    (compared, budgets.iter().map(|budget| STEPS - budget.left()).sum())
}

fn read_text(bytes: &[u8], budget: &Budget) -> Result<ExtractedText, DocumentError> {
    read_pages(bytes, |bytes| pdf::text(bytes, budget))
}

fn read_pages(
    bytes: &[u8],
    read: impl Fn(&[u8]) -> Result<Vec<String>, DocumentError>,
) -> Result<ExtractedText, DocumentError> {
    let kind = bounded_file_kind(bytes)?;
    let pages = match kind {
        FileKind::Pdf => read(bytes)?,
        FileKind::Tiff => vec![String::new(); tiff::count(bytes)?],
        FileKind::Png | FileKind::Jpeg => vec![String::new()],
    };
    Ok(ExtractedText { kind, pages })
}

/// The pages as pictures: the pages of a TIFF, or the pictures of the scanned pages of a PDF. Other pages of a PDF have none,
/// because this crate does not render them.
pub fn images(bytes: &[u8]) -> Result<Vec<PageImage>, DocumentError> {
    match bounded_file_kind(bytes)? {
        FileKind::Pdf => pdf::images(bytes, &Budget::new()),
        FileKind::Tiff => tiff::images(bytes, &Budget::new()),
        kind @ (FileKind::Png | FileKind::Jpeg) => {
            if !dimensions::are_bounded(bytes) {
                return Err(DocumentError::TooLarge("the picture has too many pixels, or does not say how many"));
            }
            let (content_type, bytes) = (kind.content_type(), bytes.to_vec());
            Ok(vec![PageImage { page: 1, content_type, bytes, dots_per_inch: None }])
        }
    }
}

/// A picture of one page, from 1: its scanned picture, or else its text printed again. None if there is no
/// such page, or its encoding is not supported.
pub fn page(bytes: &[u8], number: usize) -> Result<Option<PageImage>, DocumentError> {
    if bounded_file_kind(bytes)? == FileKind::Pdf {
        return pdf::page(bytes, number, &Budget::new());
    }
    let mut found = Ok(None);
    visit_page_images(bytes, &[number], &mut |_, page| {
        found = page;
        ControlFlow::Break(())
    })?;
    found
}

/// Receives the number and picture of a page. None if the page is not a scan, or its encoding is not supported.
pub type PageVisitor<'a> = dyn FnMut(usize, Result<Option<PageImage>, DocumentError>) -> ControlFlow<()> + 'a;

/// Calls `visit` with the pictures of some pages, from 1. One is in memory at a time, and they share one budget
/// of steps.
pub fn visit_page_images(bytes: &[u8], numbers: &[usize], visit: &mut PageVisitor<'_>) -> Result<(), DocumentError> {
    let budget = Budget::new();
    match bounded_file_kind(bytes)? {
        FileKind::Pdf => pdf::scan(bytes, numbers, &budget, visit),
        FileKind::Tiff => tiff::scan(bytes, numbers, &budget, visit),
        FileKind::Png | FileKind::Jpeg => {
            let wanted = images(bytes)?.into_iter().filter(|image| numbers.contains(&image.page));
            let _ =
                wanted.map(|image| (image.page, Ok(Some(image)))).try_for_each(|(number, image)| visit(number, image));
            Ok(())
        }
    }
}

fn bounded_file_kind(bytes: &[u8]) -> Result<FileKind, DocumentError> {
    if bytes.len() > MAX_FILE_SIZE {
        return Err(DocumentError::TooLarge("it has more than 64 MiB"));
    }
    kind(bytes).ok_or(DocumentError::UnknownKind)
}
