//! What is kept with a run: entries that the user names, and what CI systems and agents say in the environment.

use model::run::Metadata;

use crate::output::text::harmless;

const LONGEST_NAME: usize = 40;
const LONGEST_VALUE: usize = 500;

/// Names of entries, and the variables that hold them in common CI systems; the first that is set counts.
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

/// `model=m-1`.
pub(super) fn entry(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write it as name=value")?;
    let (name, value) = (name.trim(), value.trim());
    if name.is_empty() || name.chars().count() > LONGEST_NAME {
        return Err(format!("the name must have 1 to {LONGEST_NAME} characters"));
    }
    if value.chars().count() > LONGEST_VALUE {
        return Err(format!("the value must have at most {LONGEST_VALUE} characters"));
    }
    Ok((name.to_owned(), value.to_owned()))
}

/// What the user names wins over the environment.
pub(super) fn collect(named: &[(String, String)]) -> Metadata {
    with_environment(named, variable)
}

fn with_environment(named: &[(String, String)], variable: impl Fn(&str) -> Option<String>) -> Metadata {
    let mut metadata = Metadata::new();
    for (name, variables) in VARIABLES {
        if let Some(value) = variables.iter().find_map(|name| variable(name)) {
            let value = harmless(value.trim()).chars().take(LONGEST_VALUE).collect();
            metadata.insert(name.to_owned(), value);
        }
    }
    metadata.extend(named.iter().cloned());
    metadata
}

#[expect(clippy::disallowed_methods, reason = "CI systems say what they run in the environment")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_read_and_win_over_the_environment() {
        assert_eq!(entry("model = a=b"), Ok(("model".into(), "a=b".into())));
        for bad in ["model", "=x", &format!("{}=x", "m".repeat(41)), &format!("m={}", "x".repeat(501))] {
            assert!(entry(bad).is_err(), "{bad}");
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
