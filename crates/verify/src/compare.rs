//! Evaluates a comparison against the values at a path.
//!
//! The quantifier says how many of several values must satisfy the comparison. If there is no value, only these pass:
//! `absent`, `equals` with `null`, `one_of` with `null` among the choices, `phrases` without required phrases, and
//! `not_equals` with the quantifier `all`.

use std::cmp::Ordering;

use clinical::PartialDateTime;
use serde_json::Value;
use unicode_normalization::{UnicodeNormalization, is_nfc};

use crate::authored::Authored;
use crate::budget::Budget;
use crate::comparison::Comparison;
use crate::number::{self, Decimal};
use crate::phrase::PhraseResult;
use crate::quantifier::Quantifier;

/// Phrases that the evidence of one field lists.
const MOST_VIOLATED_PHRASES: usize = 5;

/// Whether text may be a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Typing {
    /// JSON: a string is never a number.
    Typed,
    /// HL7, X12 and CSV have only text.
    Untyped,
}

/// Whether the values satisfy the comparison, or why that cannot be determined, which fails the field. Adds the phrases that
/// violate the rules of `phrases` to `violated_phrases`.
pub(crate) fn values_satisfy(
    comparison: &Comparison<'_>,
    quantifier: Quantifier,
    found: &[Value],
    typing: Typing,
    budget: &Budget,
    violated_phrases: &mut Vec<PhraseResult>,
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
            let room = MOST_VIOLATED_PHRASES.saturating_sub(violated_phrases.len());
            violated_phrases.extend(failures.into_iter().take(room));
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

/// Whether the comparison is satisfied if there is no value.
fn asserts_absence(comparison: &Comparison<'_>) -> bool {
    match comparison {
        Comparison::Equals(expected) => expected.is_null(),
        Comparison::OneOf(choices) => choices.iter().any(Value::is_null),
        Comparison::Absent => true,
        Comparison::Phrases(rules) => rules.allow_missing_text(),
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
        Comparison::Matches(Authored::Template(_)) => {
            return Err("the pattern contains a template without a value".to_owned());
        }
        Comparison::OneOf(choices) => choices.iter().any(|choice| is_equal(value, choice, typing)),
        Comparison::Exists => !is_empty(value),
        Comparison::Absent => is_empty(value),
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
            value.and_then(|value| number::is_within_tolerance(&value, &expected, tolerance.as_str())) == Some(true)
        }
        Comparison::Date(expected) => {
            let expected = date_time(expected).ok_or("`expected` is not a date")?;
            text().and_then(date_time).is_some_and(|found| found.is_within(&expected))
        }
        Comparison::Phrases(rules) => match value {
            Value::String(text) => rules.failures(0, text, budget)?.is_empty(),
            value => value.is_null() && rules.allow_missing_text(),
        },
    })
}

/// Whether a value is null or empty.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Compares numbers by value, text in NFC, lists in order, and objects in any order.
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

/// Whether a text contains a text, a list an element, or an object (also as an element) the expected members.
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

/// Parses a date or time in the notation of FHIR, or of HL7 v2 (which X12 dates share).
fn date_time(text: &str) -> Option<PartialDateTime> {
    PartialDateTime::parse_fhir(text).or_else(|| PartialDateTime::parse_hl7v2(text))
}

/// Compares numbers with numbers, and text with text: as dates if the bound is a date, else by code points.
fn is_beyond(value: &Value, bound: &Value, typing: Typing, side: Bound) -> bool {
    let order = match bound {
        Value::Number(bound) => {
            let value = digits(value, typing).and_then(|value| Decimal::read(&value));
            value.zip(Decimal::read(bound.as_str())).map(|(value, bound)| value.cmp(&bound))
        }
        Value::String(bound) => {
            let Some(text) = value.as_str().filter(|text| !text.is_empty()) else { return false };
            if let Some(bound) = date_time(bound) {
                return date_time(text).is_some_and(|found| match side {
                    Bound::Above => found.starts_after(&bound),
                    Bound::From => found.starts_with_or_after(&bound),
                    Bound::Below => found.ends_before(&bound),
                    Bound::UpTo => found.ends_with_or_before(&bound),
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

/// The digits of a number. With [`Typing::Untyped`], text may also be a number.
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

/// The approximate cost of examining a value.
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
        values_satisfy(&comparison, quantifier, found, typing, &Budget::new(), &mut Vec::new()).unwrap_or(false)
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
    fn dates_are_read_in_the_notations_of_fhir_and_hl7v2() {
        for (text, is_date) in [
            ("2026-03-31", true),
            ("20260331", true),
            ("2026-03-31T07:30Z", true),
            ("202603310930+0200", true),
            ("2026-03-31T07:30:00+14:00", true),
            // These used to be read: no standard allows them.
            ("2026-03-31T07:30:00+14:30", false),
            ("20260331073000+1430", false),
            ("20260331073000Z", false),
            ("2026-03-31T07", false),
            ("tomorrow", false),
            ("2026-1-1", false),
        ] {
            assert_eq!(date_time(text).is_some(), is_date, "{text}");
        }
        let read = |text: &str| date_time(text).expect(text);
        assert!(read("202603310930+0200").is_within(&read("2026-03-31T07:30Z")));
        assert!(read("2026-03-31T07:30Z").is_within(&read("20260331")));
    }

    #[test]
    fn every_operator_on_every_type() {
        // `+` for each item of `values()` that satisfies the comparison, else `-`.
        for (op, expected, expected_results) in [
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
            for (value, expected_result) in values().iter().zip(expected_results.chars()) {
                let is_satisfied = compare(op, Some(&expected), None, std::slice::from_ref(value), Typing::Typed);
                assert_eq!(is_satisfied, expected_result == '+', "{value} {op} {expected}");
            }
        }
        for (op, expected_results) in [("exists", "-++++++-+++-++-+"), ("absent", "+------+---+--+-")] {
            for (value, expected_result) in values().iter().zip(expected_results.chars()) {
                let is_satisfied = compare(op, None, None, std::slice::from_ref(value), Typing::Typed);
                assert_eq!(is_satisfied, expected_result == '+', "{value} {op}");
            }
        }
        for (value, expected_result) in values().iter().zip("---++-----------".chars()) {
            let is_satisfied =
                compare("approx", Some(&json!(1.05)), Some(&json!(0.05)), std::slice::from_ref(value), Typing::Typed);
            assert_eq!(is_satisfied, expected_result == '+', "{value} approx");
        }
    }

    /// `all`, `any` and `first` of each list of values, in this order, `+` or `-`.
    #[test]
    fn quantifiers_of_every_operator() {
        for (op, expected, found, is_satisfied) in [
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
            check_quantifiers((op, Some(&expected)), &found, is_satisfied);
        }
        for (op, found, is_satisfied) in [
            ("exists", json!([]), "---"),
            ("exists", json!(["a", ""]), "-++"),
            ("exists", json!([null]), "---"),
            ("absent", json!([]), "+++"),
            ("absent", json!([null, ""]), "+++"),
            ("absent", json!(["", "a"]), "-++"),
            ("absent", json!(["a"]), "---"),
        ] {
            check_quantifiers((op, None), &found, is_satisfied);
        }
    }

    fn check_quantifiers((op, expected): (&str, Option<&Value>), found: &Value, is_satisfied: &str) {
        let values = found.as_array().expect("values");
        for (quantifier, is_satisfied) in
            [Quantifier::All, Quantifier::Any, Quantifier::First].into_iter().zip(is_satisfied.chars())
        {
            let values_satisfy = quantified(quantifier, (op, expected, None), values, Typing::Typed);
            assert_eq!(values_satisfy, is_satisfied == '+', "{found} {op} {expected:?} {quantifier:?}");
        }
    }

    #[test]
    fn untyped_text_may_be_a_number() {
        for (op, expected, text, is_satisfied) in [
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
                is_satisfied,
                "{text} {op} {expected}"
            );
        }
    }

    #[test]
    fn text_is_compared_in_nfc() {
        assert!(compare("equals", Some(&json!("Mu\u{308}ller")), None, &[json!("Müller")], Typing::Typed));
        assert!(compare("contains", Some(&json!("u\u{308}")), None, &[json!("Müller")], Typing::Typed));
        assert!(compare("equals_ignore_case", Some(&json!("MÜLLER")), None, &[json!("mu\u{308}ller")], Typing::Typed));
        assert!(!compare("equals", Some(&json!("Muller")), None, &[json!("Müller")], Typing::Typed));
    }

    #[test]
    fn a_spent_budget_is_an_error() {
        let found = [json!("x".repeat(1000))];
        let budget = Budget::of(10);
        assert!(
            values_satisfy(&Comparison::Exists, Quantifier::All, &found, Typing::Typed, &budget, &mut Vec::new())
                .is_err()
        );
    }
}
