//! The pages of a file in their order (ISO 32000-1, 7.7.3).

use std::collections::BTreeSet;
use std::rc::Rc;

use super::file::File;
use super::object::{Dictionary, Object};
use crate::fault::Fault;

pub(crate) const MOST_PAGES: usize = 2000;
const DEEPEST: usize = 50;

pub(super) struct Page {
    pub(super) dictionary: Dictionary,
    /// Its own or those of the nodes above it.
    pub(super) resources: Rc<Dictionary>,
}

pub(super) fn all(file: &File<'_>) -> Result<Vec<Page>, Fault> {
    let catalog = file.catalog()?.unwrap_or_default();
    let mut walk = Walk { file, pages: Vec::new(), seen: BTreeSet::new() };
    walk.node(catalog.get("Pages"), &Rc::default(), 0)?;
    if walk.pages.is_empty() {
        return Err(Fault::Damaged("it has no pages"));
    }
    Ok(walk.pages)
}

struct Walk<'a> {
    file: &'a File<'a>,
    pages: Vec<Page>,
    seen: BTreeSet<u32>,
}

impl Walk<'_> {
    fn node(&mut self, node: &Object, inherited: &Rc<Dictionary>, depth: usize) -> Result<(), Fault> {
        // A node that was there already would lead round in circles.
        if depth > DEEPEST || node.reference().is_some_and(|number| !self.seen.insert(number)) {
            return Ok(());
        }
        let object = self.file.resolve(node)?;
        let Some(dictionary) = object.dictionary() else { return Ok(()) };
        let own = self.file.resolve(dictionary.get("Resources"))?;
        let resources = own.dictionary().map_or_else(|| Rc::clone(inherited), |own| Rc::new(own.clone()));
        let kids = self.file.resolve(dictionary.get("Kids"))?;
        if let Object::Array(kids) = kids.as_ref() {
            return kids.iter().try_for_each(|kid| self.node(kid, &resources, depth + 1));
        }
        if self.pages.len() >= MOST_PAGES {
            return Err(Fault::TooLarge("it has more than 2000 pages"));
        }
        self.pages.push(Page { dictionary: dictionary.clone(), resources });
        Ok(())
    }
}
