//! The doors to a sandbox: the places where an operation of its channels is reached. Each is written once, with a path
//! below the sandbox, and stands behind all of them with the same state.

mod mount;

use std::marker::PhantomData;

use app::runs::access;
use app::sandboxes::Access;
use axum::extract::{FromRequestParts, MatchedPath};
use axum::http::request::Parts;
use model::simulator::SimulatorType;
use model::{BenchmarkRunId, Id, SandboxId, TaskRunId};

pub(crate) use mount::{also_at, mounted, mounted_at};

use crate::State;
use crate::base_url;
use crate::envelope::{ApiError, Code};
use crate::extract::{organization, path_values, run};
use crate::routes::portal;

/// Where a channel is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// With a key of the sandbox's organization.
    Direct,
    /// With a run's token: the sandbox of the one started task.
    Run,
    /// With a run's token: the sandbox of a started task.
    TaskRun,
}

impl Place {
    pub(crate) const ALL: [Self; 3] = [Self::Direct, Self::Run, Self::TaskRun];

    /// What stands before the path of a channel.
    pub(crate) fn prefix(self) -> &'static str {
        match self {
            Self::Direct => "/sandboxes/{sandbox_id}",
            Self::Run => "/v1/benchmark-runs/{benchmark_run_id}",
            Self::TaskRun => "/v1/task-runs/{task_run_id}/sandbox",
        }
    }

    fn of(pattern: &str) -> Self {
        let is_at = |place: &&Self| pattern.starts_with(place.prefix());
        // The alias of direct paths has a prefix of its own.
        *[Self::Run, Self::TaskRun].iter().find(is_at).unwrap_or(&Self::Direct)
    }
}

/// The type of simulator that a channel belongs to.
pub(crate) trait Kind: Send + Sync + 'static {
    const TYPE: SimulatorType;
}

/// A caller who was let in, and the sandbox that is meant.
pub(crate) struct Door<K> {
    pub(crate) access: Access,
    /// The address below which the caller reaches the channels: `https://host/sandboxes/sbx_…`.
    pub(crate) address: String,
    /// The address of the server itself, as the caller reaches it.
    pub(crate) base: String,
    /// The variables of the channel's own path.
    values: Vec<String>,
    kind: PhantomData<K>,
}

impl<K> Door<K> {
    /// A variable of the channel's own path, the first is 0.
    pub(crate) fn value(&self, index: usize) -> &str {
        self.values.get(index).map(String::as_str).unwrap_or_default()
    }
}

impl<K: Kind> FromRequestParts<State> for Door<K> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &State) -> Result<Self, ApiError> {
        let place = parts.extensions.get::<MatchedPath>().map_or(Place::Direct, |path| Place::of(path.as_str()));
        // A credential that is not good is told so before anything else is looked at.
        let (access, values, path) = match place {
            Place::Direct => {
                let (access, id, values) = direct::<K>(parts, state).await?;
                (access, values, format!("/sandboxes/{id}"))
            }
            Place::Run => {
                let grant = run(parts, state).await?;
                let (id, values) = first_id::<BenchmarkRunId>(parts, state).await?;
                let access = access::of_run(&state.app, &grant, &id, K::TYPE).await?;
                (access, values, format!("/v1/benchmark-runs/{id}"))
            }
            Place::TaskRun => {
                let grant = run(parts, state).await?;
                let (id, values) = first_id::<TaskRunId>(parts, state).await?;
                let access = access::of_task_run(&state.app, &grant, &id, K::TYPE).await?;
                (access, values, format!("/v1/task-runs/{id}/sandbox"))
            }
        };
        let base = base_url::of(parts, state);
        let address = format!("{base}{path}");
        Ok(Self { access, address, base, values, kind: PhantomData })
    }
}

/// With a key of the organization, or with the sandbox's own login where its type has one.
async fn direct<K: Kind>(parts: &mut Parts, state: &State) -> Result<(Access, SandboxId, Vec<String>), ApiError> {
    if K::TYPE == SimulatorType::Payer
        && let Some(login) = portal::basic::login(&parts.headers)
    {
        let (id, values) = first_id::<SandboxId>(parts, state).await?;
        let access = portal::basic::admit(state, parts, &id, login).await?;
        return Ok((access, id, values));
    }
    let grant = organization(parts, state).await?;
    let (id, values) = first_id::<SandboxId>(parts, state).await?;
    let access = Access::by_key(&state.app, &grant, &id, K::TYPE).await?;
    Ok((access, id, values))
}

/// The id that the path begins with, and the variables after it.
pub(crate) async fn first_id<I: Id>(parts: &mut Parts, state: &State) -> Result<(I, Vec<String>), ApiError> {
    let mut values = path_values(parts, state).await?.into_iter();
    let id = values.next().and_then(|text| text.parse().ok());
    let id = id.ok_or_else(|| ApiError::new(Code::NotFound, format!("no such {}", I::NOUN)))?;
    Ok((id, values.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_tells_the_place() {
        for place in Place::ALL {
            assert_eq!(Place::of(&format!("{}/hl7/inbox", place.prefix())), place);
        }
        assert_eq!(Place::of("/services/{sandbox_id}/hl7/inbox"), Place::Direct);
    }
}
