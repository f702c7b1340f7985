//! Firing a hook: [`plan`] selects the services and builds their requests, [`record`] stores the results.

use model::FieldErrors;
use model::event::EventType;
use serde_json::{Value, json};
use world::{Context, Outcome, Sandbox, World};

use super::cards;
use super::chart::is_unknown_patient;
use super::definition::check_hook;
use super::error::CdsError;
use super::event::event;
use super::hooks::check_context;
use super::invocations::{self, INVOCATIONS};
use super::json_object::UnknownMembers;
use super::prefetch::prefetch;
use super::services::{self, Service};
use super::uuid::new_uuid;
use crate::idempotency::{BOOKKEEPING, IdempotencyKey};

/// The maximum number of services that are called for one hook.
const MAX_CALLS: usize = 20;
/// The maximum number of invocations that wait for the agent.
pub(super) const MAX_PENDING: usize = 100;

/// A hook to fire.
#[derive(Clone, Debug)]
pub struct HookRequest {
    pub hook: String,
    pub context: Value,
    /// Call only this service.
    pub service: Option<String>,
    /// The base URL of the playground's FHIR server.
    pub fhir_url: String,
}

/// The calls for one hook.
#[derive(Clone, Debug)]
pub struct InvocationPlan {
    pub hook_instance: String,
    pub calls: Vec<ServiceCall>,
}

#[derive(Clone, Debug)]
pub struct ServiceCall {
    pub service: Service,
    /// The body of the request (CDS Hooks 2.0, "Calling a CDS Service"), without authorization.
    pub request: Value,
}

/// The result of a call.
#[derive(Clone, Debug)]
pub enum CallResult {
    /// The agent implements the service and answers later.
    Pending,
    Response(Value),
    /// The call failed, with the reason.
    Failed(String),
}

/// Plans a call to each registered service for the hook.
pub fn plan(
    world: &World,
    sandbox: &Sandbox,
    context: &Context<'_>,
    fired: &HookRequest,
) -> Result<InvocationPlan, CdsError> {
    check_fired(world, fired)?;
    let is_called = |service: &Service| {
        service.definition.hook == fired.hook && fired.service.as_ref().is_none_or(|id| *id == service.id)
    };
    let called: Vec<Service> = services::all(sandbox).into_iter().filter(is_called).collect();
    if called.is_empty() {
        let message =
            format!("no registered service has the hook {}; `cds/services` lists the registered services", fired.hook);
        return Err(CdsError::Conflict(message));
    }
    if called.len() > MAX_CALLS {
        let message =
            format!("{} services have the hook, more than {MAX_CALLS}; select one with `service`", called.len());
        return Err(CdsError::Conflict(message));
    }
    check_pending(sandbox, called.iter().filter(|service| service.is_agent_service()).count())?;
    let hook_instance = new_uuid(context);
    let call = |service: Service| {
        let request = request(world, context, &service, fired, &hook_instance);
        ServiceCall { service, request }
    };
    let calls = called.into_iter().map(call).collect();
    Ok(InvocationPlan { hook_instance, calls })
}

fn check_fired(world: &World, fired: &HookRequest) -> Result<(), FieldErrors> {
    let mut errors = FieldErrors::new();
    check_hook(&mut errors, "hook", &fired.hook);
    if let Err(context_errors) = check_context(&fired.hook, &fired.context, false) {
        errors.nest("context", context_errors);
    }
    let patient = fired.context.get("patientId").and_then(Value::as_str);
    if errors.is_empty() && patient.is_some_and(|patient| is_unknown_patient(world, patient)) {
        errors.add("context.patientId", "is not a patient of the FHIR data");
    }
    errors.into_result()
}

fn check_pending(sandbox: &Sandbox, additional: usize) -> Result<(), CdsError> {
    let pending = invocations::all(sandbox).filter(|row| row["status"] == "pending").count();
    if additional > 0 && pending + additional > MAX_PENDING {
        return Err(CdsError::Conflict(format!("{pending} invocations are pending; the maximum is {MAX_PENDING}")));
    }
    Ok(())
}

/// The body of a call to a service.
pub(super) fn request(
    world: &World,
    context: &Context<'_>,
    service: &Service,
    fired: &HookRequest,
    hook_instance: &str,
) -> Value {
    let mut request = json!({"hook": fired.hook, "hookInstance": hook_instance, "context": fired.context});
    let results = prefetch(world, context, &fired.fhir_url, &service.definition, &fired.context);
    if !service.definition.prefetch.is_empty() {
        request["prefetch"] = Value::Object(results);
    }
    request
}

/// The result of an earlier request under the same idempotency key.
pub fn earlier_result(sandbox: &Sandbox, token: &IdempotencyKey) -> Result<Option<Value>, CdsError> {
    let Some(instance) = token.earlier_row(sandbox).map_err(CdsError::IdempotencyConflict)? else { return Ok(None) };
    let rows: Vec<Value> = invocations::all(sandbox).filter(|row| row["hook_instance"] == instance.as_str()).collect();
    let hook = rows.first().map(|row| row["hook"].clone()).unwrap_or_default();
    Ok(Some(fired_hook(&hook, &instance, rows)))
}

fn fired_hook(hook: &Value, hook_instance: &str, rows: Vec<Value>) -> Value {
    let invocations: Vec<Value> = rows.into_iter().map(invocations::public_row).collect();
    let cards = invocations.iter().filter_map(|row| row["cards"].as_array()).flatten();
    let cards: Vec<Value> = cards.cloned().collect();
    json!({"hook": hook, "hook_instance": hook_instance, "cards": cards, "invocations": invocations})
}

/// Stores the results of the calls, with one event for each.
pub fn record(
    sandbox: &Sandbox,
    actor: &str,
    context: &Context<'_>,
    plan: &InvocationPlan,
    results: &[CallResult],
    token: Option<&IdempotencyKey>,
) -> Outcome<Result<Value, CdsError>> {
    match token.map_or(Ok(None), |token| earlier_result(sandbox, token)) {
        Ok(None) => {}
        Ok(Some(earlier)) => return Outcome { answer: Ok(earlier), changes: Vec::new(), events: Vec::new() },
        Err(error) => return Outcome { answer: Err(error), changes: Vec::new(), events: Vec::new() },
    }
    let at = context.now.to_string();
    let (mut rows, mut changes, mut events) = (Vec::new(), Vec::new(), Vec::new());
    for (call, result) in plan.calls.iter().zip(results) {
        let mut row = invocations::pending(context, &call.service, &call.request, "agent", &at);
        apply_result(&mut row, context, result);
        let id = row["id"].as_str().unwrap_or_default().to_owned();
        changes.push(sandbox.put(INVOCATIONS, &id, &row, context.now));
        events.push(event(sandbox, EventType::CdsInvoke, actor, &summary(&row), invocations::payload(&row)));
        rows.push(row);
    }
    if let Some(token) = token {
        changes.push(sandbox.put(BOOKKEEPING, &token.record_key(), &token.row(&plan.hook_instance), context.now));
    }
    let hook = rows.first().map(|row| row["hook"].clone()).unwrap_or_default();
    Outcome { answer: Ok(fired_hook(&hook, &plan.hook_instance, rows)), changes, events }
}

fn apply_result(row: &mut Value, context: &Context<'_>, result: &CallResult) {
    match result {
        CallResult::Pending => {}
        CallResult::Failed(reason) => invocations::set_failed(row, context, &json!({"message": reason})),
        CallResult::Response(answer) => match cards::check(answer, UnknownMembers::Ignored) {
            Ok(()) => invocations::set_answered(row, context, answer),
            Err(errors) => {
                let error = json!({"message": "the response does not follow CDS Hooks 2.0", "details": errors});
                invocations::set_failed(row, context, &error);
            }
        },
    }
}

pub(super) fn summary(row: &Value) -> String {
    let text = |member: &str| row[member].as_str().unwrap_or_default();
    let result = match text("status") {
        "answered" => format!("{} cards", row["cards"].as_array().map_or(0, Vec::len)),
        "failed" => row["error"]["message"].as_str().unwrap_or("failed").to_owned(),
        _ => "waits for the agent".to_owned(),
    };
    format!("{} at {}: {result}", text("hook"), text("service_id"))
}
