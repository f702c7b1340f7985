//! Parses the fenced blocks of a page, with the comments before them.

#[derive(Debug)]
pub(super) struct Block {
    /// The line of its opening fence, from 1.
    pub(super) line: usize,
    pub(super) language: String,
    pub(super) marks: Vec<Mark>,
    pub(super) text: String,
}

impl Block {
    /// Whether it is run in a shell, as opposed to a script that is shown as a file.
    pub(super) fn is_command(&self) -> bool {
        self.language == "sh" && !self.marks.iter().any(|mark| matches!(mark, Mark::File(_)))
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Mark {
    NotRun(String),
    File(String),
    ShownOutput,
    ShownStart,
    Is(String),
    Refused(u16),
    EndsWith(i32),
    Needs(String),
}

impl Mark {
    fn read(comment: &str) -> Self {
        let (name, value) = comment.split_once(':').unwrap_or_else(|| panic!("`{comment}` is not a known mark"));
        let value = value.trim().to_owned();
        match (name.trim(), value.as_str()) {
            ("not run", _) if value.len() > 10 => Self::NotRun(value),
            ("file", _) => Self::File(value),
            ("shown", "output") => Self::ShownOutput,
            ("shown", "start") => Self::ShownStart,
            ("is", _) => Self::Is(value),
            ("refused", status) => Self::Refused(status.parse().unwrap()),
            ("ends with", code) => Self::EndsWith(code.parse().unwrap()),
            ("needs", _) => Self::Needs(value),
            _ => panic!("`{comment}` is not a known mark"),
        }
    }
}

pub(super) fn parse(page: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut marks = Vec::new();
    let mut open: Option<Block> = None;
    for (index, line) in page.lines().enumerate() {
        match (&mut open, line.strip_prefix("```")) {
            (Some(_), Some("")) => blocks.extend(open.take()),
            (Some(block), _) => {
                block.text.push_str(line);
                block.text.push('\n');
            }
            (None, Some(language)) => {
                let marks = std::mem::take(&mut marks);
                open = Some(Block { line: index + 1, language: language.into(), marks, text: String::new() });
            }
            (None, None) => match line.strip_prefix("<!-- ").and_then(|rest| rest.strip_suffix(" -->")) {
                Some(comment) => marks.push(Mark::read(comment)),
                None => assert!(marks.is_empty() || line.is_empty(), "line {}: a mark without a block", index + 1),
            },
        }
    }
    assert!(open.is_none() && marks.is_empty(), "unclosed block or unused mark");
    blocks
}

#[test]
fn blocks_are_parsed_with_their_marks() {
    let page = "Text\n\n<!-- file: a.txt -->\n<!-- needs: sftp -->\n```text\nline\n\n  more\n```\n```\nplain\n```\n";
    let blocks = parse(page);
    assert_eq!(blocks.len(), 2);
    assert_eq!((blocks[0].line, blocks[0].language.as_str(), blocks[0].text.as_str()), (5, "text", "line\n\n  more\n"));
    assert_eq!(blocks[0].marks, [Mark::File("a.txt".into()), Mark::Needs("sftp".into())]);
    assert!(blocks[1].marks.is_empty() && blocks[1].language.is_empty());
}
