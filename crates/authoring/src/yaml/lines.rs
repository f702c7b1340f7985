//! On which line of a file each value stands.

use std::collections::BTreeMap;

use saphyr_parser::{Event, Parser};

/// From dotted path (`criteria.1.axis`) to line, counted from 1. Of a broken file as far as it can be read.
pub fn lines(text: &str) -> BTreeMap<String, usize> {
    let mut walk = Walk::default();
    for event in Parser::new_from_str(text) {
        let Ok((event, span)) = event else { break };
        if walk.lines.len() >= super::MOST_VALUES {
            break;
        }
        walk.take(&event, span.start.line());
    }
    walk.lines
}

#[derive(Default)]
struct Walk {
    open: Vec<Open>,
    lines: BTreeMap<String, usize>,
}

/// A container whose end has not come, with its own path.
enum Open {
    List { path: String, next: usize },
    Mapping { path: String, key: Option<(String, usize)> },
}

impl Walk {
    fn take(&mut self, event: &Event<'_>, line: usize) {
        match event {
            Event::Scalar(text, ..) => {
                if let Some(Open::Mapping { key: key @ None, .. }) = self.open.last_mut() {
                    *key = Some((text.to_string(), line));
                } else {
                    self.place(line);
                }
            }
            Event::Alias(_) => {
                self.place(line);
            }
            Event::SequenceStart(..) => {
                let path = self.place(line);
                self.open.push(Open::List { path, next: 0 });
            }
            Event::MappingStart(..) => {
                let path = self.place(line);
                self.open.push(Open::Mapping { path, key: None });
            }
            Event::SequenceEnd | Event::MappingEnd => {
                self.open.pop();
            }
            _ => {}
        }
    }

    /// The path of the value that begins here; a member counts from the line of its key.
    fn place(&mut self, line: usize) -> String {
        let (path, line) = match self.open.last_mut() {
            None => (String::new(), line),
            Some(Open::List { path, next }) => {
                *next += 1;
                (joined(path, &(*next - 1).to_string()), line)
            }
            Some(Open::Mapping { path, key }) => match key.take() {
                Some((key, line)) => (joined(path, &key), line),
                None => (path.clone(), line),
            },
        };
        self.lines.entry(path.clone()).or_insert(line);
        path
    }
}

fn joined(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_and_items_have_the_line_of_their_key() {
        let text = "name: X\ncriteria:\n  - label: a\n    assertion: {assert: x,\n      count: 1}\n  - label: b\n";
        let found = lines(text);
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
        assert_eq!(lines("a: 1\nb: [\n").get("a"), Some(&1));
    }
}
