//! Registers one handler under several scopes, with one OpenAPI description for each.

use utoipa::openapi::path::{Operation, ParameterBuilder, ParameterIn, PathItem};
use utoipa::openapi::security::SecurityRequirement;
use utoipa::openapi::{Ref, RefOr, Required};
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};

use super::Scope;
use crate::State;

/// Alias of `/sandboxes/{sandbox_id}`; the OpenAPI document leaves it out.
const ALIAS: &str = "/services/{sandbox_id}";

/// Registers operations (with paths such as `/hl7/inbox`) under every scope.
pub(crate) fn in_every_scope(routes: UtoipaMethodRouter<State>) -> OpenApiRouter<State> {
    in_scopes(&Scope::ALL, routes)
}

/// Registers operations under some of the scopes.
pub(crate) fn in_scopes(scopes: &[Scope], routes: UtoipaMethodRouter<State>) -> OpenApiRouter<State> {
    let (schemas, written, methods) = routes;
    let mut router = OpenApiRouter::new();
    if scopes.contains(&Scope::Direct) {
        router =
            written.paths.keys().fold(router, |router, path| router.route(&format!("{ALIAS}{path}"), methods.clone()));
    }
    // The operations of a named sandbox are those of the task run, and are described there.
    if scopes.contains(&Scope::NamedSandbox) {
        router = written.paths.keys().fold(router, |router, path| {
            router.route(&format!("{}{path}", Scope::NamedSandbox.prefix()), methods.clone())
        });
    }
    for scope in scopes.iter().filter(|scope| **scope != Scope::NamedSandbox) {
        let described =
            written.paths.iter().map(|(path, item)| (format!("{}{path}", scope.prefix()), in_scope(*scope, item)));
        let mut paths = written.clone();
        paths.paths = described.collect();
        router = router.routes((schemas.clone(), paths, methods.clone()));
    }
    router
}

/// Registers the operations at a second path below the sandbox, for organization keys. The OpenAPI document leaves it out.
pub(crate) fn alias_at(path: &str, routes: UtoipaMethodRouter<State>) -> OpenApiRouter<State> {
    let (_, _, methods) = routes;
    let bases = [Scope::Direct.prefix(), ALIAS];
    bases.into_iter().fold(OpenApiRouter::new(), |router, base| router.route(&format!("{base}{path}"), methods.clone()))
}

/// The description of an operation in a scope: the id that its path starts with, and the credential that it takes.
fn in_scope(scope: Scope, item: &PathItem) -> PathItem {
    let mut item = item.clone();
    let operations = [&mut item.get, &mut item.put, &mut item.post, &mut item.patch, &mut item.delete, &mut item.head];
    for operation in operations.into_iter().flatten() {
        describe(scope, operation);
    }
    item
}

fn describe(scope: Scope, operation: &mut Operation) {
    let (parameter, schema, description, suffix, tag, scheme) = match scope {
        Scope::Direct => ("sandbox_id", "SandboxId", "The sandbox", "", "sandboxes", "organization_key"),
        Scope::Run => ("benchmark_run_id", "BenchmarkRunId", "The run", "_in_run", "v1", "run_token"),
        Scope::TaskRun => {
            let description = "The task run. `/v1/task-runs/{task_run_id}/sandbox/{sandbox}/…` reaches one of several sandboxes of the type by its id or name";
            ("task_run_id", "TaskRunId", description, "_in_task_run", "v1", "run_token")
        }
        Scope::NamedSandbox => ("task_run_id", "TaskRunId", "The task run", "_in_sandbox", "v1", "run_token"),
    };
    let parameter = ParameterBuilder::new()
        .name(parameter)
        .parameter_in(ParameterIn::Path)
        .required(Required::True)
        .description(Some(description))
        .schema(Some(RefOr::Ref(Ref::from_schema_name(schema))));
    operation.parameters.get_or_insert_default().insert(0, parameter.build().into());
    operation.operation_id = operation.operation_id.take().map(|id| format!("{id}{suffix}"));
    operation.tags = Some(vec![tag.to_owned()]);
    operation.security = Some(vec![SecurityRequirement::new(scheme, Vec::<String>::new())]);
}

#[cfg(test)]
mod tests {
    use utoipa_axum::routes;

    use super::*;

    /// A message in the inbox.
    #[utoipa::path(get, path = "/hl7/inbox/{message_id}", operation_id = "read_hl7_message",
        params(("message_id" = String, Path, description = "The message")), responses((status = 200, description = "The message")))]
    async fn read() -> &'static str {
        "MSH"
    }

    #[test]
    fn an_operation_is_described_in_every_scope() {
        let document = serde_json::to_value(in_every_scope(routes!(read)).into_openapi()).unwrap();
        let paths = document["paths"].as_object().unwrap();
        assert_eq!(paths.len(), 3, "a named sandbox is described with its task run");
        for (scope, id, scheme) in [
            (Scope::Direct, "read_hl7_message", "organization_key"),
            (Scope::Run, "read_hl7_message_in_run", "run_token"),
            (Scope::TaskRun, "read_hl7_message_in_task_run", "run_token"),
        ] {
            let operation = &paths[&format!("{}/hl7/inbox/{{message_id}}", scope.prefix())]["get"];
            assert_eq!(operation["operationId"], id);
            assert_eq!(operation["parameters"].as_array().unwrap().len(), 2);
            assert!(operation["security"][0][scheme].is_array(), "{operation}");
        }
    }
}
