//! Checks that the config, scenario steps and credentials of simulators are documented.

use super::{PAGES, read};

/// The part of a page below a heading, up to the next heading of the same or a higher level.
fn section<'a>(page: &'a str, heading: &str) -> &'a str {
    let level = heading.split(' ').next().unwrap();
    let (_, rest) = page.split_once(&format!("\n{heading}\n")).unwrap_or_else(|| panic!("there is no {heading}"));
    let ends = (2..=level.len()).filter_map(|length| rest.find(&format!("\n{} ", "#".repeat(length))));
    &rest[..ends.min().unwrap_or(rest.len())]
}

/// Whether a name is mentioned between backticks.
fn mentions(text: &str, name: &str) -> bool {
    let has_name = |code: &str| {
        code.split(|character: char| !character.is_alphanumeric() && character != '_').any(|word| word == name)
    };
    text.split('`').skip(1).step_by(2).any(has_name)
}

#[test]
fn every_config_key_step_and_credential_is_documented() {
    let authoring = read("docs/authoring.md");
    let manual: String = PAGES.iter().map(|page| read(page)).collect();
    for simulator in sims::catalog() {
        let documentation = section(&authoring, &format!("### {:?}", simulator.kind));
        for key in simulator.example_config().as_object().unwrap().keys() {
            assert!(
                mentions(documentation, key),
                "docs/authoring.md does not document {key} in the config of {:?}",
                simulator.kind
            );
        }
        for step in simulator.steps {
            assert!(
                mentions(section(&authoring, "### Scenario"), step.name),
                "docs/authoring.md has no step {}",
                step.name
            );
        }
        for credential in simulator.credentials {
            let name = credential.name;
            assert!(mentions(&manual, name), "no page documents the credential {name} of {:?}", simulator.kind);
        }
    }
}
