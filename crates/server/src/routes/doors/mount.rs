//! One handler behind several doors, and one description in the document for each.

use utoipa::openapi::path::{Operation, ParameterBuilder, ParameterIn, PathItem};
use utoipa::openapi::security::SecurityRequirement;
use utoipa::openapi::{Ref, RefOr, Required};
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};

use super::Place;
use crate::State;

/// Another name for `/sandboxes/{sandbox_id}`, not told twice in the document.
const ALIAS: &str = "/services/{sandbox_id}";

/// Operations of a channel, written with paths as `/hl7/inbox`, behind every door.
pub(crate) fn mounted(routes: UtoipaMethodRouter<State>) -> OpenApiRouter<State> {
    mounted_at(&Place::ALL, routes)
}

/// The same, behind some of the doors.
pub(crate) fn mounted_at(places: &[Place], routes: UtoipaMethodRouter<State>) -> OpenApiRouter<State> {
    let (schemas, written, methods) = routes;
    let mut router = OpenApiRouter::new();
    if places.contains(&Place::Direct) {
        router = written.paths.keys().fold(router, |router, path| {
            // The alias needs no second description.
            router.route(&format!("{ALIAS}{path}"), methods.clone())
        });
    }
    for place in places {
        let described =
            written.paths.iter().map(|(path, item)| (format!("{}{path}", place.prefix()), at(*place, item)));
        let mut paths = written.clone();
        paths.paths = described.collect();
        router = router.routes((schemas.clone(), paths, methods.clone()));
    }
    router
}

/// The same operations at another path below the sandbox, for organization keys. The document does not repeat them.
pub(crate) fn also_at(path: &str, routes: UtoipaMethodRouter<State>) -> OpenApiRouter<State> {
    let (_, _, methods) = routes;
    let bases = [Place::Direct.prefix(), ALIAS];
    bases.into_iter().fold(OpenApiRouter::new(), |router, base| router.route(&format!("{base}{path}"), methods.clone()))
}

/// What an operation is at a place: whose id its path begins with, and which credential it takes.
fn at(place: Place, item: &PathItem) -> PathItem {
    let mut item = item.clone();
    let operations = [&mut item.get, &mut item.put, &mut item.post, &mut item.patch, &mut item.delete, &mut item.head];
    for operation in operations.into_iter().flatten() {
        describe(place, operation);
    }
    item
}

fn describe(place: Place, operation: &mut Operation) {
    let (variable, kind, words, suffix, tag, scheme) = match place {
        Place::Direct => ("sandbox_id", "SandboxId", "The sandbox", "", "sandboxes", "organization_key"),
        Place::Run => ("benchmark_run_id", "BenchmarkRunId", "The run", "_in_run", "v1", "run_token"),
        Place::TaskRun => ("task_run_id", "TaskRunId", "The task run", "_in_task_run", "v1", "run_token"),
    };
    let parameter = ParameterBuilder::new()
        .name(variable)
        .parameter_in(ParameterIn::Path)
        .required(Required::True)
        .description(Some(words))
        .schema(Some(RefOr::Ref(Ref::from_schema_name(kind))));
    operation.parameters.get_or_insert_default().insert(0, parameter.build().into());
    operation.operation_id = operation.operation_id.take().map(|id| format!("{id}{suffix}"));
    operation.tags = Some(vec![tag.to_owned()]);
    operation.security = Some(vec![SecurityRequirement::new(scheme, Vec::<String>::new())]);
}

#[cfg(test)]
mod tests {
    use utoipa_axum::routes;

    use super::*;

    /// A message that waits.
    #[utoipa::path(get, path = "/hl7/inbox/{message_id}", operation_id = "read_hl7_message",
        params(("message_id" = String, Path, description = "The message")), responses((status = 200, description = "It")))]
    async fn read() -> &'static str {
        "MSH"
    }

    #[test]
    fn an_operation_is_described_behind_every_door() {
        let document = serde_json::to_value(mounted(routes!(read)).into_openapi()).unwrap();
        let paths = document["paths"].as_object().unwrap();
        assert_eq!(paths.len(), 3);
        for (place, id, scheme) in [
            (Place::Direct, "read_hl7_message", "organization_key"),
            (Place::Run, "read_hl7_message_in_run", "run_token"),
            (Place::TaskRun, "read_hl7_message_in_task_run", "run_token"),
        ] {
            let operation = &paths[&format!("{}/hl7/inbox/{{message_id}}", place.prefix())]["get"];
            assert_eq!(operation["operationId"], id);
            assert_eq!(operation["parameters"].as_array().unwrap().len(), 2);
            assert!(operation["security"][0][scheme].is_array(), "{operation}");
        }
    }
}
