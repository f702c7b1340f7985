//! Strings as their fold and what it took from them, mostly the capitals at the beginnings of words.

use crate::search::fold;

const AS_FOLDED: u8 = 0;
const CAPITALIZED: u8 = 1;
const OTHERWISE: u8 = 2;

pub(super) fn put(text: &str, key: &mut Vec<u8>, context: &mut Vec<u8>) {
    let folded = fold(text);
    key.extend_from_slice(folded.as_bytes());
    if *folded == *text {
        context.push(AS_FOLDED);
    } else if capitalized(&folded) == text {
        context.push(CAPITALIZED);
    } else {
        context.push(OTHERWISE);
        context.extend_from_slice(text.as_bytes());
    }
}

pub(super) fn text(key: &[u8], context: &[u8]) -> Option<Box<str>> {
    let folded = std::str::from_utf8(key).ok()?;
    match context.split_first()? {
        (&AS_FOLDED, _) => Some(folded.into()),
        (&CAPITALIZED, _) => Some(capitalized(folded).into()),
        (_, text) => std::str::from_utf8(text).ok().map(Box::from),
    }
}

fn capitalized(folded: &str) -> String {
    let mut is_first = true;
    let capital = |letter: char| {
        let is_start = std::mem::replace(&mut is_first, letter == ' ');
        if is_start { letter.to_ascii_uppercase() } else { letter }
    };
    folded.chars().map(capital).collect()
}
