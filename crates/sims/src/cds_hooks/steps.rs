//! The scenario step `cds_hook`: something happens in the EHR, and the services that the agent plays are asked.

use model::event::EventType;
use model::{FieldErrors, reading};
use serde::Deserialize;
use serde_json::{Value, json};

use super::chart::is_unknown_patient;
use super::definition::check_hook;
use super::hooks::check_context;
use super::invocations::{self, INVOCATIONS};
use super::invoke::{Fired, request, summary};
use super::services::{self, Service};
use super::uuid::new_uuid;
use crate::authored::Authored;
use crate::registry::StepInfo;
use crate::scenario::step::{Arrival, ScenarioStep, StepContext, StepOutput, object};

pub(crate) const CDS_HOOK: StepInfo =
    StepInfo::of::<CdsHook>("cds_hook", "Fires a CDS hook at the services that the agent plays", || {
        json!({"do": "cds_hook", "hook": "patient-view",
            "context": {"userId": "Practitioner/d1", "patientId": "{{entity.data.id}}"}, "service_id": "triage"})
    });

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CdsHook {
    pub hook: String,
    pub context: Value,
    /// The `id` of a service in the config's `agent_services`; all that take the hook without it.
    pub service_id: Option<String>,
}

impl Authored for CdsHook {
    fn validate(&self, errors: &mut FieldErrors) {
        check_hook(errors, "hook", &self.hook);
        if let Err(faults) = check_context(&self.hook, &self.context, true) {
            errors.nest("context", faults);
        }
        if let Some(service) = &self.service_id {
            errors.name("service_id", service);
        }
    }
}

/// Links in what is prefetched are of the server that the agent reaches in its own way.
const FHIR_URL: &str = "urn:verial:fhir";

impl ScenarioStep for CdsHook {
    fn execute(&self, context: &StepContext<'_>) -> Result<StepOutput, FieldErrors> {
        self.check_bound(context)?;
        let takes = |service: &Service| {
            let is_meant = self.service_id.as_ref().is_none_or(|wanted| *wanted == service.definition.id);
            service.is_agents() && service.definition.hook == self.hook && is_meant
        };
        let called: Vec<Service> = services::all(context.sandbox).into_iter().filter(takes).collect();
        if called.is_empty() {
            let hook = reading::shortened(&self.hook, 100);
            let message = format!("no service of the config's `agent_services` takes {hook}");
            return Err(FieldErrors::one(if self.service_id.is_some() { "service_id" } else { "hook" }, message));
        }
        let fired = Fired {
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
    fn check_bound(&self, context: &StepContext<'_>) -> Result<(), FieldErrors> {
        let mut errors = FieldErrors::new();
        if let Err(faults) = check_context(&self.hook, &self.context, false) {
            errors.nest("context", faults);
        }
        let patient = self.context.get("patientId").and_then(Value::as_str);
        if errors.is_empty() && patient.is_some_and(|patient| is_unknown_patient(context.world, patient)) {
            errors.add("context.patientId", "is no patient of the FHIR data");
        }
        errors.into_result()
    }
}

fn output(context: &StepContext<'_>, hook: &str, rows: &[Value]) -> StepOutput {
    let id = |row: &Value| row["id"].as_str().unwrap_or_default().to_owned();
    let arrival = |row: &Value| Arrival {
        r#type: EventType::CdsInvoke,
        summary: summary(row),
        payload: invocations::told(row).as_object().cloned().unwrap_or_default(),
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
