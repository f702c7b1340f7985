//! Writes a resource as the first version of itself (<https://hl7.org/fhir/R4/resource.html#Meta>).

use serde_json::{Map, Value};

/// Appends the resource, compact, in its own order and with the digits of its numbers, as version 1.
/// An exponent is written `e+5`, as serde_json reads it.
///
/// Tells where in the resource's text `,"lastUpdated":…` can be put if it has none, else 0.
pub(super) fn compose(resource: &Map<String, Value>, into: &mut Vec<u8>) -> serde_json::Result<u32> {
    let start = into.len();
    let anchor = ["meta", "id", "resourceType"].into_iter().find(|name| resource.contains_key(*name));
    let mut splice = 0;
    let mut separator = b'{';
    for (name, value) in resource {
        into.push(separator);
        separator = b',';
        if name != "meta" {
            member(name, value, into)?;
        }
        if Some(name.as_str()) == anchor {
            if name != "meta" {
                into.push(b',');
            }
            into.extend_from_slice(b"\"meta\":");
            splice = meta(value.as_object().filter(|_| name == "meta"), into)?.saturating_sub(start);
        }
    }
    into.extend_from_slice(b"}");
    Ok(splice as u32)
}

/// Appends the value; tells the place after the version if there is no `lastUpdated`.
fn meta(authored: Option<&Map<String, Value>>, into: &mut Vec<u8>) -> serde_json::Result<usize> {
    let mut splice = 0;
    into.push(b'{');
    if authored.is_none_or(|meta| !meta.contains_key("versionId")) {
        into.extend_from_slice(VERSION);
        splice = into.len();
    }
    for (name, value) in authored.into_iter().flatten() {
        if into.last() != Some(&b'{') {
            into.push(b',');
        }
        if name == "versionId" {
            into.extend_from_slice(VERSION);
            splice = into.len();
        } else {
            member(name, value, into)?;
        }
    }
    into.push(b'}');
    Ok(if authored.is_some_and(|meta| meta.contains_key("lastUpdated")) { 0 } else { splice })
}

const VERSION: &[u8] = b"\"versionId\":\"1\"";

fn member(name: &str, value: &Value, into: &mut Vec<u8>) -> serde_json::Result<()> {
    serde_json::to_writer(&mut *into, name)?;
    into.push(b':');
    serde_json::to_writer(into, value)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text with the place marked by `^`.
    fn composed(resource: &str) -> String {
        let mut text = b"before".to_vec();
        let splice = compose(&serde_json::from_str(resource).unwrap(), &mut text).unwrap();
        let mut text = String::from_utf8(text[6..].to_vec()).unwrap();
        if splice > 0 {
            text.insert(splice as usize, '^');
        }
        text
    }

    #[test]
    fn meta_is_made_after_the_id() {
        let expected = r#"{"resourceType":"Patient","id":"1","meta":{"versionId":"1"^},"active":true}"#;
        assert_eq!(composed(r#"{"resourceType":"Patient", "id":"1", "active" : true}"#), expected);
        assert_eq!(composed(r#"{"id":"1","x":[]}"#), r#"{"id":"1","meta":{"versionId":"1"^},"x":[]}"#);
        assert_eq!(composed(r#"{"id":"1","meta":null}"#), r#"{"id":"1","meta":{"versionId":"1"^}}"#);
    }

    #[test]
    fn an_authored_meta_keeps_all_but_its_version() {
        assert_eq!(composed(r#"{"meta":{},"id":"1"}"#), r#"{"meta":{"versionId":"1"^},"id":"1"}"#);
        let expected = r#"{"id":"1","meta":{"source":"a","versionId":"1"^,"tag":[]}}"#;
        assert_eq!(composed(r#"{"id":"1","meta":{"source":"a","versionId":"7","tag":[]}}"#), expected);
        let expected = r#"{"id":"1","meta":{"versionId":"1","lastUpdated":"2020-01-01T00:00:00Z"}}"#;
        assert_eq!(composed(r#"{"id":"1","meta":{"lastUpdated":"2020-01-01T00:00:00Z"}}"#), expected);
    }

    #[test]
    fn digits_stay_as_they_are() {
        let digits = r#"[7.20,-0.0,1e+05,1.50e-7,0.000000000000000000000000001,12345678901234567890123]"#;
        let expected = format!(r#"{{"id":"1","meta":{{"versionId":"1"^}},"a":{digits}}}"#);
        assert_eq!(composed(&format!(r#"{{"id":"1","a":{digits}}}"#)), expected);
    }

    #[test]
    fn escapes_and_exponents_get_one_form() {
        let expected = r#"{"id":"1","meta":{"versionId":"1"^},"a":"é\n/","b":1e+5}"#;
        assert_eq!(composed(r#"{"id":"1","a":"\u00e9\n\/","b":1E5}"#), expected);
    }
}
