//! The context of an interaction, which is a request or an entry of a Bundle.

use std::rc::Rc;
use std::sync::Arc;

use fhir::{OwnAddresses, ResourceType};
use model::{SandboxId, Timestamp};
use world::{Context, Records, Seq, StoredParameters, World};

use super::config::WriteRules;
use super::outcome::{FhirError, Issue};
use super::reply::{Reply, ReplyContent};
use super::scopes::{Permission, Scopes};
use super::stored_parameters::SearchBudget;

/// Everything that an interaction needs.
#[derive(Clone)]
pub(crate) struct InteractionContext<'a> {
    pub(crate) world: &'a World,
    pub(crate) sandbox: &'a world::Sandbox,
    pub(crate) records: &'a Records,
    /// None for a client without restrictions.
    pub(crate) scopes: Option<&'a Scopes>,
    pub(crate) base_url: &'a str,
    /// The paths of every base of the sandbox.
    pub(crate) own_paths: Arc<[String]>,
    pub(crate) token_url: Option<&'a str>,
    pub(crate) world_context: &'a Context<'a>,
    pub(crate) prefer: Prefer,
    pub(crate) conditions: Conditions,
    pub(crate) rules: WriteRules,
    /// Shared by all entries of a Bundle.
    pub(crate) search_budget: Rc<SearchBudget>,
    /// The header `Accept` of a client that asks for the content of a Binary instead of the resource.
    pub(crate) raw_accept: Option<&'a str>,
    /// Decoded, without `_format` and `_pretty`.
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

/// The conditional headers of a request, or the corresponding members of a Bundle entry.
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

/// The paths of all base URLs of a sandbox: its own ones, and those of its run.
pub(crate) fn own_paths(sandbox: &SandboxId, others: &[String]) -> Arc<[String]> {
    let own = ["sandboxes", "services"].map(|name| format!("/{name}/{sandbox}/fhir"));
    own.into_iter().chain(others.iter().cloned()).collect()
}

impl<'a> InteractionContext<'a> {
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

    pub(crate) fn require(&self, permission: Permission, resource_type: ResourceType) -> Result<(), FhirError> {
        if self.may(permission, resource_type) {
            return Ok(());
        }
        let letter = permission.letter();
        let message = format!("this needs the scope system/{resource_type}.{letter}, which the token does not have");
        Err(FhirError::new(403, "forbidden", message))
    }

    /// The search parameters that are resources of the sandbox, as they were after an entry of the log.
    pub(crate) fn stored_parameters(&self, as_of: Seq) -> StoredParameters<'a> {
        StoredParameters::new(self.records, as_of, self.search_budget.cache())
    }

    /// The sequence number of the last log entry.
    pub(crate) fn seq(&self) -> Seq {
        self.world.seq
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.world_context.now
    }

    pub(crate) fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Warnings for unknown parameters. An error if the client prefers strict handling.
    pub(crate) fn ignored_parameters(&self, known: &[&str]) -> Result<Vec<Issue>, FhirError> {
        let unknown = self.parameters.iter().filter(|(name, _)| !known.contains(&name.as_str()));
        let issue = |(name, _): &(String, String)| {
            let message = format!("the parameter {} was ignored: it is not known here", super::outcome::excerpt(name));
            Issue::warning("not-supported", message)
        };
        let ignored: Vec<Issue> = unknown.map(issue).collect();
        if self.prefer.strict && !ignored.is_empty() {
            let issues = ignored.into_iter().map(|issue| Issue { severity: "error", ..issue }).collect();
            return Err(FhirError { status: 400, issues, headers: Vec::new() });
        }
        Ok(ignored)
    }

    /// The content of the response to a write, as the client prefers it.
    pub(crate) fn preferred(&self, content: ReplyContent, done: &str) -> ReplyContent {
        match self.prefer.returns {
            None | Some(Returns::Representation) => content,
            Some(Returns::Minimal) => ReplyContent::None,
            Some(Returns::Outcome) => {
                ReplyContent::Generated(super::outcome::operation_outcome(&[Issue::information(done)]))
            }
        }
    }

    pub(crate) fn perform(
        &self,
        interaction: &super::interaction::Interaction,
        body: Option<&serde_json::Value>,
    ) -> Result<Reply, FhirError> {
        super::perform::perform(self, interaction, body)
    }
}
