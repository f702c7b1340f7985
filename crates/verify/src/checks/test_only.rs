//! A check for tests only. It shows that a new check needs only its own file and one entry in `checks!`.

use model::FieldErrors;
use model::score::Score;
use model::simulator::SimulatorType;
use serde::Deserialize;

use crate::authored::Authored;
use crate::bind::Escaping;
use crate::checks::{Check, CheckInfo, ReadSimulators};
use crate::evidence::{EvaluationContext, EvaluationResult, Outcome, object};
use crate::glob::Glob;
use crate::manual::Parameter;

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
        reads: ReadSimulators::Type(SimulatorType::Files),
        is_limit: false,
        parameters: &[Parameter::required("path", "a glob").escaped(Escaping::Glob)],
        description: "Reads the names of files.",
        evidence: "none",
    };

    fn validate(&self, _errors: &mut FieldErrors) {}

    fn evaluate(&self, context: &EvaluationContext<'_>) -> EvaluationResult {
        let glob = self.path.ready()?;
        let passed = context.rows(SimulatorType::Files, "files")?.iter().any(|(path, _)| glob.matches(path));
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
    use crate::{Parsed, catalog, manual, parse, schema};
    use serde_json::json;

    #[test]
    fn a_listed_check_is_known_everywhere() {
        let info = catalog().iter().find(|check| check.name == "test-only").unwrap();
        assert!(manual::page().contains("### test-only"));
        assert_eq!(schema::parameters(info).1, ["path"]);
        // The methods that lint and audit call.
        let assertion = json!({"assert": "test-only", "path": "outbox/{{entity.name}}"});
        let Ok(Parsed::Known(check)) = parse(&assertion) else { panic!("a known check") };
        assert_eq!(check.info().reads.required_type(), Some(SimulatorType::Files));
        assert_eq!(check.recommendations("Written"), ["use another check"]);
        assert!(!check.is_guard());
        // The value of a template is escaped, so it does not match other names.
        for (name, passes) in [("a*", true), ("ab", false)] {
            let playground = Playground::new(&[])
                .with_entity(json!({"ref": "Patient/p1", "name": "a*", "data": {}}))
                .write(SimulatorType::Files, "files", &format!("outbox/{name}"), &json!({"size": 0}));
            assert_eq!(playground.evaluate(&assertion).passed, passes, "{name}");
        }
    }
}
