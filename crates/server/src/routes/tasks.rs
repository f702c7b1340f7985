//! `/tasks`: what agents are asked to do.

use axum::Json;
use axum::extract;
use axum::http::StatusCode;
use model::dataset::DatasetEntity;
use model::page::List;
use model::task::{NewTask, Task, TaskPatch};
use model::{BenchmarkId, EntityId, TaskId};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::State;
use crate::api_error::{ApiError, ErrorResponses, WriteErrorResponses};
use crate::extractors::{Auth, IdempotencyKey, PageQuery, Paged, Params, PathId, PathIds, Precondition, filter_id};
use crate::json_body::{Patch, Post};
use crate::responses::{CreatedResponse, Tagged, TransitionResponse, page};

/// Query parameters of the list.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Filter {
    /// Only the tasks of this benchmark.
    #[param(value_type = BenchmarkId, required = false)]
    benchmark_id: Option<String>,
}

/// Tasks, newest first.
#[utoipa::path(get, path = "/tasks", tag = "tasks", params(Filter, PageQuery),
    responses((status = 200, description = "Tasks", body = List<Task>), ErrorResponses))]
async fn list_tasks(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    Paged(query, paging): Paged<Filter>,
) -> Result<Json<List<Task>>, ApiError> {
    let benchmark_id = query.benchmark_id.as_deref().map(filter_id::<BenchmarkId>("benchmark_id")).transpose()?;
    let request = paging.request("tasks")?;
    Ok(page("tasks", app::tasks::list(&state.app, &grant, benchmark_id, request).await?))
}

/// Create a task.
#[utoipa::path(post, path = "/tasks", tag = "tasks", request_body = NewTask,
    params(IdempotencyKey),
    responses((status = 201, description = "The task", body = Task), ErrorResponses, WriteErrorResponses))]
async fn create_task(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    Post(new, once): Post<NewTask>,
) -> Result<CreatedResponse<Task>, ApiError> {
    let created = app::tasks::create(&state.app, &grant, once, new).await?;
    Ok(CreatedResponse::at(created, |task| format!("/tasks/{}", task.id)))
}

/// One task.
#[utoipa::path(get, path = "/tasks/{task_id}", tag = "tasks", params(("task_id" = TaskId, Path, description = "The task")),
    responses((status = 200, description = "The task", body = Task), ErrorResponses))]
async fn get_task(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathId(task): PathId<TaskId>,
) -> Result<Tagged<Task>, ApiError> {
    Ok(Tagged(app::tasks::get(&state.app, &grant, &task).await?))
}

/// Change a task. Fields that the body leaves out keep their values.
#[utoipa::path(patch, path = "/tasks/{task_id}", tag = "tasks", request_body = TaskPatch,
    params(("task_id" = TaskId, Path, description = "The task"),
        Precondition),
    responses((status = 200, description = "The task after the change", body = Task), ErrorResponses, WriteErrorResponses))]
async fn update_task(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathId(task): PathId<TaskId>,
    Precondition(if_match): Precondition,
    Patch(patch): Patch<TaskPatch>,
) -> Result<Tagged<Task>, ApiError> {
    Ok(Tagged(app::tasks::update(&state.app, &grant, &task, if_match, patch).await?))
}

/// Delete a task.
#[utoipa::path(delete, path = "/tasks/{task_id}", tag = "tasks",
    params(("task_id" = TaskId, Path, description = "The task"),
        Precondition),
    responses((status = 204, description = "Deleted"), ErrorResponses, WriteErrorResponses))]
async fn delete_task(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathId(task): PathId<TaskId>,
    Precondition(if_match): Precondition,
) -> Result<StatusCode, ApiError> {
    app::tasks::delete(&state.app, &grant, &task, if_match).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The entity to bind.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct EntityBinding {
    entity_id: EntityId,
}

/// The entities that are bound to the task's templates, in binding order.
#[utoipa::path(get, path = "/tasks/{task_id}/entities", tag = "tasks",
    params(("task_id" = TaskId, Path, description = "The task"), PageQuery),
    responses((status = 200, description = "Entities", body = List<DatasetEntity>), ErrorResponses))]
async fn list_task_entities(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathId(task): PathId<TaskId>,
    Params(query): Params<PageQuery>,
) -> Result<Json<List<DatasetEntity>>, ApiError> {
    let request = query.request("task-entities")?;
    Ok(page("task-entities", app::tasks::entities(&state.app, &grant, &task, request).await?))
}

/// Bind an entity to the task. Binding it again has no effect.
#[utoipa::path(post, path = "/tasks/{task_id}/entities", tag = "tasks", request_body = EntityBinding,
    params(("task_id" = TaskId, Path, description = "The task"),
        IdempotencyKey),
    responses((status = 200, description = "The entity", body = DatasetEntity), ErrorResponses, WriteErrorResponses))]
async fn bind_entity(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathId(task): PathId<TaskId>,
    Post(binding, once): Post<EntityBinding>,
) -> Result<TransitionResponse<DatasetEntity>, ApiError> {
    Ok(TransitionResponse(app::tasks::bind_entity(&state.app, &grant, &task, &binding.entity_id, once).await?))
}

/// Unbind an entity from the task.
#[utoipa::path(delete, path = "/tasks/{task_id}/entities/{entity_id}", tag = "tasks",
    params(("task_id" = TaskId, Path, description = "The task"), ("entity_id" = EntityId, Path, description = "The entity")),
    responses((status = 204, description = "Unbound"), ErrorResponses, WriteErrorResponses))]
async fn unbind_entity(
    extract::State(state): extract::State<State>,
    Auth(grant): Auth,
    PathIds(task, entity): PathIds<TaskId, EntityId>,
) -> Result<StatusCode, ApiError> {
    app::tasks::unbind_entity(&state.app, &grant, &task, &entity).await?;
    Ok(StatusCode::NO_CONTENT)
}

pub(crate) fn router() -> OpenApiRouter<State> {
    OpenApiRouter::new()
        .routes(routes!(list_tasks, create_task))
        .routes(routes!(get_task, update_task, delete_task))
        .routes(routes!(list_task_entities, bind_entity))
        .routes(routes!(unbind_entity))
}
