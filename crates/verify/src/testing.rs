//! How this crate's tests put an assertion and say which faults they expect.

use std::fmt::{Debug, Display};

use serde_json::{Value, json};

use crate::authored::Notation;
use crate::{Parsed, parse};

/// The specification of the named check: known when no faults are given, else exactly these, each as its path and a
/// part of its message.
#[track_caller]
pub(crate) fn check(name: &str, mut specification: Value, faults: &[(&str, &str)]) {
    specification["assert"] = json!(name);
    check_assertion(&specification, faults);
}

#[track_caller]
pub(crate) fn check_assertion(assertion: &Value, faults: &[(&str, &str)]) {
    match parse(assertion) {
        Ok(Parsed::Known(_)) if faults.is_empty() => {}
        Ok(parsed) => panic!("{assertion}: {parsed:?}, not {faults:?}"),
        Err(errors) => {
            let mut found: Vec<&str> = errors.iter().map(|(path, _)| path).collect();
            let mut expected: Vec<&str> = faults.iter().map(|(path, _)| *path).collect();
            found.sort_unstable();
            expected.sort_unstable();
            assert_eq!(found, expected, "{assertion}: {errors}");
            for (path, said) in faults {
                let is_said = errors.iter().any(|(found, messages)| found == *path && messages.concat().contains(said));
                assert!(is_said, "{assertion}: {path} does not say {said:?}: {errors}");
            }
        }
    }
}

/// What is read and written is read again as the same.
#[track_caller]
pub(crate) fn round_trip<T: Notation + Display + Debug + PartialEq>(text: &str) {
    if let Ok(value) = T::read(text) {
        let written = value.to_string();
        assert_eq!(T::read(&written), Ok(value), "{text:?} written as {written:?}");
    }
}

#[track_caller]
pub(crate) fn faulty_notation<T: Notation + Debug>(text: &str, said: &str) {
    let fault = T::read(text).expect_err(text);
    assert!(fault.contains(said), "{text:?}: {fault}");
}

pub(crate) fn nested(levels: usize) -> Value {
    (0..levels).fold(json!(1), |inner, _| json!([inner]))
}
