//! Reads PDF files (ISO 32000-1): the text layer of each page, and the pictures of scanned pages.
//!
//! This crate has its own reader, because no library limits the work that a hostile file causes, and because a check must find
//! the same text every time. All work counts against one budget.

mod cff;
mod cmap;
mod content;
mod drawing;
mod encoding;
mod file;
mod font;
mod lexer;
mod lines;
mod matrix;
mod object;
mod outline;
mod pages;
mod paint;
mod pictures;
mod redraw;
mod search;
mod stream;
mod tables;
mod type1;

use std::rc::Rc;

use content::{Fonts, PageContent, Reader};
use file::File;
use matrix::Matrix;
use object::{Dictionary, Object};
use pages::Page;
use paint::{Canvas, Layers, MOST_IMAGE_PIXELS, Painter};

use super::budget::Budget;
use super::{PageImage, PageVisitor};
use crate::error::DocumentError;

pub(super) fn text(bytes: &[u8], budget: &Budget) -> Result<Vec<String>, DocumentError> {
    let (file, pages) = open(bytes, budget)?;
    let mut fonts = Fonts::default();
    pages.iter().map(|page| Ok(look(&file, page, &mut fonts)?.text)).collect()
}

/// The text that a person would see on each page.
pub(super) fn visible_text(bytes: &[u8], budget: &Budget) -> Result<Vec<String>, DocumentError> {
    let (file, pages) = open(bytes, budget)?;
    let layers = Rc::new(Layers::read(&file)?);
    let (mut fonts, mut image_pixels) = (Fonts::default(), MOST_IMAGE_PIXELS);
    let mut texts = Vec::new();
    for page in &pages {
        let seen = look(&file, page, &mut fonts)?;
        if seen.text.is_empty() || seen.cells.is_empty() {
            texts.push(String::new());
            continue;
        }
        let painter = Painter::new(page.frame(&file)?, Rc::clone(&layers), &seen.cells, budget)?;
        let mut reader = Reader::painting(&file, &mut fonts, painter, image_pixels);
        read_page(&mut reader, &file, page)?;
        let (text, left) = reader.finish_visible()?;
        image_pixels = left;
        texts.push(text);
    }
    Ok(texts)
}

/// The first content that is not clear text, with its page from 1. Page 0 means the document itself.
pub(super) fn non_text_content(bytes: &[u8], budget: &Budget) -> Result<Option<(usize, &'static str)>, DocumentError> {
    let (file, pages) = open(bytes, budget)?;
    if let Some(other) = extras(&file)? {
        return Ok(Some((0, other)));
    }
    let layers = Rc::new(Layers::read(&file)?);
    let (mut fonts, mut image_pixels) = (Fonts::default(), MOST_IMAGE_PIXELS);
    for (page, number) in pages.iter().zip(1..) {
        if !file.resolve(page.dictionary.get("Annots"))?.array().is_empty() {
            return Ok(Some((number, "an annotation or a form field")));
        }
        if is_present(&file, page.dictionary.get("AA"))? {
            return Ok(Some((number, ACTION)));
        }
        let painter = Painter::strict(page.frame(&file)?, Rc::clone(&layers), budget)?;
        let mut reader = Reader::painting(&file, &mut fonts, painter, image_pixels);
        read_page(&mut reader, &file, page)?;
        image_pixels = reader.image_pixels;
        if let Some(painter) = reader.painter.take()
            && let Some(other) = painter.finish_plain(budget)?
        {
            return Ok(Some((number, other)));
        }
    }
    Ok(None)
}

const ACTION: &str = "an action that runs when it is opened";

fn is_present(file: &File<'_>, object: &Object) -> Result<bool, DocumentError> {
    let object = file.resolve(object)?;
    Ok(match object.as_ref() {
        Object::Null => false,
        Object::Array(items) => !items.is_empty(),
        _ => true,
    })
}

/// Content of a document other than its pages: attached files, forms, actions, and layers that can be switched.
fn extras(file: &File<'_>) -> Result<Option<&'static str>, DocumentError> {
    let catalog = file.catalog()?.unwrap_or_default();
    let is_there = |object: &Object| is_present(file, object);
    let names = file.resolve(catalog.get("Names"))?;
    let form = file.resolve(catalog.get("AcroForm"))?;
    let empty = Default::default();
    let (names, form) = (names.dictionary().unwrap_or(&empty), form.dictionary().unwrap_or(&empty));
    let has_files = is_there(names.get("EmbeddedFiles"))? || is_there(catalog.get("AF"))?;
    Ok(if has_files || is_there(catalog.get("Collection"))? {
        Some("an attached file")
    } else if is_there(form.get("Fields"))? || is_there(form.get("XFA"))? {
        Some("a form")
    } else if is_there(names.get("JavaScript"))? || is_there(catalog.get("AA"))? || runs_on_opening(file, &catalog)? {
        Some(ACTION)
    } else if is_there(catalog.get("OCProperties"))? {
        Some("layers")
    } else {
        None
    })
}

/// An array is a destination, and `GoTo` only shows a page.
fn runs_on_opening(file: &File<'_>, catalog: &Dictionary) -> Result<bool, DocumentError> {
    let action = file.resolve(catalog.get("OpenAction"))?;
    let Some(members) = action.dictionary() else { return Ok(false) };
    let is_shown_page = file.resolve(members.get("S"))?.name() == Some("GoTo");
    Ok(!is_shown_page || is_present(file, members.get("Next"))?)
}

/// Whether all pages of two files look the same: the same text, and the same pixels. Pages that cannot be
/// painted as PDF readers do are never the same.
pub(super) fn have_same_appearance([original, copy]: [&[u8]; 2], budgets: [&Budget; 2]) -> Result<bool, DocumentError> {
    let ((original, pages), (copy, copied)) = (open(original, budgets[0])?, open(copy, budgets[1])?);
    if pages.len() != copied.len() || extras(&original)? != extras(&copy)? {
        return Ok(false);
    }
    let layers = [Rc::new(Layers::read(&original)?), Rc::new(Layers::read(&copy)?)];
    let mut image_pixels = [MOST_IMAGE_PIXELS; 2];
    for (page, copied) in pages.iter().zip(&copied) {
        let known = annotations(&original, page)?;
        let has_more = annotations(&copy, copied)?.iter().any(|annotation| !known.contains(annotation))
            || is_present(&copy, copied.dictionary.get("AA"))? && !is_present(&original, page.dictionary.get("AA"))?;
        let page = painted(&original, page, &layers[0], &mut image_pixels[0])?;
        let copied = painted(&copy, copied, &layers[1], &mut image_pixels[1])?;
        let is_same = page.zip(copied).is_some_and(|((text, canvas), (copied, copied_canvas))| {
            canvas.looks_like(&copied_canvas) && text.split_whitespace().eq(copied.split_whitespace())
        });
        if has_more || !is_same {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The text and pixels of a page. None if it cannot be painted as PDF readers do.
fn painted(
    file: &File<'_>,
    page: &Page,
    layers: &Rc<Layers>,
    image_pixels: &mut usize,
) -> Result<Option<(String, Canvas)>, DocumentError> {
    let painter = Painter::whole(page.frame(file)?, Rc::clone(layers), file.budget)?;
    let mut fonts = Fonts::default();
    let mut reader = Reader::painting(file, &mut fonts, painter, *image_pixels);
    read_page(&mut reader, file, page)?;
    *image_pixels = reader.image_pixels;
    if reader.painter.as_ref().is_some_and(Painter::has_unread) {
        return Ok(None);
    }
    let (text, canvas) = reader.visible_and_canvas()?;
    Ok(canvas.map(|canvas| (text, canvas)))
}

/// The identity of each annotation of a page: its kind, position, text and flags.
fn annotations(file: &File<'_>, page: &Page) -> Result<Vec<[Object; 4]>, DocumentError> {
    let listed = file.resolve(page.dictionary.get("Annots"))?;
    let identity = |annotation: &Object| -> Result<[Object; 4], DocumentError> {
        file.budget.spend(200)?;
        let annotation = file.resolve(annotation)?;
        let empty = Default::default();
        let members = annotation.dictionary().unwrap_or(&empty);
        let member = |name: &str| file.resolve(members.get(name)).map(std::borrow::Cow::into_owned);
        Ok([member("Subtype")?, member("Rect")?, member("Contents")?, member("F")?])
    };
    file.budget.spend(listed.array().len().pow(2))?;
    listed.array().iter().map(identity).collect()
}

pub(super) fn images(bytes: &[u8], budget: &Budget) -> Result<Vec<PageImage>, DocumentError> {
    let (file, pages) = open(bytes, budget)?;
    let mut fonts = Fonts::default();
    let mut images = Vec::new();
    for (index, page) in pages.iter().enumerate() {
        let seen = look(&file, page, &mut fonts)?;
        images.extend(pictures::largest(&file, index + 1, &seen.pictures)?);
    }
    Ok(images)
}

/// Visits the pictures of some scanned pages, from 1.
pub(super) fn scan(
    bytes: &[u8],
    numbers: &[usize],
    budget: &Budget,
    visit: &mut PageVisitor<'_>,
) -> Result<(), DocumentError> {
    let (file, pages) = open(bytes, budget)?;
    let mut fonts = Fonts::default();
    for number in numbers {
        let Some(page) = number.checked_sub(1).and_then(|index| pages.get(index)) else { continue };
        let picture = look(&file, page, &mut fonts).and_then(|seen| pictures::largest(&file, *number, &seen.pictures));
        if visit(*number, picture).is_break() {
            break;
        }
    }
    Ok(())
}

/// The picture of a scanned page, or else its text as a fax machine would print it. None if there is no such
/// page.
pub(super) fn page(bytes: &[u8], number: usize, budget: &Budget) -> Result<Option<PageImage>, DocumentError> {
    let (file, pages) = open(bytes, budget)?;
    let Some(page) = number.checked_sub(1).and_then(|index| pages.get(index)) else { return Ok(None) };
    let seen = look(&file, page, &mut Fonts::default())?;
    match pictures::largest(&file, number, &seen.pictures)? {
        Some(picture) => Ok(Some(picture)),
        None => redraw::page(&file, page, number, &seen.pieces).map(Some),
    }
}

/// Opens a file by its cross-reference tables, or searches for its objects if they are broken.
fn open<'a>(bytes: &'a [u8], budget: &'a Budget) -> Result<(File<'a>, Vec<Page>), DocumentError> {
    if let Some(file) = File::by_tables(bytes, budget)?
        && let Some(pages) = forgiven(pages::all(&file))?
    {
        return Ok((file, pages));
    }
    let file = File::by_search(bytes, budget)?;
    let pages = pages::all(&file)?;
    Ok((file, pages))
}

/// The text and pictures of a page. Damaged parts are left out. Only exceeded limits are errors.
fn look(file: &File<'_>, page: &Page, fonts: &mut Fonts) -> Result<PageContent, DocumentError> {
    let mut reader = Reader::new(file, fonts);
    read_page(&mut reader, file, page)?;
    Ok(reader.finish())
}

const DAMAGED: &str = "a damaged part";

fn read_page(reader: &mut Reader<'_, '_>, file: &File<'_>, page: &Page) -> Result<(), DocumentError> {
    let mut content = Vec::new();
    let listed = file.resolve(page.dictionary.get("Contents"))?;
    let parts = match listed.as_ref() {
        Object::Array(parts) => parts.as_slice(),
        one => std::slice::from_ref(one),
    };
    for part in parts {
        let Object::Stream(stream) = file.resolve(part)?.into_owned() else {
            if !matches!(part, Object::Null) {
                reader.note_unread(DAMAGED);
            }
            continue;
        };
        match forgiven(file.content(&stream))? {
            Some(unpacked) => {
                content.extend_from_slice(&unpacked);
                content.push(b'\n');
            }
            None => reader.note_unread(DAMAGED),
        }
    }
    let graphics = reader.graphics();
    if forgiven(reader.read(&content, &page.resources, Matrix::IDENTITY, graphics))?.is_none() {
        reader.note_unread(DAMAGED);
    }
    // The values of form fields are not in the content of the page.
    for annotation in file.resolve(page.dictionary.get("Annots"))?.array() {
        if forgiven(reader.annotation(annotation, &page.resources))?.is_none() {
            reader.note_unread(DAMAGED);
        }
    }
    Ok(())
}

fn forgiven<T>(result: Result<T, DocumentError>) -> Result<Option<T>, DocumentError> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(DocumentError::Damaged(_)) => Ok(None),
        Err(error) => Err(error),
    }
}
