//! The pages of a file in their order (ISO 32000-1, 7.7.3).

use std::collections::BTreeSet;
use std::rc::Rc;

use super::file::File;
use super::object::{Dictionary, Object};
use super::paint::{Frame, numbers};
use crate::error::DocumentError;

pub(crate) const MOST_PAGES: usize = 2000;
const DEEPEST: usize = 50;

pub(super) struct Page {
    pub(super) dictionary: Dictionary,
    /// Its own resources or those of its ancestors.
    pub(super) resources: Rc<Dictionary>,
    /// Its own boxes or those of its ancestors.
    pub(super) media_box: Object,
    pub(super) crop_box: Object,
}

impl Page {
    /// The visible part of the page: the crop box within the media box.
    pub(super) fn frame(&self, file: &File<'_>) -> Result<Frame, DocumentError> {
        let media =
            bounds(file, &self.media_box)?.unwrap_or(Frame { left: 0.0, bottom: 0.0, right: 612.0, top: 792.0 });
        let Some(crop) = bounds(file, &self.crop_box)? else { return Ok(media) };
        let shown = Frame {
            left: media.left.max(crop.left),
            bottom: media.bottom.max(crop.bottom),
            right: media.right.min(crop.right),
            top: media.top.min(crop.top),
        };
        let is_empty = shown.right - shown.left < 1.0 || shown.top - shown.bottom < 1.0;
        Ok(if is_empty { media } else { shown })
    }
}

/// None if it is not a rectangle.
fn bounds(file: &File<'_>, object: &Object) -> Result<Option<Frame>, DocumentError> {
    let Ok([x0, y0, x1, y1]) = <[f32; 4]>::try_from(numbers(file, object, 4)?) else { return Ok(None) };
    let frame = Frame { left: x0.min(x1), bottom: y0.min(y1), right: x0.max(x1), top: y0.max(y1) };
    let sides = [frame.right - frame.left, frame.top - frame.bottom];
    Ok(Some(frame).filter(|_| sides.iter().all(|side| (1.0..=1_000_000.0).contains(side))))
}

/// The attributes that pages inherit from their ancestors.
#[derive(Clone)]
struct Inherited {
    resources: Rc<Dictionary>,
    media_box: Object,
    crop_box: Object,
}

pub(super) fn all(file: &File<'_>) -> Result<Vec<Page>, DocumentError> {
    let catalog = file.catalog()?.unwrap_or_default();
    let mut walk = Walk { file, pages: Vec::new(), seen: BTreeSet::new() };
    let nothing = Inherited { resources: Rc::default(), media_box: Object::Null, crop_box: Object::Null };
    walk.node(catalog.get("Pages"), &nothing, 0)?;
    if walk.pages.is_empty() {
        return Err(DocumentError::Damaged("it has no pages"));
    }
    Ok(walk.pages)
}

struct Walk<'a> {
    file: &'a File<'a>,
    pages: Vec<Page>,
    seen: BTreeSet<u32>,
}

impl Walk<'_> {
    fn node(&mut self, node: &Object, inherited: &Inherited, depth: usize) -> Result<(), DocumentError> {
        // Visits each node once, because the tree may have cycles.
        if depth > DEEPEST || node.reference().is_some_and(|number| !self.seen.insert(number)) {
            return Ok(());
        }
        let object = self.file.resolve(node)?;
        let Some(dictionary) = object.dictionary() else { return Ok(()) };
        let own = self.file.resolve(dictionary.get("Resources"))?;
        let mut inherited = inherited.clone();
        if let Some(own) = own.dictionary() {
            inherited.resources = Rc::new(own.clone());
        }
        for (name, place) in [("MediaBox", &mut inherited.media_box), ("CropBox", &mut inherited.crop_box)] {
            if dictionary.0.contains_key(name) {
                *place = self.file.resolve(dictionary.get(name))?.into_owned();
            }
        }
        let kids = self.file.resolve(dictionary.get("Kids"))?;
        if let Object::Array(kids) = kids.as_ref() {
            return kids.iter().try_for_each(|kid| self.node(kid, &inherited, depth + 1));
        }
        if self.pages.len() >= MOST_PAGES {
            return Err(DocumentError::TooLarge("it has more than 2000 pages"));
        }
        let Inherited { resources, media_box, crop_box } = inherited;
        self.pages.push(Page { dictionary: dictionary.clone(), resources, media_box, crop_box });
        Ok(())
    }
}
