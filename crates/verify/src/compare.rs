//! Whether the values found at a path satisfy the comparison.
//!
//! The quantifier says how many of several values must satisfy it. Nothing there passes only where absence is asserted
//! (`absent`, `null` for `equals` and among the choices of `one_of`), for `phrases` that requires none, and for `not_equals` with
//! the quantifier `all`.

use std::cmp::Ordering;

use serde_json::Value;
use unicode_normalization::{UnicodeNormalization, is_nfc};

use crate::authored::Authored;
use crate::budget::Budget;
use crate::comparison::Comparison;
use crate::moment::Moment;
use crate::number::{self, Decimal};
use crate::phrase::PhraseResult;
use crate::quantifier::Quantifier;

/// Phrases that the evidence of one field names.
const MOST_BROKEN: usize = 5;

/// Whether text may be a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Typing {
    /// JSON: a string is never a number.
    Typed,
    /// HL7, X12 and CSV have only text.
    Untyped,
}

/// The fault is why it cannot be told, which fails the field. Adds to `broken` the phrases that break the rules of `phrases`.
pub(crate) fn holds(
    comparison: &Comparison<'_>,
    quantifier: Quantifier,
    found: &[Value],
    typing: Typing,
    budget: &Budget,
    broken: &mut Vec<PhraseResult>,
) -> Result<bool, String> {
    for value in found {
        budget.spend(size(value))?;
    }
    if let Comparison::NotEquals(expected) = comparison
        && found.iter().all(Value::is_null)
    {
        return Ok(quantifier == Quantifier::All && !expected.is_null());
    }
    let mut values = found.iter().enumerate().map(|(index, value)| match (comparison, value) {
        (Comparison::Phrases(rules), Value::String(text)) => {
            let failures = rules.failures(index, text, budget)?;
            let is_satisfied = failures.is_empty();
            let room = MOST_BROKEN.saturating_sub(broken.len());
            broken.extend(failures.into_iter().take(room));
            Ok(is_satisfied)
        }
        _ => satisfies(comparison, value, typing, budget),
    });
    match quantifier {
        _ if found.is_empty() => Ok(asserts_absence(comparison)),
        Quantifier::All => values.try_fold(true, |all, value| Ok(all & value?)),
        Quantifier::Any => values.try_fold(false, |any, value| Ok(any | value?)),
        Quantifier::First => values.next().unwrap_or(Ok(false)),
    }
}

/// Whether the comparison holds where nothing is found.
fn asserts_absence(comparison: &Comparison<'_>) -> bool {
    match comparison {
        Comparison::Equals(expected) => expected.is_null(),
        Comparison::OneOf(choices) => choices.iter().any(Value::is_null),
        Comparison::Absent => true,
        Comparison::Phrases(rules) => rules.allow_nothing(),
        _ => false,
    }
}

/// Whether one value satisfies the comparison.
pub(crate) fn satisfies(
    comparison: &Comparison<'_>,
    value: &Value,
    typing: Typing,
    budget: &Budget,
) -> Result<bool, String> {
    let text = || value.as_str();
    Ok(match comparison {
        Comparison::Equals(expected) => is_equal(value, expected, typing),
        Comparison::NotEquals(expected) => !is_equal(value, expected, typing),
        Comparison::EqualsIgnoreCase(expected) => text().is_some_and(|text| lower(text) == lower(expected)),
        Comparison::Contains(expected) => contains(value, expected, typing),
        Comparison::Matches(Authored::Ready(pattern)) => text().is_some_and(|text| pattern.0.is_match(&nfc(text))),
        Comparison::Matches(Authored::Template(_)) => return Err("the pattern holds a template".to_owned()),
        Comparison::OneOf(choices) => choices.iter().any(|choice| is_equal(value, choice, typing)),
        Comparison::Exists => !is_nothing(value),
        Comparison::Absent => is_nothing(value),
        Comparison::Gt(bound) => is_beyond(value, bound, typing, Bound::Above),
        Comparison::Gte(bound) => is_beyond(value, bound, typing, Bound::From),
        Comparison::Lt(bound) => is_beyond(value, bound, typing, Bound::Below),
        Comparison::Lte(bound) => is_beyond(value, bound, typing, Bound::UpTo),
        Comparison::Between { low, high } => {
            is_beyond(value, low, typing, Bound::From) && is_beyond(value, high, typing, Bound::UpTo)
        }
        Comparison::Approx { expected, tolerance } => {
            let expected = digits(expected, Typing::Typed).ok_or("`expected` is not a number")?;
            let value = digits(value, typing);
            value.and_then(|value| number::is_near(&value, &expected, tolerance.as_str())) == Some(true)
        }
        Comparison::Date(expected) => {
            let expected = Moment::read(expected).ok_or("`expected` is not a date")?;
            text().and_then(Moment::read).is_some_and(|moment| moment.is_within(&expected))
        }
        Comparison::Phrases(rules) => match value {
            Value::String(text) => rules.failures(0, text, budget)?.is_empty(),
            value => value.is_null() && rules.allow_nothing(),
        },
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
        quantified(Quantifier::Any, (op, expected, tolerance), found, typing)
    }

    fn quantified(
        quantifier: Quantifier,
        (op, expected, tolerance): (&str, Option<&Value>, Option<&Value>),
        found: &[Value],
        typing: Typing,
    ) -> bool {
        let op = Op::deserialize(json!(op)).expect(op);
        let comparison = Comparison::read(op, expected, tolerance).expect("a sound comparison");
        holds(&comparison, quantifier, found, typing, &Budget::new(), &mut Vec::new()).unwrap_or(false)
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
            ("phrases", json!({"contains": ["Text"]}), "---------+------"),
            ("phrases", json!({"not_contains": ["text"]}), "+------++-+-----"),
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

    /// `all`, `any` and `first` of each list of values, in this order, `+` or `-`.
    #[test]
    fn quantifiers_of_every_operator() {
        for (op, expected, found, held) in [
            ("equals", json!("a"), json!([]), "---"),
            ("equals", json!("a"), json!(["a"]), "+++"),
            ("equals", json!("a"), json!(["a", "a"]), "+++"),
            ("equals", json!("a"), json!(["a", "b"]), "-++"),
            ("equals", json!("b"), json!(["a", "b"]), "-+-"),
            ("equals", json!(""), json!([]), "---"),
            ("equals", json!([]), json!([]), "---"),
            ("equals", json!(null), json!([]), "+++"),
            ("equals", json!(null), json!([null, "a"]), "-++"),
            ("not_equals", json!("b"), json!([]), "+--"),
            ("not_equals", json!("b"), json!([null]), "+--"),
            ("not_equals", json!("b"), json!(["a", "b"]), "-++"),
            ("not_equals", json!("c"), json!(["a", "b"]), "+++"),
            ("not_equals", json!(null), json!([]), "---"),
            ("not_equals", json!(null), json!(["a"]), "+++"),
            ("equals_ignore_case", json!("A"), json!(["a", "b"]), "-++"),
            ("contains", json!("x"), json!([]), "---"),
            ("contains", json!("x"), json!(["ax", "b"]), "-++"),
            ("contains", json!("x"), json!([["x", "y"]]), "+++"),
            ("contains", json!("x"), json!([["y"], ["x"]]), "-+-"),
            ("matches", json!(".*"), json!([]), "---"),
            ("matches", json!("^a"), json!(["ab", "b"]), "-++"),
            ("one_of", json!(["a", "b"]), json!(["a", "b"]), "+++"),
            ("one_of", json!(["a", "b"]), json!(["a", "c"]), "-++"),
            ("one_of", json!(["a", null]), json!([]), "+++"),
            ("one_of", json!(["a", "b"]), json!([]), "---"),
            ("lt", json!(1), json!([]), "---"),
            ("lt", json!(2), json!([1, 3]), "-++"),
            ("between", json!([2, 3]), json!([1, 4]), "---"),
            ("between", json!([2, 3]), json!([1, 3]), "-+-"),
            ("date", json!("2026-03"), json!(["2026-03-01", "2026-04-01"]), "-++"),
            ("phrases", json!({"contains": ["x"]}), json!(["x", "y"]), "-++"),
            ("phrases", json!({"contains": ["x"]}), json!([]), "---"),
            ("phrases", json!({"not_contains": ["x"]}), json!([]), "+++"),
            ("phrases", json!({"contains": ["call"], "negation": "reject"}), json!(["Do not call."]), "---"),
            ("phrases", json!({"contains": ["call"]}), json!(["Do not call."]), "+++"),
            ("phrases", json!({"numbers": ["+1 608 555 0142"]}), json!(["(608) 555-0142"]), "+++"),
            ("phrases", json!({"numbers": ["608 555 0142"]}), json!(["555-0142"]), "+++"),
            ("phrases", json!({"numbers": ["608 555 0142"]}), json!(["608-555-0142, or 900-555-0169"]), "---"),
            ("phrases", json!({"numbers": []}), json!(["555-0169"]), "---"),
        ] {
            check_quantifiers((op, Some(&expected)), &found, held);
        }
        for (op, found, held) in [
            ("exists", json!([]), "---"),
            ("exists", json!(["a", ""]), "-++"),
            ("exists", json!([null]), "---"),
            ("absent", json!([]), "+++"),
            ("absent", json!([null, ""]), "+++"),
            ("absent", json!(["", "a"]), "-++"),
            ("absent", json!(["a"]), "---"),
        ] {
            check_quantifiers((op, None), &found, held);
        }
    }

    fn check_quantifiers((op, expected): (&str, Option<&Value>), found: &Value, held: &str) {
        let values = found.as_array().expect("values");
        for (quantifier, held) in [Quantifier::All, Quantifier::Any, Quantifier::First].into_iter().zip(held.chars()) {
            let holds = quantified(quantifier, (op, expected, None), values, Typing::Typed);
            assert_eq!(holds, held == '+', "{found} {op} {expected:?} {quantifier:?}");
        }
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
        let budget = Budget::of(10);
        assert!(holds(&Comparison::Exists, Quantifier::All, &found, Typing::Typed, &budget, &mut Vec::new()).is_err());
    }
}
