//! Passes when the clearinghouse answered with an X12 transaction that correlates and whose elements match.
//!
//! Reads the X12 response records. `correlate_by` takes X12 paths. The example: [`EXAMPLE`].
//! Evidence: `fieldResults[{path,expected,actual,passed}]`.

use std::collections::BTreeMap;

use model::FieldErrors;
use serde::Deserialize;

use crate::checks::{Check, CheckInfo};
use crate::count::Count;
use crate::field::{FieldAssertion, check_fields};
use crate::matching::Match;
use crate::path::check_correlation;
use crate::path::x12::{X12Key, X12Path};

pub const EXAMPLE: &str = r#"{
  "assert": "x12-response",
  "transaction": "271",
  "correlate_by": {"NM1[1=IL].9": "{{entity.member_id}}"},
  "fields": [
    {"path": "2110C.EB.1", "expected": "1"},
    {"path": "EB[1=B].7", "op": "lte", "expected": 40}
  ],
  "match": "any",
  "count": {"min": 1}
}"#;

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct X12Response {
    pub transaction: Transaction,
    #[serde(default)]
    pub correlate_by: BTreeMap<X12Key, String>,
    #[serde(default)]
    pub fields: Vec<FieldAssertion<X12Path>>,
    #[serde(rename = "match", default)]
    pub matching: Match,
    #[serde(default)]
    pub count: Option<Count>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Transaction {
    #[serde(rename = "270")]
    EligibilityInquiry,
    #[serde(rename = "271")]
    EligibilityResponse,
    #[serde(rename = "276")]
    ClaimStatusRequest,
    #[serde(rename = "277")]
    ClaimStatusResponse,
    #[serde(rename = "277CA")]
    ClaimAcknowledgment,
    #[serde(rename = "278")]
    ServicesReview,
    #[serde(rename = "835")]
    Remittance,
    #[serde(rename = "837")]
    Claim,
    #[serde(rename = "999")]
    ImplementationAcknowledgment,
    #[serde(rename = "TA1")]
    InterchangeAcknowledgment,
}

impl Check for X12Response {
    const INFO: CheckInfo = CheckInfo {
        name: "x12-response",
        summary: "The clearinghouse answered with an X12 transaction that correlates and whose elements match.",
        example: EXAMPLE,
    };

    fn validate(&self, errors: &mut FieldErrors) {
        check_correlation(&self.correlate_by, |key| key.0.to_string(), errors);
        check_fields("fields", &self.fields, errors);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    fn check(specification: Value, faults: &[(&str, &str)]) {
        crate::testing::check("x12-response", specification, faults);
    }

    #[test]
    fn sound_specifications() {
        for transaction in ["270", "271", "276", "277", "277CA", "278", "835", "837", "999", "TA1"] {
            check(json!({"transaction": transaction}), &[]);
        }
        check(json!({"transaction": "278", "fields": [{"path": "HCR.1", "expected": "A1"}], "count": 1}), &[]);
    }

    #[test]
    fn faulty_specifications() {
        check(json!({}), &[("transaction", "required")]);
        check(json!({"transaction": "272"}), &[("transaction", "one of `270`")]);
        check(json!({"transaction": 271}), &[("transaction", "string")]);
        check(
            json!({"transaction": "271", "correlate_by": {"NM1-09": "1"}, "fields": [{"path": "EB01", "expected": "1"}]}),
            &[("correlate_by.NM1-09", "name a segment"), ("fields.0.path", "name a segment")],
        );
        check(json!({"transaction": "271", "correlate_by": {"NM1.9": ""}}), &[("correlate_by.NM1.9", "empty")]);
    }
}
