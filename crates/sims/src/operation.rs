//! HTTP operations of simulators as data. The server registers each of them under every scope and documents it.

use model::FieldErrors;
use model::page::{Page, PageRequest};
use model::reading::{self, Hints};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use utoipa::openapi::RefOr;
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::openapi::schema::Schema;
use utoipa::{IntoParams, ToSchema};
use world::{Context, Outcome, Sandbox, World};

use crate::idempotency::{IdempotencyConflict, IdempotencyKey};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    Get,
    Post,
    Patch,
    Delete,
}

/// How an operation runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Changes nothing. Also runs after the end of a task run.
    Query,
    Command,
    /// A command that marks what it reads. After the end of a task run it only reads.
    MarkingRead,
}

/// The description of an operation.
#[derive(Debug)]
pub struct OperationInfo {
    pub method: Method,
    /// Below the sandbox: `/messages/{message_id}`.
    pub path: &'static str,
    /// Other paths, which only organization keys can use and the documentation leaves out.
    pub aliases: &'static [&'static str],
    /// The OpenAPI `operationId`.
    pub id: &'static str,
    pub summary: &'static str,
    pub description: &'static str,
    /// Descriptions of the path's parameters, in order.
    pub path_parameters: &'static [&'static str],
    pub mode: Mode,
    pub takes_idempotency_key: bool,
    /// The status of a success.
    pub status: u16,
    /// What a success returns.
    pub returns: &'static str,
    /// The name of the list whose pages it returns. Its cursors are only valid for this list.
    pub list: Option<&'static str>,
}

impl OperationInfo {
    /// A query that returns one value. The other members are set where they differ.
    pub const GET: Self = Self {
        method: Method::Get,
        path: "",
        aliases: &[],
        id: "",
        summary: "",
        description: "",
        path_parameters: &[],
        mode: Mode::Query,
        takes_idempotency_key: false,
        status: 200,
        returns: "",
        list: None,
    };

    /// A command that creates something.
    pub const CREATE: Self =
        Self { method: Method::Post, mode: Mode::Command, takes_idempotency_key: true, status: 201, ..Self::GET };
}

/// One operation with its types.
pub trait Operation {
    const INFO: OperationInfo;
    /// [`NoQuery`] if it has no query parameters besides those of a page.
    type Query: DeserializeOwned + IntoParams + Send + Sync + 'static;
    /// `()` if it has no body.
    type Body: Send + Sync + 'static;
    /// What a success returns; the items of a list.
    type Response: ToSchema;

    /// Rules that the types alone cannot express.
    fn validate(_query: &Self::Query, _body: &Self::Body) -> Result<(), FieldErrors> {
        Ok(())
    }

    fn run(call: &OperationCall<'_>, query: &Self::Query, body: &Self::Body) -> Outcome<Result<Reply, OperationError>>;
}

/// One request to an operation, in the state in which it runs.
pub struct OperationCall<'a> {
    pub world: &'a World,
    pub sandbox: &'a Sandbox,
    pub context: &'a Context<'a>,
    /// Who sent it, as events name them.
    pub actor: &'a str,
    /// The path's parameters, in order.
    pub path: &'a [String],
    pub page: &'a PageRequest,
    /// The `Idempotency-Key`.
    pub token: Option<&'a IdempotencyKey>,
}

impl OperationCall<'_> {
    /// A path parameter; the first is 0.
    pub fn path(&self, index: usize) -> &str {
        self.path.get(index).map(String::as_str).unwrap_or_default()
    }
}

/// A successful response.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    One(Value),
    Page(Page<Value>),
}

/// Why an operation failed. It may still have logged an event.
#[derive(Clone, Debug, PartialEq)]
pub enum OperationError {
    Invalid(FieldErrors),
    /// The noun of what does not exist: `message`.
    NotFound(&'static str),
    Conflict(String),
}

impl From<FieldErrors> for OperationError {
    fn from(errors: FieldErrors) -> Self {
        Self::Invalid(errors)
    }
}

impl From<IdempotencyConflict> for OperationError {
    fn from(_: IdempotencyConflict) -> Self {
        Self::Conflict(IdempotencyConflict::MESSAGE.to_owned())
    }
}

/// The query of an operation without query parameters. Ignores what is sent.
#[derive(Debug, Deserialize, IntoParams)]
pub struct NoQuery {}

/// A request whose query and body are valid.
pub type PreparedOperation = Box<dyn Fn(&OperationCall<'_>) -> Outcome<Result<Reply, OperationError>> + Send + Sync>;

/// A schema with its name.
pub type NamedSchema = (String, RefOr<Schema>);

/// An [`Operation`] without its types.
#[derive(Debug)]
pub struct OperationEntry {
    pub info: OperationInfo,
    /// Query parameters for the documentation.
    pub query: fn() -> Vec<Parameter>,
    /// The schema of the body, if it has one, after those that it refers to.
    pub body: Option<fn() -> Vec<NamedSchema>>,
    /// The schema of the response or list item, after those that it refers to.
    pub response: fn() -> Vec<NamedSchema>,
    prepare: fn(&str, Value) -> Result<PreparedOperation, FieldErrors>,
}

impl OperationEntry {
    /// An operation without a body.
    pub const fn of<O: Operation<Body = ()>>() -> Self {
        Self {
            info: O::INFO,
            query: || O::Query::into_params(|| Some(ParameterIn::Query)),
            body: None,
            response: named_schemas::<O::Response>,
            prepare: |query, _| {
                let query: O::Query = reading::query(query)?;
                O::validate(&query, &())?;
                Ok(Box::new(move |call| O::run(call, &query, &())))
            },
        }
    }

    /// An operation with a JSON body.
    pub const fn with_body<O: Operation<Body: DeserializeOwned + ToSchema>>() -> Self {
        Self {
            info: O::INFO,
            query: || O::Query::into_params(|| Some(ParameterIn::Query)),
            body: Some(named_schemas::<O::Body>),
            response: named_schemas::<O::Response>,
            prepare: |query, body| {
                let query: O::Query = reading::query(query)?;
                let hints = Hints { required: &reading::required_fields::<O::Body>(), aliases: &[] };
                let body: O::Body = reading::read_owned(body, hints).into_result()?;
                O::validate(&query, &body)?;
                Ok(Box::new(move |call| O::run(call, &query, &body)))
            },
        }
    }

    /// Reads the query string, without `limit` and `cursor`, and the body, if it takes one.
    pub fn prepare(&self, query: &str, body: Value) -> Result<PreparedOperation, FieldErrors> {
        (self.prepare)(query, body)
    }
}

fn named_schemas<T: ToSchema>() -> Vec<NamedSchema> {
    let mut schemas = Vec::new();
    T::schemas(&mut schemas);
    schemas.push((T::name().into_owned(), T::schema()));
    schemas
}
