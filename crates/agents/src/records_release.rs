//! Reference agent of `records-release`: sends requested records to authorized requesters, and declines other requests.

use anyhow::Context;
use serde_json::{Value, json};

use crate::sandbox::Sandbox;

pub(crate) async fn solve(sandbox: &Sandbox) -> anyhow::Result<()> {
    let listed = sandbox.get("fax/inbox").await?;
    for fax in listed["data"].as_array().into_iter().flatten() {
        let id = fax["id"].as_str().context("a fax has no id")?;
        let content = sandbox.get(&format!("fax/inbox/{id}/text")).await?;
        handle(sandbox, content["text"].as_str().unwrap_or_default()).await?;
    }
    Ok(())
}

async fn handle(sandbox: &Sandbox, request: &str) -> anyhow::Result<()> {
    let mrn = field(request, "MRN").context("the request has no record number")?;
    let found = sandbox.search(&format!("Patient?identifier={mrn}")).await?;
    let patient = found.into_iter().next().context("no patient has that record number")?;
    let wanted = field(request, "Record").unwrap_or_default().to_lowercase().replace(' ', "-");
    let path = format!("inbox/records/{mrn}-{wanted}.pdf");
    let listed = sandbox.get("files?prefix=inbox/records/").await?;
    let is_on_file = listed["data"].as_array().into_iter().flatten().any(|file| file["path"] == path.as_str());
    let reason = if !request.contains("/s/") {
        Some("missing_authorization")
    } else if !is_about(request, &patient) {
        Some("patient_mismatch")
    } else if !is_on_file {
        Some("not_on_file")
    } else {
        None
    };
    let mut note = json!({"resourceType": "Communication", "status": "completed",
        "subject": {"reference": format!("Patient/{}", patient["id"].as_str().unwrap_or_default())}});
    match reason {
        Some(reason) => {
            note["status"] = "not-done".into();
            note["statusReason"] = json!({"text": reason});
        }
        None => {
            let number = field(request, "Fax back to").context("the request has no fax number")?;
            let fax = json!({"to_number": number, "content_reference": format!("files/{path}")});
            sandbox.post("fax/faxes", &fax).await?;
            note["payload"] = json!([{"contentString": path.rsplit('/').next()}]);
        }
    }
    sandbox.create(&note).await.map(drop)
}

fn is_about(request: &str, patient: &Value) -> bool {
    let name = field(request, "Patient").unwrap_or_default();
    let (family, given) = name.split_once(',').unwrap_or((&name, ""));
    patient["birthDate"].as_str() == field(request, "Date of birth").as_deref()
        && patient["name"][0]["family"] == family.trim()
        && patient["name"][0]["given"][0] == given.trim()
}

/// The value after a label.
fn field(text: &str, label: &str) -> Option<String> {
    let (_, after) = text.split_once(&format!("{label}:"))?;
    let value = after.trim_start_matches(['\t', ' ']).split(['\t', '\n']).next()?.trim();
    (!value.is_empty()).then(|| value.to_owned())
}
