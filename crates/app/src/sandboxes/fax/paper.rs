//! The document of a fax: reads its type, its pages and their text once.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use documents::{DocumentError, ExtractedText, FileKind, PageImage};
use model::FieldErrors;
use model::canonical::sha256_hex;
use sims::fax::send::{FaxDocument, MAX_BYTES, MAX_PAGES, MAX_SCANNED_PAGES, MAX_TEXT_BYTES};
use sims::fax::{FaxText, OcrStatus, PageText, TextSource};

use crate::ocr::{self, OcrError};
use crate::{App, AppError};

/// Per page. A letter page at 600 dots per inch has 34 million.
const MAX_PIXELS: u64 = 40_000_000;
/// Timeout for all pages of one fax.
const OCR_TIMEOUT: Duration = Duration::from_secs(120);

pub(super) fn decoded(base64: &str) -> Result<Bytes, AppError> {
    let packed: Vec<u8> = base64.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let bytes = STANDARD.decode(packed).map_err(|_| FieldErrors::one("base64", "is not valid base64"))?;
    Ok(bytes.into())
}

/// Which text of a document is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sight {
    /// All text that programs can read.
    TextLayer,
    /// The text that a person would see.
    Visible,
}

/// The document, or what is wrong with it.
pub(super) async fn read(app: &App, bytes: Bytes, sight: Sight) -> Result<Result<FaxDocument, String>, AppError> {
    let (read, bytes) = app.inner.papers.run(move || (parse(&bytes, sight), bytes)).await?;
    let parsed = match read {
        Ok(parsed) => parsed,
        Err(reason) => return Ok(Err(reason)),
    };
    if parsed.pictures.is_empty() {
        return Ok(Ok(parsed.paper));
    }
    let ParsedDocument { mut paper, pictures } = parsed;
    let (words, status, engine) = app.inner.ocr.run(move || recognized(&bytes, &pictures)).await?;
    for (number, text) in words {
        let page = paper.text.pages.get_mut(number.saturating_sub(1));
        if let Some(page) = page.filter(|_| !text.is_empty()) {
            *page = PageText { text, source: TextSource::Ocr };
        }
    }
    paper.text.ocr_status = status;
    paper.text.ocr_engine = engine;
    Ok(bounded(paper))
}

/// A document before OCR.
struct ParsedDocument {
    paper: FaxDocument,
    /// The numbers of pages with a picture and without text.
    pictures: Vec<usize>,
}

fn parse(bytes: &[u8], sight: Sight) -> Result<ParsedDocument, String> {
    if bytes.len() > MAX_BYTES {
        return Err(format!("must have at most {MAX_BYTES} bytes, has {}", bytes.len()));
    }
    if !matches!(documents::kind(bytes), Some(FileKind::Pdf | FileKind::Tiff)) {
        return Err("must be a PDF or TIFF file".to_owned());
    }
    let read = match sight {
        Sight::TextLayer => documents::text(bytes),
        Sight::Visible => documents::visible_text(bytes),
    };
    let ExtractedText { kind, pages } = read.map_err(|fault| fault.to_string())?;
    if !(1..=MAX_PAGES).contains(&pages.len()) {
        return Err(format!("must have 1 to {MAX_PAGES} pages, has {}", pages.len()));
    }
    let pictures = pictures(bytes, kind, &pages)?;
    let words = pages.into_iter().map(|text| {
        let source = if text.trim().is_empty() { TextSource::None } else { TextSource::TextLayer };
        PageText { text, source }
    });
    let words = FaxText { pages: words.collect(), ocr_status: OcrStatus::NotNeeded, ocr_engine: None };
    let content_type = kind.content_type();
    let paper = FaxDocument {
        content_type,
        pages: words.pages.len(),
        size: bytes.len(),
        sha256: sha256_hex(bytes),
        text: words,
    };
    bounded(paper).map(|paper| ParsedDocument { paper, pictures })
}

/// The pages for OCR. A TIFF page that cannot be decoded is an error, because it could not be faxed.
fn pictures(bytes: &[u8], kind: FileKind, pages: &[String]) -> Result<Vec<usize>, String> {
    let silent = pages.iter().enumerate().filter(|(_, text)| text.trim().is_empty()).map(|(index, _)| index + 1);
    let silent: Vec<usize> = silent.collect();
    if kind == FileKind::Tiff && silent.len() > MAX_SCANNED_PAGES {
        return Err(format!("must have at most {MAX_SCANNED_PAGES} pages that are pictures, has {}", silent.len()));
    }
    let (mut pictures, mut refused) = (Vec::new(), None);
    let looked = documents::visit_page_images(bytes, &silent, &mut |number, page| {
        match picture_of(kind, number, page) {
            Ok(is_picture) => pictures.extend(is_picture.then_some(number)),
            Err(fault) => refused = Some(fault),
        }
        if pictures.len() > MAX_SCANNED_PAGES {
            refused = Some(format!("must have at most {MAX_SCANNED_PAGES} pages that are pictures"));
        }
        if refused.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    match (looked, refused) {
        (Err(fault), _) => Err(fault.to_string()),
        (_, Some(fault)) => Err(fault),
        _ => Ok(pictures),
    }
}

/// Whether OCR can read the page, or what is wrong with it.
fn picture_of(kind: FileKind, number: usize, page: Result<Option<PageImage>, DocumentError>) -> Result<bool, String> {
    match page {
        Ok(Some(picture)) if picture.pixels() > MAX_PIXELS => {
            Err(format!("page {number} has more than {MAX_PIXELS} pixels"))
        }
        Ok(Some(_)) => Ok(true),
        Ok(None) | Err(DocumentError::Damaged(_)) if kind == FileKind::Tiff => {
            Err(format!("page {number} is damaged, too large, or packed in a way that is not known here"))
        }
        Ok(None) | Err(DocumentError::Damaged(_)) => Ok(false),
        Err(fault) => Err(fault.to_string()),
    }
}

fn bounded(paper: FaxDocument) -> Result<FaxDocument, String> {
    let length: usize = paper.text.pages.iter().map(|page| page.text.len() + 1).sum();
    if length > MAX_TEXT_BYTES {
        return Err(format!("must have at most {MAX_TEXT_BYTES} bytes of text"));
    }
    Ok(paper)
}

/// The text of the pictures, and the program that read them.
fn recognized(bytes: &[u8], pictures: &[usize]) -> (Vec<(usize, String)>, OcrStatus, Option<String>) {
    let Ok(engine) = ocr::engine() else { return (Vec::new(), OcrStatus::Unavailable, None) };
    let started = Instant::now();
    let (mut words, mut status) = (Vec::new(), OcrStatus::Done);
    let read = documents::visit_page_images(bytes, pictures, &mut |number, page| {
        let left = OCR_TIMEOUT.saturating_sub(started.elapsed());
        let recognized = match page {
            Ok(Some(image)) => ocr::recognize_within(&image, left),
            _ => Err(OcrError::Failed),
        };
        match recognized {
            Ok(text) => {
                words.push((number, text));
                return ControlFlow::Continue(());
            }
            Err(OcrError::Unavailable) => status = OcrStatus::Unavailable,
            Err(OcrError::TooSlow | OcrError::Failed) => status = OcrStatus::Failed,
        }
        ControlFlow::Break(())
    });
    if status == OcrStatus::Unavailable {
        words.clear();
    }
    (words, if read.is_ok() { status } else { OcrStatus::Failed }, Some(engine))
}
