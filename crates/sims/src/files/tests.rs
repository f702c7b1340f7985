//! A tree behaves like a plain file system, whatever is done to it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::dataset::FileContent;
use model::{Id, SandboxId, Timestamp, Ulid};
use proptest::prelude::*;
use serde_json::json;
use world::{Context, Direction, Outcome, Records, Sandbox, World};

use super::*;

/// What a file system is: files with their content, and directories.
#[derive(Clone, Debug, Default, PartialEq)]
struct Plain {
    files: BTreeMap<String, String>,
    directories: BTreeSet<String>,
}

#[derive(Clone, Debug)]
enum Step {
    Write(String, String),
    Delete(String),
    Make(String),
    Remove(String),
    Rename(String, String, bool),
}

const GIVEN: [(&str, &str); 3] = [("inbox/a", "given"), ("x/y", "deep"), ("x b", "odd")];

struct Story {
    world: World,
    sandbox: SandboxId,
}

impl Story {
    fn new() -> Self {
        let content = |(path, text): (&str, &str)| {
            let file =
                FileContent { sha256: text.to_owned(), size: text.len() as u64, content_type: "text/plain".to_owned() };
            (path.to_owned(), file)
        };
        let files: BTreeMap<String, FileContent> = GIVEN.map(content).into();
        let records = Records::new(Vec::new(), Timestamp(1)).over(vec![Arc::new(world::Tree::new(&files))]);
        let sandbox = SandboxId::from_ulid(Ulid(1));
        let (id, config) = (sandbox.clone(), Arc::new(json!({})));
        let one =
            Sandbox { id, kind: SimulatorType::Files, config, created_at: Timestamp(1), is_active: true, records };
        let sandboxes = BTreeMap::from([(sandbox.clone(), one)]);
        Self { world: World { seq: 0, oldest: 0, sandboxes }, sandbox }
    }

    fn tell<T>(&mut self, message: impl FnOnce(&Call<'_>) -> Answered<T>) -> Result<T, Refusal> {
        let client = Client { actor: "agent".to_owned(), via: Via::Sftp };
        let context = Context { now: Timestamp(2), new_id: &String::new };
        let Outcome { answer, changes, events } =
            message(&Call { world: &self.world, context: &context, sandbox: &self.sandbox, client: &client });
        assert_eq!(events.len(), 1, "every message is an event");
        assert!(answer.is_ok() || changes.is_empty(), "what is refused changes nothing");
        let seq = self.world.seq + 1;
        changes.iter().for_each(|change| self.world.apply(seq, change));
        self.world.seq = seq;
        answer
    }

    fn carry_out(&mut self, step: &Step) -> bool {
        let path = |text: &str| TreePath::exact(text).unwrap();
        let quota = Quota { bytes: u64::MAX, files: 1000 };
        match step {
            Step::Write(to, text) => {
                let stored = Stored {
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
                    parents: Parents::Needed,
                    quota,
                    is_short: false,
                };
                self.tell(|call| write(call, &upload)).is_ok()
            }
            Step::Delete(from) => self.tell(|call| delete(call, &path(from), &Condition::default())).is_ok(),
            Step::Make(at) => self.tell(|call| make_directory(call, &path(at), Parents::Needed, quota)).is_ok(),
            Step::Remove(at) => self.tell(|call| remove_directory(call, &path(at))).is_ok(),
            Step::Rename(from, to, replaces) => {
                let wanted = Move { from: path(from), to: path(to), replaces: *replaces, parents: Parents::Needed };
                self.tell(|call| rename(call, &wanted)).is_ok()
            }
        }
    }

    /// All that can be found by walking.
    fn seen(&mut self) -> Plain {
        let mut plain = Plain::default();
        let mut waiting = vec![TreePath::root()];
        while let Some(at) = waiting.pop() {
            let entries = self.tell(|call| directory(call, &at)).unwrap();
            assert!(entries.windows(2).all(|pair| pair[0].path() < pair[1].path()), "{entries:?}");
            for entry in entries {
                match entry {
                    Entry::File(file) => drop(plain.files.insert(file.path, file.sha256)),
                    Entry::Directory { path } => {
                        waiting.push(TreePath::exact(&path).unwrap());
                        plain.directories.insert(path);
                    }
                }
            }
        }
        let part = Part { prefix: "", from: None, direction: Direction::Forward, most: 1000 };
        let listed = self.tell(|call| list(call, part)).unwrap();
        let listed: Vec<String> = listed.into_iter().map(|file| file.path).collect();
        assert_eq!(listed, plain.files.keys().cloned().collect::<Vec<_>>(), "a walk and a list find the same");
        plain
    }
}

impl Plain {
    fn new() -> Self {
        let files = GIVEN.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
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

    fn carry_out(&mut self, step: &Step) -> bool {
        let is_standing = |path: &str| ["inbox", "outbox"].contains(&path);
        match step {
            Step::Write(to, text) => {
                let may = self.has_parent(to) && !self.directories.contains(to);
                may.then(|| self.files.insert(to.clone(), text.clone())).is_some()
            }
            Step::Delete(from) => self.files.remove(from).is_some(),
            Step::Make(at) => self.is_free(at) && self.has_parent(at) && self.directories.insert(at.clone()),
            Step::Remove(at) => !is_standing(at) && self.is_empty(at) && self.directories.remove(at),
            Step::Rename(from, to, replaces) => self.rename(from, to, *replaces, is_standing(from)),
        }
    }

    fn rename(&mut self, from: &str, to: &str, replaces: bool, is_standing: bool) -> bool {
        let (is_file, is_directory) = (self.files.contains_key(from), self.directories.contains(from));
        if !self.has_parent(to) || !(is_file || is_directory) || (is_directory && is_standing) {
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

fn a_path() -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec!["a", "x", "y", "x b", "x0", "inbox", "outbox"]);
    prop::collection::vec(name, 1..4).prop_map(|names| names.join("/"))
}

fn a_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (a_path(), "[a-c]{1,3}").prop_map(|(path, text)| Step::Write(path, text)),
        a_path().prop_map(Step::Delete),
        a_path().prop_map(Step::Make),
        a_path().prop_map(Step::Remove),
        (a_path(), a_path(), any::<bool>()).prop_map(|(from, to, replaces)| Step::Rename(from, to, replaces)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn a_tree_is_a_file_system(steps in prop::collection::vec(a_step(), 0..40)) {
        let (mut story, mut plain) = (Story::new(), Plain::new());
        for step in &steps {
            prop_assert_eq!(story.carry_out(step), plain.carry_out(step), "{:?} on {:?}", step, plain);
            let seen = story.seen();
            prop_assert_eq!(&seen, &plain, "after {:?}", step);
        }
    }
}
