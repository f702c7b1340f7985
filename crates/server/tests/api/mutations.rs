//! Invalid bodies generated from the OpenAPI document: malformed ones, and valid ones with one error.

use serde_json::{Value, json};

use crate::surface::{Operation, Surface, Tenant};

/// A body with its content type.
pub(crate) struct Faulty {
    pub(crate) about: String,
    /// The content type; empty for none.
    pub(crate) content_type: &'static str,
    pub(crate) headers: Vec<(&'static str, &'static str)>,
    pub(crate) body: Vec<u8>,
    pub(crate) status: u16,
}

impl Faulty {
    fn json(about: impl Into<String>, body: impl Into<Vec<u8>>) -> Self {
        let content_type = "application/json";
        Self { about: about.into(), content_type, headers: Vec::new(), body: body.into(), status: 400 }
    }
}

/// All invalid bodies for one operation.
pub(crate) fn faulty_bodies(surface: &Surface, operation: &Operation, schema: &Value, tenant: &Tenant) -> Vec<Faulty> {
    let valid = surface.sample(schema, tenant, 0);
    assert!(surface.contract.accepts(schema, &valid), "{}: the sample is not valid: {valid}", operation.pattern);
    let mut bodies = malformed(&valid);
    if operation.description["requestBody"]["required"] == true {
        bodies.push(Faulty::json("nothing", ""));
    }
    bodies.extend(mistyped(&valid));
    for property in schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name) {
        bodies.extend(faulty_property(surface, schema, &valid, property));
    }
    bodies
}

/// Bodies that are not JSON objects, or cannot be stored.
fn malformed(valid: &Value) -> Vec<Faulty> {
    let deep = 100_000;
    let with = |member: &str| {
        let text = valid.to_string();
        let comma = if text == "{}" { "" } else { "," };
        format!("{}{comma}{member}}}", &text[..text.len() - 1])
    };
    let mut bodies: Vec<Faulty> = ["{", "}", "nul", "[]", "[{}]", "\"x\"", "5", "null", "{\"a\":}", "{}{}", "{'a':1}"]
        .into_iter()
        .chain([
            "{\"name\":\"x\",}",
            "{\"name\":NaN}",
            "{\"name\":\"\\x\"}",
            "{\"name\":\"\\ud800\"}",
            "\u{feff}{}",
            " ",
        ])
        .map(|text| Faulty::json(text, text))
        .collect();
    bodies.extend([
        Faulty::json("bytes that are not UTF-8", b"{\"name\":\"\xff\"}".to_vec()),
        Faulty::json("UTF-16", "{}".encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>()),
        Faulty::json("half a body", &valid.to_string().as_bytes()[..valid.to_string().len() - 1]),
        Faulty::json("deep arrays", "[".repeat(deep)),
        Faulty::json("deep arrays in a member", with(&format!("\"name\":{}{}", "[".repeat(deep), "]".repeat(deep)))),
        Faulty::json("deep objects", "{\"a\":".repeat(deep)),
        Faulty::json("an unknown field", with("\"no_such_field\":1")),
        Faulty::json("a long unknown field", with(&format!("\"{}\":1", "k".repeat(100_000)))),
        Faulty::json("NUL in a key", with("\"na\\u0000me\":1")),
        Faulty::json("a control character as it is", with("\"name\":\"a\u{1}b\"")),
        Faulty::json("a private number", with("\"name\":{\"$serde_json::private::Number\":\"x\"}")),
        Faulty::json("a private value", with("\"name\":{\"$serde_json::private::RawValue\":\"[\"}")),
        Faulty { status: 413, ..Faulty::json("12 MB", format!("{{\"name\":\"{}\"}}", "x".repeat(12_000_000))) },
    ]);
    bodies
}

/// A valid body with a wrong content type.
fn mistyped(valid: &Value) -> Vec<Faulty> {
    let body = || valid.to_string().into_bytes();
    // An optional body may be empty and have no content type.
    let body = || if valid == &json!({}) { b"{ }".to_vec() } else { body() };
    let types = ["", "text/plain", "application/xml", "application/x-www-form-urlencoded", "x"];
    let mut bodies: Vec<Faulty> = types
        .into_iter()
        .map(|content_type| Faulty {
            content_type,
            status: 415,
            ..Faulty::json(format!("the type `{content_type}`"), body())
        })
        .collect();
    for encoding in ["gzip", "br", "deflate, gzip", "x"] {
        let headers = vec![("content-encoding", encoding)];
        bodies.push(Faulty { headers, status: 415, ..Faulty::json(format!("encoded as {encoding}"), body()) });
    }
    bodies
}

/// Values that the document does not allow for the property, and values that no property accepts.
fn faulty_property(surface: &Surface, schema: &Value, valid: &Value, property: &str) -> Vec<Faulty> {
    let huge = format!("1{}", "0".repeat(400));
    let long = json!("x".repeat(100_000)).to_string();
    let candidates = ["true", "5", "-1", "0", "1.5", "1e400", "-1e400", &huge, "\"\"", "\"x\"", &long, "[]", "[1]"];
    let more = ["{}", "{\"a\":1}", "null", "[[]]", "\"\u{FFFF}\"", "9223372036854775808", "1e-400"];
    let mut bodies = Vec::new();
    for candidate in candidates.into_iter().chain(more) {
        let mut body = valid.clone();
        body[property] = serde_json::from_str(candidate).unwrap();
        if !surface.contract.accepts(schema, &body) {
            let shown: String = candidate.chars().take(40).collect();
            bodies.push(Faulty::json(format!("{property} = {shown}"), body.to_string()));
        }
    }
    for never in [json!("a\0b"), json!({"a": {"b": ["\0"]}}), json!({"a\0b": 1}), nested(130)] {
        let mut body = valid.clone();
        body[property] = never;
        bodies.push(Faulty::json(format!("{property} with what cannot be stored"), body.to_string()));
    }
    if valid.get(property).is_some() {
        let mut body = valid.clone();
        body.as_object_mut().unwrap().remove(property);
        bodies.push(Faulty::json(format!("no {property}"), body.to_string()));
    }
    bodies
}

/// An object with this many levels of nesting.
pub(crate) fn nested(levels: usize) -> Value {
    (1..levels).fold(json!({}), |inner, _| json!({"a": inner}))
}
