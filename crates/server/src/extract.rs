//! What handlers take from a request: a grant, ids from the path, query parameters, preconditions, retries.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use app::etag::IfMatch;
use app::{Once, OrgGrant, Principal, RunGrant, SolverGrant, credentials};
use axum::extract::{ConnectInfo, FromRequestParts, RawPathParams};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use model::page::{MOST_LIMIT, PageRequest};
use model::{FieldErrors, Id};
use model::{api_key, canonical};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use utoipa::IntoParams;

use crate::envelope::{ApiError, Code};
use crate::{State, cursor};

/// The grant of an organization key (`vk_…`).
pub(crate) struct Auth(pub(crate) OrgGrant);

impl FromRequestParts<State> for Auth {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &State) -> Result<Self, ApiError> {
        organization(parts, state).await.map(Auth)
    }
}

/// The grant of a solver key (`vrl_slv_…`).
pub(crate) struct SolverAuth(pub(crate) SolverGrant);

impl FromRequestParts<State> for SolverAuth {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &State) -> Result<Self, ApiError> {
        match principal(parts, state).await? {
            Principal::Solver(grant) => Ok(SolverAuth(grant)),
            _ => Err(ApiError::new(Code::Forbidden, "this endpoint takes a solver key (vrl_slv_…)")),
        }
    }
}

/// The grant of a run's token (`vrl_run_…`).
pub(crate) struct RunAuth(pub(crate) RunGrant);

impl FromRequestParts<State> for RunAuth {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &State) -> Result<Self, ApiError> {
        run(parts, state).await.map(RunAuth)
    }
}

pub(crate) async fn run(parts: &Parts, state: &State) -> Result<RunGrant, ApiError> {
    match principal(parts, state).await? {
        Principal::Run(grant) => Ok(grant),
        _ => Err(ApiError::new(Code::Forbidden, "this endpoint takes the token of a run (vrl_run_…)")),
    }
}

/// Any credential.
pub(crate) struct AnyAuth(pub(crate) Principal);

impl FromRequestParts<State> for AnyAuth {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &State) -> Result<Self, ApiError> {
        principal(parts, state).await.map(AnyAuth)
    }
}

/// Whoever it is. A credential that is sent must be a good one.
pub(crate) struct Anyone(pub(crate) Option<Principal>);

impl FromRequestParts<State> for Anyone {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &State) -> Result<Self, ApiError> {
        if parts.headers.contains_key(header::AUTHORIZATION) {
            return Ok(Anyone(Some(principal(parts, state).await?)));
        }
        state.rates.check_key(&peer(parts).to_string())?;
        Ok(Anyone(None))
    }
}

pub(crate) async fn organization(parts: &Parts, state: &State) -> Result<OrgGrant, ApiError> {
    match principal(parts, state).await? {
        Principal::Organization(grant) => Ok(grant),
        Principal::Solver(_) | Principal::Run(_) => {
            let message = "solver keys and run tokens are for /v1; this endpoint takes an organization key (vk_…)";
            Err(ApiError::new(Code::Forbidden, message))
        }
    }
}

async fn principal(parts: &Parts, state: &State) -> Result<Principal, ApiError> {
    let presented = bearer(&parts.headers)?;
    let authenticated = credentials::authenticate(&state.app, presented).await;
    match authenticated {
        Ok(principal) => {
            state.rates.check_key(principal.name())?;
            Ok(principal)
        }
        Err(error) => {
            state.rates.note_refusal(peer(parts))?;
            Err(error.into())
        }
    }
}

pub(crate) fn bearer(headers: &HeaderMap) -> Result<&str, ApiError> {
    let refused = || ApiError::new(Code::Unauthorized, "send the key as `Authorization: Bearer …`");
    let value = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()).ok_or_else(refused)?;
    let (scheme, credential) = value.split_once(' ').ok_or_else(refused)?;
    if scheme.eq_ignore_ascii_case("bearer") { Ok(credential.trim()) } else { Err(refused()) }
}

pub(crate) fn peer(parts: &Parts) -> IpAddr {
    let address = parts.extensions.get::<ConnectInfo<SocketAddr>>();
    address.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |ConnectInfo(address)| address.ip())
}

/// The id in the path. What cannot be an id is not found, like an id of nothing.
pub(crate) struct PathId<A>(pub(crate) A);

impl<A: Id> FromRequestParts<State> for PathId<A> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &State) -> Result<Self, ApiError> {
        let values = path_values(parts, state).await?;
        Ok(PathId(id_at(&values, 0)?))
    }
}

/// The two ids in the path, in its order.
pub(crate) struct PathIds<A, B>(pub(crate) A, pub(crate) B);

impl<A: Id, B: Id> FromRequestParts<State> for PathIds<A, B> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &State) -> Result<Self, ApiError> {
        let values = path_values(parts, state).await?;
        Ok(PathIds(id_at(&values, 0)?, id_at(&values, 1)?))
    }
}

/// An id and the text after it.
pub(crate) struct IdAndRest<A>(pub(crate) A, pub(crate) String);

impl<A: Id> FromRequestParts<State> for IdAndRest<A> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &State) -> Result<Self, ApiError> {
        let mut values = path_values(parts, state).await?;
        let id = id_at(&values, 0)?;
        Ok(IdAndRest(id, values.pop().unwrap_or_default()))
    }
}

/// The path's only variable, as text.
pub(crate) struct Segment(pub(crate) String);

impl FromRequestParts<State> for Segment {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &State) -> Result<Self, ApiError> {
        Ok(Segment(path_values(parts, state).await?.pop().unwrap_or_default()))
    }
}

pub(crate) async fn path_values(parts: &mut Parts, state: &State) -> Result<Vec<String>, ApiError> {
    let malformed = |_| ApiError::new(Code::BadRequest, "the path is not valid UTF-8");
    let values = RawPathParams::from_request_parts(parts, state).await.map_err(malformed)?;
    Ok(values.iter().map(|(_, value)| value.to_owned()).collect())
}

fn id_at<I: Id>(values: &[String], index: usize) -> Result<I, ApiError> {
    let id = values.get(index).and_then(|text| text.parse().ok());
    id.ok_or_else(|| ApiError::new(Code::NotFound, format!("no such {}", I::NOUN)))
}

/// Query parameters. One that the endpoint does not know is an error: a misspelt filter must not select everything.
pub(crate) struct Params<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequestParts<State> for Params<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &State) -> Result<Self, ApiError> {
        let query = parts.uri.query().unwrap_or_default();
        serde_urlencoded::from_str(query).map(Params).map_err(|error| {
            let words: String = error.to_string().chars().take(200).collect();
            let field = words.split('`').nth(1).unwrap_or("query").to_owned();
            ApiError::invalid(FieldErrors::one(field, words))
        })
    }
}

/// `limit` and `cursor`, for lists that take no filter.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct PageQuery {
    /// How many, 20 by default; more than 100 is read as 100.
    #[param(value_type = u64, required = false, minimum = 1)]
    pub(crate) limit: Option<String>,
    /// `next` or `prev` of an earlier answer of the same list.
    #[param(value_type = String, required = false)]
    pub(crate) cursor: Option<String>,
}

impl PageQuery {
    pub(crate) fn request(&self, list: &str) -> Result<PageRequest, ApiError> {
        let mut request = PageRequest::default();
        if let Some(limit) = &self.limit {
            let is_number = !limit.is_empty() && limit.bytes().all(|byte| byte.is_ascii_digit());
            // More digits than a number has are more than the most.
            let number = if is_number { limit.parse::<usize>().unwrap_or(usize::MAX) } else { 0 };
            if number == 0 {
                return Err(ApiError::invalid(FieldErrors::one("limit", "must be a whole number from 1 to 100")));
            }
            request.limit = number.min(MOST_LIMIT);
        }
        if let Some(text) = &self.cursor {
            let malformed = || ApiError::new(Code::BadRequest, "the cursor is not one that this list has given out");
            request.cursor = Some(cursor::decode(list, text).ok_or_else(malformed)?);
        }
        Ok(request)
    }
}

/// An id in a filter; what cannot be one selects nothing, so it is said.
pub(crate) fn filter_id<I: Id>(field: &str) -> impl Fn(&str) -> Result<I, ApiError> {
    let field = field.to_owned();
    move |text| {
        text.parse().map_err(|error: model::InvalidId| ApiError::invalid(FieldErrors::one(&field, error.to_string())))
    }
}

/// `If-Match`, where there is one.
pub(crate) struct Precondition(pub(crate) IfMatch);

impl FromRequestParts<State> for Precondition {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &State) -> Result<Self, ApiError> {
        let Some(value) = parts.headers.get(header::IF_MATCH) else {
            return Ok(Precondition(IfMatch(None)));
        };
        let malformed = |_| ApiError::new(Code::BadRequest, "If-Match is not a list of entity tags");
        Ok(Precondition(IfMatch(Some(value.to_str().map_err(malformed)?.to_owned()))))
    }
}

/// What makes a request safe to repeat, from its `Idempotency-Key`.
pub(crate) fn once(parts: &Parts, body: &[u8]) -> Result<Option<Once>, ApiError> {
    let Some(value) = parts.headers.get("idempotency-key") else {
        return Ok(None);
    };
    let key = value.to_str().unwrap_or_default();
    let sane = (1..=255).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ');
    if !sane {
        return Err(ApiError::new(Code::BadRequest, "Idempotency-Key must be 1 to 255 printable ASCII characters"));
    }
    if api_key::masked(key) != key {
        return Err(ApiError::new(Code::BadRequest, "Idempotency-Key is stored: it must not be a secret"));
    }
    let head = format!("{} {}\n", parts.method, parts.uri.path());
    let request_hash = canonical::sha256_hex(&[head.as_bytes(), body].concat());
    Ok(Some(Once { key: key.to_owned(), request_hash }))
}
