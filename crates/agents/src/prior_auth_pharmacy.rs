//! Reference agent of `prior-auth-pharmacy`: checks the formulary, requests authorization for a prescription, and records the
//! outcome.

use anyhow::Context;
use client::segment;
use serde_json::{Value, json};

use crate::prior_auth::{Order, Outcome};
use crate::sandbox::Sandbox;

pub(crate) async fn solve(sandbox: &Sandbox) -> anyhow::Result<()> {
    let order = Order::read(sandbox, sandbox.item_text("prescription")?).await?;
    let outcome = outcome(sandbox, &order).await?;
    order.record(sandbox, &outcome).await
}

async fn outcome(sandbox: &Sandbox, order: &Order) -> anyhow::Result<Outcome> {
    let drug = drug(&order.resource);
    let Some(entry) = formulary_entry(sandbox, drug).await? else {
        return Ok(Outcome::plain("not_covered"));
    };
    if entry["prior_auth_required"] != true {
        return Ok(Outcome::plain("not_required"));
    }
    let step = entry["step_therapy"].as_str();
    if let Some(step) = step
        && !has_taken(sandbox, order.patient()?, step).await?
    {
        return Ok(Outcome::with("step_therapy_needed", "alternative", step));
    }
    let member = order.member(sandbox, sandbox.item_text("today")?).await?;
    let mut request = order.request(sandbox, &member).await?;
    request["drug"] = entry["drug"].clone();
    if let Some(step) = step {
        request["answers"] = json!({"step_drug": step});
    }
    order.submit(sandbox, &request).await
}

fn drug(prescription: &Value) -> &str {
    prescription["medicationCodeableConcept"]["text"].as_str().unwrap_or_default()
}

/// The formulary entry of a drug. The portal also returns drugs whose names only start with the text.
async fn formulary_entry(sandbox: &Sandbox, drug: &str) -> anyhow::Result<Option<Value>> {
    let listed = sandbox.get(&format!("portal/formulary?drug={}", segment(drug, false))).await?;
    let entries = listed["data"].as_array().context("the portal has no formulary")?.clone();
    let is_this = |entry: &Value| entry["drug"].as_str().is_some_and(|name| name.eq_ignore_ascii_case(drug));
    Ok(entries.into_iter().find(is_this))
}

async fn has_taken(sandbox: &Sandbox, patient: &str, wanted: &str) -> anyhow::Result<bool> {
    let earlier = sandbox.search(&format!("MedicationRequest?patient={patient}&status=completed,stopped")).await?;
    Ok(earlier.iter().any(|one| drug(one).eq_ignore_ascii_case(wanted)))
}
