//! A check that exists in tests only. It shows that one file and one word in `checks!` are all that a new check needs.

use model::FieldErrors;
use model::score::Score;
use model::simulator::SimulatorType;
use serde::Deserialize;

use crate::authored::Authored;
use crate::bind::Escaping;
use crate::checks::{Check, CheckInfo, Reads};
use crate::evidence::{Case, Evaluated, Outcome, object};
use crate::glob::Glob;
use crate::manual::Member;

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestOnly {
    path: Authored<Glob>,
}

impl Check for TestOnly {
    const INFO: CheckInfo = CheckInfo {
        name: "test-only",
        summary: "A file has a name.",
        example: r#"{"assert": "test-only", "path": "outbox/*"}"#,
        reads: Reads::Type(SimulatorType::Files),
        is_limit: false,
        members: &[Member::required("path", "a glob").escaped(Escaping::Glob)],
        description: "Reads the names of files.",
        evidence: "none",
    };

    fn validate(&self, _errors: &mut FieldErrors) {}

    fn evaluate(&self, case: &Case<'_>) -> Evaluated {
        let glob = self.path.ready()?;
        let passed = case.rows(SimulatorType::Files, "files")?.iter().any(|(path, _)| glob.matches(path));
        let score = if passed { Score::one() } else { Score::zero() };
        Ok(Outcome { score, passed, details: String::new(), evidence: object([]) })
    }

    fn recommendations(&self, _label: &str) -> Vec<&'static str> {
        vec!["use another check"]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Playground;
    use crate::{Parsed, catalogue, manual, parse, schema};
    use serde_json::json;

    #[test]
    fn catalog_manual_schema_lint_audit_and_evaluation_know_a_check_that_is_listed() {
        let info = catalogue().iter().find(|check| check.name == "test-only").unwrap();
        assert!(manual::page().contains("### test-only"));
        assert_eq!(schema::parameters(info).1, ["path"]);
        // What lint and audit ask every check.
        let assertion = json!({"assert": "test-only", "path": "outbox/{{entity.name}}"});
        let Ok(Parsed::Known(check)) = parse(&assertion) else { panic!("a known check") };
        assert_eq!(check.info().reads.required_type(), Some(SimulatorType::Files));
        assert_eq!(check.recommendations("Written"), ["use another check"]);
        assert!(!check.is_guard());
        // The value of a template is data: it does not match other names.
        for (name, passes) in [("a*", true), ("ab", false)] {
            let playground = Playground::new(&[])
                .with_entity(json!({"ref": "Patient/p1", "name": "a*", "data": {}}))
                .write(SimulatorType::Files, "files", &format!("outbox/{name}"), &json!({"size": 0}));
            assert_eq!(playground.evaluate(&assertion).passed, passes, "{name}");
        }
    }
}
