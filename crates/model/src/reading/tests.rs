use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::json;

use super::*;

#[derive(Deserialize, Debug, PartialEq)]
#[serde(deny_unknown_fields)]
struct Shelf {
    name: Option<String>,
    #[serde(default)]
    books: Vec<Book>,
    #[serde(default)]
    labels: BTreeMap<String, String>,
    #[serde(default)]
    shelved: BTreeMap<Kind, u64>,
    best: Option<Book>,
}

#[derive(Deserialize, Debug, PartialEq)]
#[serde(deny_unknown_fields)]
struct Book {
    #[serde(alias = "name")]
    title: String,
    pages: Option<i64>,
    kind: Option<Kind>,
    #[serde(default)]
    notes: Value,
}

#[derive(Clone, Copy, Deserialize, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Novel,
    Poems,
}

const ALIASES: Hints<'static> = Hints { required: &[], aliases: &[("name", "title")] };

fn message<T>(result: Result<T, FieldErrors>) -> String {
    result.err().map_or_else(String::new, |errors| errors.to_string())
}

fn read_errors(authored: &str) -> String {
    message(read::<Shelf>(&serde_json::from_str(authored).unwrap(), ALIASES).into_result())
}

#[test]
fn all_errors_are_reported_with_their_path() {
    for (authored, expected) in [
        (r#"{"name":"a","books":[{"title":"x","pages":3,"kind":"poems"}],"labels":{"a":"b"}}"#, ""),
        (r#"{"name":1}"#, "name: must be a string, is 1"),
        (r#"{"labels":{"a":true}}"#, "labels.a: must be a string, is true"),
        (r#"{"books":{}}"#, "books: must be a list, is an object"),
        (r#"{"books":[{"title":"x","kind":"n"}]}"#, r#"books.0.kind: must be `novel` or `poems`, is "n""#),
        (
            r#"{"shelved":{"novels":3,"poems":-1}}"#,
            "shelved.novels: must be `novel` or `poems`, is \"novels\"; \
            shelved.poems: must be a whole number from 0, is -1",
        ),
        (r#"{"books":[{"title":"x","name":"y"}]}"#, "books.0.title: is given twice, once under another name"),
        (
            r#"{"a":1,"books":[{"title":"x","b":2}]}"#,
            "a: is not a known field; known: `name`, `books`, `labels`, `shelved`, `best`; \
             books.0.b: is not a known field; known: `name`, `title`, `pages`, `kind`, `notes`",
        ),
        (
            r#"{"books":[{"pages":"x"},{"title":"x"},{"title":2},{"title":"y","pages":true},{}],"labels":[]}"#,
            "books.0.pages: must be an integer, is \"x\"; books.0.title: is required; \
             books.2.title: must be a string, is 2; books.3.pages: must be an integer, is true; \
             books.4.title: is required; labels: must be an object, is a list",
        ),
        (
            r#"{"best":{},"colour":1,"name":2}"#,
            "best.title: is required; colour: is not a known field; \
            known: `name`, `books`, `labels`, `shelved`, `best`; name: must be a string, is 2",
        ),
    ] {
        assert_eq!(read_errors(authored), expected, "{authored}");
    }
}

#[test]
fn values_of_another_shape_are_rejected() {
    for (authored, expected) in [
        (r#"["a"]"#, ": must be an object, is a list"),
        ("1.10", ": must be an object, is 1.10"),
        ("1e999", ": must be an object, is 1e+999"),
        (r#"{"labels":1.10}"#, "labels: must be an object, is 1.10"),
        (r#"{"labels":{"a":1.10}}"#, "labels.a: must be a string, is 1.10"),
        (r#"{"books":[1.10]}"#, "books.0: must be an object, is 1.10"),
        (r#"{"books":[["x",1]]}"#, "books.0: must be an object, is a list"),
        (r#"{"books":[{"title":"x","pages":1.10}]}"#, "books.0.pages: must be an integer, is 1.10"),
        (
            r#"{"books":[{"title":"x","pages":99999999999999999999}]}"#,
            "books.0.pages: must be an integer, is 99999999999999999999",
        ),
        (
            r#"{"books":[{"title":"x","pages":9223372036854775808}]}"#,
            "books.0.pages: must be an integer, is 9223372036854775808",
        ),
        (r#"{"books":[{"title":"x","kind":{"novel":null}}]}"#, "books.0.kind: must be a string, is an object"),
    ] {
        assert_eq!(read_errors(authored), expected, "{authored}");
    }
}

#[test]
fn numbers_keep_their_digits() {
    let authored: Value = serde_json::from_str(r#"{"title":"x","notes":{"a":[1.10,1e400]}}"#).unwrap();
    let book = read::<Book>(&authored, ALIASES).into_result().unwrap();
    assert_eq!(book.notes.to_string(), r#"{"a":[1.10,1e+400]}"#);
}

#[test]
fn all_missing_members_are_reported_if_the_required_ones_are_known() {
    let required = ["pages", "title"].map(str::to_owned);
    let hints = Hints { required: &required, ..ALIASES };
    let missing = |authored| message(read::<Book>(&authored, hints).into_result());
    assert_eq!(missing(json!({})), "pages: is required; title: is required");
    assert_eq!(missing(json!({"pages": "x"})), "pages: must be an integer, is \"x\"; title: is required");
    assert_eq!(missing(json!({"name": 5, "pages": 1})), "name: must be a string, is 5");
}

#[test]
fn errors_are_limited_in_number_and_length() {
    let errors = |authored: Value| read::<Shelf>(&authored, ALIASES).into_result().unwrap_err();
    assert_eq!(errors(json!({ "books": vec![1; 10_000] })).iter().count(), MAX_ERRORS);
    let long = "k".repeat(100_000);
    let book_of = |kind: &str| json!({"books": [{"title": "x", "kind": kind}]});
    for authored in [
        json!({"name": [&long]}),
        json!({(&long): 1}),
        json!({"labels": {(&long): 1}}),
        json!({"shelved": &long}),
        json!({"shelved": {(&long): 1}}),
        book_of(&long),
        book_of(&format!("{long}, expected {long}")),
    ] {
        let text = errors(authored).to_string();
        assert!(text.chars().count() < 300, "{}", shortened(&text, 500));
    }
}

/// A shelf must have one to five books, and the title of a book has one to three characters.
fn rules(shelf: &Shelf, errors: &mut FieldErrors) {
    if shelf.books.is_empty() {
        errors.add("books", "must not be empty");
    }
    errors.each("books", &shelf.books, 5, |book, errors| errors.length("title", &book.title, 1..=3));
}

#[test]
fn rules_on_the_whole_value_need_a_complete_value() {
    let checked = |authored| message(read::<Shelf>(&authored, ALIASES).judge_whole(rules));
    assert_eq!(checked(json!({})), "books: must not be empty");
    assert!(checked(json!({"a": 1})).contains("books: must not be empty"));
    assert_eq!(checked(json!({"books": [1, {"title": "long"}]})), "books.0: must be an object, is 1");
}

#[test]
fn rules_on_parts_skip_objects_with_removed_parts() {
    let checked = |authored| message(read::<Shelf>(&authored, ALIASES).judge_parts(rules));
    assert_eq!(checked(json!({"books": [1]})), "books.0: must be an object, is 1");
    assert_eq!(
        checked(json!({"books": [1, {"title": "long"}, {"title": "long", "pages": "x"}]})),
        "books.0: must be an object, is 1; books.1.title: must have 1 to 3 characters, has 4; \
         books.2.pages: must be an integer, is \"x\""
    );
}

#[test]
fn split_tag_keeps_the_digits_of_numbers() {
    let value: Value = serde_json::from_str(r#"{"type":"a","n":1.10}"#).unwrap();
    let (tag, rest) = split_tag(&value, "type").unwrap();
    assert_eq!((tag.as_str(), rest.to_string().as_str()), ("a", r#"{"n":1.10}"#));
    for bad in [json!(null), json!([]), json!({}), json!({"type": 1})] {
        assert!(split_tag(&bad, "type").is_err(), "{bad}");
    }
}
