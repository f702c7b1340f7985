//! Result lists in evidence have two documented spellings. Checks use one of them, and responses contain both.

use serde_json::Value;

/// In camelCase and in snake_case.
const NAMES: [(&str, &str); 3] =
    [("fieldResults", "field_results"), ("assertionResults", "assertion_results"), ("phraseResults", "phrase_results")];

/// Adds the other spelling of each result list.
pub(in crate::runs) fn with_both(mut evidence: Value) -> Value {
    let Some(members) = evidence.as_object_mut() else { return evidence };
    for (camel, snake) in NAMES {
        let (known, missing) = if members.contains_key(camel) { (camel, snake) } else { (snake, camel) };
        if let Some(list) = members.get(known).cloned() {
            members.entry(missing).or_insert(list);
        }
    }
    evidence
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_list_is_found_under_both_names() {
        for (given, expected) in [
            (
                json!({"fieldResults": [1], "matched": []}),
                json!({"fieldResults": [1], "matched": [], "field_results": [1]}),
            ),
            (json!({"field_results": []}), json!({"field_results": [], "fieldResults": []})),
            (json!({"assertionResults": [2]}), json!({"assertionResults": [2], "assertion_results": [2]})),
            (json!({"phraseResults": [3]}), json!({"phraseResults": [3], "phrase_results": [3]})),
            (json!({"counts": {}}), json!({"counts": {}})),
            (json!(null), json!(null)),
        ] {
            assert_eq!(with_both(given.clone()), expected, "{given}");
        }
    }
}
