//! Names that tell the answer: an agent of a scored run does not see a task's name and tags, and what it does see should
//! not repeat them.
//!
//! The name of a task (between its punctuation) and its tags are phrases. One that not every task has, and that neither the
//! instruction nor the data of the task's entity says anyway, must not occur in what the agent sees of the environment:
//! names of simulators, paths of files, the title, and labels, which an agent reads when the task is completed.

use std::collections::BTreeSet;

use model::template::{self, Bindings, Root};
use serde_json::Value;

use super::{Finding, Findings};
use crate::expand::{about, input};
use crate::folder::{Content, Folder, Task};

/// Tags that say how a task is classified, not what its answer is.
const CLASSES: [&str; 8] = ["action", "easy", "medium", "hard", "basic", "simple", "intake", "smoke"];
/// Shorter words are in too many others' company to mean anything alone.
const SHORTEST_WORD: usize = 4;
/// Members of a scenario step that name a file.
const FILE_MEMBERS: [&str; 4] = ["path", "file", "filename", "file_name"];

/// Words in lower case.
type Phrase = Vec<String>;

pub(super) fn judge(folder: &Folder, tasks: &[(String, Task)], findings: &mut Findings) {
    let of_tasks: Vec<BTreeSet<Phrase>> = tasks.iter().map(|(_, task)| phrases(task)).collect();
    for ((path, task), phrases) in tasks.iter().zip(&of_tasks) {
        templates(path, task, findings);
        let known = known_words(folder, task);
        let is_telling =
            |phrase: &&Phrase| !of_tasks.iter().all(|others| others.contains(*phrase)) && !contains(&known, phrase);
        for phrase in phrases.iter().filter(is_telling) {
            for (place, text) in visible(folder, task) {
                if contains(&words(&text), phrase) {
                    let told = phrase.join(" ");
                    let message = format!(
                        "{place} `{text}` repeats \"{told}\" of the task's name or tags: agents of scored runs can see it"
                    );
                    findings.add(Finding::warning(path, message));
                }
            }
        }
    }
}

/// The name of the task comes back through these.
fn templates(path: &str, task: &Task, findings: &mut Findings) {
    for (place, value) in [("task_item", &task.task_item), ("scenario", &task.scenario)] {
        for member in ["name", "id", "tags"] {
            if names_task(value, member) {
                let message = format!(
                    "{place} uses `{{{{task.{member}}}}}`, which tells agents of scored runs which task they are doing"
                );
                findings.add(Finding::warning(path, message));
            }
        }
    }
}

fn names_task(value: &Value, member: &str) -> bool {
    match value {
        Value::String(text) => template::parse(text).is_ok_and(|templates| {
            templates.iter().any(|one| one.root == Root::Task && one.path.first().is_some_and(|first| *first == member))
        }),
        Value::Array(items) => items.iter().any(|item| names_task(item, member)),
        Value::Object(members) => members.values().any(|value| names_task(value, member)),
        _ => false,
    }
}

fn phrases(task: &Task) -> BTreeSet<Phrase> {
    let is_end = |letter: char| matches!(letter, ':' | ';' | ',' | '(' | ')' | '/' | '–' | '—');
    let parts = task.name.split(is_end).chain(task.tags.iter().map(String::as_str));
    let is_meant = |phrase: &Phrase| {
        let is_class = matches!(phrase.as_slice(), [word] if CLASSES.contains(&word.as_str()));
        !is_class && phrase.iter().any(|word| word.chars().count() >= SHORTEST_WORD)
    };
    parts.map(words).filter(is_meant).collect()
}

fn words(text: &str) -> Phrase {
    let parts = text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    parts.map(str::to_lowercase).collect()
}

fn contains(words: &[String], phrase: &Phrase) -> bool {
    words.windows(phrase.len()).any(|window| window == phrase.as_slice())
}

/// What the agent is told, and what the task is about: to name the patient is no answer.
fn known_words(folder: &Folder, task: &Task) -> Phrase {
    let entity = input(folder, task.entities.first()).unwrap_or_default();
    let mut item = bound(folder, task, &task.task_item);
    if let Some(members) = item.as_object_mut() {
        members.remove("title");
    }
    let mut known = words(&item.to_string());
    known.extend(words(&entity["data"].to_string()));
    known
}

fn bound(folder: &Folder, task: &Task, value: &Value) -> Value {
    let (entity, about) = (input(folder, task.entities.first()), about(task));
    let bindings = Bindings { entity: entity.as_ref(), task: Some(&about) };
    template::bind(value, &bindings).unwrap_or_else(|_| value.clone())
}

/// Texts that the task's agent can see, each with what it is.
fn visible(folder: &Folder, task: &Task) -> Vec<(&'static str, String)> {
    let mut seen: BTreeSet<(&'static str, String)> = BTreeSet::new();
    for simulator in &folder.benchmark.environment.simulators {
        seen.insert(("the simulator's name", simulator.name.clone()));
        for dataset in simulator.datasets.iter().filter_map(|key| folder.datasets.get(key)) {
            if let Content::Files(files) = &dataset.content {
                seen.extend(files.keys().map(|path| ("the file name", path.clone())));
            }
        }
    }
    file_names(&bound(folder, task, &task.scenario), &mut seen);
    if let Some(title) = bound(folder, task, &task.task_item)["title"].as_str() {
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
