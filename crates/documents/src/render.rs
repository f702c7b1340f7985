//! Renders a specification to a file.

use crate::error::DocumentError;
use crate::font::Fonts;
use crate::handwriting::SeededRandom;
use crate::layout;
use crate::layout::Page;
use crate::picture::draw::{Canvas, Placement, Resolution};
use crate::picture::{Bitmap, Png};
use crate::read::PageImage;
use crate::specification::{Document, Format};
use crate::write::pdf_pages::{self, Scan};
use crate::write::tiff;

pub const MOST_PAGES: usize = 200;
/// Pages of a document without a text layer. A page takes some milliseconds and 50 KB.
const MOST_PICTURES: usize = 50;

/// A rendered file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendered {
    pub bytes: Vec<u8>,
    pub content_type: &'static str,
    pub pages: usize,
    /// The text layer of each page. None if the pages are pictures.
    pub text: Option<String>,
}

/// Renders a document. The same document gives the same bytes on every machine.
pub fn render(document: &Document) -> Result<Rendered, DocumentError> {
    let has_text = document.has_text_layer()?;
    let is_scanned = document.is_scanned();
    let is_picture = is_scanned || !has_text;
    let fonts = Fonts::load()?;
    let pages = layout::pages(document, &fonts, if is_picture { MOST_PICTURES } else { MOST_PAGES })?;
    let camera = Camera { fonts: &fonts, seed: is_scanned.then(|| document.text()) };
    let bytes = match document.format {
        Format::Tiff => {
            let pictures =
                pages.iter().enumerate().map(|(index, page)| camera.shoot(page, index, Resolution::FAX).picture);
            tiff::write(pictures, pages.len())
        }
        Format::Pdf => {
            let visit_page_images: Vec<Scan> = if is_picture {
                pages.iter().enumerate().map(|(index, page)| camera.shoot(page, index, Resolution::SCANNER)).collect()
            } else {
                Vec::new()
            };
            pdf_pages::write(&document.title, &pages, &fonts, &visit_page_images, has_text)
        }
    };
    let text = has_text.then(|| document.text());
    Ok(Rendered { bytes, content_type: document.format.content_type(), pages: pages.len(), text })
}

/// Renders one page as a fax machine prints it, from 1. None if there is no such page.
pub fn picture(document: &Document, number: usize) -> Result<Option<PageImage>, DocumentError> {
    let fonts = Fonts::load()?;
    let pages = layout::pages(document, &fonts, MOST_PAGES)?;
    let Some((index, page)) = number.checked_sub(1).and_then(|index| Some((index, pages.get(index)?))) else {
        return Ok(None);
    };
    let camera = Camera { fonts: &fonts, seed: document.is_scanned().then(|| document.text()) };
    let shot = camera.shoot(page, index, Resolution::FAX);
    Ok(Some(PageImage::png(number, Png::of_bitmap(&shot.picture), Some(Resolution::FAX.across as u32))))
}

struct Camera<'a> {
    fonts: &'a Fonts,
    /// None for a clean rendering.
    seed: Option<String>,
}

impl Camera<'_> {
    fn shoot(&self, page: &Page, index: usize, resolution: Resolution) -> Scan {
        let mut dice = self.seed.as_ref().map(|seed| SeededRandom::new(&format!("{index} {seed}")));
        let placement = dice.as_mut().map_or(Placement::STRAIGHT, Placement::askew);
        let mut canvas = Canvas::new(resolution, placement);
        canvas.page(page, self.fonts);
        let picture: Bitmap = canvas.developed(dice.as_mut());
        Scan { picture, placement }
    }
}
