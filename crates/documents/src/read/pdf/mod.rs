//! PDF files of others (ISO 32000-1): the text layer of each page, and the pictures that pages are made of.
//!
//! A reader of our own, because none of the libraries bounds what a hostile file makes it do, and because a check must find
//! the same text every time: everything here is counted against one budget.

mod cff;
mod cmap;
mod content;
mod drawing;
mod drawn;
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
mod search;
mod stream;
mod tables;
mod type1;

use std::rc::Rc;

use content::{Fonts, Reader, Seen};
use file::File;
use matrix::Matrix;
use object::Object;
use pages::Page;
use paint::{Layers, MOST_IMAGE_PIXELS, Painter};

use super::budget::Budget;
use super::{PageImage, Visit};
use crate::fault::Fault;

pub(super) fn text(bytes: &[u8], budget: &Budget) -> Result<Vec<String>, Fault> {
    let (file, pages) = open(bytes, budget)?;
    let mut fonts = Fonts::default();
    pages.iter().map(|page| Ok(look(&file, page, &mut fonts)?.text)).collect()
}

/// The text that a person would see on each page.
pub(super) fn visible_text(bytes: &[u8], budget: &Budget) -> Result<Vec<String>, Fault> {
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

pub(super) fn images(bytes: &[u8], budget: &Budget) -> Result<Vec<PageImage>, Fault> {
    let (file, pages) = open(bytes, budget)?;
    let mut fonts = Fonts::default();
    let mut images = Vec::new();
    for (index, page) in pages.iter().enumerate() {
        let seen = look(&file, page, &mut fonts)?;
        images.extend(pictures::largest(&file, index + 1, &seen.pictures)?);
    }
    Ok(images)
}

/// The pictures that some pages are made of, from 1, one after the other.
pub(super) fn scan(bytes: &[u8], numbers: &[usize], budget: &Budget, visit: &mut Visit<'_>) -> Result<(), Fault> {
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

/// The picture that one page is made of, or else its words as a fax machine would print them. None if there is no such
/// page.
pub(super) fn page(bytes: &[u8], number: usize, budget: &Budget) -> Result<Option<PageImage>, Fault> {
    let (file, pages) = open(bytes, budget)?;
    let Some(page) = number.checked_sub(1).and_then(|index| pages.get(index)) else { return Ok(None) };
    let seen = look(&file, page, &mut Fonts::default())?;
    match pictures::largest(&file, number, &seen.pictures)? {
        Some(picture) => Ok(Some(picture)),
        None => drawn::page(&file, page, number, &seen.pieces).map(Some),
    }
}

/// By the tables of the file if they lead to pages, else by looking for its objects.
fn open<'a>(bytes: &'a [u8], budget: &'a Budget) -> Result<(File<'a>, Vec<Page>), Fault> {
    if let Some(file) = File::by_tables(bytes, budget)?
        && let Some(pages) = forgiven(pages::all(&file))?
    {
        return Ok((file, pages));
    }
    let file = File::by_search(bytes, budget)?;
    let pages = pages::all(&file)?;
    Ok((file, pages))
}

/// What a page says and shows. A part that is damaged is left out; only what is too large ends the reading.
fn look(file: &File<'_>, page: &Page, fonts: &mut Fonts) -> Result<Seen, Fault> {
    let mut reader = Reader::new(file, fonts);
    read_page(&mut reader, file, page)?;
    Ok(reader.finish())
}

fn read_page(reader: &mut Reader<'_, '_>, file: &File<'_>, page: &Page) -> Result<(), Fault> {
    let mut content = Vec::new();
    let listed = file.resolve(page.dictionary.get("Contents"))?;
    let parts = match listed.as_ref() {
        Object::Array(parts) => parts.as_slice(),
        one => std::slice::from_ref(one),
    };
    for part in parts {
        let Object::Stream(stream) = file.resolve(part)?.into_owned() else { continue };
        if let Some(unpacked) = forgiven(file.content(&stream))? {
            content.extend_from_slice(&unpacked);
            content.push(b'\n');
        }
    }
    let graphics = reader.graphics();
    forgiven(reader.read(&content, &page.resources, Matrix::IDENTITY, graphics))?;
    // The fields of a form that was filled in are not in the page's own content.
    for annotation in file.resolve(page.dictionary.get("Annots"))?.array() {
        forgiven(reader.annotation(annotation, &page.resources))?;
    }
    Ok(())
}

fn forgiven<T>(result: Result<T, Fault>) -> Result<Option<T>, Fault> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(Fault::Damaged(_)) => Ok(None),
        Err(fault) => Err(fault),
    }
}
