//! Finds names that reveal the answer: an agent in a scored run does not see a task's name and tags, so what it sees must not
//! repeat them.
//!
//! The parts of a task's name (split at punctuation) and its tags are phrases. A phrase that not every task has, and that
//! neither the instruction nor the data of the task's entity contains, must not occur in what the agent sees: names of
//! simulators, file paths, the title, and labels, which an agent reads when the task is completed.

use std::collections::BTreeSet;

use model::template::{self, Bindings, Root};
use serde_json::Value;

use super::{Finding, Findings};
use crate::expansion::{entity_value, task_value};
use crate::folder::{Content, Folder, Task};

/// Tags that classify a task and do not reveal its answer.
const CLASS_TAGS: [&str; 8] = ["action", "easy", "medium", "hard", "basic", "simple", "intake", "smoke"];
/// A phrase must contain a word of at least this length. Shorter words are too common.
const MIN_WORD_CHARS: usize = 4;
/// Members of a scenario step that name a file.
const FILE_MEMBERS: [&str; 4] = ["path", "file", "filename", "file_name"];

/// A list of lower-case words.
type Phrase = Vec<String>;

pub(super) fn check(folder: &Folder, tasks: &[(String, Task)], findings: &mut Findings) {
    let of_tasks: Vec<BTreeSet<Phrase>> = tasks.iter().map(|(_, task)| phrases(task)).collect();
    for ((path, task), phrases) in tasks.iter().zip(&of_tasks) {
        task_templates(path, task, findings);
        let known = known_words(folder, task);
        let is_revealing =
            |phrase: &&Phrase| !of_tasks.iter().all(|others| others.contains(*phrase)) && !contains(&known, phrase);
        for phrase in phrases.iter().filter(is_revealing) {
            for (what, text) in visible_texts(folder, task) {
                if contains(&words(&text), phrase) {
                    let words = phrase.join(" ");
                    let message = format!(
                        "{what} `{text}` repeats \"{words}\" of the task's name or tags: agents of scored runs can see it"
                    );
                    findings.add(Finding::warning(path, message));
                }
            }
        }
    }
}

/// Reports templates that reveal the name, id or tags of the task.
fn task_templates(path: &str, task: &Task, findings: &mut Findings) {
    for (member_name, value) in [("task_item", &task.task_item), ("scenario", &task.scenario)] {
        for member in ["name", "id", "tags"] {
            if uses_task_member(value, member) {
                let message = format!(
                    "{member_name} uses `{{{{task.{member}}}}}`, which tells agents of scored runs which task they are doing"
                );
                findings.add(Finding::warning(path, message));
            }
        }
    }
}

fn uses_task_member(value: &Value, member: &str) -> bool {
    match value {
        Value::String(text) => template::parse(text).is_ok_and(|templates| {
            templates.iter().any(|one| one.root == Root::Task && one.path.first().is_some_and(|first| *first == member))
        }),
        Value::Array(items) => items.iter().any(|item| uses_task_member(item, member)),
        Value::Object(members) => members.values().any(|value| uses_task_member(value, member)),
        _ => false,
    }
}

fn phrases(task: &Task) -> BTreeSet<Phrase> {
    let is_separator = |c: char| matches!(c, ':' | ';' | ',' | '(' | ')' | '/' | '–' | '—');
    let parts = task.name.split(is_separator).chain(task.tags.iter().map(String::as_str));
    let is_relevant = |phrase: &Phrase| {
        let is_class = matches!(phrase.as_slice(), [word] if CLASS_TAGS.contains(&word.as_str()));
        !is_class && phrase.iter().any(|word| word.chars().count() >= MIN_WORD_CHARS)
    };
    parts.map(words).filter(is_relevant).collect()
}

fn words(text: &str) -> Phrase {
    let parts = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    parts.map(str::to_lowercase).collect()
}

fn contains(words: &[String], phrase: &Phrase) -> bool {
    words.windows(phrase.len()).any(|window| window == phrase.as_slice())
}

/// The words that the agent sees, and those of the entity's data: naming the patient does not reveal the answer.
fn known_words(folder: &Folder, task: &Task) -> Phrase {
    let entity = entity_value(folder, task.entities.first()).unwrap_or_default();
    let mut item = rendered(folder, task, &task.task_item);
    if let Some(members) = item.as_object_mut() {
        members.remove("title");
    }
    let mut known = words(&item.to_string());
    known.extend(words(&entity["data"].to_string()));
    known
}

fn rendered(folder: &Folder, task: &Task, value: &Value) -> Value {
    let (entity, task_value) = (entity_value(folder, task.entities.first()), task_value(task));
    let bindings = Bindings { entity: entity.as_ref(), task: Some(&task_value) };
    template::bind(value, &bindings).unwrap_or_else(|_| value.clone())
}

/// The texts that the task's agent can see, each with a description.
fn visible_texts(folder: &Folder, task: &Task) -> Vec<(&'static str, String)> {
    let mut seen: BTreeSet<(&'static str, String)> = BTreeSet::new();
    for simulator in &folder.benchmark.environment.simulators {
        seen.insert(("the simulator's name", simulator.name.clone()));
        for dataset in simulator.datasets.iter().filter_map(|key| folder.datasets.get(key)) {
            if let Content::Files(files) = &dataset.content {
                seen.extend(files.keys().map(|path| ("the file name", path.clone())));
            }
        }
    }
    file_names(&rendered(folder, task, &task.scenario), &mut seen);
    if let Some(title) = rendered(folder, task, &task.task_item)["title"].as_str() {
        seen.insert(("the title", title.to_owned()));
    }
    seen.extend(task.criteria.iter().map(|criterion| ("the label", criterion.label.clone())));
    seen.into_iter().collect()
}

fn file_names(value: &Value, seen: &mut BTreeSet<(&'static str, String)>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| file_names(item, seen)),
        Value::Object(members) => {
            for (name, member) in members {
                if let Some(text) = member.as_str().filter(|_| FILE_MEMBERS.contains(&name.as_str())) {
                    seen.insert(("the file name", text.to_owned()));
                }
                file_names(member, seen);
            }
        }
        _ => {}
    }
}
