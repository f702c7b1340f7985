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

fn told<T>(read: Result<T, FieldErrors>) -> String {
    read.err().map_or_else(String::new, |errors| errors.to_string())
}

fn faults(authored: &str) -> String {
    told(read::<Shelf>(&serde_json::from_str(authored).unwrap(), ALIASES).into_result())
}

#[test]
fn faults_are_told_together_and_by_place() {
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
        assert_eq!(faults(authored), expected, "{authored}");
    }
}

#[test]
fn other_shapes_are_not_taken_for_the_right_one() {
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
        assert_eq!(faults(authored), expected, "{authored}");
    }
}

#[test]
fn numbers_keep_their_digits() {
    let authored: Value = serde_json::from_str(r#"{"title":"x","notes":{"a":[1.10,1e400]}}"#).unwrap();
    let book = read::<Book>(&authored, ALIASES).into_result().unwrap();
    assert_eq!(book.notes.to_string(), r#"{"a":[1.10,1e+400]}"#);
}

#[test]
fn all_that_is_missing_is_told_where_that_is_known() {
    let required = ["pages", "title"].map(str::to_owned);
    let hints = Hints { required: &required, ..ALIASES };
    let missing = |authored| told(read::<Book>(&authored, hints).into_result());
    assert_eq!(missing(json!({})), "pages: is required; title: is required");
    assert_eq!(missing(json!({"pages": "x"})), "pages: must be an integer, is \"x\"; title: is required");
    assert_eq!(missing(json!({"name": 5, "pages": 1})), "name: must be a string, is 5");
}

#[test]
fn faults_are_few_and_short_whatever_the_author_sends() {
    let errors = |authored: Value| read::<Shelf>(&authored, ALIASES).into_result().unwrap_err();
    assert_eq!(errors(json!({ "books": vec![1; 10_000] })).iter().count(), MOST_FAULTS);
    let long = "k".repeat(100_000);
    let word = |kind: &str| json!({"books": [{"title": "x", "kind": kind}]});
    for authored in [
        json!({"name": [&long]}),
        json!({(&long): 1}),
        json!({"labels": {(&long): 1}}),
        json!({"shelved": &long}),
        json!({"shelved": {(&long): 1}}),
        word(&long),
        word(&format!("{long}, expected {long}")),
    ] {
        let told = errors(authored).to_string();
        assert!(told.chars().count() < 300, "{}", shortened(&told, 500));
    }
}

/// A shelf that has a name must have books, and a book must have a title of a few letters.
fn rules(shelf: &Shelf, errors: &mut FieldErrors) {
    if shelf.books.is_empty() {
        errors.add("books", "must not be empty");
    }
    errors.each("books", &shelf.books, 5, |book, errors| errors.length("title", &book.title, 1..=3));
}

#[test]
fn rules_on_the_whole_need_all_that_was_authored() {
    let judged = |authored| told(read::<Shelf>(&authored, ALIASES).judge_whole(rules));
    assert_eq!(judged(json!({})), "books: must not be empty");
    assert!(judged(json!({"a": 1})).contains("books: must not be empty"));
    assert_eq!(judged(json!({"books": [1, {"title": "long"}]})), "books.0: must be an object, is 1");
}

#[test]
fn rules_on_parts_need_what_they_look_at() {
    let judged = |authored| told(read::<Shelf>(&authored, ALIASES).judge_parts(rules));
    assert_eq!(judged(json!({"books": [1]})), "books.0: must be an object, is 1");
    assert_eq!(
        judged(json!({"books": [1, {"title": "long"}, {"title": "long", "pages": "x"}]})),
        "books.0: must be an object, is 1; books.1.title: must have 1 to 3 characters, has 4; \
         books.2.pages: must be an integer, is \"x\""
    );
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
