//! One interaction as it is carried out: alone, or as an entry of a Bundle.

use std::rc::Rc;
use std::sync::Arc;

use fhir::{OwnAddresses, ResourceType};
use model::{SandboxId, Timestamp};
use world::{Context, Records, Seq, StoredParameters, World};

use super::config::WriteRules;
use super::outcome::{Issue, Refusal};
use super::reply::{Content, Reply};
use super::scopes::{Permission, Scopes};
use super::stored_parameters::SearchBudget;

/// What an interaction may know.
#[derive(Clone)]
pub(crate) struct Call<'a> {
    pub(crate) world: &'a World,
    pub(crate) sandbox: &'a world::Sandbox,
    pub(crate) records: &'a Records,
    /// None for a client who may do everything.
    pub(crate) scopes: Option<&'a Scopes>,
    pub(crate) base_url: &'a str,
    /// The paths of every base of the sandbox.
    pub(crate) own_paths: Arc<[String]>,
    pub(crate) token_url: Option<&'a str>,
    pub(crate) context: &'a Context<'a>,
    pub(crate) prefer: Prefer,
    pub(crate) conditions: Conditions,
    pub(crate) rules: WriteRules,
    /// Shared by all entries of a Bundle.
    pub(crate) search_budget: Rc<SearchBudget>,
    /// The header `Accept` of a client that asks for the content of a Binary instead of the resource.
    pub(crate) raw_accept: Option<&'a str>,
    /// Decoded, without those that are about the format.
    pub(crate) parameters: Vec<(String, String)>,
}

/// The header `Prefer` (<https://hl7.org/fhir/R4/http.html#ops>).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Prefer {
    pub(crate) returns: Option<Returns>,
    pub(crate) strict: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Returns {
    Minimal,
    Representation,
    Outcome,
}

/// The headers that make an interaction conditional, or the same of an entry of a Bundle.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Conditions {
    pub(crate) if_match: Option<String>,
    pub(crate) if_none_match: Option<String>,
    pub(crate) if_modified_since: Option<String>,
    pub(crate) if_none_exist: Option<String>,
}

impl Prefer {
    pub(crate) fn parse(header: Option<&str>) -> Self {
        let mut prefer = Self::default();
        for preference in header.unwrap_or_default().split([',', ';']) {
            match preference.trim().replace('"', "").as_str() {
                "return=minimal" => prefer.returns = Some(Returns::Minimal),
                "return=representation" => prefer.returns = Some(Returns::Representation),
                "return=OperationOutcome" => prefer.returns = Some(Returns::Outcome),
                "handling=strict" => prefer.strict = true,
                _ => {}
            }
        }
        prefer
    }
}

/// The paths of every base address of a sandbox: those of the sandbox itself, and others that the request knows.
pub(crate) fn own_paths(sandbox: &SandboxId, others: &[String]) -> Arc<[String]> {
    let own = ["sandboxes", "services"].map(|name| format!("/{name}/{sandbox}/fhir"));
    own.into_iter().chain(others.iter().cloned()).collect()
}

impl<'a> Call<'a> {
    pub(crate) fn own_addresses(&self) -> OwnAddresses<'_> {
        OwnAddresses::new(self.base_url, &self.own_paths)
    }

    pub(crate) fn may(&self, permission: Permission, resource_type: ResourceType) -> bool {
        self.scopes.is_none_or(|scopes| scopes.allow(permission, resource_type))
    }

    /// Whether the client may see resources of the type at all.
    pub(crate) fn may_see(&self, resource_type: ResourceType) -> bool {
        self.may(Permission::Read, resource_type) || self.may(Permission::Search, resource_type)
    }

    pub(crate) fn require(&self, permission: Permission, resource_type: ResourceType) -> Result<(), Refusal> {
        if self.may(permission, resource_type) {
            return Ok(());
        }
        let letter = permission.letter();
        let message = format!("this needs the scope system/{resource_type}.{letter}, which the token does not have");
        Err(Refusal::new(403, "forbidden", message))
    }

    /// The search parameters that are resources of the sandbox, as they were after an entry of the log.
    pub(crate) fn stored_parameters(&self, as_of: Seq) -> StoredParameters<'a> {
        StoredParameters::new(self.records, as_of, self.search_budget.cache())
    }

    /// The last entry of the log that this call sees.
    pub(crate) fn seq(&self) -> Seq {
        self.world.seq
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.context.now
    }

    pub(crate) fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Parameters that the interaction does not know: refused if the client asks for strictness, else reported.
    pub(crate) fn ignored_parameters(&self, known: &[&str]) -> Result<Vec<Issue>, Refusal> {
        let unknown = self.parameters.iter().filter(|(name, _)| !known.contains(&name.as_str()));
        let issue = |(name, _): &(String, String)| {
            let message = format!("the parameter {} was ignored: it is not known here", super::outcome::excerpt(name));
            Issue::warning("not-supported", message)
        };
        let ignored: Vec<Issue> = unknown.map(issue).collect();
        if self.prefer.strict && !ignored.is_empty() {
            let issues = ignored.into_iter().map(|issue| Issue { severity: "error", ..issue }).collect();
            return Err(Refusal { status: 400, issues, headers: Vec::new() });
        }
        Ok(ignored)
    }

    /// The content of an answer to a write, as the client prefers it.
    pub(crate) fn preferred(&self, content: Content, done: &str) -> Content {
        match self.prefer.returns {
            None | Some(Returns::Representation) => content,
            Some(Returns::Minimal) => Content::None,
            Some(Returns::Outcome) => Content::Made(super::outcome::operation_outcome(&[Issue::information(done)])),
        }
    }

    pub(crate) fn perform(
        &self,
        action: &super::route::Action,
        body: Option<&serde_json::Value>,
    ) -> Result<Reply, Refusal> {
        super::perform::perform(self, action, body)
    }
}
