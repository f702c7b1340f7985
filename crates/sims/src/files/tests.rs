//! Property test: the file tree behaves like a file system.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::dataset::FileContent;
use model::{Id, SandboxId, Timestamp, Ulid};
use proptest::prelude::*;
use serde_json::json;
use world::{Context, Direction, Outcome, Records, Sandbox, World};

use super::*;

/// A model of a file system: files with their content, and directories.
#[derive(Clone, Debug, Default, PartialEq)]
struct ModelFileSystem {
    files: BTreeMap<String, String>,
    directories: BTreeSet<String>,
}

#[derive(Clone, Debug)]
enum Operation {
    Write(String, String),
    Delete(String),
    Make(String),
    Remove(String),
    Rename(String, String, bool),
}

const DATASET_FILES: [(&str, &str); 3] = [("inbox/a", "given"), ("x/y", "deep"), ("x b", "odd")];

struct TestTree {
    world: World,
    sandbox: SandboxId,
}

impl TestTree {
    fn new() -> Self {
        let content = |(path, text): (&str, &str)| {
            let file =
                FileContent { sha256: text.to_owned(), size: text.len() as u64, content_type: "text/plain".to_owned() };
            (path.to_owned(), file)
        };
        let files: BTreeMap<String, FileContent> = DATASET_FILES.map(content).into();
        let records = Records::new(Vec::new(), Timestamp(1)).over(vec![Arc::new(world::Tree::new(&files))]);
        let sandbox = SandboxId::from_ulid(Ulid(1));
        let (id, config) = (sandbox.clone(), Arc::new(json!({})));
        let one =
            Sandbox { id, kind: SimulatorType::Files, config, created_at: Timestamp(1), is_active: true, records };
        let sandboxes = BTreeMap::from([(sandbox.clone(), one)]);
        Self { world: World { seq: 0, oldest: 0, sandboxes }, sandbox }
    }

    fn run_operation<T>(&mut self, message: impl FnOnce(&Call<'_>) -> FilesOutcome<T>) -> Result<T, FilesError> {
        let client = Client { actor: "agent".to_owned(), protocol: Protocol::Sftp };
        let context = Context { now: Timestamp(2), new_id: &String::new };
        let Outcome { answer, changes, events } =
            message(&Call { world: &self.world, context: &context, sandbox: &self.sandbox, client: &client });
        assert_eq!(events.len(), 1, "every operation is logged");
        assert!(answer.is_ok() || changes.is_empty(), "a failed operation changes nothing");
        let seq = self.world.seq + 1;
        changes.iter().for_each(|change| self.world.apply(seq, change));
        self.world.seq = seq;
        answer
    }

    fn run(&mut self, operation: &Operation) -> bool {
        let path = |text: &str| TreePath::exact(text).unwrap();
        let quota = Quota { bytes: u64::MAX, files: 1000 };
        match operation {
            Operation::Write(to, text) => {
                let stored = StoredContent {
                    sha256: text.clone(),
                    size: text.len() as u64,
                    content_type: None,
                    is_text: true,
                    chunks: Vec::new(),
                };
                let upload = Upload {
                    path: path(to),
                    stored,
                    condition: Condition::default(),
                    parents: Parents::Required,
                    quota,
                    is_short: false,
                };
                self.run_operation(|call| write(call, &upload)).is_ok()
            }
            Operation::Delete(from) => {
                self.run_operation(|call| delete(call, &path(from), &Condition::default())).is_ok()
            }
            Operation::Make(at) => {
                self.run_operation(|call| make_directory(call, &path(at), Parents::Required, quota)).is_ok()
            }
            Operation::Remove(at) => self.run_operation(|call| remove_directory(call, &path(at))).is_ok(),
            Operation::Rename(from, to, replaces) => {
                let request =
                    MoveRequest { from: path(from), to: path(to), replaces: *replaces, parents: Parents::Required };
                self.run_operation(|call| rename(call, &request)).is_ok()
            }
        }
    }

    /// Everything that a walk through the directories finds.
    fn walk(&mut self) -> ModelFileSystem {
        let mut plain = ModelFileSystem::default();
        let mut pending = vec![TreePath::root()];
        while let Some(at) = pending.pop() {
            let entries = self.run_operation(|call| directory(call, &at)).unwrap();
            assert!(entries.windows(2).all(|pair| pair[0].path() < pair[1].path()), "{entries:?}");
            for entry in entries {
                match entry {
                    TreeEntry::File(file) => drop(plain.files.insert(file.path, file.sha256)),
                    TreeEntry::Directory { path } => {
                        pending.push(TreePath::exact(&path).unwrap());
                        plain.directories.insert(path);
                    }
                }
            }
        }
        let part = ListRange { prefix: "", after: None, direction: Direction::Forward, limit: 1000 };
        let listed = self.run_operation(|call| list(call, part)).unwrap();
        let listed: Vec<String> = listed.into_iter().map(|file| file.path).collect();
        assert_eq!(listed, plain.files.keys().cloned().collect::<Vec<_>>(), "a walk and a list find the same");
        plain
    }
}

impl ModelFileSystem {
    fn new() -> Self {
        let files = DATASET_FILES.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
        Self { files, directories: ["inbox", "outbox", "x"].map(ToOwned::to_owned).into() }
    }

    fn has_parent(&self, path: &str) -> bool {
        path.rsplit_once('/').is_none_or(|(parent, _)| self.directories.contains(parent))
    }

    fn is_empty(&self, directory: &str) -> bool {
        let prefix = format!("{directory}/");
        !self.files.keys().chain(&self.directories).any(|path| path.starts_with(&prefix))
    }

    fn is_free(&self, path: &str) -> bool {
        !self.files.contains_key(path) && !self.directories.contains(path)
    }

    fn run(&mut self, operation: &Operation) -> bool {
        let is_permanent = |path: &str| ["inbox", "outbox"].contains(&path);
        match operation {
            Operation::Write(to, text) => {
                let may = self.has_parent(to) && !self.directories.contains(to);
                may.then(|| self.files.insert(to.clone(), text.clone())).is_some()
            }
            Operation::Delete(from) => self.files.remove(from).is_some(),
            Operation::Make(at) => self.is_free(at) && self.has_parent(at) && self.directories.insert(at.clone()),
            Operation::Remove(at) => !is_permanent(at) && self.is_empty(at) && self.directories.remove(at),
            Operation::Rename(from, to, replaces) => self.rename(from, to, *replaces, is_permanent(from)),
        }
    }

    fn rename(&mut self, from: &str, to: &str, replaces: bool, is_permanent: bool) -> bool {
        let (is_file, is_directory) = (self.files.contains_key(from), self.directories.contains(from));
        if !self.has_parent(to) || !(is_file || is_directory) || (is_directory && is_permanent) {
            return false;
        }
        if from == to {
            return true;
        }
        if is_directory && to.starts_with(&format!("{from}/")) {
            return false;
        }
        let may_replace = replaces
            && if is_file { self.files.contains_key(to) } else { self.directories.contains(to) && self.is_empty(to) };
        if !self.is_free(to) && !may_replace {
            return false;
        }
        let place = |path: &str| match path.strip_prefix(from) {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("{to}{rest}"),
            _ => path.to_owned(),
        };
        let target = self.files.remove(to);
        drop(target);
        self.files = std::mem::take(&mut self.files).into_iter().map(|(path, text)| (place(&path), text)).collect();
        self.directories = std::mem::take(&mut self.directories).iter().map(|path| place(path)).collect();
        true
    }
}

fn path_strategy() -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec!["a", "x", "y", "x b", "x0", "inbox", "outbox"]);
    prop::collection::vec(name, 1..4).prop_map(|names| names.join("/"))
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        (path_strategy(), "[a-c]{1,3}").prop_map(|(path, text)| Operation::Write(path, text)),
        path_strategy().prop_map(Operation::Delete),
        path_strategy().prop_map(Operation::Make),
        path_strategy().prop_map(Operation::Remove),
        (path_strategy(), path_strategy(), any::<bool>())
            .prop_map(|(from, to, replaces)| Operation::Rename(from, to, replaces)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn a_tree_is_a_file_system(operations in prop::collection::vec(operation(), 0..40)) {
        let (mut tree, mut plain) = (TestTree::new(), ModelFileSystem::new());
        for operation in &operations {
            prop_assert_eq!(tree.run(operation), plain.run(operation), "{:?} on {:?}", operation, plain);
            let walk = tree.walk();
            prop_assert_eq!(&walk, &plain, "after {:?}", operation);
        }
    }
}
