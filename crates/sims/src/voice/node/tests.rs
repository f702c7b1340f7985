//! Validation of nodes.

use serde_json::{Value, json};

use super::IvrNode;

/// Checks the fields of the first errors of each node.
fn check(cases: &[(Value, &str)]) {
    for (node, fields) in cases {
        let errors = IvrNode::read(node).expect_err(&node.to_string());
        let found: Vec<&str> = errors.iter().map(|(field, _)| field).collect();
        assert!(found.join(" ").starts_with(fields), "{node}: {errors}");
    }
}

#[test]
fn nodes_that_speak() {
    check(&[
        (json!({"type": "shout", "prompt": "x"}), "type"),
        (json!({"type": "Say", "prompt": "x", "next": "a"}), "type"),
        (json!({"type": "say", "next": "a"}), "prompt"),
        (json!({"type": "say", "prompt": " ", "next": "a"}), "prompt"),
        (json!({"type": "say", "prompt": "x"}), "next"),
        (json!({"type": "say", "prompt": "x", "next": "a", "dtmf": "1", "retries": 1}), "dtmf retries"),
        (json!({"type": "hold", "prompt": "x", "seconds": 3601, "next": "a"}), "seconds"),
        (json!({"type": "voicemail", "prompt": "x", "max_seconds": 0}), "max_seconds"),
        (json!({"type": "transfer", "prompt": "x", "number": "x", "next": "a"}), "next number"),
        (json!({"type": "hangup", "prompt": ""}), "prompt"),
        (json!({"type": "hangup", "next": "a"}), "next"),
    ]);
}

#[test]
fn menus() {
    let menu = |options: Value| json!({"type": "menu", "prompt": "x", "options": options});
    let one = json!({"dtmf": "1", "next": "a"});
    let yes = json!([{"phrases": ["Yes", "yes"], "next": "a"}, {"phrases": ["YES "], "next": "b"}]);
    let invalid_policy = json!({"type": "menu", "prompt": "x", "options": [one], "retries": -1, "timeout_seconds": 0});
    check(&[
        (menu(json!([])), "options"),
        (menu(json!([{"next": "a"}])), "options.0"),
        (menu(json!([{"dtmf": "12", "next": "a"}])), "options.0.dtmf"),
        (menu(json!([{"dtmf": "A", "next": "a"}])), "options.0.dtmf"),
        (menu(json!([{"phrases": [""], "next": "a"}])), "options.0.phrases.0"),
        (menu(json!([one, one])), "options.1"),
        (menu(yes), "options.1"),
        (menu(json!(vec![one; 21])), "options"),
        (invalid_policy, "retries timeout_seconds"),
    ]);
}

#[test]
fn nodes_that_ask_and_look_up() {
    let with = |mut node: Value, key: &str, value: Value| {
        node[key] = value;
        node
    };
    let collect = json!({"type": "collect", "prompt": "x", "field": "a", "kind": "digits", "next": "a"});
    let lookup = json!({"type": "lookup", "source": "fhir", "resource": "Patient", "match": {"a": "b"},
        "found": "a", "not_found": "b"});
    let representative = json!({"type": "representative", "prompt": "x", "beats": [{"phrases": ["y"], "answer": "z"}]});
    for good in [&collect, &lookup, &representative] {
        assert!(IvrNode::read(good).is_ok(), "{good}");
    }
    let short = with(collect.clone(), "max_length", json!(4));
    check(&[
        (with(collect.clone(), "field", json!("a b")), "field"),
        (with(collect, "kind", json!("number")), "kind"),
        (with(short.clone(), "kind", json!("date")), "max_length"),
        (with(short, "min_length", json!(5)), "max_length"),
        (with(lookup.clone(), "match", json!({})), "match"),
        (with(lookup.clone(), "match", json!({"a": ""})), "match.a"),
        (with(lookup, "source", json!("sql")), "source"),
        (with(representative.clone(), "beats", json!([])), "beats"),
        (with(representative.clone(), "beats", json!([{"answer": "y"}])), "beats.0"),
        (with(representative, "beats", json!([{"fields": ["a b"], "answer": ""}])), "beats.0.answer beats.0.fields.0"),
    ]);
}
