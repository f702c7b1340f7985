//! Decision support: answers the hooks that wait, with a card where the chart says so.

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

pub(crate) async fn work(sandbox: &Sandbox) -> anyhow::Result<()> {
    let listed = sandbox.get("cds/hooks?status=pending").await?;
    for invocation in listed["data"].as_array().into_iter().flatten() {
        let id = invocation["id"].as_str().unwrap_or_default();
        let context = &invocation["request"]["context"];
        let patient = context["patientId"].as_str().unwrap_or_default();
        let mut cards = Vec::new();
        for entry in context["draftOrders"]["entry"].as_array().into_iter().flatten() {
            let drug = &entry["resource"]["medicationCodeableConcept"]["coding"][0]["display"];
            let drug = drug.as_str().unwrap_or_default();
            cards.extend(finding(sandbox, patient, drug).await?.map(|finding| finding.card(drug)));
        }
        sandbox.post(&format!("cds/invocations/{id}/response"), &json!({"cards": cards})).await?;
    }
    Ok(())
}

struct Finding {
    indicator: &'static str,
    /// `Type/id` of what it rests on.
    evidence: String,
}

impl Finding {
    fn card(&self, drug: &str) -> Value {
        let name = drug.split_whitespace().next().unwrap_or(drug);
        json!({"summary": format!("{name}: see the chart before signing"), "indicator": self.indicator,
            "detail": format!("This rests on {}.", self.evidence), "source": {"label": "Order triage"}})
    }
}

/// The rules of the instruction.
async fn finding(sandbox: &Sandbox, patient: &str, drug: &str) -> anyhow::Result<Option<Finding>> {
    let drug = drug.to_lowercase();
    let found = |indicator, resource: &Value| {
        let text = |name: &str| resource[name].as_str().unwrap_or_default();
        Some(Finding { indicator, evidence: format!("{}/{}", text("resourceType"), text("id")) })
    };
    if drug.starts_with("metformin") {
        let newest = newest(sandbox, patient, "33914-3").await?;
        return Ok(newest.filter(|one| value(one) < 30.0).and_then(|one| found("critical", &one)));
    }
    if drug.starts_with("lisinopril") {
        let newest = newest(sandbox, patient, "2823-3").await?;
        return Ok(newest.filter(|one| value(one) >= 5.5).and_then(|one| found("warning", &one)));
    }
    if drug.starts_with("ibuprofen") {
        let active = sandbox.search(&format!("MedicationRequest?subject=Patient/{patient}&status=active")).await?;
        let warfarin = active.iter().find(|one| says(&one["medicationCodeableConcept"]["text"], "warfarin"));
        return Ok(warfarin.and_then(|one| found("critical", one)));
    }
    if drug.contains("cillin") {
        let allergies = sandbox.search(&format!("AllergyIntolerance?patient=Patient/{patient}")).await?;
        let penicillin = allergies.iter().find(|one| says(&one["code"]["text"], "penicillin"));
        return Ok(penicillin.and_then(|one| found("critical", one)));
    }
    Ok(None)
}

async fn newest(sandbox: &Sandbox, patient: &str, code: &str) -> anyhow::Result<Option<Value>> {
    let query = format!("Observation?subject=Patient/{patient}&code=http://loinc.org%7C{code}&_sort=-date&_count=1");
    Ok(sandbox.search(&query).await?.into_iter().next())
}

fn value(observation: &Value) -> f64 {
    observation["valueQuantity"]["value"].as_f64().unwrap_or_default()
}

fn says(text: &Value, word: &str) -> bool {
    text.as_str().is_some_and(|text| text.to_lowercase().contains(word))
}
