//! Extractors of handlers: grants, ids from the path, query parameters, preconditions, and idempotency keys.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use app::etag::IfMatch;
use app::{Once, OrgGrant, Principal, RunGrant, SolverGrant, credentials};
use axum::extract::{ConnectInfo, FromRequestParts, RawPathParams};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use model::page::{MAX_LIMIT, PageRequest};
use model::{FieldErrors, Id, reading};
use model::{api_key, canonical};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use utoipa::IntoParams;
use utoipa::openapi::Required;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{ObjectBuilder, Type};

use crate::api_error::{ApiError, Code};
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
            _ => Err(ApiError::new(Code::Forbidden, "this endpoint requires a solver key (vrl_slv_…)")),
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

/// Authenticates with a run token.
pub(crate) async fn run(parts: &Parts, state: &State) -> Result<RunGrant, ApiError> {
    match principal(parts, state).await? {
        Principal::Run(grant) => Ok(grant),
        _ => Err(ApiError::new(Code::Forbidden, "this endpoint requires a run token (vrl_run_…)")),
    }
}

/// Any valid credential.
pub(crate) struct AnyAuth(pub(crate) Principal);

impl FromRequestParts<State> for AnyAuth {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &State) -> Result<Self, ApiError> {
        principal(parts, state).await.map(AnyAuth)
    }
}

/// An optional credential. If one is sent, it must be valid.
pub(crate) struct OptionalAuth(pub(crate) Option<Principal>);

impl FromRequestParts<State> for OptionalAuth {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &State) -> Result<Self, ApiError> {
        if parts.headers.contains_key(header::AUTHORIZATION) {
            return Ok(OptionalAuth(Some(principal(parts, state).await?)));
        }
        state.rate_limits.check_key(&peer(parts).to_string())?;
        Ok(OptionalAuth(None))
    }
}

/// Authenticates with an organization key.
pub(crate) async fn organization(parts: &Parts, state: &State) -> Result<OrgGrant, ApiError> {
    match principal(parts, state).await? {
        Principal::Organization(grant) => Ok(grant),
        Principal::Solver(_) | Principal::Run(_) => {
            let message = "solver keys and run tokens are for /v1; this endpoint requires an organization key (vk_…)";
            Err(ApiError::new(Code::Forbidden, message))
        }
    }
}

async fn principal(parts: &Parts, state: &State) -> Result<Principal, ApiError> {
    let presented = bearer(&parts.headers)?;
    let authenticated = credentials::authenticate(&state.app, presented).await;
    match authenticated {
        Ok(principal) => {
            state.rate_limits.check_key(principal.name())?;
            Ok(principal)
        }
        Err(error) => {
            state.rate_limits.record_auth_failure(peer(parts))?;
            Err(error.into())
        }
    }
}

/// The credential of `Authorization: Bearer …`.
pub(crate) fn bearer(headers: &HeaderMap) -> Result<&str, ApiError> {
    let missing = || ApiError::new(Code::Unauthorized, "send the key as `Authorization: Bearer …`");
    let value = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()).ok_or_else(missing)?;
    let (scheme, credential) = value.split_once(' ').ok_or_else(missing)?;
    if scheme.eq_ignore_ascii_case("bearer") { Ok(credential.trim()) } else { Err(missing()) }
}

/// The client's address.
pub(crate) fn peer(parts: &Parts) -> IpAddr {
    let address = parts.extensions.get::<ConnectInfo<SocketAddr>>();
    address.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |ConnectInfo(address)| address.ip())
}

/// The id in the path. A malformed id is 404, like an unknown one.
pub(crate) struct PathId<A>(pub(crate) A);

impl<A: Id> FromRequestParts<State> for PathId<A> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &State) -> Result<Self, ApiError> {
        let values = path_values(parts, state).await?;
        Ok(PathId(id_at(&values, 0)?))
    }
}

/// The two ids in the path, in path order.
pub(crate) struct PathIds<A, B>(pub(crate) A, pub(crate) B);

impl<A: Id, B: Id> FromRequestParts<State> for PathIds<A, B> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &State) -> Result<Self, ApiError> {
        let values = path_values(parts, state).await?;
        Ok(PathIds(id_at(&values, 0)?, id_at(&values, 1)?))
    }
}

/// The id in the path, and the last path parameter as text.
pub(crate) struct PathIdAndRest<A>(pub(crate) A, pub(crate) String);

impl<A: Id> FromRequestParts<State> for PathIdAndRest<A> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &State) -> Result<Self, ApiError> {
        let mut values = path_values(parts, state).await?;
        let id = id_at(&values, 0)?;
        Ok(PathIdAndRest(id, values.pop().unwrap_or_default()))
    }
}

/// The only path parameter, as text.
pub(crate) struct PathSegment(pub(crate) String);

impl FromRequestParts<State> for PathSegment {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &State) -> Result<Self, ApiError> {
        Ok(PathSegment(path_values(parts, state).await?.pop().unwrap_or_default()))
    }
}

/// The two path parameters, as text.
pub(crate) struct TwoPathSegments(pub(crate) String, pub(crate) String);

impl FromRequestParts<State> for TwoPathSegments {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &State) -> Result<Self, ApiError> {
        let mut values = path_values(parts, state).await?.into_iter();
        Ok(TwoPathSegments(values.next().unwrap_or_default(), values.next().unwrap_or_default()))
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

/// Query parameters. An unknown one is an error, because a misspelled filter must not select everything.
pub(crate) struct Params<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequestParts<State> for Params<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &State) -> Result<Self, ApiError> {
        from_query(parts.uri.query().unwrap_or_default()).map(Params)
    }
}

fn from_query<T: DeserializeOwned>(query: &str) -> Result<T, ApiError> {
    reading::query(query).map_err(ApiError::invalid)
}

/// The query parameters of a list: its own filters, and the page. In `utoipa::path`, they are `params(Filter, PageQuery)`.
pub(crate) struct Paged<T>(pub(crate) T, pub(crate) PageQuery);

impl<T: DeserializeOwned> FromRequestParts<State> for Paged<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &State) -> Result<Self, ApiError> {
        let (filters, page) = split_page(parts.uri.query().unwrap_or_default())?;
        Ok(Self(from_query(&filters)?, page))
    }
}

/// Splits the query of a list into its own filters and the page.
pub(crate) fn split_page(query: &str) -> Result<(String, PageQuery), ApiError> {
    let pairs: Vec<(String, String)> = from_query(query)?;
    let (page, filters): (Vec<_>, Vec<_>) =
        pairs.into_iter().partition(|(name, _)| ["limit", "cursor"].contains(&name.as_str()));
    let encoded = |pairs: Vec<(String, String)>| serde_urlencoded::to_string(pairs).unwrap_or_default();
    Ok((encoded(filters), from_query(&encoded(page))?))
}

/// `limit` and `cursor`. `Paged` adds them to the filters of a list.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PageQuery {
    limit: Option<String>,
    cursor: Option<String>,
}

impl IntoParams for PageQuery {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        // Without a maximum: larger values are read as 100.
        let limit = ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(1));
        let cursor = ObjectBuilder::new().schema_type(Type::String);
        let about_cursor = "`next` or `prev` cursor of an earlier response of the same list.";
        vec![
            optional("limit", ParameterIn::Query, "Page size, 20 by default; more than 100 is read as 100.", limit),
            optional("cursor", ParameterIn::Query, about_cursor, cursor),
        ]
    }
}

/// A parameter that may be left out, but is never null.
fn optional(name: &str, parameter_in: ParameterIn, description: &str, schema: ObjectBuilder) -> Parameter {
    let parameter = ParameterBuilder::new().name(name).parameter_in(parameter_in).required(Required::False);
    parameter.description(Some(description)).schema(Some(schema)).build()
}

impl PageQuery {
    pub(crate) fn request(&self, list: &str) -> Result<PageRequest, ApiError> {
        let mut request = PageRequest::default();
        if let Some(limit) = &self.limit {
            let is_number = !limit.is_empty() && limit.bytes().all(|byte| byte.is_ascii_digit());
            // A number too large to parse is read as the maximum.
            let number = if is_number { limit.parse::<usize>().unwrap_or(usize::MAX) } else { 0 };
            if number == 0 {
                return Err(ApiError::invalid(FieldErrors::one("limit", "must be a whole number from 1 to 100")));
            }
            request.limit = number.min(MAX_LIMIT);
        }
        if let Some(text) = &self.cursor {
            let malformed = || ApiError::new(Code::BadRequest, "the cursor was not issued by this list");
            request.cursor = Some(cursor::decode(list, text).ok_or_else(malformed)?);
        }
        Ok(request)
    }
}

/// Parses an id in a filter. A malformed id is an error, because it could not match anything.
pub(crate) fn filter_id<I: Id>(field: &str) -> impl Fn(&str) -> Result<I, ApiError> {
    let field = field.to_owned();
    move |text| {
        text.parse().map_err(|error: model::InvalidId| ApiError::invalid(FieldErrors::one(&field, error.to_string())))
    }
}

/// The `If-Match` header, if there is one.
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

impl IntoParams for Precondition {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let schema = ObjectBuilder::new().schema_type(Type::String);
        vec![optional("If-Match", ParameterIn::Header, "Proceeds only if the current `ETag` matches", schema)]
    }
}

/// The description of the header that [`once`] reads.
pub(crate) struct IdempotencyKey;

impl IntoParams for IdempotencyKey {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let schema = ObjectBuilder::new().schema_type(Type::String);
        let schema = schema.min_length(Some(1)).max_length(Some(255)).pattern(Some("^[ -~]+$"));
        vec![optional("Idempotency-Key", ParameterIn::Header, "Makes the request safe to repeat", schema)]
    }
}

/// The request's `Idempotency-Key` with a hash of the request, if it has one.
pub(crate) fn once(parts: &Parts, body: &[u8]) -> Result<Option<Once>, ApiError> {
    let Some(value) = parts.headers.get("idempotency-key") else {
        return Ok(None);
    };
    let key = value.to_str().unwrap_or_default();
    let is_valid = (1..=255).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ');
    if !is_valid {
        return Err(ApiError::new(Code::BadRequest, "Idempotency-Key must be 1 to 255 printable ASCII characters"));
    }
    if api_key::masked(key) != key {
        return Err(ApiError::new(Code::BadRequest, "Idempotency-Key must not contain a secret, because it is stored"));
    }
    let head = format!("{} {}\n", parts.method, parts.uri.path());
    let request_hash = canonical::sha256_hex(&[head.as_bytes(), body].concat());
    Ok(Some(Once { key: key.to_owned(), request_hash }))
}
