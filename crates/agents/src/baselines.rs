//! Baseline agents that must not score. The shotgun agent ignores the task and writes a little of everything everywhere.

use client::Method;
use serde_json::{Value, json};

use crate::sandbox::Sandbox;

/// Writes a little of everything to every channel. Ignores rejected requests.
pub(crate) async fn shotgun(sandbox: &Sandbox) -> anyhow::Result<()> {
    let patients = sandbox.search("Patient?_count=50").await.unwrap_or_default();
    for patient in &patients {
        for resource in resources(patient["id"].as_str().unwrap_or_default()) {
            let _ = sandbox.create(&resource).await;
        }
        let order = order(patient);
        let _ = sandbox.send_hl7(&order).await;
        let message = json!({"channel": "sms", "patient_id": patient["id"], "body": "Your result is ready. All done."});
        let _ = sandbox.call(Method::POST, "messages", Some(&message)).await;
        let _ = sandbox.call(Method::POST, "x12/eligibility", Some(&json!({"patient_id": patient["id"]}))).await;
        let request = json!({
            "patient_member_id": patient["identifier"][0]["value"], "procedure_code": "70551",
            "diagnosis_code": "G43.909", "provider_npi": "1234567893"
        });
        let _ = sandbox.call(Method::POST, "portal/prior-auths", Some(&request)).await;
    }
    for path in sandbox.inbox().await.unwrap_or_default() {
        if let Ok(bytes) = sandbox.file(&path).await {
            let name = path.rsplit('/').next().unwrap_or(&path).to_owned();
            let _ = sandbox.put_file(&format!("outbox/{name}"), "application/pdf", bytes.to_vec()).await;
            let _ = sandbox.put_file(&format!("outbox/returns/{name}"), "application/pdf", bytes.to_vec()).await;
            let note = json!({"status": "done", "reason": "done"}).to_string().into_bytes();
            let _ = sandbox.put_file(&format!("outbox/returns/{name}.json"), "application/json", note).await;
        }
    }
    let _ = sandbox.put_file("outbox/done.json", "application/json", b"{\"status\":\"done\"}".to_vec()).await;
    let _ = sandbox.call(Method::POST, "voice/calls", Some(&json!({}))).await;
    Ok(())
}

/// Plausible but meaningless FHIR resources for a patient.
pub(crate) fn resources(patient: &str) -> Vec<Value> {
    let subject = json!({"reference": format!("Patient/{patient}")});
    let code = json!({"text": "as discussed"});
    vec![
        json!({"resourceType": "ServiceRequest", "status": "active", "intent": "order", "subject": subject, "code": code}),
        json!({"resourceType": "MedicationRequest", "status": "active", "intent": "order", "subject": subject,
               "medicationCodeableConcept": code}),
        json!({"resourceType": "Task", "status": "requested", "intent": "order", "for": subject}),
        json!({"resourceType": "Appointment", "status": "booked",
               "participant": [{"actor": subject, "status": "accepted"}]}),
    ]
}

/// An HL7 v2 order for a patient.
fn order(patient: &Value) -> String {
    let number = patient["identifier"][0]["value"].as_str().unwrap_or("1");
    let name = &patient["name"][0];
    let (family, given) = (name["family"].as_str().unwrap_or("X"), name["given"][0].as_str().unwrap_or("Y"));
    format!(
        "MSH|^~\\&|A|B|C|D|20260101080000||ORM^O01^ORM_O01|{number}|P|2.5.1\rPID|1||{number}||{family}^{given}\rORC|NW|{number}\r\
         OBR|1|{number}||CARDCONS^Cardiology consultation^L"
    )
}
