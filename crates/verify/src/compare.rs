//! Whether the values found at a path stand the comparison.
//!
//! Several values: it is enough that one of them does; `not_equals` needs a value and wants none of them to be equal;
//! `absent`, and `null` for `equals`, want all of them to be nothing. A bound pair (`between`) must hold for one value.
//! Nothing there passes only where absence is asked for.

use std::cmp::Ordering;

use serde_json::Value;
use unicode_normalization::{UnicodeNormalization, is_nfc};

use crate::authored::Authored;
use crate::budget::Budget;
use crate::comparison::Comparison;
use crate::moment::Moment;
use crate::number::{self, Decimal};

/// Whether text may be a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Typing {
    /// JSON: a string is never a number.
    Typed,
    /// HL7, X12 and CSV have only text.
    Untyped,
}

/// The fault is why it cannot be told, which fails the field.
pub(crate) fn holds(
    comparison: &Comparison<'_>,
    found: &[Value],
    typing: Typing,
    budget: &Budget,
) -> Result<bool, String> {
    for value in found {
        budget.spend(size(value))?;
    }
    let any = |test: &dyn Fn(&Value) -> bool| found.iter().any(test);
    let equal = |expected: &Value| match expected {
        Value::Null => found.iter().all(Value::is_null),
        expected => any(&|value| is_equal(value, expected, typing)),
    };
    Ok(match comparison {
        Comparison::Equals(expected) => equal(expected),
        Comparison::NotEquals(expected) => any(&|value| !value.is_null()) && !equal(expected),
        Comparison::EqualsIgnoreCase(expected) => {
            any(&|value| value.as_str().is_some_and(|text| lower(text) == lower(expected)))
        }
        Comparison::Contains(expected) => any(&|value| contains(value, expected, typing)),
        Comparison::Matches(Authored::Ready(pattern)) => {
            any(&|value| value.as_str().is_some_and(|text| pattern.0.is_match(&nfc(text))))
        }
        Comparison::Matches(Authored::Template(_)) => return Err("the pattern holds a template".to_owned()),
        Comparison::OneOf(choices) => choices.iter().any(equal),
        Comparison::Exists => !found.iter().all(is_nothing),
        Comparison::Absent => found.iter().all(is_nothing),
        Comparison::Gt(bound) => any(&|value| is_beyond(value, bound, typing, Bound::Above)),
        Comparison::Gte(bound) => any(&|value| is_beyond(value, bound, typing, Bound::From)),
        Comparison::Lt(bound) => any(&|value| is_beyond(value, bound, typing, Bound::Below)),
        Comparison::Lte(bound) => any(&|value| is_beyond(value, bound, typing, Bound::UpTo)),
        Comparison::Between { low, high } => {
            any(&|value| is_beyond(value, low, typing, Bound::From) && is_beyond(value, high, typing, Bound::UpTo))
        }
        Comparison::Approx { expected, tolerance } => {
            let expected = digits(expected, Typing::Typed).ok_or("`expected` is not a number")?;
            let is_near = |value: &Value| {
                digits(value, typing).and_then(|value| number::is_near(&value, &expected, tolerance.as_str()))
            };
            any(&|value| is_near(value) == Some(true))
        }
        Comparison::Date(expected) => {
            let expected = Moment::read(expected).ok_or("`expected` is not a date")?;
            let moment = |value: &Value| value.as_str().and_then(Moment::read);
            any(&|value| moment(value).is_some_and(|moment| moment.is_within(&expected)))
        }
    })
}

/// Null, and what has nothing in it.
fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Numbers by value, text in NFC, lists in order, objects in any.
pub(crate) fn is_equal(left: &Value, right: &Value, typing: Typing) -> bool {
    match (left, right) {
        (Value::Null, Value::Null) => true,
        (Value::Bool(left), Value::Bool(right)) => left == right,
        (Value::String(left), Value::String(right)) => nfc(left) == nfc(right),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| is_equal(left, right, typing))
        }
        (Value::Object(left), Value::Object(right)) => {
            let has =
                |(key, member): (&String, &Value)| right.get(key).is_some_and(|other| is_equal(member, other, typing));
            left.len() == right.len() && left.iter().all(has)
        }
        (left, right) if left.is_number() || right.is_number() => match (digits(left, typing), digits(right, typing)) {
            (Some(left), Some(right)) => match (Decimal::read(&left), Decimal::read(&right)) {
                (Some(left), Some(right)) => left == right,
                _ => false,
            },
            _ => false,
        },
        _ => false,
    }
}

/// A text in a text; an element in a list, where an object need only have the members asked for.
fn contains(value: &Value, expected: &Value, typing: Typing) -> bool {
    match (value, expected) {
        (Value::String(text), Value::String(part)) => nfc(text).contains(&*nfc(part)),
        (Value::Array(items), expected) => {
            items.iter().any(|item| is_equal(item, expected, typing) || has_members(item, expected, typing))
        }
        (value, expected) => has_members(value, expected, typing),
    }
}

fn has_members(value: &Value, expected: &Value, typing: Typing) -> bool {
    match (value, expected) {
        (Value::Object(members), Value::Object(wanted)) => {
            let has = |(key, wanted): (&String, &Value)| {
                let member = members.get(key);
                member.is_some_and(|member| is_equal(member, wanted, typing) || has_members(member, wanted, typing))
            };
            !wanted.is_empty() && wanted.iter().all(has)
        }
        _ => false,
    }
}

#[derive(Clone, Copy)]
enum Bound {
    Above,
    From,
    Below,
    UpTo,
}

/// Numbers against numbers; text against text, as dates when the bound is one, else by code points.
fn is_beyond(value: &Value, bound: &Value, typing: Typing, side: Bound) -> bool {
    let order = match bound {
        Value::Number(bound) => {
            let value = digits(value, typing).and_then(|value| Decimal::read(&value));
            value.zip(Decimal::read(bound.as_str())).map(|(value, bound)| value.cmp(&bound))
        }
        Value::String(bound) => {
            let Some(text) = value.as_str().filter(|text| !text.is_empty()) else { return false };
            if let Some(bound) = Moment::read(bound) {
                return Moment::read(text).is_some_and(|moment| match side {
                    Bound::Above => moment.starts_after(&bound),
                    Bound::From => moment.starts_with_or_after(&bound),
                    Bound::Below => moment.ends_before(&bound),
                    Bound::UpTo => moment.ends_with_or_before(&bound),
                });
            }
            Some(nfc(text).cmp(&nfc(bound)))
        }
        _ => None,
    };
    order.is_some_and(|order| match side {
        Bound::Above => order == Ordering::Greater,
        Bound::From => order != Ordering::Less,
        Bound::Below => order == Ordering::Less,
        Bound::UpTo => order != Ordering::Greater,
    })
}

/// The digits of a number, also of one that is text where there is only text.
fn digits(value: &Value, typing: Typing) -> Option<String> {
    match value {
        Value::Number(number) => Some(number.as_str().to_owned()),
        Value::String(text) if typing == Typing::Untyped => Some(text.trim().to_owned()),
        _ => None,
    }
}

pub(crate) fn nfc(text: &str) -> std::borrow::Cow<'_, str> {
    if is_nfc(text) { text.into() } else { text.nfc().collect::<String>().into() }
}

fn lower(text: &str) -> String {
    nfc(&nfc(text).to_lowercase()).into_owned()
}

/// About how much there is to look at.
pub(crate) fn size(value: &Value) -> usize {
    match value {
        Value::String(text) => 1 + text.len(),
        Value::Array(items) => 1 + items.iter().map(size).sum::<usize>(),
        Value::Object(members) => 1 + members.iter().map(|(key, member)| key.len() + size(member)).sum::<usize>(),
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::Op;
    use serde::Deserialize;
    use serde_json::json;

    fn compare(op: &str, expected: Option<&Value>, tolerance: Option<&Value>, found: &[Value], typing: Typing) -> bool {
        let op = Op::deserialize(json!(op)).expect(op);
        let comparison = Comparison::read(op, expected, tolerance).expect("a sound comparison");
        holds(&comparison, found, typing, &Budget::new()).unwrap_or(false)
    }

    /// One value of every type, and one that differs.
    fn values() -> Vec<Value> {
        [
            "null",
            "true",
            "false",
            "1",
            "1.10",
            "-3",
            "1e2",
            r#""""#,
            r#""1""#,
            r#""text""#,
            r#""2026-03-31""#,
            "[]",
            "[1]",
            r#"["text"]"#,
            "{}",
            r#"{"a":1}"#,
        ]
        .iter()
        .map(|text| serde_json::from_str(text).expect(text))
        .collect()
    }

    #[test]
    fn every_operator_on_every_type() {
        // Which of `values()` stand each comparison, in order, `+` or `-`.
        for (op, expected, stands) in [
            ("equals", json!(null), "+---------------"),
            ("equals", json!(true), "-+--------------"),
            ("equals", json!(1.0), "---+------------"),
            ("equals", json!(1.1), "----+-----------"),
            ("equals", json!(100), "------+---------"),
            ("equals", json!("1"), "--------+-------"),
            ("equals", json!("text"), "---------+------"),
            ("equals", json!([1.0]), "------------+---"),
            ("equals", json!({"a": 1.00}), "---------------+"),
            ("not_equals", json!("text"), "-++++++++-++++++"),
            ("not_equals", json!(null), "-+++++++++++++++"),
            ("equals_ignore_case", json!("TEXT"), "---------+------"),
            ("contains", json!("ex"), "---------+------"),
            ("contains", json!("text"), "---------+---+--"),
            ("contains", json!(1), "------------+---"),
            ("contains", json!({"a": 1}), "---------------+"),
            ("contains", json!({}), "----------------"),
            ("matches", json!("^t.xt$"), "---------+------"),
            ("matches", json!(".*"), "-------++++-----"),
            ("one_of", json!(["text", 1, null]), "+--+-----+------"),
            ("gt", json!(1), "----+-+---------"),
            ("gte", json!(1), "---++-+---------"),
            ("lt", json!(1), "-----+----------"),
            ("lte", json!(1), "---+-+----------"),
            ("gt", json!("s"), "---------+------"),
            ("lt", json!("2026-04"), "----------+-----"),
            ("gte", json!("2026-03"), "----------+-----"),
            ("between", json!([1, 1.1]), "---++-----------"),
            ("between", json!(["2026-03-01", "2026-03-31"]), "----------+-----"),
            ("date", json!("2026-03"), "----------+-----"),
        ] {
            for (value, stands) in values().iter().zip(stands.chars()) {
                let held = compare(op, Some(&expected), None, std::slice::from_ref(value), Typing::Typed);
                assert_eq!(held, stands == '+', "{value} {op} {expected}");
            }
        }
        for (op, stands) in [("exists", "-++++++-+++-++-+"), ("absent", "+------+---+--+-")] {
            for (value, stands) in values().iter().zip(stands.chars()) {
                let held = compare(op, None, None, std::slice::from_ref(value), Typing::Typed);
                assert_eq!(held, stands == '+', "{value} {op}");
            }
        }
        for (value, stands) in values().iter().zip("---++-----------".chars()) {
            let held =
                compare("approx", Some(&json!(1.05)), Some(&json!(0.05)), std::slice::from_ref(value), Typing::Typed);
            assert_eq!(held, stands == '+', "{value} approx");
        }
    }

    #[test]
    fn nothing_passes_only_where_absence_is_asked_for() {
        for (op, expected, held) in [
            ("equals", Some(json!(null)), true),
            ("one_of", Some(json!([1, null])), true),
            ("absent", None, true),
            ("equals", Some(json!("")), false),
            ("equals", Some(json!(0)), false),
            ("equals", Some(json!([])), false),
            ("not_equals", Some(json!(1)), false),
            ("not_equals", Some(json!(null)), false),
            ("matches", Some(json!(".*")), false),
            ("contains", Some(json!("x")), false),
            ("lt", Some(json!(1)), false),
            ("exists", None, false),
        ] {
            assert_eq!(compare(op, expected.as_ref(), None, &[], Typing::Typed), held, "{op} {expected:?}");
        }
    }

    #[test]
    fn of_several_values_one_is_enough() {
        let found = [json!("a"), json!("b")];
        assert!(compare("equals", Some(&json!("b")), None, &found, Typing::Typed));
        assert!(!compare("not_equals", Some(&json!("b")), None, &found, Typing::Typed));
        assert!(compare("not_equals", Some(&json!("c")), None, &found, Typing::Typed));
        assert!(!compare("between", Some(&json!([2, 3])), None, &[json!(1), json!(4)], Typing::Typed));
    }

    #[test]
    fn untyped_text_may_be_a_number() {
        for (op, expected, text, held) in [
            ("equals", json!(5), "5.0", true),
            ("equals", json!("5"), "5.0", false),
            ("equals", json!(5), "5 mg", false),
            ("between", json!([12, 16]), "13.2", true),
            ("lte", json!(40), "40.00", true),
            ("lte", json!(40), "", false),
            ("lte", json!(40), "NaN", false),
            ("date", json!("2026-03-31"), "20260331", true),
        ] {
            assert_eq!(
                compare(op, Some(&expected), None, &[json!(text)], Typing::Untyped),
                held,
                "{text} {op} {expected}"
            );
        }
    }

    #[test]
    fn text_is_compared_in_one_form() {
        assert!(compare("equals", Some(&json!("Mu\u{308}ller")), None, &[json!("Müller")], Typing::Typed));
        assert!(compare("contains", Some(&json!("u\u{308}")), None, &[json!("Müller")], Typing::Typed));
        assert!(compare("equals_ignore_case", Some(&json!("MÜLLER")), None, &[json!("mu\u{308}ller")], Typing::Typed));
        assert!(!compare("equals", Some(&json!("Muller")), None, &[json!("Müller")], Typing::Typed));
    }

    #[test]
    fn a_budget_that_is_spent_is_a_fault() {
        let found = [json!("x".repeat(1000))];
        assert!(holds(&Comparison::Exists, &found, Typing::Typed, &Budget::of(10)).is_err());
    }
}
