//! Error responses of the API: one JSON envelope, with the status chosen in one `match`.

use app::AppError;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use model::{FieldErrors, api_key};
use serde::Serialize;
use store::StoreError;
use utoipa::{IntoResponses, ToSchema};

use crate::middleware;

/// `{"error": {…}}`
#[derive(Serialize, ToSchema)]
pub(crate) struct ErrorBody {
    error: ErrorDetail,
}

#[derive(Serialize, ToSchema)]
struct ErrorDetail {
    code: Code,
    message: String,
    /// Error messages by field name.
    #[serde(skip_serializing_if = "FieldErrors::is_empty")]
    #[schema(value_type = std::collections::BTreeMap<String, Vec<String>>, required = false)]
    details: FieldErrors,
    request_id: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum Code {
    ValidationError,
    BadRequest,
    Unauthorized,
    TokenExpired,
    Forbidden,
    NotFound,
    MethodNotAllowed,
    Conflict,
    PreconditionFailed,
    PayloadTooLarge,
    RangeNotSatisfiable,
    UnsupportedMediaType,
    RateLimited,
    InternalError,
    Unavailable,
}

impl Code {
    fn status(self) -> StatusCode {
        match self {
            Code::ValidationError | Code::BadRequest => StatusCode::BAD_REQUEST,
            Code::Unauthorized | Code::TokenExpired => StatusCode::UNAUTHORIZED,
            Code::Forbidden => StatusCode::FORBIDDEN,
            Code::NotFound => StatusCode::NOT_FOUND,
            Code::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Code::Conflict => StatusCode::CONFLICT,
            Code::PreconditionFailed => StatusCode::PRECONDITION_FAILED,
            Code::PayloadTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Code::RangeNotSatisfiable => StatusCode::RANGE_NOT_SATISFIABLE,
            Code::UnsupportedMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Code::RateLimited => StatusCode::TOO_MANY_REQUESTS,
            Code::InternalError => StatusCode::INTERNAL_SERVER_ERROR,
            Code::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        }
    }
}

/// An error that becomes an HTTP response.
#[derive(Debug)]
pub(crate) struct ApiError {
    code: Code,
    message: String,
    details: FieldErrors,
    retry_after_seconds: Option<u64>,
}

impl ApiError {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), details: FieldErrors::new(), retry_after_seconds: None }
    }

    pub(crate) fn code(&self) -> Code {
        self.code
    }

    pub(crate) fn status(&self) -> StatusCode {
        self.code.status()
    }

    /// The message as the caller may see it, with secrets masked.
    pub(crate) fn public_message(&self) -> String {
        let details = self.details.clone().shown_with(api_key::masked);
        let message = api_key::masked(&self.message);
        if details.is_empty() { message } else { format!("{message}: {details}") }
    }

    pub(crate) fn invalid(details: FieldErrors) -> Self {
        Self { details, ..Self::new(Code::ValidationError, "some fields are not valid") }
    }

    pub(crate) fn rate_limited(retry_after_seconds: u64) -> Self {
        let message = format!("too many requests; try again in {retry_after_seconds} s");
        Self { retry_after_seconds: Some(retry_after_seconds), ..Self::new(Code::RateLimited, message) }
    }
}

impl From<AppError> for ApiError {
    fn from(error: AppError) -> Self {
        match error {
            AppError::Invalid(details) => Self::invalid(details),
            AppError::BadRequest(message) => Self::new(Code::BadRequest, message),
            AppError::Unauthorized(message) => Self::new(Code::Unauthorized, message),
            AppError::TokenExpired => Self::new(Code::TokenExpired, "the run's token has expired"),
            AppError::Forbidden(message) => Self::new(Code::Forbidden, message),
            AppError::NotFound(_) | AppError::NoVersion { .. } => Self::new(Code::NotFound, error.to_string()),
            AppError::Conflict { message, details } => Self { details, ..Self::new(Code::Conflict, message) },
            AppError::PreconditionFailed => Self::new(Code::PreconditionFailed, error.to_string()),
            AppError::TooLarge(message) => Self::new(Code::PayloadTooLarge, message),
            AppError::Busy(message) => Self { retry_after_seconds: Some(1), ..Self::new(Code::Unavailable, message) },
            AppError::Unavailable(message) => {
                tracing::error!(%message, "the server lacks a required component");
                Self::new(Code::Unavailable, message)
            }
            AppError::Store(error) => Self::from_store(&error),
            AppError::Internal(message) => {
                tracing::error!(%message, "internal error");
                Self::internal()
            }
        }
    }
}

impl ApiError {
    /// Logs the storage error. The caller only gets a request id.
    fn from_store(error: &StoreError) -> Self {
        tracing::error!(%error, "storage error");
        match error {
            StoreError::Unavailable(_) | StoreError::Contended | StoreError::Closed | StoreError::Blob(_) => {
                let message = "the server cannot reach its storage now; try again";
                Self { retry_after_seconds: Some(1), ..Self::new(Code::Unavailable, message) }
            }
            _ => Self::internal(),
        }
    }

    pub(crate) fn internal() -> Self {
        Self::new(Code::InternalError, "internal server error; quote the request id when you report it")
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let Self { code, message, details, retry_after_seconds } = self;
        // Messages quote the request, which may contain a secret in the wrong field.
        let (message, details) = (api_key::masked(&message), details.shown_with(api_key::masked));
        let body =
            ErrorBody { error: ErrorDetail { code, message, details, request_id: middleware::current_request_id() } };
        let mut response = (code.status(), axum::Json(body)).into_response();
        if matches!(code, Code::Unauthorized | Code::TokenExpired) {
            response
                .headers_mut()
                .insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"verial\""));
        }
        if let Some(seconds) = retry_after_seconds {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

/// Error responses that every authenticated endpoint can return.
#[derive(IntoResponses)]
#[expect(dead_code, reason = "only documents the error responses")]
pub(crate) enum ErrorResponses {
    #[response(status = 400, description = "Fields are invalid, or the request is malformed")]
    BadRequest(ErrorBody),
    #[response(status = 401, description = "No credential, or one that is unknown, revoked or expired")]
    Unauthorized(ErrorBody),
    #[response(status = 403, description = "A valid credential of a type that this endpoint does not accept")]
    Forbidden(ErrorBody),
    #[response(status = 404, description = "Not found, or it belongs to another organization")]
    NotFound(ErrorBody),
    #[response(status = 429, description = "Too many requests; `Retry-After` says when to try again")]
    RateLimited(ErrorBody),
    #[response(status = 503, description = "The server cannot reach its storage, or is overloaded")]
    Unavailable(ErrorBody),
}

/// Additional error response of endpoints that only read from a running sandbox.
#[derive(IntoResponses)]
#[response(status = 409, description = "The sandbox does not accept traffic")]
#[expect(dead_code, reason = "only documents the error response")]
pub(crate) struct ClosedSandboxResponse(ErrorBody);

/// Additional error responses of endpoints that change something.
#[derive(IntoResponses)]
#[expect(dead_code, reason = "only documents the error responses")]
pub(crate) enum WriteErrorResponses {
    #[response(status = 409, description = "The current state does not allow it; the message says what would")]
    Conflict(ErrorBody),
    #[response(status = 412, description = "`If-Match` does not match the current `ETag`")]
    PreconditionFailed(ErrorBody),
    #[response(status = 413, description = "The body is too large")]
    PayloadTooLarge(ErrorBody),
    #[response(status = 415, description = "The endpoint does not accept bodies of this media type")]
    UnsupportedMediaType(ErrorBody),
}
