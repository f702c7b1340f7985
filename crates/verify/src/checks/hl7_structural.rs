//! Passes when the agent sent an HL7 version 2 message that correlates and whose fields match.
//!
//! Reads the `hl7_outbound` events. `correlate_by` takes HL7 paths, and `message_type` and `trigger_event`.
//! The example: [`EXAMPLE`]. Evidence: `field_results[{path,expected,actual,passed}]`, `matched_event_id`.

use std::collections::BTreeMap;

use model::FieldErrors;
use serde::Deserialize;

use crate::checks::{Check, CheckInfo};
use crate::count::Count;
use crate::field::{FieldAssertion, check_fields};
use crate::matching::Match;
use crate::path::check_correlation;
use crate::path::hl7::{Hl7Key, Hl7Path};

pub const EXAMPLE: &str = r#"{
  "assert": "hl7-structural",
  "correlate_by": {"message_type": "ORU", "trigger_event": "R01", "PID.3.1": "{{entity.mrn}}"},
  "fields": [
    {"path": "OBX[3.1=718-7].5", "op": "between", "expected": [12, 16]},
    {"path": "OBR.25", "op": "one_of", "expected": ["F", "C"]}
  ],
  "count": {"min": 1}
}"#;

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hl7Structural {
    #[serde(default)]
    pub correlate_by: BTreeMap<Hl7Key, String>,
    #[serde(default)]
    pub fields: Vec<FieldAssertion<Hl7Path>>,
    #[serde(rename = "match", default)]
    pub matching: Match,
    #[serde(default)]
    pub count: Option<Count>,
}

impl Check for Hl7Structural {
    const INFO: CheckInfo = CheckInfo {
        name: "hl7-structural",
        summary: "The agent sent an HL7 version 2 message that correlates and whose fields match.",
        example: EXAMPLE,
    };

    fn validate(&self, errors: &mut FieldErrors) {
        check_correlation(&self.correlate_by, Hl7Key::to_string, errors);
        check_fields("fields", &self.fields, errors);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    fn check(specification: Value, faults: &[(&str, &str)]) {
        crate::testing::check("hl7-structural", specification, faults);
    }

    #[test]
    fn sound_specifications() {
        check(json!({}), &[]);
        check(json!({"correlate_by": {"message_type": "ORM^O01"}, "count": {"max": 0}}), &[]);
        check(json!({"fields": [{"path": "ZPI", "op": "exists"}, {"path": "PID.5.1", "expected": "Smith"}]}), &[]);
        check(json!({"fields": [{"path": "OBX[3.1={{entity.code}}].5", "expected": 5}]}), &[]);
    }

    #[test]
    fn faulty_specifications() {
        check(
            json!({"correlate_by": {"mesage_type": "ORM", "PID.3": 5, "PID.x": "1", "{{entity.path}}": "1"}}),
            &[
                ("correlate_by.mesage_type", "nor a path"),
                ("correlate_by.PID.3", "must be a string"),
                ("correlate_by.PID.x", "number"),
                ("correlate_by.{{entity.path}}", "in a key"),
            ],
        );
        check(json!({"correlate_by": {"PID.3.1": " "}}), &[("correlate_by.PID.3.1", "empty")]);
        check(json!({"correlate_by": [["PID.3", "1"]]}), &[("correlate_by", "an object")]);
        check(json!({"fields": [{"path": "PID.3", "fhirpath": "x"}]}), &[("fields.0.fhirpath", "not a known field")]);
        check(json!({"fields": [{"path": "status", "expected": 1}]}), &[("fields.0.path", "segment name")]);
        check(json!({"count": -1, "match": "best"}), &[("count", "whole number"), ("match", "one of `first`")]);
    }
}
