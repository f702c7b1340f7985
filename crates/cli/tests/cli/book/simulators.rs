//! What simulators take and give is told: config, scenario steps and credentials.

use super::{PAGES, read};

/// The part of a page below a heading, up to the next of its level or above.
fn section<'a>(page: &'a str, heading: &str) -> &'a str {
    let level = heading.split(' ').next().unwrap();
    let (_, rest) = page.split_once(&format!("\n{heading}\n")).unwrap_or_else(|| panic!("there is no {heading}"));
    let ends = (2..=level.len()).filter_map(|length| rest.find(&format!("\n{} ", "#".repeat(length))));
    &rest[..ends.min().unwrap_or(rest.len())]
}

/// Whether it stands between backticks, alone or among others.
fn tells(text: &str, name: &str) -> bool {
    let words = |code: &str| code.split(|sign: char| !sign.is_alphanumeric() && sign != '_').any(|word| word == name);
    text.split('`').skip(1).step_by(2).any(words)
}

#[test]
fn every_key_step_and_credential_is_told() {
    let authoring = read("docs/authoring.md");
    let manual: String = PAGES.iter().map(|page| read(page)).collect();
    for simulator in sims::catalogue() {
        let told = section(&authoring, &format!("### {:?}", simulator.kind));
        for key in simulator.example_config().as_object().unwrap().keys() {
            assert!(tells(told, key), "docs/authoring.md does not tell of {key} in the config of {:?}", simulator.kind);
        }
        for step in simulator.steps {
            assert!(
                tells(section(&authoring, "### Scenario"), step.name),
                "docs/authoring.md has no step {}",
                step.name
            );
        }
        for name in simulator.credentials {
            assert!(tells(&manual, name), "no page tells of the credential {name} of {:?}", simulator.kind);
        }
    }
}
