//! Metadata of a run: the user's entries, and variables of CI systems and agents.

use model::run::Metadata;

use crate::output::text::sanitize;

const MAX_NAME: usize = 40;
const MAX_VALUE: usize = 500;

/// Entries and their environment variables in common CI systems. The first variable that is set is used.
const VARIABLES: [(&str, &[&str]); 4] = [
    (
        "commit",
        &[
            "GITHUB_SHA",
            "CI_COMMIT_SHA",
            "GIT_COMMIT",
            "BUILDKITE_COMMIT",
            "CIRCLE_SHA1",
            "BITBUCKET_COMMIT",
            "BUILD_SOURCEVERSION",
        ],
    ),
    (
        "branch",
        &[
            "GITHUB_REF_NAME",
            "CI_COMMIT_REF_NAME",
            "GIT_BRANCH",
            "BUILDKITE_BRANCH",
            "CIRCLE_BRANCH",
            "BITBUCKET_BRANCH",
        ],
    ),
    ("job", &["CI_JOB_URL", "BUILD_URL", "BUILDKITE_BUILD_URL", "CIRCLE_BUILD_URL", "GITHUB_RUN_ID"]),
    ("model", &["VERIAL_MODEL", "OPENAI_MODEL", "ANTHROPIC_MODEL"]),
];

/// Parses an entry such as `model=m-1`.
pub(super) fn parse_entry(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    let (name, value) = (name.trim(), value.trim());
    if name.is_empty() || name.chars().count() > MAX_NAME {
        return Err(format!("the name must have 1 to {MAX_NAME} characters"));
    }
    if value.chars().count() > MAX_VALUE {
        return Err(format!("the value must have at most {MAX_VALUE} characters"));
    }
    Ok((name.to_owned(), value.to_owned()))
}

/// The user's entries override those of the environment.
pub(super) fn collect(entries: &[(String, String)]) -> Metadata {
    with_environment(entries, variable)
}

fn with_environment(entries: &[(String, String)], variable: impl Fn(&str) -> Option<String>) -> Metadata {
    let mut metadata = Metadata::new();
    for (name, variables) in VARIABLES {
        if let Some(value) = variables.iter().find_map(|name| variable(name)) {
            let value = sanitize(value.trim()).chars().take(MAX_VALUE).collect();
            metadata.insert(name.to_owned(), value);
        }
    }
    metadata.extend(entries.iter().cloned());
    metadata
}

#[expect(clippy::disallowed_methods, reason = "CI systems describe a job in environment variables")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_override_the_environment() {
        assert_eq!(parse_entry("model = a=b"), Ok(("model".into(), "a=b".into())));
        for bad in ["model", "=x", &format!("{}=x", "m".repeat(41)), &format!("m={}", "x".repeat(501))] {
            assert!(parse_entry(bad).is_err(), "{bad}");
        }
        let environment = |name: &str| match name {
            "CI_COMMIT_SHA" => Some("4f2a\n".to_owned()),
            "VERIAL_MODEL" => Some("m-1".to_owned()),
            _ => None,
        };
        let found = with_environment(&[("model".into(), "m-2".into())], environment);
        assert_eq!(found, Metadata::from([("commit".into(), "4f2a".into()), ("model".into(), "m-2".into())]));
    }
}
