//! JSON Patch (RFC 6902) with JSON Pointer (RFC 6901). Preserves the digits of numbers and the order of keys, unlike the
//! common crates.

use serde_json::Value;

use super::depth;
use super::outcome::excerpt;

/// The maximum number of operations of a patch.
const MAX_OPERATIONS: usize = 10_000;
/// The memory limit of all copies: each of them can double the document.
const MAX_COPIED_BYTES: usize = 4 << 20;
/// The approximate memory of a value, besides its text.
const VALUE_BYTES: usize = 100;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PatchOperation {
    path: JsonPointer,
    action: PatchAction,
}

#[derive(Clone, Debug, PartialEq)]
enum PatchAction {
    Add(Value),
    Remove,
    Replace(Value),
    Move(JsonPointer),
    Copy(JsonPointer),
    Test(Value),
}

#[derive(Clone, Debug, PartialEq)]
struct JsonPointer {
    text: String,
    tokens: Vec<String>,
}

pub(crate) fn parse(patch: &Value) -> Result<Vec<PatchOperation>, String> {
    let operations = patch.as_array().ok_or("a JSON Patch must be a list of operations")?;
    if operations.len() > MAX_OPERATIONS {
        return Err(format!("a patch has at most {MAX_OPERATIONS} operations"));
    }
    let parse = |(at, operation)| parse_operation(operation).map_err(|reason| format!("operation {at}: {reason}"));
    operations.iter().enumerate().map(parse).collect()
}

fn parse_operation(operation: &Value) -> Result<PatchOperation, String> {
    let text = |name: &str| operation.get(name).and_then(Value::as_str).ok_or(format!("`{name}` must be a string"));
    let value = || operation.get("value").cloned().ok_or("`value` is missing".to_owned());
    let path = JsonPointer::parse(text("path")?)?;
    let action = match text("op")? {
        "add" => PatchAction::Add(value()?),
        "remove" => PatchAction::Remove,
        "replace" => PatchAction::Replace(value()?),
        "move" => PatchAction::Move(JsonPointer::parse(text("from")?)?),
        "copy" => PatchAction::Copy(JsonPointer::parse(text("from")?)?),
        "test" => PatchAction::Test(value()?),
        other => {
            return Err(format!("`op` must be add, remove, replace, move, copy or test, got `{}`", excerpt(other)));
        }
    };
    Ok(PatchOperation { path, action })
}

/// Applies all operations in order. After an error the document is partially changed and must be discarded.
pub(crate) fn apply(document: &mut Value, operations: &[PatchOperation]) -> Result<(), String> {
    let mut copied = 0;
    for (at, operation) in operations.iter().enumerate() {
        apply_operation(document, operation, &mut copied).map_err(|reason| format!("operation {at}: {reason}"))?;
    }
    Ok(())
}

fn apply_operation(document: &mut Value, operation: &PatchOperation, copied: &mut usize) -> Result<(), String> {
    let PatchOperation { path, action } = operation;
    match action {
        PatchAction::Add(value) => path.add(document, value.clone()),
        PatchAction::Remove => path.remove(document).map(drop),
        PatchAction::Replace(value) => {
            let target = path.find_mut(document)?;
            path.check_depth(value)?;
            *target = value.clone();
            Ok(())
        }
        PatchAction::Move(from) if from.tokens == path.tokens => from.find_mut(document).map(drop),
        PatchAction::Move(from) if path.tokens.starts_with(&from.tokens) => Err("moves a value into itself".to_owned()),
        PatchAction::Move(from) => {
            if path.tokens.len() > from.tokens.len() {
                // Computing the depth of the value takes time.
                *copied += memory_bytes(from.find_mut(document)?) / 16;
                if *copied > MAX_COPIED_BYTES {
                    return Err("moves too much".to_owned());
                }
            }
            let value = from.remove(document)?;
            path.add(document, value)
        }
        PatchAction::Copy(from) => {
            let value = from.find_mut(document)?;
            *copied += memory_bytes(value);
            if *copied > MAX_COPIED_BYTES {
                return Err("copies too much".to_owned());
            }
            let value = value.clone();
            path.add(document, value)
        }
        PatchAction::Test(value) if equal(path.find_mut(document)?, value) => Ok(()),
        PatchAction::Test(_) => Err(format!("the test of {} failed", excerpt(&path.text))),
    }
}

/// The approximate memory of a value.
fn memory_bytes(value: &Value) -> usize {
    VALUE_BYTES
        + match value {
            Value::String(text) => text.len(),
            Value::Array(items) => items.iter().map(memory_bytes).sum(),
            Value::Object(fields) => {
                fields.iter().map(|(key, value)| key.len() + VALUE_BYTES + memory_bytes(value)).sum()
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        }
}

impl JsonPointer {
    fn parse(text: &str) -> Result<Self, String> {
        let invalid = || format!("`{}` is not a JSON Pointer", excerpt(text));
        if !(text.is_empty() || text.starts_with('/')) {
            return Err(invalid());
        }
        let token = |token: &str| {
            let bad = token.split('~').skip(1).any(|rest| !rest.starts_with(['0', '1']));
            (!bad).then(|| token.replace("~1", "/").replace("~0", "~"))
        };
        let tokens: Option<Vec<String>> = text.split('/').skip(1).map(token).collect();
        Ok(Self { text: text.to_owned(), tokens: tokens.ok_or_else(invalid)? })
    }

    fn find_mut<'v>(&self, document: &'v mut Value) -> Result<&'v mut Value, String> {
        self.walk(document, &self.tokens)
    }

    /// Limits the depth of the result, so that code can walk it recursively.
    fn check_depth(&self, value: &Value) -> Result<(), String> {
        let fits = depth::fits(value, self.tokens.len());
        if fits { Ok(()) } else { Err("the result is nested too deeply".to_owned()) }
    }

    fn walk<'v>(&self, document: &'v mut Value, tokens: &[String]) -> Result<&'v mut Value, String> {
        let missing = || format!("there is nothing at {}", excerpt(&self.text));
        tokens.iter().try_fold(document, |value, token| match value {
            Value::Object(fields) => fields.get_mut(token).ok_or_else(missing),
            Value::Array(items) => index(token).and_then(|at| items.get_mut(at)).ok_or_else(missing),
            _ => Err(missing()),
        })
    }

    fn add(&self, document: &mut Value, value: Value) -> Result<(), String> {
        let wrong = || format!("nothing can be added at {}", excerpt(&self.text));
        self.check_depth(&value)?;
        let Some((last, parents)) = self.tokens.split_last() else {
            *document = value;
            return Ok(());
        };
        match self.walk(document, parents)? {
            Value::Object(fields) => {
                fields.insert(last.clone(), value);
            }
            Value::Array(items) if last == "-" => items.push(value),
            Value::Array(items) => {
                let at = index(last).filter(|at| *at <= items.len()).ok_or_else(wrong)?;
                items.insert(at, value);
            }
            _ => return Err(wrong()),
        }
        Ok(())
    }

    fn remove(&self, document: &mut Value) -> Result<Value, String> {
        let missing = || format!("there is nothing at {}", excerpt(&self.text));
        let Some((last, parents)) = self.tokens.split_last() else {
            return Ok(std::mem::take(document));
        };
        match self.walk(document, parents)? {
            Value::Object(fields) => fields.shift_remove(last).ok_or_else(missing),
            Value::Array(items) => {
                let at = index(last).filter(|at| *at < items.len()).ok_or_else(missing)?;
                Ok(items.remove(at))
            }
            _ => Err(missing()),
        }
    }
}

/// An array index: digits without leading zeros.
fn index(token: &str) -> Option<usize> {
    let is_number = token.bytes().all(|byte| byte.is_ascii_digit()) && (token == "0" || !token.starts_with('0'));
    is_number.then(|| token.parse().ok()).flatten()
}

/// Equality of RFC 6902 §4.6: numbers by value, objects in any order.
fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            left == right || normalize_number(&left.to_string()) == normalize_number(&right.to_string())
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| equal(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            let has = |(key, value): (&String, &Value)| right.get(key).is_some_and(|other| equal(value, other));
            left.len() == right.len() && left.iter().all(has)
        }
        _ => left == right,
    }
}

/// Normalizes a number: sign, digits without zeros at either end, and the exponent of the last digit.
fn normalize_number(text: &str) -> Option<(bool, String, i64)> {
    let (is_negative, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent = exponent.parse::<i64>().ok()?.checked_sub(i64::try_from(fraction.len()).ok()?)?;
    let digits = format!("{whole}{fraction}");
    let significant = digits.trim_end_matches('0');
    let exponent = exponent.checked_add(i64::try_from(digits.len() - significant.len()).ok()?)?;
    let significant = significant.trim_start_matches('0');
    if significant.is_empty() {
        Some((false, String::new(), 0))
    } else {
        Some((is_negative, significant.to_owned(), exponent))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patched(document: &str, patch: &str) -> Result<String, String> {
        let mut document: Value = serde_json::from_str(document).unwrap();
        let operations = parse(&serde_json::from_str(patch).unwrap())?;
        apply(&mut document, &operations).map(|()| document.to_string())
    }

    #[test]
    fn examples_of_the_standard() {
        for (document, patch, result) in [
            (r#"{"foo":"bar"}"#, r#"[{"op":"add","path":"/baz","value":"qux"}]"#, r#"{"foo":"bar","baz":"qux"}"#),
            (r#"{"foo":[1,3]}"#, r#"[{"op":"add","path":"/foo/1","value":2}]"#, r#"{"foo":[1,2,3]}"#),
            (r#"{"a":1,"b":2,"c":3}"#, r#"[{"op":"remove","path":"/a"}]"#, r#"{"b":2,"c":3}"#),
            (r#"{"foo":[1,2,3]}"#, r#"[{"op":"remove","path":"/foo/1"}]"#, r#"{"foo":[1,3]}"#),
            (r#"{"a":1,"b":2}"#, r#"[{"op":"replace","path":"/a","value":1.50}]"#, r#"{"a":1.50,"b":2}"#),
            (
                r#"{"foo":{"bar":"baz","waldo":"fred"},"qux":{}}"#,
                r#"[{"op":"move","from":"/foo/waldo","path":"/qux/thud"}]"#,
                r#"{"foo":{"bar":"baz"},"qux":{"thud":"fred"}}"#,
            ),
            (r#"{"foo":[1,2]}"#, r#"[{"op":"move","from":"/foo/1","path":"/foo/0"}]"#, r#"{"foo":[2,1]}"#),
            (r#"{"/":9,"~1":10}"#, r#"[{"op":"test","path":"/~01","value":1.0e1}]"#, r#"{"/":9,"~1":10}"#),
            (r#"{"foo":["bar"]}"#, r#"[{"op":"add","path":"/foo/-","value":["a"]}]"#, r#"{"foo":["bar",["a"]]}"#),
            (r#"{"a":[1]}"#, r#"[{"op":"copy","from":"/a","path":"/b"}]"#, r#"{"a":[1],"b":[1]}"#),
            (
                r#"{"a":{"b":1,"c":2}}"#,
                r#"[{"op":"test","path":"/a","value":{"c":2.00,"b":1}}]"#,
                r#"{"a":{"b":1,"c":2}}"#,
            ),
        ] {
            assert_eq!(patched(document, patch).as_deref(), Ok(result));
        }
    }

    #[test]
    fn invalid_patches_are_rejected() {
        for patch in [
            "{}",
            r#"[{"op":"add","path":"/a"}]"#,
            r#"[{"op":"spell","path":"/a"}]"#,
            r#"[{"op":"add","path":"a","value":1}]"#,
            r#"[{"op":"add","path":"/~2","value":1}]"#,
            r#"[{"op":"add","path":"/x/y","value":1}]"#,
            r#"[{"op":"add","path":"/list/3","value":1}]"#,
            r#"[{"op":"add","path":"/list/01","value":1}]"#,
            r#"[{"op":"remove","path":"/list/-"}]"#,
            r#"[{"op":"replace","path":"/x","value":1}]"#,
            r#"[{"op":"test","path":"/list","value":[1]}]"#,
            r#"[{"op":"test","path":"/list/0","value":"1"}]"#,
            r#"[{"op":"move","from":"/list","path":"/list/0"}]"#,
        ] {
            assert!(patched(r#"{"list":[1,2]}"#, patch).is_err(), "{patch}");
        }
    }

    #[test]
    fn depth_is_limited() {
        let nested = format!("{}{}", "[".repeat(60), "]".repeat(60));
        let deep = format!(r#"{{"a":{nested},"b":{nested},"c":1}}"#);
        let place = format!("/a{}", "/0".repeat(58));
        for operation in [
            format!(r#"{{"op":"add","path":"{place}/0","value":{nested}}}"#),
            format!(r#"{{"op":"replace","path":"{place}","value":{nested}}}"#),
            format!(r#"{{"op":"copy","from":"/b","path":"{place}/-"}}"#),
            format!(r#"{{"op":"move","from":"/b","path":"{place}/-"}}"#),
        ] {
            let error = patched(&deep, &format!("[{operation}]")).unwrap_err();
            assert!(error.contains("too deeply"), "{error}");
        }
        let shallow = format!(r#"[{{"op":"copy","from":"/c","path":"{place}/0/0"}}]"#);
        assert!(patched(&deep, &shallow).is_ok());
    }

    #[test]
    fn copies_are_limited() {
        for (seed, max) in [(r#"["0123456789abcdef"]"#, 16), ("[[]]", 16), ("[{}]", 16)] {
            let mut operations = vec![format!(r#"{{"op":"add","path":"/a","value":{seed}}}"#)];
            operations.extend((0..40).map(|_| r#"{"op":"copy","from":"/a","path":"/a/-"}"#.to_owned()));
            let error = patched("{}", &format!("[{}]", operations.join(","))).unwrap_err();
            let (operation, reason) = error.split_once(": ").unwrap();
            assert_eq!(reason, "copies too much");
            let operation: usize = operation.trim_start_matches("operation ").parse().unwrap();
            assert!(operation <= max, "{seed} was doubled {operation} times");
        }
    }
}
