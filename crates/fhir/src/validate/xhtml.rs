//! Whether a narrative is one XHTML `div` whose tags match (<https://hl7.org/fhir/R4/narrative.html#xhtml>).

/// Tags and quotes are looked at; names of elements, attributes and entities are not.
pub(super) fn is_division(text: &str) -> bool {
    let mut rest = text.trim();
    let mut open = Vec::new();
    if tag_name(rest.strip_prefix('<').unwrap_or_default()) != "div" {
        return false;
    }
    loop {
        rest = match step(rest, &mut open) {
            Some(rest) => rest,
            None => return false,
        };
        match (open.is_empty(), rest.find('<')) {
            (true, _) => return rest.is_empty(),
            (false, Some(at)) => rest = &rest[at..],
            (false, None) => return false,
        }
    }
}

/// Passes over what begins with `<`, and keeps account of what is open; nothing if it does not end.
fn step<'a>(text: &'a str, open: &mut Vec<&'a str>) -> Option<&'a str> {
    if let Some(comment) = text.strip_prefix("<!--") {
        return after(comment, "-->");
    }
    if let Some(data) = text.strip_prefix("<![CDATA[") {
        return after(data, "]]>");
    }
    if let Some(end) = text.strip_prefix("</") {
        let name = tag_name(end);
        let rest = end[name.len()..].trim_start().strip_prefix('>')?;
        return (open.pop()? == name).then_some(rest);
    }
    let start = text.strip_prefix('<')?;
    let name = tag_name(start);
    let end = tag_end(start)?;
    if name.is_empty() {
        return None;
    }
    if !start[..end].ends_with('/') {
        open.push(name);
    }
    Some(&start[end + 1..])
}

fn after<'a>(text: &'a str, end: &str) -> Option<&'a str> {
    text.find(end).map(|at| &text[at + end.len()..])
}

/// Letters and what else a name may have, as far as they go.
fn tag_name(text: &str) -> &str {
    let is_name = |character: char| character.is_alphanumeric() || matches!(character, '-' | '_' | ':' | '.');
    let end = text.find(|character| !is_name(character)).unwrap_or(text.len());
    &text[..end]
}

/// Where the `>` is that is in no quoted value.
fn tag_end(text: &str) -> Option<usize> {
    let mut quote = None;
    for (at, byte) in text.bytes().enumerate() {
        match (quote, byte) {
            (Some(open), _) if open == byte => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'>') => return Some(at),
            (None, b'<') => return None,
            (None, _) => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_must_match() {
        for text in [
            "<div xmlns=\"http://www.w3.org/1999/xhtml\">a</div>",
            " <div>\n<p>a<br/>b</p><!-- <p> --><img alt='>' src=\"#a\" /></div> ",
            "<div/>",
            "<div><![CDATA[<p>]]>&nbsp;&amp;</div >",
        ] {
            assert!(is_division(text), "{text}");
        }
    }

    #[test]
    fn anything_else_is_no_division() {
        for text in [
            "",
            "a",
            "<p>a</p>",
            "<divide>a</divide>",
            "<div>",
            "<div><p></div>",
            "<div><p></div></p>",
            "<div></div><div></div>",
            "<div></div>a",
            "<div><p",
            "<div><p a=\"></p></div>",
            "<div><!-- </div>",
            "<div><></></div>",
            "<div>a < b</div>",
            "<div><!DOCTYPE a></div>",
            "</div>",
            "<div",
        ] {
            assert!(!is_division(text), "{text}");
        }
    }
}
