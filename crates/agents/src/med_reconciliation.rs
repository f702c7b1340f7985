//! Reference agent of `med-reconciliation`: updates the medication list of the chart from a discharge summary.

use anyhow::{Context, anyhow};
use serde_json::{Value, json};

use crate::sandbox::Sandbox;

const RXNORM: &str = "http://www.nlm.nih.gov/research/umls/rxnorm";

pub(crate) async fn solve(sandbox: &Sandbox) -> anyhow::Result<()> {
    let mrn = sandbox.item_text("mrn")?;
    let found = sandbox.search(&format!("Patient?identifier={mrn}")).await?;
    let patient = found.first().and_then(|patient| patient["id"].as_str()).context("patient not found")?.to_owned();
    let path = sandbox.inbox().await?.into_iter().next().context("the inbox is empty")?;
    let summary = documents::text(&sandbox.file(&path).await?).map_err(|error| anyhow!("{error}"))?.joined();
    let allergies = allergies(sandbox, &patient).await?;
    let mut active = sandbox.search(&format!("MedicationRequest?subject=Patient/{patient}&status=active")).await?;
    for line in summary.lines().filter_map(MedicationLine::read) {
        apply(sandbox, &patient, &line, &allergies, &mut active).await?;
    }
    let entries: Vec<Value> = active
        .iter()
        .filter_map(|one| one["id"].as_str())
        .map(|id| json!({"item": {"reference": format!("MedicationRequest/{id}")}}))
        .collect();
    let list = json!({"resourceType": "List", "status": "current", "mode": "snapshot",
        "code": {"coding": [{"system": "http://loinc.org", "code": "10160-0"}]},
        "subject": {"reference": format!("Patient/{patient}")}, "entry": entries});
    sandbox.create(&list).await.map(drop)
}

async fn allergies(sandbox: &Sandbox, patient: &str) -> anyhow::Result<Vec<String>> {
    let found = sandbox.search(&format!("AllergyIntolerance?patient=Patient/{patient}")).await?;
    Ok(found.iter().filter_map(|one| one["code"]["text"].as_str()).map(str::to_lowercase).collect())
}

/// Applies one line of the summary to the chart.
async fn apply(
    sandbox: &Sandbox,
    patient: &str,
    line: &MedicationLine,
    allergies: &[String],
    active: &mut Vec<Value>,
) -> anyhow::Result<()> {
    let ingredient = line.drug.split_whitespace().next().unwrap_or_default().to_lowercase();
    let is_same_drug = |one: &Value| {
        let name = one["medicationCodeableConcept"]["text"].as_str().unwrap_or_default().to_lowercase();
        name.starts_with(&ingredient)
    };
    if matches!(line.status.as_str(), "Stop" | "Changed") {
        let index =
            active.iter().position(is_same_drug).with_context(|| format!("{} is not in the chart", line.drug))?;
        let mut old = active.remove(index);
        old["status"] = "stopped".into();
        sandbox.replace(&old).await?;
    }
    if !matches!(line.status.as_str(), "New" | "Changed") {
        return Ok(());
    }
    if line.conflicts_with(allergies) {
        let description = format!("{} conflicts with a documented allergy. Do not start.", line.drug);
        let task = json!({"resourceType": "Task", "status": "requested", "intent": "order", "priority": "urgent",
            "code": {"text": "allergy-conflict"}, "description": description,
            "for": {"reference": format!("Patient/{patient}")}});
        return sandbox.create(&task).await.map(drop);
    }
    active.push(sandbox.create(&line.order(patient)?).await?);
    Ok(())
}

/// One row of the summary's medication table.
struct MedicationLine {
    drug: String,
    code: String,
    dose: String,
    unit: String,
    times: String,
    status: String,
}

impl MedicationLine {
    fn read(line: &str) -> Option<Self> {
        let cells: Vec<&str> = line.split('\t').map(str::trim).collect();
        let [drug, code, dose, times, status] = cells.as_slice() else {
            return None;
        };
        let (dose, unit) = dose.split_once(' ')?;
        let is_code = code.len() > 4 && code.bytes().all(|byte| byte.is_ascii_digit());
        is_code.then(|| Self {
            drug: (*drug).to_owned(),
            code: (*code).to_owned(),
            dose: dose.to_owned(),
            unit: unit.to_owned(),
            times: (*times).to_owned(),
            status: (*status).to_owned(),
        })
    }

    /// Whether the patient is allergic to the drug. All penicillins count as one.
    fn conflicts_with(&self, allergies: &[String]) -> bool {
        let drug = self.drug.to_lowercase();
        let is_penicillin = drug.contains("cillin");
        allergies
            .iter()
            .any(|allergy| drug.contains(allergy.as_str()) || (is_penicillin && allergy.contains("penicillin")))
    }

    fn order(&self, patient: &str) -> anyhow::Result<Value> {
        let number = |text: &str| text.parse::<serde_json::Number>().map_err(|_| anyhow!("`{text}` is not a number"));
        Ok(json!({
            "resourceType": "MedicationRequest", "status": "active", "intent": "order",
            "medicationCodeableConcept": {"coding": [{"system": RXNORM, "code": self.code}], "text": self.drug},
            "subject": {"reference": format!("Patient/{patient}")},
            "dosageInstruction": [{
                "timing": {"repeat": {"frequency": number(&self.times)?, "period": 1, "periodUnit": "d"}},
                "doseAndRate": [{"doseQuantity": {"value": number(&self.dose)?, "unit": self.unit}}]
            }]
        }))
    }
}
