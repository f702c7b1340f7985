//! Routes of the operations that simulators describe as data, with their OpenAPI descriptions.

use std::collections::BTreeMap;

use app::sandboxes::operations::{self, Method, NamedSchema, OperationEntry, OperationInfo, Reply, RequestParts};
use axum::Json;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, MethodRouter, on};
use model::page::{List, PageRequest};
use model::simulator::SimulatorType;
use serde_json::Value;
use utoipa::openapi::path::{HttpMethod, OperationBuilder, Parameter, ParameterBuilder, ParameterIn, Paths};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::response::{Response as ResponseDocument, ResponseBuilder, ResponsesBuilder};
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};
use utoipa::openapi::{ContentBuilder, Ref, RefOr, Required};
use utoipa::{IntoParams as _, IntoResponses as _, PartialSchema, ToSchema};
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};

use super::sandbox_routes::{SandboxScope, alias_at, in_every_scope};
use crate::State;
use crate::api_error::{ApiError, ClosedSandboxResponse, ErrorBody, ErrorResponses, WriteErrorResponses};
use crate::extractors::{IdempotencyKey, PageQuery, once, split_page};
use crate::json_body;
use crate::responses::page;

pub(crate) fn router() -> OpenApiRouter<State> {
    operations::all().fold(OpenApiRouter::new(), |router, (kind, operation)| {
        let aliases = operation.info.aliases.iter();
        let router = router.merge(in_every_scope(route(kind, operation)));
        aliases.fold(router, |router, alias| router.merge(alias_at(alias, route(kind, operation))))
    })
}

/// The route below a sandbox.
fn route(kind: SimulatorType, operation: &'static OperationEntry) -> UtoipaMethodRouter<State> {
    let (schemas, paths) = document(operation);
    (schemas, paths, handler(kind, operation))
}

fn handler(kind: SimulatorType, operation: &'static OperationEntry) -> MethodRouter<State> {
    let filter = match operation.info.method {
        Method::Get => MethodFilter::GET,
        Method::Post => MethodFilter::POST,
        Method::Patch => MethodFilter::PATCH,
        Method::Delete => MethodFilter::DELETE,
    };
    on(filter, move |state, request| run(state, kind, operation, request))
}

async fn run(
    axum::extract::State(state): axum::extract::State<State>,
    kind: SimulatorType,
    operation: &'static OperationEntry,
    request: Request,
) -> Result<Response, ApiError> {
    let info = &operation.info;
    let (mut parts, body) = request.into_parts();
    let (access, path) = SandboxScope::<()>::find(kind, &mut parts, &state).await?.into_values();
    let bytes = match info.method {
        Method::Get | Method::Delete => bytes::Bytes::new(),
        Method::Post | Method::Patch => json_body::read(&parts, body, &state).await?,
    };
    let body = match operation.body {
        Some(_) => json_body::parse_object(&parts, &bytes)?,
        None => Value::Null,
    };
    let query = parts.uri.query().unwrap_or_default();
    let (prepared, page_request) = match info.list {
        None => (operation.prepare(query, body).map_err(ApiError::invalid)?, PageRequest::default()),
        Some(list) => {
            let (filters, page) = split_page(query)?;
            (operation.prepare(&filters, body).map_err(ApiError::invalid)?, page.request(list)?)
        }
    };
    let once = if info.takes_idempotency_key { once(&parts, &bytes)? } else { None };
    let request = RequestParts { path, page: page_request, once };
    let reply = operations::run(&state.app, &access, info.mode, prepared, request).await?;
    let status = StatusCode::from_u16(info.status).map_err(|_| ApiError::internal())?;
    Ok(match (reply, info.list) {
        (Reply::Page(found), Some(list)) => (status, page(list, found)).into_response(),
        (Reply::Page(found), None) => (status, Json(found.items)).into_response(),
        (Reply::One(value), _) => (status, Json(value)).into_response(),
    })
}

/// The operation's schemas and its description at its path below a sandbox.
fn document(operation: &OperationEntry) -> (Vec<NamedSchema>, Paths) {
    let info = &operation.info;
    let mut schemas = Vec::new();
    let mut described = OperationBuilder::new()
        .operation_id(Some(info.id))
        .summary(Some(info.summary))
        .description(Some(info.description).filter(|text| !text.is_empty()))
        .parameters(Some(parameters(operation)));
    if let Some(body) = operation.body {
        let schema = reference(body(), &mut schemas);
        let content = ContentBuilder::new().schema(Some(schema)).build();
        let body = RequestBodyBuilder::new().content("application/json", content).required(Some(Required::True));
        described = described.request_body(Some(body.build()));
    }
    let schema = match info.list {
        None => reference((operation.response)(), &mut schemas),
        Some(_) => list_reference((operation.response)(), &mut schemas),
    };
    let success = ResponseBuilder::new()
        .description(info.returns)
        .content("application/json", ContentBuilder::new().schema(Some(schema)).build());
    let mut responses = error_responses(info);
    responses.insert(info.status.to_string(), success.build().into());
    schemas.push(named::<ErrorBody>());
    ErrorBody::schemas(&mut schemas);
    described = described.responses(ResponsesBuilder::new().responses_from_iter(responses).build());
    let mut paths = Paths::new();
    paths.add_path_operation(info.path, vec![http_method(info.method)], described.build());
    (schemas, paths)
}

fn http_method(method: Method) -> HttpMethod {
    match method {
        Method::Get => HttpMethod::Get,
        Method::Post => HttpMethod::Post,
        Method::Patch => HttpMethod::Patch,
        Method::Delete => HttpMethod::Delete,
    }
}

/// Parameters of the path, then headers, then those of the query.
fn parameters(operation: &OperationEntry) -> Vec<Parameter> {
    let info = &operation.info;
    let names = info.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let mut parameters: Vec<Parameter> =
        names.zip(info.path_parameters).map(|(name, description)| path_parameter(name, description)).collect();
    if info.takes_idempotency_key {
        parameters.extend(IdempotencyKey::into_params(|| None));
    }
    parameters.extend((operation.query)());
    if info.list.is_some() {
        parameters.extend(PageQuery::into_params(|| None));
    }
    parameters
}

fn path_parameter(name: &str, description: &str) -> Parameter {
    ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Path)
        .required(Required::True)
        .description(Some(description))
        .schema(Some(ObjectBuilder::new().schema_type(Type::String)))
        .build()
}

fn error_responses(info: &OperationInfo) -> BTreeMap<String, RefOr<ResponseDocument>> {
    let mut responses = ErrorResponses::responses();
    match info.method {
        Method::Get => responses.extend(ClosedSandboxResponse::responses()),
        Method::Post | Method::Patch | Method::Delete => responses.extend(WriteErrorResponses::responses()),
    }
    responses
}

/// A reference to the last of the schemas, all of which become components.
fn reference(named: Vec<NamedSchema>, schemas: &mut Vec<NamedSchema>) -> RefOr<Schema> {
    let name = named.last().map(|(name, _)| name.clone()).unwrap_or_default();
    schemas.extend(named);
    Ref::from_schema_name(name).into()
}

/// The same for a page whose items have the last of the schemas.
fn list_reference(mut named: Vec<NamedSchema>, schemas: &mut Vec<NamedSchema>) -> RefOr<Schema> {
    let Some((name, item)) = named.pop() else { return Ref::from_schema_name("List").into() };
    let list = format!("List_{name}");
    schemas.extend(named);
    schemas.push((name, item.clone()));
    List::<Value>::schemas(schemas);
    schemas.push((list.clone(), list_of(item)));
    Ref::from_schema_name(list).into()
}

/// The schema of a page with these items.
fn list_of(item: RefOr<Schema>) -> RefOr<Schema> {
    let mut page = List::<Value>::schema();
    if let RefOr::T(Schema::Object(object)) = &mut page
        && let Some(RefOr::T(Schema::Array(data))) = object.properties.get_mut("data")
    {
        data.items = utoipa::openapi::schema::ArrayItems::RefOrSchema(Box::new(item));
    }
    page
}

fn named<T: ToSchema>() -> NamedSchema {
    (T::name().into_owned(), T::schema())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_is_described_in_every_scope() {
        let document = serde_json::to_value(router().into_openapi()).unwrap();
        for (kind, operation) in operations::all() {
            let method = format!("{:?}", operation.info.method).to_lowercase();
            for prefix in ["/sandboxes/{sandbox_id}", "/v1/benchmark-runs/{benchmark_run_id}"] {
                let described = &document["paths"][&format!("{prefix}{}", operation.info.path)][&method];
                let id = described["operationId"].as_str().unwrap_or_default();
                assert!(id.starts_with(operation.info.id), "{kind:?} {prefix}{}", operation.info.path);
                let success = &described["responses"][operation.info.status.to_string()];
                let reference = success["content"]["application/json"]["schema"]["$ref"].as_str().unwrap();
                let name = reference.rsplit('/').next().unwrap();
                assert!(document["components"]["schemas"][name].is_object(), "{reference}");
            }
        }
    }
}
