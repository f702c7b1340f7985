//! One item of `fields[]`: a path and a comparison.

use model::{FieldErrors, patch};
use serde::Deserialize;
use serde_json::Value;

use crate::authored::{Authored, Notation};
use crate::comparison::{Comparison, Op};
use crate::limits::LONGEST_LIST;
use crate::quantifier::Quantifier;

/// `{path, expected}`, `{path, op, expected}` or `{path, op}`, optionally with a `quantifier`. `P` is the path notation of
/// the document.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, bound = "P: Notation")]
pub struct FieldAssertion<P> {
    pub path: Authored<P>,
    #[serde(default)]
    pub op: Op,
    /// `Some(null)` asserts absence. `None` means that the member is missing.
    #[serde(default, deserialize_with = "patch::value")]
    pub expected: Option<Value>,
    #[serde(default, deserialize_with = "patch::value")]
    pub tolerance: Option<Value>,
    /// How many of several values must satisfy the comparison. The default depends on the notation.
    #[serde(default)]
    pub quantifier: Option<Quantifier>,
}

impl<P> FieldAssertion<P> {
    pub fn comparison(&self) -> Result<Comparison<'_>, FieldErrors> {
        Comparison::read(self.op, self.expected.as_ref(), self.tolerance.as_ref())
    }
}

pub(crate) fn check_fields<P>(name: &str, fields: &[FieldAssertion<P>], errors: &mut FieldErrors) {
    errors.each(name, fields, LONGEST_LIST, |field, errors| errors.merge(field.comparison().err().unwrap_or_default()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::json::JsonPath;
    use serde_json::json;

    #[test]
    fn null_differs_from_missing_and_decimals_keep_their_digits() {
        let field = |spec: &Value| FieldAssertion::<JsonPath>::deserialize(spec).expect("a field");
        assert_eq!(field(&json!({"path": "status"})).expected, None);
        assert_eq!(field(&json!({"path": "status", "expected": null})).expected, Some(Value::Null));
        let written = r#"{"path": "value", "expected": [1.10, 12345678901234567890.123456789, 1e400]}"#;
        let spec: Value = serde_json::from_str(written).expect("JSON");
        let expected = field(&spec).expected.map(|expected| expected.to_string());
        assert_eq!(expected.as_deref(), Some("[1.10,12345678901234567890.123456789,1e+400]"));
    }
}
