//! Reference agent of `cds-triage`: responds to pending CDS hooks, with a card where the chart shows a risk.

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

pub(crate) async fn solve(sandbox: &Sandbox) -> anyhow::Result<()> {
    let listed = sandbox.get("cds/hooks?status=pending").await?;
    for invocation in listed["data"].as_array().into_iter().flatten() {
        let id = invocation["id"].as_str().unwrap_or_default();
        let context = &invocation["request"]["context"];
        let patient = context["patientId"].as_str().unwrap_or_default();
        let mut cards = Vec::new();
        for entry in context["draftOrders"]["entry"].as_array().into_iter().flatten() {
            let drug = &entry["resource"]["medicationCodeableConcept"]["coding"][0]["display"];
            let drug = drug.as_str().unwrap_or_default();
            cards.extend(finding(sandbox, patient, drug).await?.map(|finding| finding.card()));
        }
        sandbox.post(&format!("cds/invocations/{id}/response"), &json!({"cards": cards})).await?;
    }
    Ok(())
}

struct Finding {
    indicator: &'static str,
    summary: &'static str,
    /// `Type/id` of the resource that shows the risk.
    evidence: String,
}

impl Finding {
    /// The card, in the wording of the instruction.
    fn card(&self) -> Value {
        json!({"summary": self.summary, "indicator": self.indicator,
            "detail": format!("Review {} before signing.", self.evidence), "source": {"label": "Order triage"}})
    }
}

/// Applies the rules of the instruction to an ordered drug.
async fn finding(sandbox: &Sandbox, patient: &str, drug: &str) -> anyhow::Result<Option<Finding>> {
    let drug = drug.to_lowercase();
    let found = |indicator, summary, resource: &Value| {
        let text = |name: &str| resource[name].as_str().unwrap_or_default();
        Some(Finding { indicator, summary, evidence: format!("{}/{}", text("resourceType"), text("id")) })
    };
    if drug.starts_with("metformin") {
        let newest = newest(sandbox, patient, "33914-3").await?;
        let summary = "Metformin ordered: newest eGFR is below 30";
        return Ok(newest.filter(|one| value(one) < 30.0).and_then(|one| found("critical", summary, &one)));
    }
    if drug.starts_with("lisinopril") {
        let newest = newest(sandbox, patient, "2823-3").await?;
        let summary = "Lisinopril ordered: newest potassium is 5.5 mmol/L or higher";
        return Ok(newest.filter(|one| value(one) >= 5.5).and_then(|one| found("warning", summary, &one)));
    }
    if drug.starts_with("ibuprofen") {
        let active = sandbox.search(&format!("MedicationRequest?subject=Patient/{patient}&status=active")).await?;
        let warfarin = active.iter().find(|one| mentions(&one["medicationCodeableConcept"]["text"], "warfarin"));
        return Ok(warfarin.and_then(|one| found("critical", "Ibuprofen ordered: patient takes warfarin", one)));
    }
    if drug.contains("cillin") {
        let allergies = sandbox.search(&format!("AllergyIntolerance?patient=Patient/{patient}")).await?;
        let penicillin = allergies.iter().find(|one| mentions(&one["code"]["text"], "penicillin"));
        let summary = "Penicillin ordered: patient is allergic to penicillin";
        return Ok(penicillin.and_then(|one| found("critical", summary, one)));
    }
    Ok(None)
}

/// The newest observation with this LOINC code.
async fn newest(sandbox: &Sandbox, patient: &str, code: &str) -> anyhow::Result<Option<Value>> {
    let query = format!("Observation?subject=Patient/{patient}&code=http://loinc.org%7C{code}&_sort=-date&_count=1");
    Ok(sandbox.search(&query).await?.into_iter().next())
}

fn value(observation: &Value) -> f64 {
    observation["valueQuantity"]["value"].as_f64().unwrap_or_default()
}

fn mentions(text: &Value, word: &str) -> bool {
    text.as_str().is_some_and(|text| text.to_lowercase().contains(word))
}
