//! The files of dataset revisions as rows: made once, shared by all playgrounds over them, gone with the last of these.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};

use model::dataset::Manifest;
use world::Tree;

use super::lock;

#[derive(Default)]
pub(super) struct Trees {
    /// By the content hash of the revision.
    known: Mutex<HashMap<String, Weak<Tree>>>,
}

impl Trees {
    pub(super) fn of(&self, content_hash: &str, manifest: &Manifest) -> Arc<Tree> {
        let mut known = lock(&self.known);
        if let Some(tree) = known.get(content_hash).and_then(Weak::upgrade) {
            return tree;
        }
        known.retain(|_, tree| tree.strong_count() > 0);
        let tree = Arc::new(Tree::new(&manifest.files));
        known.insert(content_hash.to_owned(), Arc::downgrade(&tree));
        tree
    }
}
