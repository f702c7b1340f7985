//! The files of dataset revisions as rows: built once, shared by all playgrounds that use them, dropped with the last of them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};

use model::dataset::Manifest;
use world::Tree;

use crate::lock;

#[derive(Default)]
pub(crate) struct SharedFileTrees {
    /// By the content hash of the revision.
    trees: Mutex<HashMap<String, Weak<Tree>>>,
}

impl SharedFileTrees {
    pub(crate) fn tree(&self, content_hash: &str, manifest: &Manifest) -> Arc<Tree> {
        let mut trees = lock(&self.trees);
        if let Some(tree) = trees.get(content_hash).and_then(Weak::upgrade) {
            return tree;
        }
        trees.retain(|_, tree| tree.strong_count() > 0);
        let tree = Arc::new(Tree::new(&manifest.files));
        trees.insert(content_hash.to_owned(), Arc::downgrade(&tree));
        tree
    }
}
