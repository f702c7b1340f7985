//! Firing a hook: which services hear of it, what they are sent, and what became of it.

use model::FieldErrors;
use model::event::EventType;
use serde_json::{Value, json};
use world::{Context, Outcome, Sandbox, World};

use super::cards;
use super::chart::is_unknown_patient;
use super::definition::check_hook;
use super::event::event;
use super::hooks::check_context;
use super::invocations::{self, INVOCATIONS};
use super::members::Unknown;
use super::prefetch::prefetch;
use super::refusal::Refusal;
use super::services::{self, Service};
use super::uuid::new_uuid;
use crate::idempotency::{BOOKKEEPING, IdempotencyKey};

/// Services that hear of one hook.
const MOST_CALLS: usize = 20;
/// Hooks that wait for the agent.
pub(super) const MOST_PENDING: usize = 100;

/// What happens in the EHR.
#[derive(Clone, Debug)]
pub struct Fired {
    pub hook: String,
    pub context: Value,
    /// Only this service.
    pub service: Option<String>,
    /// Where the playground's FHIR server is reached.
    pub fhir_url: String,
}

/// What is to be sent to whom.
#[derive(Clone, Debug)]
pub struct Plan {
    pub hook_instance: String,
    pub calls: Vec<Call>,
}

#[derive(Clone, Debug)]
pub struct Call {
    pub service: Service,
    /// The body of the request (CDS Hooks 2.0, "Calling a CDS Service"), without authorization.
    pub request: Value,
}

/// What a call came to.
#[derive(Clone, Debug)]
pub enum Answered {
    /// The agent plays the service, and answers later.
    Later,
    Json(Value),
    /// Why there is none.
    Nothing(String),
}

/// What is sent to each service that takes the hook.
pub fn plan(world: &World, sandbox: &Sandbox, context: &Context<'_>, fired: &Fired) -> Result<Plan, Refusal> {
    check_fired(world, fired)?;
    let takes = |service: &Service| {
        service.definition.hook == fired.hook && fired.service.as_ref().is_none_or(|wanted| *wanted == service.id)
    };
    let called: Vec<Service> = services::all(sandbox).into_iter().filter(takes).collect();
    if called.is_empty() {
        let message = format!("no registered service takes the hook {}; `cds/services` has those that are", fired.hook);
        return Err(Refusal::Conflict(message));
    }
    if called.len() > MOST_CALLS {
        let message = format!("{} services take the hook, more than {MOST_CALLS}; name one as `service`", called.len());
        return Err(Refusal::Conflict(message));
    }
    check_pending(sandbox, called.iter().filter(|service| service.is_agents()).count())?;
    let hook_instance = new_uuid(context);
    let call = |service: Service| {
        let request = request(world, context, &service, fired, &hook_instance);
        Call { service, request }
    };
    let calls = called.into_iter().map(call).collect();
    Ok(Plan { hook_instance, calls })
}

fn check_fired(world: &World, fired: &Fired) -> Result<(), FieldErrors> {
    let mut errors = FieldErrors::new();
    check_hook(&mut errors, "hook", &fired.hook);
    if let Err(faults) = check_context(&fired.hook, &fired.context, false) {
        errors.nest("context", faults);
    }
    let patient = fired.context.get("patientId").and_then(Value::as_str);
    if errors.is_empty() && patient.is_some_and(|patient| is_unknown_patient(world, patient)) {
        errors.add("context.patientId", "is no patient of the FHIR data");
    }
    errors.into_result()
}

fn check_pending(sandbox: &Sandbox, more: usize) -> Result<(), Refusal> {
    let waiting = invocations::all(sandbox).filter(|row| row["status"] == "pending").count();
    if more > 0 && waiting + more > MOST_PENDING {
        return Err(Refusal::Conflict(format!("{waiting} hooks wait for an answer; at most {MOST_PENDING} may")));
    }
    Ok(())
}

/// The body of a call to a service.
pub(super) fn request(
    world: &World,
    context: &Context<'_>,
    service: &Service,
    fired: &Fired,
    hook_instance: &str,
) -> Value {
    let mut request = json!({"hook": fired.hook, "hookInstance": hook_instance, "context": fired.context});
    let results = prefetch(world, context, &fired.fhir_url, &service.definition, &fired.context);
    if !service.definition.prefetch.is_empty() {
        request["prefetch"] = Value::Object(results);
    }
    request
}

/// What an earlier request of this name came to.
pub fn earlier(sandbox: &Sandbox, token: &IdempotencyKey) -> Result<Option<Value>, Refusal> {
    let Some(instance) = token.earlier_row(sandbox).map_err(Refusal::Used)? else { return Ok(None) };
    let rows: Vec<Value> = invocations::all(sandbox).filter(|row| row["hook_instance"] == instance.as_str()).collect();
    let hook = rows.first().map(|row| row["hook"].clone()).unwrap_or_default();
    Ok(Some(fired(&hook, &instance, rows)))
}

fn fired(hook: &Value, hook_instance: &str, rows: Vec<Value>) -> Value {
    let invocations: Vec<Value> = rows.into_iter().map(invocations::shown).collect();
    let cards = invocations.iter().filter_map(|row| row["cards"].as_array()).flatten();
    let cards: Vec<Value> = cards.cloned().collect();
    json!({"hook": hook, "hook_instance": hook_instance, "cards": cards, "invocations": invocations})
}

/// Keeps what the calls came to: one event each.
pub fn record(
    sandbox: &Sandbox,
    actor: &str,
    context: &Context<'_>,
    plan: &Plan,
    answers: &[Answered],
    token: Option<&IdempotencyKey>,
) -> Outcome<Result<Value, Refusal>> {
    match token.map_or(Ok(None), |token| earlier(sandbox, token)) {
        Ok(None) => {}
        Ok(Some(known)) => return Outcome { answer: Ok(known), changes: Vec::new(), events: Vec::new() },
        Err(refusal) => return Outcome { answer: Err(refusal), changes: Vec::new(), events: Vec::new() },
    }
    let at = context.now.to_string();
    let (mut rows, mut changes, mut events) = (Vec::new(), Vec::new(), Vec::new());
    for (call, answer) in plan.calls.iter().zip(answers) {
        let mut row = invocations::pending(context, &call.service, &call.request, "agent", &at);
        settle(&mut row, context, answer);
        let id = row["id"].as_str().unwrap_or_default().to_owned();
        changes.push(sandbox.put(INVOCATIONS, &id, &row, context.now));
        events.push(event(sandbox, EventType::CdsInvoke, actor, &summary(&row), invocations::told(&row)));
        rows.push(row);
    }
    if let Some(token) = token {
        changes.push(sandbox.put(BOOKKEEPING, &token.record_key(), &token.row(&plan.hook_instance), context.now));
    }
    let hook = rows.first().map(|row| row["hook"].clone()).unwrap_or_default();
    Outcome { answer: Ok(fired(&hook, &plan.hook_instance, rows)), changes, events }
}

fn settle(row: &mut Value, context: &Context<'_>, answer: &Answered) {
    match answer {
        Answered::Later => {}
        Answered::Nothing(why) => invocations::failed(row, context, &json!({"message": why})),
        Answered::Json(answer) => match cards::check(answer, Unknown::LetBe) {
            Ok(()) => invocations::answered(row, context, answer),
            Err(faults) => {
                let error =
                    json!({"message": "the answer does not keep the rules of CDS Hooks 2.0", "details": faults});
                invocations::failed(row, context, &error);
            }
        },
    }
}

pub(super) fn summary(row: &Value) -> String {
    let text = |member: &str| row[member].as_str().unwrap_or_default();
    let came_to = match text("status") {
        "answered" => format!("{} cards", row["cards"].as_array().map_or(0, Vec::len)),
        "failed" => row["error"]["message"].as_str().unwrap_or("failed").to_owned(),
        _ => "waits for the agent".to_owned(),
    };
    format!("{} at {}: {came_to}", text("hook"), text("service_id"))
}
