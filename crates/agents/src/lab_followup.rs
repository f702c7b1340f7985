//! Reference agent of `lab-followup`: files each result in the inbox, and follows up on abnormal and critical ones.

use anyhow::{Context, anyhow};
use serde_json::{Value, json};

use crate::sandbox::Sandbox;

pub(crate) async fn solve(sandbox: &Sandbox) -> anyhow::Result<()> {
    let listed = sandbox.get("hl7/inbox").await?;
    for message in listed["data"].as_array().into_iter().flatten() {
        let report = Report::read(message["payload"].as_str().unwrap_or_default())?;
        follow_up(sandbox, &report).await?;
    }
    Ok(())
}

async fn follow_up(sandbox: &Sandbox, report: &Report) -> anyhow::Result<()> {
    let found = sandbox.search(&format!("Patient?identifier={}", report.mrn)).await?;
    let patient = found.first().filter(|patient| report.is_about(patient));
    let Some(patient) = patient.and_then(|patient| patient["id"].as_str()) else {
        let description = format!("Result {}: patient does not match the chart.", report.filler);
        let task = task("patient-mismatch", "urgent", &json!({"description": description}));
        return sandbox.create(&task).await.map(drop);
    };
    let filed = file(sandbox, report, patient).await?;
    if report.is_critical() {
        let reference = json!({"reference": format!("Observation/{filed}")});
        let more = json!({"for": {"reference": format!("Patient/{patient}")}, "focus": reference});
        sandbox.create(&task("critical-result", "stat", &more)).await?;
        let body = format!(
            "Please call the clinic today at {}. The care team needs to speak with you.",
            sandbox.item_text("clinic_phone")?
        );
        sandbox.post("messages", &json!({"channel": "sms", "patient_id": patient, "body": body})).await?;
    } else if report.is_abnormal() {
        let body = "A new result is ready for you in the patient portal.";
        sandbox.post("messages", &json!({"channel": "sms", "patient_id": patient, "body": body})).await?;
    }
    Ok(())
}

/// Files a result and returns its id. A corrected result replaces the original one.
async fn file(sandbox: &Sandbox, report: &Report, patient: &str) -> anyhow::Result<String> {
    let known = sandbox.search(&format!("Observation?identifier={}", report.filler)).await?;
    let mut observation = match known.into_iter().next() {
        Some(known) => known,
        None => json!({"resourceType": "Observation"}),
    };
    observation["identifier"] = json!([{"system": "https://lab.example.org/filler", "value": report.filler}]);
    observation["status"] = if report.is_corrected { "corrected" } else { "final" }.into();
    observation["code"] =
        json!({"coding": [{"system": "http://loinc.org", "code": report.code, "display": report.name}]});
    observation["subject"] = json!({"reference": format!("Patient/{patient}")});
    observation["effectiveDateTime"] = report.taken_on.as_str().into();
    let value: serde_json::Number = report.value.parse().map_err(|_| anyhow!("`{}` is not a number", report.value))?;
    observation["valueQuantity"] =
        json!({"value": value, "unit": report.unit, "system": "http://unitsofmeasure.org", "code": report.unit});
    let saved = if observation["id"].is_string() {
        sandbox.replace(&observation).await
    } else {
        sandbox.create(&observation).await
    };
    Ok(saved?["id"].as_str().unwrap_or("unknown").to_owned())
}

fn task(code: &str, priority: &str, more: &Value) -> Value {
    let mut task = json!({"resourceType": "Task", "status": "requested", "intent": "order", "priority": priority,
        "code": {"text": code}});
    for (name, value) in more.as_object().into_iter().flatten() {
        task[name] = value.clone();
    }
    task
}

/// A laboratory result from an HL7 v2 message.
struct Report {
    mrn: String,
    family: String,
    born: String,
    filler: String,
    code: String,
    name: String,
    value: String,
    unit: String,
    flag: String,
    taken_on: String,
    is_corrected: bool,
}

impl Report {
    fn read(message: &str) -> anyhow::Result<Self> {
        let field = |segment: &str, number: usize, component: usize| {
            let line = message.split(['\r', '\n']).find(|line| line.starts_with(segment));
            let field = line.and_then(|line| line.split('|').nth(number));
            let part = field.and_then(|field| field.split('^').nth(component - 1)).unwrap_or_default();
            part.to_owned()
        };
        let day = |text: &str| match (text.get(..4), text.get(4..6), text.get(6..8)) {
            (Some(year), Some(month), Some(day)) => Ok(format!("{year}-{month}-{day}")),
            _ => Err(anyhow!("`{text}` is not a valid date")),
        };
        Ok(Self {
            mrn: field("PID", 3, 1),
            family: field("PID", 5, 1),
            born: day(&field("PID", 7, 1)).context("PID-7")?,
            filler: field("OBR", 3, 1),
            code: field("OBX", 3, 1),
            name: field("OBX", 3, 2),
            value: field("OBX", 5, 1),
            unit: field("OBX", 6, 1),
            flag: field("OBX", 8, 1),
            taken_on: day(&field("OBR", 7, 1)).context("OBR-7")?,
            is_corrected: field("OBX", 11, 1) == "C",
        })
    }

    fn is_about(&self, patient: &Value) -> bool {
        let family = patient["name"][0]["family"].as_str().unwrap_or_default();
        patient["birthDate"].as_str() == Some(&self.born) && family.eq_ignore_ascii_case(&self.family)
    }

    fn is_abnormal(&self) -> bool {
        matches!(self.flag.as_str(), "H" | "L" | "HH" | "LL" | "A")
    }

    /// Whether the value is critical, by the limits of the instruction.
    fn is_critical(&self) -> bool {
        let value: f64 = self.value.parse().unwrap_or_default();
        match self.code.as_str() {
            "2823-3" => value >= 6.0 || value <= 2.8,
            "718-7" => value < 7.0,
            "2345-7" => !(50.0..=400.0).contains(&value),
            "6301-6" => value > 5.0,
            _ => false,
        }
    }
}
