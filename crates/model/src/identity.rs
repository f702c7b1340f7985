//! Organizations, their API keys, and solvers (the agents that run benchmarks).

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{FieldErrors, KeyId, OrgId, SolverId, Timestamp, patch};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Organization {
    pub id: OrgId,
    #[schema(min_length = 1, max_length = 200)]
    pub name: String,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl Organization {
    pub fn validate(&self) -> Result<(), FieldErrors> {
        let mut errors = FieldErrors::new();
        errors.name("name", &self.name);
        errors.into_result()
    }
}

#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OrganizationPatch {
    #[serde(default, deserialize_with = "patch::value")]
    #[schema(value_type = String, required = false, min_length = 1, max_length = 200)]
    pub name: Option<String>,
}

impl OrganizationPatch {
    pub fn apply(self, organization: &mut Organization) {
        patch::set(&mut organization.name, self.name);
    }
}

/// An API key without its secret, with the parts of it that identify the key in lists.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ApiKey {
    pub id: KeyId,
    pub name: String,
    /// The prefix of the key: `vk_` or `vrl_slv_`.
    pub prefix: String,
    /// The last four characters.
    pub suffix: String,
    pub created_at: Timestamp,
    /// Alias of `created_at`.
    #[serde(rename = "createdAt", default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub created_at_alias: Option<Timestamp>,
    /// Accurate to one minute.
    pub last_used_at: Option<Timestamp>,
    pub revoked_at: Option<Timestamp>,
}

/// The response to the creation of a key. It is the only response with the secret.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct CreatedApiKey {
    pub id: KeyId,
    pub name: String,
    /// The secret. It is shown here once and cannot be read again.
    pub key: String,
    pub prefix: String,
    pub suffix: String,
    pub created_at: Timestamp,
    /// Alias of `created_at`.
    #[serde(rename = "createdAt", default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub created_at_alias: Option<Timestamp>,
    pub last_used_at: Option<Timestamp>,
    pub revoked_at: Option<Timestamp>,
}

impl CreatedApiKey {
    pub fn new(api_key: ApiKey, secret: String) -> Self {
        let ApiKey { id, name, prefix, suffix, created_at, created_at_alias, last_used_at, revoked_at } = api_key;
        Self { id, name, key: secret, prefix, suffix, created_at, created_at_alias, last_used_at, revoked_at }
    }
}

#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewApiKey {
    /// What the key is for. Default: "Unnamed key".
    #[schema(min_length = 1, max_length = 200)]
    pub name: Option<String>,
}

const UNNAMED_KEY: &str = "Unnamed key";

impl NewApiKey {
    pub fn validate(&self) -> Result<(), FieldErrors> {
        let mut errors = FieldErrors::new();
        if let Some(name) = &self.name {
            errors.name("name", name);
        }
        errors.into_result()
    }

    pub fn into_name(self) -> String {
        self.name.unwrap_or_else(|| UNNAMED_KEY.to_owned())
    }
}

/// An agent that runs benchmarks. Leaderboards show its alias.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Solver {
    pub id: SolverId,
    pub alias: String,
    pub real_name: Option<String>,
    pub agent_description: Option<String>,
    pub agent_version: Option<String>,
    pub contact_email: Option<String>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl Solver {
    pub fn validate(&self) -> Result<(), FieldErrors> {
        let mut errors = FieldErrors::new();
        if !is_alias(&self.alias) {
            errors.add("alias", "must be 1 to 64 letters, digits, `-`, `_` or `.`, starting with a letter or digit");
        }
        let texts = [("real_name", &self.real_name, 200), ("agent_description", &self.agent_description, 1000)];
        for (field, text, max_length) in texts.into_iter().chain([("agent_version", &self.agent_version, 100)]) {
            if let Some(text) = text {
                errors.length(field, text, 0..=max_length);
            }
        }
        if self.contact_email.as_deref().is_some_and(|email| !looks_like_email(email)) {
            errors.add("contact_email", "must be an e-mail address of at most 254 characters");
        }
        errors.into_result()
    }
}

fn is_alias(text: &str) -> bool {
    let starts_alphanumeric = text.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
    starts_alphanumeric
        && text.len() <= 64
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
}

/// Whether a text looks like an e-mail address. Only sending to it could tell more.
fn looks_like_email(text: &str) -> bool {
    let has_only_printable_characters =
        !text.chars().any(|character| character.is_whitespace() || character.is_control());
    match text.rsplit_once('@') {
        Some((local, domain)) => {
            has_only_printable_characters
                && text.len() <= 254
                && !local.is_empty()
                && domain.contains('.')
                && !domain.starts_with('.')
                && !domain.ends_with('.')
        }
        None => false,
    }
}

#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewSolver {
    /// URL-safe, unique within the organization.
    #[schema(pattern = "^[0-9A-Za-z][0-9A-Za-z._-]{0,63}$")]
    pub alias: String,
    #[schema(max_length = 200)]
    pub real_name: Option<String>,
    #[schema(max_length = 1000)]
    pub agent_description: Option<String>,
    #[schema(max_length = 100)]
    pub agent_version: Option<String>,
    #[schema(format = "email", max_length = 254)]
    pub contact_email: Option<String>,
}

impl NewSolver {
    pub fn into_solver(self, id: SolverId, now: Timestamp) -> Solver {
        let Self { alias, real_name, agent_description, agent_version, contact_email } = self;
        Solver {
            id,
            alias,
            real_name,
            agent_description,
            agent_version,
            contact_email,
            created_at: now,
            updated_at: now,
        }
    }
}

#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SolverPatch {
    #[serde(default, deserialize_with = "patch::value")]
    #[schema(value_type = String, required = false, pattern = "^[0-9A-Za-z][0-9A-Za-z._-]{0,63}$")]
    pub alias: Option<String>,
    #[serde(default, deserialize_with = "patch::nullable")]
    #[schema(value_type = Option<String>, max_length = 200)]
    pub real_name: Option<Option<String>>,
    #[serde(default, deserialize_with = "patch::nullable")]
    #[schema(value_type = Option<String>, max_length = 1000)]
    pub agent_description: Option<Option<String>>,
    #[serde(default, deserialize_with = "patch::nullable")]
    #[schema(value_type = Option<String>, max_length = 100)]
    pub agent_version: Option<Option<String>>,
    #[serde(default, deserialize_with = "patch::nullable")]
    #[schema(value_type = Option<String>, format = "email", max_length = 254)]
    pub contact_email: Option<Option<String>>,
}

impl SolverPatch {
    pub fn apply(self, solver: &mut Solver) {
        patch::set(&mut solver.alias, self.alias);
        patch::set(&mut solver.real_name, self.real_name);
        patch::set(&mut solver.agent_description, self.agent_description);
        patch::set(&mut solver.agent_version, self.agent_version);
        patch::set(&mut solver.contact_email, self.contact_email);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_aliases_and_email_addresses_are_rejected() {
        for (alias, good) in
            [("gpt-x_1.0", true), ("", false), ("-a", false), ("a/b", false), ("ä", false), ("a b", false)]
        {
            assert_eq!(is_alias(alias), good, "{alias}");
        }
        for (email, good) in
            [("a@b.co", true), ("a@b", false), ("@b.co", false), ("a b@c.de", false), ("a@.co", false), ("ab", false)]
        {
            assert_eq!(looks_like_email(email), good, "{email}");
        }
    }
}
