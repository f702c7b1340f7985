//! Text and pictures of files that others made.

mod budget;
mod dimensions;
mod filter;
mod pdf;
mod tiff;

use std::ops::ControlFlow;

use crate::fault::Fault;
use crate::picture::Png;
use budget::{Budget, LARGEST_FILE, STEPS};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Pdf,
    Tiff,
    Png,
    Jpeg,
}

/// What a file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    pub kind: Kind,
    /// For each page what its text layer says; empty where there is none.
    pub pages: Vec<String>,
}

impl Text {
    /// Whether nobody can tell what the file says without looking at its pictures.
    pub fn needs_ocr(&self) -> bool {
        self.pages.iter().all(|page| page.trim().is_empty())
    }

    /// All pages, with a form feed between them.
    pub fn joined(&self) -> String {
        self.pages.join("\u{c}")
    }
}

/// A picture that fills a page, for OCR and for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageImage {
    /// From 1.
    pub page: usize,
    pub content_type: &'static str,
    pub bytes: Vec<u8>,
    /// Across, where the file tells: OCR guesses badly.
    pub dots_per_inch: Option<u32>,
}

impl PageImage {
    /// How many there are, by what the picture itself says.
    pub fn pixels(&self) -> u64 {
        dimensions::of(&self.bytes).map_or(0, |(width, height)| width.saturating_mul(height))
    }

    pub(crate) fn png(page: usize, png: Png, dots_per_inch: Option<u32>) -> Self {
        Self { page, content_type: "image/png", bytes: png.0, dots_per_inch }
    }
}

impl Kind {
    pub fn content_type(self) -> &'static str {
        match self {
            Self::Pdf => "application/pdf",
            Self::Tiff => "image/tiff",
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
        }
    }
}

/// By the first bytes; a PDF may have up to a kilobyte of something else before it.
pub fn kind(bytes: &[u8]) -> Option<Kind> {
    if bytes.starts_with(b"II*\0") || bytes.starts_with(b"MM\0*") {
        return Some(Kind::Tiff);
    }
    if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        return Some(Kind::Png);
    }
    if bytes.starts_with(b"\xff\xd8\xff") {
        return Some(Kind::Jpeg);
    }
    let start = bytes.get(..1024 + 5).unwrap_or(bytes);
    start.windows(5).any(|window| window == b"%PDF-").then_some(Kind::Pdf)
}

/// The text layer. That there is none is no fault: see [`Text::needs_ocr`].
pub fn text(bytes: &[u8]) -> Result<Text, Fault> {
    read_text(bytes, &Budget::new())
}

/// The same, with how much it cost, counted in steps: for whoever reads many files and must come to an end. One reading
/// takes 400 million at most, which are seconds.
pub fn text_and_cost(bytes: &[u8]) -> (Result<Text, Fault>, u64) {
    let budget = Budget::new();
    let read = read_text(bytes, &budget);
    (read, STEPS - budget.left())
}

/// The text that a person would see: the text layer without what is invisible, covered, off the page, too small or too
/// faint to read. A page that is a picture has none: see [`Text::needs_ocr`].
pub fn visible_text(bytes: &[u8]) -> Result<Text, Fault> {
    read_pages(bytes, |bytes| pdf::visible_text(bytes, &Budget::new()))
}

/// The same as [`visible_text`], with its cost in steps.
pub fn visible_text_and_cost(bytes: &[u8]) -> (Result<Text, Fault>, u64) {
    let budget = Budget::new();
    let read = read_pages(bytes, |bytes| pdf::visible_text(bytes, &budget));
    (read, STEPS - budget.left())
}

/// The first thing that a document shows beside clear text, in words, with the cost in steps: a picture, a drawing, an
/// annotation, faint text, an attached file. Thin rules and light bands as in tables are allowed. A picture is not text.
pub fn beside_text_and_cost(bytes: &[u8]) -> (Result<Option<String>, Fault>, u64) {
    let budget = Budget::new();
    let found = checked_kind(bytes).and_then(|kind| match kind {
        Kind::Pdf => pdf::beside_text(bytes, &budget).map(|found| {
            found.map(|(page, what)| if page == 0 { what.to_owned() } else { format!("{what} on page {page}") })
        }),
        Kind::Tiff | Kind::Png | Kind::Jpeg => Ok(Some("a picture".to_owned())),
    });
    (found, STEPS - budget.left())
}

/// Whether two documents show the same, page by page, with the cost in steps. Of pictures the pixels are compared.
pub fn look_alike_and_cost(one: &[u8], two: &[u8]) -> (Result<bool, Fault>, u64) {
    if one == two {
        return (Ok(true), (one.len() / 8) as u64);
    }
    let budgets = [Budget::new(), Budget::new()];
    let compared = || match (checked_kind(one)?, checked_kind(two)?) {
        (Kind::Pdf, Kind::Pdf) => pdf::look_alike([one, two], [&budgets[0], &budgets[1]]),
        (Kind::Tiff, Kind::Tiff) => {
            let (pages, others) = (tiff::images(one, &budgets[0])?, tiff::images(two, &budgets[1])?);
            let is_whole = pages.len() == tiff::count(one)? && others.len() == tiff::count(two)?;
            Ok(is_whole && pages == others)
        }
        // Other pictures are the same if their bytes are.
        _ => Ok(false),
    };
    let compared = compared();
    (compared, budgets.iter().map(|budget| STEPS - budget.left()).sum())
}

fn read_text(bytes: &[u8], budget: &Budget) -> Result<Text, Fault> {
    read_pages(bytes, |bytes| pdf::text(bytes, budget))
}

fn read_pages(bytes: &[u8], read: impl Fn(&[u8]) -> Result<Vec<String>, Fault>) -> Result<Text, Fault> {
    let kind = checked_kind(bytes)?;
    let pages = match kind {
        Kind::Pdf => read(bytes)?,
        Kind::Tiff => vec![String::new(); tiff::count(bytes)?],
        Kind::Png | Kind::Jpeg => vec![String::new()],
    };
    Ok(Text { kind, pages })
}

/// The pages as pictures: those of a TIFF; of a PDF the picture that each page is made of, and none for a page that is not
/// made of one. Drawn pages of other programs are not drawn again here.
pub fn images(bytes: &[u8]) -> Result<Vec<PageImage>, Fault> {
    match checked_kind(bytes)? {
        Kind::Pdf => pdf::images(bytes, &Budget::new()),
        Kind::Tiff => tiff::images(bytes, &Budget::new()),
        kind @ (Kind::Png | Kind::Jpeg) => {
            if !dimensions::are_bounded(bytes) {
                return Err(Fault::TooLarge("the picture has too many pixels, or does not say how many"));
            }
            let (content_type, bytes) = (kind.content_type(), bytes.to_vec());
            Ok(vec![PageImage { page: 1, content_type, bytes, dots_per_inch: None }])
        }
    }
}

/// One page as people see it, from 1: the picture that it is made of, or else its words printed anew. None if there is no
/// such page, or if it is in a form that we do not unpack.
pub fn page(bytes: &[u8], number: usize) -> Result<Option<PageImage>, Fault> {
    if checked_kind(bytes)? == Kind::Pdf {
        return pdf::page(bytes, number, &Budget::new());
    }
    let mut found = Ok(None);
    scans(bytes, &[number], &mut |_, page| {
        found = page;
        ControlFlow::Break(())
    })?;
    found
}

/// Takes the picture that a page is made of; none for a page that is drawn, or in a form that we do not unpack.
pub type Visit<'a> = dyn FnMut(usize, Result<Option<PageImage>, Fault>) -> ControlFlow<()> + 'a;

/// Shows the pictures of some pages, from 1, one after the other: one is in memory at a time, and they have one budget
/// together.
pub fn scans(bytes: &[u8], numbers: &[usize], visit: &mut Visit<'_>) -> Result<(), Fault> {
    let budget = Budget::new();
    match checked_kind(bytes)? {
        Kind::Pdf => pdf::scan(bytes, numbers, &budget, visit),
        Kind::Tiff => tiff::scan(bytes, numbers, &budget, visit),
        Kind::Png | Kind::Jpeg => {
            let wanted = images(bytes)?.into_iter().filter(|image| numbers.contains(&image.page));
            let _ =
                wanted.map(|image| (image.page, Ok(Some(image)))).try_for_each(|(number, image)| visit(number, image));
            Ok(())
        }
    }
}

fn checked_kind(bytes: &[u8]) -> Result<Kind, Fault> {
    if bytes.len() > LARGEST_FILE {
        return Err(Fault::TooLarge("it has more than 64 MiB"));
    }
    kind(bytes).ok_or(Fault::UnknownKind)
}
