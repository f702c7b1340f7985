//! The scenario step `cds_hook`: fires a hook at the services of the agent.

use model::event::EventType;
use model::{FieldErrors, reading};
use serde::Deserialize;
use serde_json::{Value, json};

use super::chart::is_unknown_patient;
use super::definition::check_hook;
use super::hooks::check_context;
use super::invocations::{self, INVOCATIONS};
use super::invoke::{HookRequest, request, summary};
use super::services::{self, Service};
use super::uuid::new_uuid;
use crate::authored::Authored;
use crate::registry::StepInfo;
use crate::scenario::step::{Arrival, ScenarioStep, StepContext, StepOutput, object};

pub(crate) const CDS_HOOK: StepInfo =
    StepInfo::of::<CdsHook>("cds_hook", "Fires a CDS hook at the services that the agent implements", || {
        json!({"do": "cds_hook", "hook": "patient-view",
            "context": {"userId": "Practitioner/d1", "patientId": "{{entity.data.id}}"}, "service_id": "triage"})
    });

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CdsHook {
    pub hook: String,
    pub context: Value,
    /// The `id` of a service in the config's `agent_services`. Without it, all services with the hook are called.
    pub service_id: Option<String>,
}

impl Authored for CdsHook {
    fn validate(&self, errors: &mut FieldErrors) {
        check_hook(errors, "hook", &self.hook);
        if let Err(context_errors) = check_context(&self.hook, &self.context, true) {
            errors.nest("context", context_errors);
        }
        if let Some(service) = &self.service_id {
            errors.name("service_id", service);
        }
    }
}

/// The base URL of links in prefetched data. Agents reach the FHIR server under different URLs.
const FHIR_URL: &str = "urn:verial:fhir";

impl ScenarioStep for CdsHook {
    fn execute(&self, context: &StepContext<'_>) -> Result<StepOutput, FieldErrors> {
        self.check_filled(context)?;
        let is_called = |service: &Service| {
            let is_selected = self.service_id.as_ref().is_none_or(|id| *id == service.definition.id);
            service.is_agent_service() && service.definition.hook == self.hook && is_selected
        };
        let called: Vec<Service> = services::all(context.sandbox).into_iter().filter(is_called).collect();
        if called.is_empty() {
            let hook = reading::shortened(&self.hook, 100);
            let message = format!("no service of the config's `agent_services` has the hook {hook}");
            return Err(FieldErrors::one(if self.service_id.is_some() { "service_id" } else { "hook" }, message));
        }
        let fired = HookRequest {
            hook: self.hook.clone(),
            context: self.context.clone(),
            service: None,
            fhir_url: FHIR_URL.to_owned(),
        };
        let (instance, at) = (new_uuid(context.world_context), context.due_at.to_string());
        let row = |service: &Service| {
            let request = request(context.world, context.world_context, service, &fired, &instance);
            invocations::pending(context.world_context, service, &request, "scenario", &at)
        };
        let rows: Vec<Value> = called.iter().map(row).collect();
        Ok(output(context, &self.hook, &rows))
    }
}

impl CdsHook {
    fn check_filled(&self, context: &StepContext<'_>) -> Result<(), FieldErrors> {
        let mut errors = FieldErrors::new();
        if let Err(context_errors) = check_context(&self.hook, &self.context, false) {
            errors.nest("context", context_errors);
        }
        let patient = self.context.get("patientId").and_then(Value::as_str);
        if errors.is_empty() && patient.is_some_and(|patient| is_unknown_patient(context.world, patient)) {
            errors.add("context.patientId", "is not a patient of the FHIR data");
        }
        errors.into_result()
    }
}

fn output(context: &StepContext<'_>, hook: &str, rows: &[Value]) -> StepOutput {
    let id = |row: &Value| row["id"].as_str().unwrap_or_default().to_owned();
    let arrival = |row: &Value| Arrival {
        r#type: EventType::CdsInvoke,
        summary: summary(row),
        payload: invocations::payload(row).as_object().cloned().unwrap_or_default(),
    };
    StepOutput {
        summary: format!("{hook} at {} services", rows.len()),
        details: object([
            ("hook", hook.into()),
            ("invocations", rows.iter().map(|row| Value::from(id(row))).collect()),
        ]),
        changes: rows.iter().map(|row| context.put(INVOCATIONS, &id(row), row)).collect(),
        arrivals: rows.iter().map(arrival).collect(),
    }
}
