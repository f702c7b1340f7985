//! Routes of sandbox operations. An operation is written once, with a path below the sandbox, and registered under every
//! scope from which a sandbox can be reached.

mod register;

use std::marker::PhantomData;

use app::runs::access;
use app::sandboxes::Access;
use axum::extract::{FromRequestParts, MatchedPath};
use axum::http::request::Parts;
use model::simulator::SimulatorType;
use model::{BenchmarkRunId, Id, SandboxId, TaskRunId};

pub(crate) use register::{alias_at, in_every_scope, in_scopes};

use crate::State;
use crate::api_error::{ApiError, Code};
use crate::base_url;
use crate::extractors::{organization, path_values, run};
use crate::routes::portal;

/// The form of the address through which a sandbox is reached, and the credential it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// With a key of the sandbox's organization.
    Direct,
    /// With a run's token: the sandbox of the one started task.
    Run,
    /// With a run's token: the sandbox of a started task.
    TaskRun,
    /// The same, naming the sandbox by its id or name: for tasks with several of one type.
    NamedSandbox,
}

impl Scope {
    pub(crate) const ALL: [Self; 4] = [Self::Direct, Self::Run, Self::TaskRun, Self::NamedSandbox];

    /// The path prefix of every operation in this scope.
    pub(crate) fn prefix(self) -> &'static str {
        match self {
            Self::Direct => "/sandboxes/{sandbox_id}",
            Self::Run => "/v1/benchmark-runs/{benchmark_run_id}",
            Self::TaskRun => "/v1/task-runs/{task_run_id}/sandbox",
            Self::NamedSandbox => "/v1/task-runs/{task_run_id}/sandbox/{sandbox}",
        }
    }

    fn of(pattern: &str) -> Self {
        let matches = |scope: &&Self| pattern.starts_with(scope.prefix());
        // `/services/…`, the alias of `/sandboxes/…`, is `Direct` too.
        *[Self::Run, Self::NamedSandbox, Self::TaskRun].iter().find(matches).unwrap_or(&Self::Direct)
    }
}

/// The type of simulator whose sandboxes a route serves.
pub(crate) trait ScopedType: Send + Sync + 'static {
    const TYPE: SimulatorType;
}

/// Extractor: authenticates the caller and finds the sandbox that the path names.
pub(crate) struct SandboxScope<T> {
    pub(crate) access: Access,
    /// The URL prefix of the sandbox in this scope, such as `https://host/sandboxes/sbx_…`.
    pub(crate) address: String,
    /// The server's base URL, as the caller reaches it.
    pub(crate) base: String,
    /// The path parameters after those of the scope.
    values: Vec<String>,
    simulator: PhantomData<T>,
}

impl<T> SandboxScope<T> {
    pub(crate) fn into_values(self) -> (Access, Vec<String>) {
        (self.access, self.values)
    }

    /// A path parameter after those of the scope; the first is 0.
    pub(crate) fn value(&self, index: usize) -> &str {
        self.values.get(index).map(String::as_str).unwrap_or_default()
    }
}

impl<T: ScopedType> FromRequestParts<State> for SandboxScope<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &State) -> Result<Self, ApiError> {
        Self::find(T::TYPE, parts, state).await
    }
}

impl<T> SandboxScope<T> {
    /// The sandbox that the path names, which must be of this type.
    pub(crate) async fn find(kind: SimulatorType, parts: &mut Parts, state: &State) -> Result<Self, ApiError> {
        let scope = parts.extensions.get::<MatchedPath>().map_or(Scope::Direct, |path| Scope::of(path.as_str()));
        // Authentication comes before anything else is examined.
        let (access, values, path) = match scope {
            Scope::Direct => {
                let (access, id, values) = direct(kind, parts, state).await?;
                (access, values, format!("/sandboxes/{id}"))
            }
            Scope::Run => {
                let grant = run(parts, state).await?;
                let (id, values) = first_id::<BenchmarkRunId>(parts, state).await?;
                let access = access::of_run(&state.app, &grant, &id, kind).await?;
                (access, values, format!("/v1/benchmark-runs/{id}"))
            }
            Scope::TaskRun => {
                let grant = run(parts, state).await?;
                let (id, values) = first_id::<TaskRunId>(parts, state).await?;
                let access = access::of_task_run(&state.app, &grant, &id, kind, None).await?;
                (access, values, format!("/v1/task-runs/{id}/sandbox"))
            }
            Scope::NamedSandbox => {
                let grant = run(parts, state).await?;
                let (id, name, values) = named_sandbox(parts, state).await?;
                let access = access::of_task_run(&state.app, &grant, &id, kind, Some(&name)).await?;
                let path = format!("/v1/task-runs/{id}/sandbox/{}", access.sandbox());
                (access, values, path)
            }
        };
        let base = base_url::of(parts, state);
        let address = format!("{base}{path}");
        Ok(Self { access, address, base, values, simulator: PhantomData })
    }
}

/// Accepts an organization key, or the sandbox's own login if its type has one.
async fn direct(
    kind: SimulatorType,
    parts: &mut Parts,
    state: &State,
) -> Result<(Access, SandboxId, Vec<String>), ApiError> {
    if kind == SimulatorType::Payer
        && let Some(login) = portal::basic_auth::login(&parts.headers)
    {
        let (id, values) = first_id::<SandboxId>(parts, state).await?;
        let access = portal::basic_auth::authenticate(state, parts, &id, login).await?;
        return Ok((access, id, values));
    }
    let grant = organization(parts, state).await?;
    let (id, values) = first_id::<SandboxId>(parts, state).await?;
    let access = Access::by_key(&state.app, &grant, &id, kind).await?;
    Ok((access, id, values))
}

/// The id that the path starts with, and the path parameters after it.
pub(crate) async fn first_id<I: Id>(parts: &mut Parts, state: &State) -> Result<(I, Vec<String>), ApiError> {
    let mut values = path_values(parts, state).await?.into_iter();
    let id = values.next().and_then(|text| text.parse().ok());
    let id = id.ok_or_else(|| ApiError::new(Code::NotFound, format!("no such {}", I::NOUN)))?;
    Ok((id, values.collect()))
}

/// The task run and the sandbox that the path starts with, and the path parameters after them.
pub(crate) async fn named_sandbox(
    parts: &mut Parts,
    state: &State,
) -> Result<(TaskRunId, String, Vec<String>), ApiError> {
    let (id, mut values) = first_id::<TaskRunId>(parts, state).await?;
    if values.is_empty() {
        return Err(ApiError::new(Code::NotFound, "no such sandbox"));
    }
    let name = values.remove(0);
    Ok((id, name, values))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scope_follows_from_the_path_pattern() {
        for scope in Scope::ALL {
            assert_eq!(Scope::of(&format!("{}/hl7/inbox", scope.prefix())), scope);
        }
        assert_eq!(Scope::of("/services/{sandbox_id}/hl7/inbox"), Scope::Direct);
    }
}
