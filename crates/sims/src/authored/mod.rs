//! Reads authored JSON into typed values, and says as many of its faults at once as can be told apart.

mod faults;
mod object;

use std::collections::BTreeMap;

use model::FieldErrors;
use serde::de::DeserializeOwned;
use serde_json::Value;

pub use object::{Entries, Object, Word};

/// A typed authored value, with the rules that its types alone cannot keep.
pub trait Authored: DeserializeOwned {
    fn validate(&self, errors: &mut FieldErrors);
}

/// The typed value, or its faults by dotted path.
pub fn read<T: Authored>(value: &Value) -> Result<T, FieldErrors> {
    let mut errors = FieldErrors::new();
    let typed = faults::read_typed::<T>(value, &mut errors);
    if let Some(typed) = &typed {
        typed.validate(&mut errors);
    }
    match typed {
        Some(typed) if errors.is_empty() => Ok(typed),
        _ => Err(errors),
    }
}

/// The same for a caller that needs no value.
pub fn check<T: Authored>(value: &Value) -> Result<(), FieldErrors> {
    read::<T>(value).map(drop)
}

/// Splits `{"<tag>": "name", …}` into the name and the other members: serde's own tagging would spoil numbers.
pub(crate) fn split_tag(value: &Value, tag: &str) -> Result<(String, Value), FieldErrors> {
    let Value::Object(members) = value else {
        return Err(FieldErrors::one("", format!("must be an object, is {}", described(value))));
    };
    let name = match members.get(tag) {
        Some(Value::String(name)) => name.clone(),
        Some(other) => {
            return Err(FieldErrors::one(tag, format!("must be a string, is {}", described(other))));
        }
        None => return Err(FieldErrors::one(tag, "is required")),
    };
    let others = members.iter().filter(|(key, _)| *key != tag);
    Ok((name, Value::Object(others.map(|(key, member)| (key.clone(), member.clone())).collect())))
}

pub(crate) fn described(value: &Value) -> String {
    match value {
        Value::Object(_) => "an object".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        scalar => shortened(&scalar.to_string(), 60),
    }
}

pub(crate) fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// Collects the faults of one member under its name.
pub(crate) fn inside(errors: &mut FieldErrors, field: &str, check: impl FnOnce(&mut FieldErrors)) {
    let mut inner = FieldErrors::new();
    check(&mut inner);
    errors.nest(field, inner);
}

/// Takes over faults at the same level.
pub(crate) fn absorb(errors: &mut FieldErrors, inner: &FieldErrors) {
    for (field, messages) in inner.iter() {
        for message in messages {
            errors.add(field, message);
        }
    }
}

/// Checks a list's length, then each item under its index.
pub(crate) fn each<T>(
    errors: &mut FieldErrors,
    field: &str,
    items: &[T],
    most: usize,
    check: impl Fn(&T, &mut FieldErrors),
) {
    if items.len() > most {
        errors.add(field, format!("must have at most {most} items, has {}", items.len()));
        return;
    }
    for (index, item) in items.iter().enumerate() {
        inside(errors, &format!("{field}.{index}"), |errors| check(item, errors));
    }
}

/// No two items of a list may have the same key.
pub(crate) fn refuse_repeats<K: Ord>(
    errors: &mut FieldErrors,
    list: &str,
    member: &str,
    keys: impl Iterator<Item = K>,
) {
    let mut seen = BTreeMap::new();
    for (index, key) in keys.enumerate().take(1000) {
        if let Some(earlier) = seen.insert(key, index) {
            errors.add(format!("{list}.{index}.{member}"), format!("is the same as in {list}.{earlier}"));
        }
    }
}

/// Words that somebody will read or hear.
pub(crate) fn text(errors: &mut FieldErrors, field: &str, text: &str, most: usize) {
    errors.length(field, text, 1..=most);
    if !text.is_empty() && text.trim().is_empty() {
        errors.add(field, "must not be blank");
    }
    if text.contains('\0') {
        errors.add(field, "must not contain NUL characters");
    }
}

pub(crate) fn optional_text(errors: &mut FieldErrors, field: &str, value: Option<&String>, most: usize) {
    if let Some(value) = value {
        text(errors, field, value, most);
    }
}

pub(crate) const LONGEST_DELAY_SECONDS: i64 = 604_800;

pub(crate) fn delay(errors: &mut FieldErrors, field: &str, seconds: Option<i64>) {
    if let Some(seconds) = seconds {
        errors.range(field, seconds, 0..=LONGEST_DELAY_SECONDS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;
    use serde_json::json;

    #[derive(Deserialize, Debug, PartialEq)]
    #[serde(deny_unknown_fields)]
    struct Shelf {
        name: Option<String>,
        #[serde(default)]
        books: Vec<Object<Book>>,
        #[serde(default)]
        labels: Entries<String>,
    }

    #[derive(Deserialize, Debug, PartialEq)]
    #[serde(deny_unknown_fields)]
    struct Book {
        title: String,
        pages: Option<i64>,
        kind: Option<Word<Kind>>,
    }

    #[derive(Deserialize, Debug, PartialEq)]
    #[serde(rename_all = "snake_case")]
    enum Kind {
        Novel,
        Poems,
    }

    impl Authored for Shelf {
        fn validate(&self, errors: &mut FieldErrors) {
            each(errors, "books", &self.books, 5, |book, errors| {
                text(errors, "title", &book.title, 10);
            });
        }
    }

    fn faults(authored: &str) -> String {
        check::<Shelf>(&serde_json::from_str(authored).unwrap())
            .err()
            .map_or_else(String::new, |errors| errors.to_string())
    }

    #[test]
    fn faults_are_told_together_and_by_place() {
        for (authored, expected) in [
            (r#"{"name":"a","books":[{"title":"x","pages":3,"kind":"poems"}],"labels":{"a":"b"}}"#, ""),
            (r#"["a"]"#, ": must be an object, is a list"),
            ("1.10", ": must be an object, is 1.10"),
            ("1e999", ": must be an object, is 1e+999"),
            (r#"{"name":1}"#, "name: must be a string, is 1"),
            (r#"{"labels":1.10}"#, "labels: must be an object, is 1.10"),
            (r#"{"labels":{"a":1.10}}"#, "labels.a: must be a string, is 1.10"),
            (r#"{"books":{}}"#, "books: must be a list, is an object"),
            (r#"{"books":[1.10]}"#, "books.0: must be an object, is 1.10"),
            (r#"{"books":[["x",1]]}"#, "books.0: must be an object, is a list"),
            (r#"{"books":[{"title":"x","pages":1.10}]}"#, "books.0.pages: must be an integer, is 1.10"),
            (
                r#"{"books":[{"title":"x","pages":99999999999999999999}]}"#,
                "books.0.pages: must be an integer, is 99999999999999999999",
            ),
            (r#"{"books":[{"title":"x","kind":{"novel":null}}]}"#, "books.0.kind: must be a string, is an object"),
            (r#"{"books":[{"title":"x","kind":"n"}]}"#, r#"books.0.kind: must be `novel` or `poems`, is "n""#),
            (
                r#"{"a":1,"b":2,"books":[{"title":" "}]}"#,
                "a: is not known here; known: `name`, `books`, `labels`; \
                 b: is not known here; known: `name`, `books`, `labels`; books.0.title: must not be blank",
            ),
            (
                r#"{"books":[{"pages":"x"},{"title":"x"},{"title":2},{"title":"y","pages":true},{}]}"#,
                "books.0.pages: must be an integer, is \"x\"; books.0.title: is required; \
                 books.2.title: must be a string, is 2; books.3.pages: must be an integer, is true; \
                 books.4.title: is required",
            ),
        ] {
            assert_eq!(faults(authored), expected, "{authored}");
        }
    }

    #[test]
    fn the_number_of_faults_is_bounded() {
        let errors = check::<Shelf>(&json!({ "books": vec![1; 10_000] })).unwrap_err();
        assert_eq!(errors.iter().count(), faults::MOST_FAULTS);
    }

    #[test]
    fn tags_are_split_off_without_touching_numbers() {
        let value: Value = serde_json::from_str(r#"{"type":"a","n":1.10}"#).unwrap();
        let (tag, rest) = split_tag(&value, "type").unwrap();
        assert_eq!((tag.as_str(), rest.to_string().as_str()), ("a", r#"{"n":1.10}"#));
        for bad in [json!(null), json!([]), json!({}), json!({"type": 1})] {
            assert!(split_tag(&bad, "type").is_err(), "{bad}");
        }
    }
}
