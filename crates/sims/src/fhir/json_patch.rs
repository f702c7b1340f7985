//! JSON Patch (RFC 6902) with JSON Pointer (RFC 6901). Numbers keep their digits and keys their order, which the
//! usual library does not promise.

use serde_json::Value;

use super::depth;
use super::outcome::excerpt;

/// A patch may hold so many operations.
const MOST_OPERATIONS: usize = 10_000;
/// Copies may take so much memory: each can double the document.
const MOST_COPIED_BYTES: usize = 4 << 20;
/// About what a value takes in memory besides its text.
const VALUE_BYTES: usize = 100;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Operation {
    path: Pointer,
    action: Action,
}

#[derive(Clone, Debug, PartialEq)]
enum Action {
    Add(Value),
    Remove,
    Replace(Value),
    Move(Pointer),
    Copy(Pointer),
    Test(Value),
}

#[derive(Clone, Debug, PartialEq)]
struct Pointer {
    text: String,
    tokens: Vec<String>,
}

pub(crate) fn parse(patch: &Value) -> Result<Vec<Operation>, String> {
    let operations = patch.as_array().ok_or("a JSON Patch is a list of operations")?;
    if operations.len() > MOST_OPERATIONS {
        return Err(format!("a patch has at most {MOST_OPERATIONS} operations"));
    }
    let parse = |(at, operation)| parse_operation(operation).map_err(|reason| format!("operation {at}: {reason}"));
    operations.iter().enumerate().map(parse).collect()
}

fn parse_operation(operation: &Value) -> Result<Operation, String> {
    let text = |name: &str| operation.get(name).and_then(Value::as_str).ok_or(format!("`{name}` must be a string"));
    let value = || operation.get("value").cloned().ok_or("`value` is missing".to_owned());
    let path = Pointer::parse(text("path")?)?;
    let action = match text("op")? {
        "add" => Action::Add(value()?),
        "remove" => Action::Remove,
        "replace" => Action::Replace(value()?),
        "move" => Action::Move(Pointer::parse(text("from")?)?),
        "copy" => Action::Copy(Pointer::parse(text("from")?)?),
        "test" => Action::Test(value()?),
        other => return Err(format!("`op` is add, remove, replace, move, copy or test, not `{}`", excerpt(other))),
    };
    Ok(Operation { path, action })
}

/// Applies all operations in order. After an error the document is half changed and must be thrown away.
pub(crate) fn apply(document: &mut Value, operations: &[Operation]) -> Result<(), String> {
    let mut copied = 0;
    for (at, operation) in operations.iter().enumerate() {
        apply_one(document, operation, &mut copied).map_err(|reason| format!("operation {at}: {reason}"))?;
    }
    Ok(())
}

fn apply_one(document: &mut Value, operation: &Operation, copied: &mut usize) -> Result<(), String> {
    let Operation { path, action } = operation;
    match action {
        Action::Add(value) => path.add(document, value.clone()),
        Action::Remove => path.remove(document).map(drop),
        Action::Replace(value) => {
            let there = path.find_mut(document)?;
            path.check_depth(value)?;
            *there = value.clone();
            Ok(())
        }
        Action::Move(from) if from.tokens == path.tokens => from.find_mut(document).map(drop),
        Action::Move(from) if path.tokens.starts_with(&from.tokens) => Err("moves a value into itself".to_owned()),
        Action::Move(from) => {
            if path.tokens.len() > from.tokens.len() {
                // To look how deep it is takes time.
                *copied += weight(from.find_mut(document)?) / 16;
                if *copied > MOST_COPIED_BYTES {
                    return Err("moves too much".to_owned());
                }
            }
            let value = from.remove(document)?;
            path.add(document, value)
        }
        Action::Copy(from) => {
            let value = from.find_mut(document)?;
            *copied += weight(value);
            if *copied > MOST_COPIED_BYTES {
                return Err("copies too much".to_owned());
            }
            let value = value.clone();
            path.add(document, value)
        }
        Action::Test(value) if equal(path.find_mut(document)?, value) => Ok(()),
        Action::Test(_) => Err(format!("the test of {} failed", excerpt(&path.text))),
    }
}

/// About how many bytes of memory a copy takes. Small values weigh more than their text.
fn weight(value: &Value) -> usize {
    VALUE_BYTES
        + match value {
            Value::String(text) => text.len(),
            Value::Array(items) => items.iter().map(weight).sum(),
            Value::Object(fields) => fields.iter().map(|(key, value)| key.len() + VALUE_BYTES + weight(value)).sum(),
            Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        }
}

impl Pointer {
    fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{}` is no JSON Pointer", excerpt(text));
        if !(text.is_empty() || text.starts_with('/')) {
            return Err(wrong());
        }
        let token = |token: &str| {
            let bad = token.split('~').skip(1).any(|rest| !rest.starts_with(['0', '1']));
            (!bad).then(|| token.replace("~1", "/").replace("~0", "~"))
        };
        let tokens: Option<Vec<String>> = text.split('/').skip(1).map(token).collect();
        Ok(Self { text: text.to_owned(), tokens: tokens.ok_or_else(wrong)? })
    }

    fn find_mut<'v>(&self, document: &'v mut Value) -> Result<&'v mut Value, String> {
        self.walk(document, &self.tokens)
    }

    /// Whether the value may stand here. Whatever walks through the document may then recurse.
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

/// Digits without leading zeros.
fn index(token: &str) -> Option<usize> {
    let is_number = token.bytes().all(|byte| byte.is_ascii_digit()) && (token == "0" || !token.starts_with('0'));
    is_number.then(|| token.parse().ok()).flatten()
}

/// Equality as RFC 6902 §4.6 has it: numbers by their value, objects in any order.
fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            left == right || numeral(&left.to_string()) == numeral(&right.to_string())
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

/// Sign, digits without zeros at either end, and the power of ten of the last digit.
fn numeral(text: &str) -> Option<(bool, String, i64)> {
    let (is_negative, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent = exponent.parse::<i64>().ok()?.checked_sub(i64::try_from(fraction.len()).ok()?)?;
    let digits = format!("{whole}{fraction}");
    let kept = digits.trim_end_matches('0');
    let exponent = exponent.checked_add(i64::try_from(digits.len() - kept.len()).ok()?)?;
    let kept = kept.trim_start_matches('0');
    if kept.is_empty() { Some((false, String::new(), 0)) } else { Some((is_negative, kept.to_owned(), exponent)) }
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
    fn the_examples_of_the_standard_work() {
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
    fn what_cannot_be_done_is_refused() {
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
    fn nothing_gets_too_deep() {
        let nested = format!("{}{}", "[".repeat(60), "]".repeat(60));
        let deep = format!(r#"{{"a":{nested},"b":{nested},"c":1}}"#);
        let place = format!("/a{}", "/0".repeat(58));
        for operation in [
            format!(r#"{{"op":"add","path":"{place}/0","value":{nested}}}"#),
            format!(r#"{{"op":"replace","path":"{place}","value":{nested}}}"#),
            format!(r#"{{"op":"copy","from":"/b","path":"{place}/-"}}"#),
            format!(r#"{{"op":"move","from":"/b","path":"{place}/-"}}"#),
        ] {
            let refused = patched(&deep, &format!("[{operation}]")).unwrap_err();
            assert!(refused.contains("too deeply"), "{refused}");
        }
        let shallow = format!(r#"[{{"op":"copy","from":"/c","path":"{place}/0/0"}}]"#);
        assert!(patched(&deep, &shallow).is_ok());
    }

    #[test]
    fn copies_do_not_explode() {
        for (seed, most) in [(r#"["0123456789abcdef"]"#, 16), ("[[]]", 16), ("[{}]", 16)] {
            let mut operations = vec![format!(r#"{{"op":"add","path":"/a","value":{seed}}}"#)];
            operations.extend((0..40).map(|_| r#"{"op":"copy","from":"/a","path":"/a/-"}"#.to_owned()));
            let refused = patched("{}", &format!("[{}]", operations.join(","))).unwrap_err();
            let (place, reason) = refused.split_once(": ").unwrap();
            assert_eq!(reason, "copies too much");
            let place: usize = place.trim_start_matches("operation ").parse().unwrap();
            assert!(place <= most, "{seed} was doubled {place} times");
        }
    }
}
