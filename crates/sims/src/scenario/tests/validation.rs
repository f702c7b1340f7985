//! Validation when a task is saved.

use crate::scenario::*;
use serde_json::json;

const fn simulator(kind: SimulatorType, name: &str) -> EnvironmentSimulator<'_> {
    EnvironmentSimulator { kind, name }
}

const FULL: [EnvironmentSimulator<'static>; 9] = [
    simulator(SimulatorType::Fhir, "EHR"),
    simulator(SimulatorType::Hl7, "Lab interface"),
    simulator(SimulatorType::Clearinghouse, "Clearinghouse"),
    simulator(SimulatorType::Files, "Drop"),
    simulator(SimulatorType::Payer, "Portal"),
    simulator(SimulatorType::Voice, "Payer line"),
    simulator(SimulatorType::Fax, "files"),
    simulator(SimulatorType::Message, "Texts"),
    simulator(SimulatorType::CdsHooks, "CDS"),
];

fn errors(scenario: &Value, environment: Option<&[EnvironmentSimulator<'_>]>) -> String {
    validate_scenario(scenario, environment).err().map_or_else(String::new, |errors| errors.to_string())
}

#[test]
fn step_examples_are_valid_and_need_their_simulator() {
    let steps: Vec<Value> = crate::catalog().iter().flat_map(|info| info.steps).map(crate::StepInfo::example).collect();
    assert_eq!(errors(&json!({ "steps": steps }), Some(&FULL)), "");
    for info in crate::catalog() {
        for step in info.steps {
            let example = step.example();
            assert_eq!(example["do"], step.name);
            let others: Vec<EnvironmentSimulator<'_>> = FULL.into_iter().filter(|one| one.kind != info.kind).collect();
            let expected = format!("steps.0.do: needs a {} simulator, and the environment has none", info.kind.name());
            assert_eq!(errors(&json!({"steps": [example]}), Some(&others)), expected);
        }
    }
}

#[test]
fn scenarios_without_steps_are_valid() {
    for scenario in [json!(null), json!({}), json!({"steps": []})] {
        assert_eq!(errors(&scenario, None), "");
    }
}

#[test]
fn malformed_scenarios_are_rejected() {
    for (scenario, expected) in [
        (json!([]), ": must be an object, is a list"),
        (json!("x"), ": must be an object, is \"x\""),
        (json!({"steps": {}}), "steps: must be a list, is an object"),
        (json!({"step": []}), "step: is not a known field; known: `steps`"),
        (json!({"steps": [1]}), "steps.0: must be an object, is 1"),
        (json!({"steps": [{}]}), "steps.0.do: is required"),
        (json!({"steps": [{"do": []}]}), "steps.0.do: must be a string, is a list"),
    ] {
        assert_eq!(errors(&scenario, Some(&FULL)), expected);
    }
    let unknown = errors(&json!({"steps": [{"do": "{{task.name}}"}]}), Some(&FULL));
    assert!(unknown.starts_with("steps.0.do: no step `{{task.name}}`; steps are fhir, hl7_inbound"), "{unknown}");
    let many = json!({"steps": vec![json!({"do": "file_delete", "path": "a"}); 201]});
    assert_eq!(errors(&many, Some(&FULL)), "steps: must be at most 200, are 201");
}

#[test]
fn every_step_needs_an_environment() {
    let scenario = json!({"steps": [{"do": "file_delete", "path": "a"}, {"do": "file_delete", "sandbox": "Drop"}]});
    assert_eq!(
        errors(&scenario, None),
        "steps.0.do: needs a Files simulator, and the benchmark has no environment yet; \
         steps.1.do: needs a Files simulator, and the benchmark has no environment yet; steps.1.path: is required"
    );
}

#[test]
fn sandboxes_are_found_by_name_type_or_being_the_only_one() {
    let two = [
        simulator(SimulatorType::Files, "North"),
        simulator(SimulatorType::Files, "South"),
        simulator(SimulatorType::Fax, "North"),
        simulator(SimulatorType::Fax, "Line"),
    ];
    let twins = [simulator(SimulatorType::Files, "Drop"); 2];
    let name_one = "steps.0.sandbox: must name one of the Files simulators: North, South";
    for (sandbox, environment, expected) in [
        (json!(null), &FULL[..], ""),
        (json!("Drop"), &FULL, ""),
        (json!("FILES"), &FULL, ""),
        (json!("sftp"), &FULL, ""),
        (json!("files"), &FULL, "steps.0.sandbox: is a Fax simulator, and this step needs Files"),
        (json!("hl7"), &FULL, "steps.0.sandbox: is a Hl7 simulator, and this step needs Files"),
        (json!("drop"), &FULL, "steps.0.sandbox: the environment has no simulator `drop`"),
        (json!("{{task.name}}"), &FULL, "steps.0.sandbox: the environment has no simulator `{{task.name}}`"),
        (json!(3), &FULL, "steps.0.sandbox: must be a string, is 3"),
        (json!("North"), &two, ""),
        (json!("Line"), &two, "steps.0.sandbox: is a Fax simulator, and this step needs Files"),
        (json!(null), &two, name_one),
        (json!("Files"), &two, name_one),
        (json!("Drop"), &twins, "steps.0.sandbox: the environment has 2 Files simulators of that name"),
        (json!("Files"), &two[2..], "steps.0.sandbox: needs a Files simulator, and the environment has none"),
    ] {
        let scenario = json!({"steps": [{"do": "file_delete", "path": "a", "sandbox": sandbox}]});
        assert_eq!(errors(&scenario, Some(environment)), expected, "{sandbox}");
    }
}

#[test]
fn delays_are_whole_seconds_of_at_most_a_week() {
    for (authored, good) in [
        ("0", true),
        ("604800", true),
        ("null", true),
        ("604801", false),
        ("-1", false),
        ("1.5", false),
        ("1.0", false),
        ("1e999", false),
        ("99999999999999999999", false),
        ("\"5\"", false),
        ("\"{{task.delay}}\"", false),
        ("[]", false),
    ] {
        let scenario = format!(r#"{{"steps":[{{"do":"file_delete","path":"a","after_seconds":{authored}}}]}}"#);
        let result = errors(&serde_json::from_str(&scenario).unwrap(), Some(&FULL));
        assert_eq!(result.is_empty(), good, "{authored}: {result}");
        assert!(good || result.starts_with("steps.0.after_seconds: "), "{result}");
    }
}

#[test]
fn templates_are_checked_in_every_string() {
    let scenario = json!({"steps": [
        {"do": "drop_file_inbox", "path": "inbox/{{entity.id}}.txt", "content": "{{task.name}}"},
        {"do": "drop_file_inbox", "path": "a.txt", "content": "{{patient.name}}"},
        {"do": "fax_inbound", "document": {"title": "{{entity.id", "header": {"A": "{{}}"}}},
    ]});
    let result = errors(&scenario, Some(&FULL));
    let fields: Vec<&str> = result.split("; ").filter_map(|error| error.split(": ").next()).collect();
    assert_eq!(fields, ["steps.1.content", "steps.2.document.header.A", "steps.2.document.title"]);
}

#[test]
fn examples_with_a_member_of_the_wrong_type_are_rejected() {
    let deep = (0..120).fold(json!(1), |inner, _| json!([inner]));
    let precise: Value = serde_json::from_str("1.10").unwrap();
    for step in crate::catalog().iter().flat_map(|info| info.steps) {
        for key in step.example().as_object().unwrap().keys() {
            for wrong in [json!(true), json!([[]]), json!("\u{0}"), deep.clone(), precise.clone()] {
                let mut example = step.example();
                example[key] = wrong;
                let scenario = json!({"steps": [example]});
                assert_ne!(errors(&scenario, Some(&FULL)), "", "{scenario}");
            }
        }
    }
}

#[test]
fn the_errors_of_all_steps_are_reported_together() {
    let scenario = json!({"steps": [
        {"do": "drop_file_inbox", "path": "../x", "colour": 1, "after_seconds": -1},
        {"do": "nothing"},
        {"do": "portal_row", "resource": "drafts"},
    ]});
    let errors = validate_scenario(&scenario, Some(&FULL)).unwrap_err();
    let fields: Vec<&str> = errors.iter().map(|(field, _)| field).collect();
    assert_eq!(
        fields,
        ["steps.0", "steps.0.after_seconds", "steps.0.colour", "steps.0.path", "steps.1.do", "steps.2.row"]
    );
}
