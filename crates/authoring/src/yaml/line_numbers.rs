//! Finds the line number of each value in a YAML file.

use std::collections::BTreeMap;

use saphyr_parser::{Event, Parser};

/// Maps dotted paths (`criteria.1.axis`) to line numbers, counted from 1. Of an invalid file, covers what can be read.
pub fn line_numbers(text: &str) -> BTreeMap<String, usize> {
    let mut walker = LineWalker::default();
    for event in Parser::new_from_str(text) {
        let Ok((event, span)) = event else { break };
        if walker.lines.len() >= model::yaml::MOST_VALUES {
            break;
        }
        walker.handle(&event, span.start.line());
    }
    walker.lines
}

#[derive(Default)]
struct LineWalker {
    open: Vec<OpenContainer>,
    lines: BTreeMap<String, usize>,
}

/// A list or mapping that is not closed yet, with its path.
enum OpenContainer {
    List { path: String, next: usize },
    Mapping { path: String, key: Option<(String, usize)> },
}

impl LineWalker {
    fn handle(&mut self, event: &Event<'_>, line: usize) {
        match event {
            Event::Scalar(text, ..) => {
                if let Some(OpenContainer::Mapping { key: key @ None, .. }) = self.open.last_mut() {
                    *key = Some((text.to_string(), line));
                } else {
                    self.add_value(line);
                }
            }
            Event::Alias(_) => {
                self.add_value(line);
            }
            Event::SequenceStart(..) => {
                let path = self.add_value(line);
                self.open.push(OpenContainer::List { path, next: 0 });
            }
            Event::MappingStart(..) => {
                let path = self.add_value(line);
                self.open.push(OpenContainer::Mapping { path, key: None });
            }
            Event::SequenceEnd | Event::MappingEnd => {
                self.open.pop();
            }
            _ => {}
        }
    }

    /// Records the value that starts here, and returns its path. A member has the line of its key.
    fn add_value(&mut self, line: usize) -> String {
        let (path, line) = match self.open.last_mut() {
            None => (String::new(), line),
            Some(OpenContainer::List { path, next }) => {
                *next += 1;
                (join(path, &(*next - 1).to_string()), line)
            }
            Some(OpenContainer::Mapping { path, key }) => match key.take() {
                Some((key, line)) => (join(path, &key), line),
                None => (path.clone(), line),
            },
        };
        self.lines.entry(path.clone()).or_insert(line);
        path
    }
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_and_items_have_the_line_of_their_key() {
        let text = "name: X\ncriteria:\n  - label: a\n    assertion: {assert: x,\n      count: 1}\n  - label: b\n";
        let found = line_numbers(text);
        for (path, line) in [
            ("name", 1),
            ("criteria", 2),
            ("criteria.0.label", 3),
            ("criteria.0.assertion", 4),
            ("criteria.0.assertion.count", 5),
            ("criteria.1", 6),
        ] {
            assert_eq!(found.get(path), Some(&line), "{path}: {found:?}");
        }
        assert_eq!(line_numbers("a: 1\nb: [\n").get("a"), Some(&1));
    }
}
