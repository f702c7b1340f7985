//! What both kinds of prior authorization share: the request with what the payer asks for, and the record of the outcome.

use anyhow::{Context, bail};
use client::segment;
use serde_json::{Value, json};

use crate::insurance::{in_force, npi};
use crate::sandbox::Sandbox;

/// How an order ended.
pub(crate) struct Outcome {
    code: &'static str,
    /// A label with its text.
    output: Option<(&'static str, String)>,
}

impl Outcome {
    pub(crate) fn plain(code: &'static str) -> Self {
        Self { code, output: None }
    }

    pub(crate) fn with(code: &'static str, label: &'static str, text: &str) -> Self {
        Self { code, output: Some((label, text.to_owned())) }
    }

    pub(crate) fn approved(request: &Value) -> anyhow::Result<Self> {
        let number = request["auth_number"].as_str().context("the request has no number")?;
        Ok(Self::with("approved", "authorization_number", number))
    }
}

/// An order or a prescription, as the chart has it.
pub(crate) struct Order {
    pub(crate) reference: String,
    pub(crate) resource: Value,
}

impl Order {
    pub(crate) async fn read(sandbox: &Sandbox, reference: &str) -> anyhow::Result<Self> {
        let resource = sandbox.get(&format!("fhir/{reference}")).await?;
        Ok(Self { reference: reference.to_owned(), resource })
    }

    pub(crate) fn patient(&self) -> anyhow::Result<&str> {
        self.resource["subject"]["reference"].as_str().context("the order has no patient")
    }

    pub(crate) async fn member(&self, sandbox: &Sandbox, day: &str) -> anyhow::Result<String> {
        let coverage = in_force(sandbox, self.patient()?, day).await?.context("no insurance is in force")?;
        coverage["subscriberId"].as_str().map(str::to_owned).context("the insurance has no member number")
    }

    /// What every request says; the rest is added to it.
    pub(crate) async fn request(&self, sandbox: &Sandbox, member: &str) -> anyhow::Result<Value> {
        let requester = self.resource["requester"]["reference"].as_str().context("the order has no requester")?;
        let practitioner = sandbox.get(&format!("fhir/{requester}")).await?;
        let is_routine = self.resource["priority"].as_str().is_none_or(|priority| priority == "routine");
        Ok(json!({
            "patient_member_id": member,
            "diagnosis_code": self.resource["reasonCode"][0]["coding"][0]["code"],
            "provider_npi": npi(&practitioner).context("the requester has no NPI")?,
            "urgency": if is_routine { "standard" } else { "urgent" },
        }))
    }

    /// Submits, and goes on until the payer has decided.
    pub(crate) async fn submit(&self, sandbox: &Sandbox, request: &Value) -> anyhow::Result<Outcome> {
        let mut row = sandbox.post("portal/prior-auths", request).await?;
        if row["determination"]["status"] == "need_more_info" {
            row = self.inform(sandbox, &row).await?;
        }
        let decision = &row["determination"];
        match decision["status"].as_str() {
            Some("approved") => Outcome::approved(&row),
            Some("denied") => {
                Ok(Outcome::with("denied", "denial_reason", decision["reason"].as_str().unwrap_or_default()))
            }
            _ => bail!("the payer has not decided: {decision}"),
        }
    }

    /// Adds the newest document of the type that the payer's reason names. Of two types the longer name is meant.
    async fn inform(&self, sandbox: &Sandbox, row: &Value) -> anyhow::Result<Value> {
        let reason = row["determination"]["reason"].as_str().unwrap_or_default().to_lowercase();
        let number = row["auth_number"].as_str().unwrap_or_default();
        let documents = sandbox.search(&format!("DocumentReference?patient={}", self.patient()?)).await?;
        let kind = |document: &Value| document["type"]["text"].as_str().unwrap_or_default().to_lowercase();
        let named = documents.iter().filter(|document| reason.contains(&kind(document)));
        let meant = named.max_by_key(|document| (kind(document).len(), document["date"].as_str().unwrap_or_default()));
        let meant = meant.with_context(|| format!("no document is meant by \"{reason}\""))?;
        let attachment = &meant["content"][0]["attachment"];
        let name = meant["id"].as_str().unwrap_or_default();
        let body = json!({
            "name": format!("{name}.txt"),
            "content_type": attachment["contentType"],
            "base64": attachment["data"],
        });
        sandbox.post(&format!("portal/prior-auths/{}/documents", segment(number, false)), &body).await
    }

    pub(crate) async fn record(&self, sandbox: &Sandbox, outcome: &Outcome) -> anyhow::Result<()> {
        let mut task = json!({
            "resourceType": "Task",
            "status": "completed",
            "intent": "order",
            "focus": {"reference": self.reference},
            "for": {"reference": self.patient()?},
            "authoredOn": sandbox.told("today")?,
            "businessStatus": {"coding": [{"code": outcome.code}]},
        });
        if let Some((label, text)) = &outcome.output {
            task["output"] = json!([{"type": {"text": label}, "valueString": text}]);
        }
        sandbox.create(&task).await.map(drop)
    }
}
