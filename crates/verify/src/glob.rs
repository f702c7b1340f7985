//! Glob patterns over slash-separated names: `outbox/**/*.json`, `outbox/report-[0-9]?.{csv,txt}`.
//!
//! `*` and `?` stay within one segment, `**` is a segment of its own and stands for any number of them, `[a-z]` and
//! `[!a-z]` are one character, `{a,b}` one of several texts. A backslash takes the next character as it is.

use std::fmt;

use crate::authored::Notation;
use crate::limits::LONGEST_PATH;
use crate::path::write_escaped;

/// Never empty. A leading slash is dropped: all names start at the root of their tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob {
    pub segments: Vec<Segment>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Segment {
    /// `**`
    AnyDepth,
    /// Never empty.
    Name(Vec<Token>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token {
    Text(String),
    /// `?`
    AnyCharacter,
    /// `*`
    AnyText,
    /// Ranges with both ends.
    Class {
        is_negated: bool,
        ranges: Vec<(char, char)>,
    },
    /// Tokens without further `Alternatives`; an alternative may be empty.
    Alternatives(Vec<Vec<Token>>),
}

impl Notation for Glob {
    const LONGEST: usize = LONGEST_PATH;

    fn read(text: &str) -> Result<Self, String> {
        if text.chars().any(char::is_control) {
            return Err("must not contain control characters".to_owned());
        }
        let text = text.strip_prefix('/').unwrap_or(text);
        text.split('/').map(read_segment).collect::<Result<_, _>>().map(|segments| Self { segments })
    }
}

fn read_segment(text: &str) -> Result<Segment, String> {
    match text {
        "" => Err("has an empty segment: a name or pattern must stand between slashes".to_owned()),
        "." | ".." => Err("must not contain `.` or `..` as a segment".to_owned()),
        "**" => Ok(Segment::AnyDepth),
        text => {
            let mut reader = Reader { characters: text.chars().collect(), at: 0 };
            let tokens = reader.tokens(false)?;
            let starts_with_space = matches!(tokens.first(), Some(Token::Text(text)) if text.trim_start() != text);
            let ends_with_space = matches!(tokens.last(), Some(Token::Text(text)) if text.trim_end() != text);
            if starts_with_space || ends_with_space {
                return Err(format!("has spaces around `{}`", text.trim()));
            }
            Ok(Segment::Name(tokens))
        }
    }
}

struct Reader {
    characters: Vec<char>,
    at: usize,
}

impl Reader {
    fn next(&mut self) -> Option<char> {
        let next = self.characters.get(self.at).copied();
        self.at += 1;
        next
    }

    fn peek(&self) -> Option<char> {
        self.characters.get(self.at).copied()
    }

    /// One character, or the one that a backslash escapes.
    fn literal(&mut self, first: char) -> Result<char, String> {
        if first == '\\' { self.next().ok_or("must not end a segment in a backslash".to_owned()) } else { Ok(first) }
    }

    /// Up to the end, or inside braces up to the `,` or `}` that follows, which is left to be read.
    fn tokens(&mut self, is_alternative: bool) -> Result<Vec<Token>, String> {
        let mut tokens = Vec::new();
        while let Some(next) = self.peek().filter(|next| !(is_alternative && matches!(next, ',' | '}'))) {
            self.at += 1;
            match next {
                '*' if matches!(tokens.last(), Some(Token::AnyText)) => {
                    return Err("has `**` beside other text: it must stand alone between slashes".to_owned());
                }
                '*' => tokens.push(Token::AnyText),
                '?' => tokens.push(Token::AnyCharacter),
                '[' => tokens.push(self.class()?),
                '{' if is_alternative => return Err("has `{` inside `{`".to_owned()),
                '{' => tokens.push(self.alternatives()?),
                ']' | '}' => return Err(format!("has `{next}` that nothing opens")),
                next => {
                    let literal = self.literal(next)?;
                    match tokens.last_mut() {
                        Some(Token::Text(text)) => text.push(literal),
                        _ => tokens.push(Token::Text(literal.to_string())),
                    }
                }
            }
        }
        Ok(tokens)
    }

    fn alternatives(&mut self) -> Result<Token, String> {
        let mut alternatives = Vec::new();
        loop {
            alternatives.push(self.tokens(true)?);
            match self.next() {
                Some(',') => {}
                Some(_) if alternatives.len() < 2 => return Err("has `{…}` without a comma".to_owned()),
                Some(_) => return Ok(Token::Alternatives(alternatives)),
                None => return Err("has `{` without `}`".to_owned()),
            }
        }
    }

    fn class(&mut self) -> Result<Token, String> {
        const UNCLOSED: &str = "has `[` without `]`";
        let is_negated = matches!(self.peek(), Some('!' | '^'));
        self.at += usize::from(is_negated);
        let mut ranges = Vec::new();
        loop {
            let first = match self.next().ok_or(UNCLOSED)? {
                ']' if ranges.is_empty() => return Err("has an empty `[]`".to_owned()),
                ']' => return Ok(Token::Class { is_negated, ranges }),
                next => self.literal(next)?,
            };
            let is_range = self.peek() == Some('-') && self.characters.get(self.at + 1) != Some(&']');
            let mut last = first;
            if is_range {
                self.at += 1;
                let next = self.next().ok_or(UNCLOSED)?;
                last = self.literal(next)?;
            }
            if first > last {
                return Err(format!("has the range `{first}-{last}`, which runs backwards"));
            }
            ranges.push((first, last));
        }
    }
}

impl Glob {
    /// Whether a name without wildcards of its own is meant. In time that grows with name times pattern, whatever both
    /// are.
    pub(crate) fn matches(&self, name: &str) -> bool {
        let name = name.strip_prefix('/').unwrap_or(name);
        let names: Vec<Vec<char>> = name.split('/').map(|segment| segment.chars().collect()).collect();
        // Which numbers of leading segments of the name the pattern so far stands for.
        let mut reached = vec![false; names.len() + 1];
        reached[0] = true;
        for segment in &self.segments {
            let mut next = vec![false; names.len() + 1];
            match segment {
                Segment::AnyDepth => {
                    let first = reached.iter().position(|is_reached| *is_reached);
                    next.iter_mut().skip(first.unwrap_or(usize::MAX)).for_each(|is_reached| *is_reached = true);
                }
                Segment::Name(tokens) => {
                    for (at, name) in names.iter().enumerate().filter(|(at, _)| reached[*at]) {
                        next[at + 1] = matches_name(tokens, name);
                    }
                }
            }
            reached = next;
        }
        reached[names.len()]
    }
}

fn matches_name(tokens: &[Token], name: &[char]) -> bool {
    let mut reached = vec![false; name.len() + 1];
    reached[0] = true;
    advance(tokens, name, reached)[name.len()]
}

/// From the places in the name that are reached to those after the tokens.
fn advance(tokens: &[Token], name: &[char], mut reached: Vec<bool>) -> Vec<bool> {
    for token in tokens {
        let mut next = vec![false; name.len() + 1];
        for at in (0..=name.len()).filter(|at| reached[*at]) {
            let one = |is_meant: bool| if is_meant { Some(at + 1) } else { None };
            let after = match token {
                Token::Text(text) => after_text(text, name, at),
                Token::AnyCharacter => one(at < name.len()),
                Token::AnyText => {
                    next[at..].iter_mut().for_each(|is_reached| *is_reached = true);
                    break;
                }
                Token::Class { is_negated, ranges } => one(name
                    .get(at)
                    .is_some_and(|c| ranges.iter().any(|(first, last)| (first..=last).contains(&c)) != *is_negated)),
                Token::Alternatives(_) => None,
            };
            if let Some(after) = after {
                next[after] = true;
            }
        }
        if let Token::Alternatives(alternatives) = token {
            for alternative in alternatives {
                let after = advance(alternative, name, reached.clone());
                next.iter_mut().zip(after).for_each(|(next, after)| *next |= after);
            }
        }
        reached = next;
    }
    reached
}

fn after_text(text: &str, name: &[char], at: usize) -> Option<usize> {
    let mut end = at;
    for c in text.chars() {
        if name.get(end) != Some(&c) {
            return None;
        }
        end += 1;
    }
    Some(end)
}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, segment) in self.segments.iter().enumerate() {
            if position > 0 {
                f.write_str("/")?;
            }
            match segment {
                Segment::AnyDepth => f.write_str("**")?,
                Segment::Name(tokens) => write_tokens(tokens, f)?,
            }
        }
        Ok(())
    }
}

fn write_tokens(tokens: &[Token], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for token in tokens {
        match token {
            Token::Text(text) if matches!(text.as_str(), "." | "..") && tokens.len() == 1 => write!(f, "\\{text}")?,
            Token::Text(text) => write_text(text, f)?,
            Token::AnyCharacter => f.write_str("?")?,
            Token::AnyText => f.write_str("*")?,
            Token::Class { is_negated, ranges } => write_class(*is_negated, ranges, f)?,
            Token::Alternatives(alternatives) => {
                for (position, alternative) in alternatives.iter().enumerate() {
                    f.write_str(if position == 0 { "{" } else { "," })?;
                    write_tokens(alternative, f)?;
                }
                f.write_str("}")?;
            }
        }
    }
    Ok(())
}

fn write_text(text: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write_escaped(text, &['\\', '*', '?', '[', ']', '{', '}', ','], f)
}

fn write_class(is_negated: bool, ranges: &[(char, char)], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str(if is_negated { "[!" } else { "[" })?;
    for (first, last) in ranges {
        for (separator, end) in [("", first), ("-", last)].into_iter().take(if first == last { 1 } else { 2 }) {
            f.write_str(separator)?;
            write_escaped(end.encode_utf8(&mut [0; 4]), &['\\', '-', ']', '!', '^'], f)?;
        }
    }
    f.write_str("]")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{faulty_notation, round_trip};

    fn text(text: &str) -> Token {
        Token::Text(text.to_owned())
    }

    #[test]
    fn patterns_are_distinguished_from_text() {
        let name = Segment::Name;
        let digit = || Token::Class { is_negated: false, ranges: vec![('0', '9'), ('-', '-')] };
        let csv_or_txt = || Token::Alternatives(vec![vec![text("csv")], vec![text("t"), Token::AnyText]]);
        for (written, segments) in [
            ("report.pdf", vec![name(vec![text("report.pdf")])]),
            ("/outbox/*.json", vec![name(vec![text("outbox")]), name(vec![Token::AnyText, text(".json")])]),
            ("**/a?", vec![Segment::AnyDepth, name(vec![text("a"), Token::AnyCharacter])]),
            ("[0-9-].{csv,t*}", vec![name(vec![digit(), text("."), csv_or_txt()])]),
            ("[!a]", vec![name(vec![Token::Class { is_negated: true, ranges: vec![('a', 'a')] }])]),
            (r"a\*, b", vec![name(vec![text("a*, b")])]),
            ("ORM^O01", vec![name(vec![text("ORM^O01")])]),
        ] {
            assert_eq!(Glob::read(written), Ok(Glob { segments }), "{written}");
            round_trip::<Glob>(written);
        }
    }

    #[test]
    fn names_are_matched_whole() {
        for (pattern, name, is_match) in [
            ("outbox/*.json", "outbox/a.json", true),
            ("outbox/*.json", "/outbox/a.json", true),
            ("outbox/*.json", "outbox/x/a.json", false),
            ("outbox/**/*.json", "outbox/a.json", true),
            ("outbox/**/*.json", "outbox/x/y/a.json", true),
            ("outbox/**", "outbox", true),
            ("**", "a/b", true),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("[!a-c]x", "dx", true),
            ("[!a-c]x", "bx", false),
            ("r{,-1}.{csv,t*t}", "r-1.text", true),
            ("r{,-1}.{csv,t*t}", "r.csv", true),
            ("r{,-1}.{csv,t*t}", "r-2.csv", false),
            (r"a\*", "a*", true),
            (r"a\*", "ab", false),
            ("ORM^O01", "ORM^O01", true),
            ("*", "", true),
        ] {
            assert_eq!(Glob::read(pattern).map(|glob| glob.matches(name)), Ok(is_match), "{pattern} {name}");
        }
        let bomb = Glob::read(&"*a".repeat(200)).expect("a glob");
        assert!(!bomb.matches(&"a".repeat(5_000).replace('a', "ab")));
    }

    #[test]
    fn faulty_patterns_say_why() {
        for (written, said) in [
            ("", "empty segment"),
            ("/", "empty segment"),
            ("a//b", "empty segment"),
            ("outbox/", "empty segment"),
            ("../a", "`..`"),
            ("a/./b", "`..`"),
            ("a/**.json", "stand alone"),
            ("***", "stand alone"),
            ("a[", "without `]`"),
            ("a[]", "empty `[]`"),
            ("a[!]", "empty `[]`"),
            ("a]", "nothing opens"),
            ("[z-a]", "backwards"),
            ("[a-", "without `]`"),
            ("{a", "without `}`"),
            ("{a}", "without a comma"),
            ("{a,{b,c}}", "inside `{`"),
            ("a}", "nothing opens"),
            ("a\\", "backslash"),
            (" a/b", "spaces"),
            ("a\nb", "control"),
        ] {
            faulty_notation::<Glob>(written, said);
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_or_refused(written in r#"[a-c*?/!^,.\-\[\]{}\\ ]{0,20}"#) {
            round_trip::<Glob>(&written);
        }

        #[test]
        fn no_text_panics(written in ".*") {
            round_trip::<Glob>(&written);
        }
    }
}
