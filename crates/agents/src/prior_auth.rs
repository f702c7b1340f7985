//! Shared parts of the prior authorization agents: the request to the payer, and the record of the outcome.

use anyhow::{Context, bail};
use client::segment;
use serde_json::{Value, json};

use crate::insurance::{in_force, npi};
use crate::sandbox::Sandbox;

/// The outcome of an order.
pub(crate) struct Outcome {
    code: &'static str,
    /// A labeled text for the task's output.
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

/// An order or a prescription in the chart.
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

    /// The members that every request has. The caller adds the rest.
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

    /// Submits a request, adds a document if the payer asks for one, and returns the payer's decision.
    pub(crate) async fn submit(&self, sandbox: &Sandbox, request: &Value) -> anyhow::Result<Outcome> {
        let mut row = sandbox.post("portal/prior-auths", request).await?;
        if row["determination"]["status"] == "need_more_info" {
            row = self.add_document(sandbox, &row).await?;
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

    /// Adds the newest document of the type that the payer's reason names. If it matches several types, the longest name wins.
    async fn add_document(&self, sandbox: &Sandbox, row: &Value) -> anyhow::Result<Value> {
        let reason = row["determination"]["reason"].as_str().unwrap_or_default().to_lowercase();
        let number = row["auth_number"].as_str().unwrap_or_default();
        let documents = sandbox.search(&format!("DocumentReference?patient={}", self.patient()?)).await?;
        let type_name = |document: &Value| document["type"]["text"].as_str().unwrap_or_default().to_lowercase();
        let named = documents.iter().filter(|document| reason.contains(&type_name(document)));
        let newest =
            named.max_by_key(|document| (type_name(document).len(), document["date"].as_str().unwrap_or_default()));
        let document = newest.with_context(|| format!("no document matches the payer's reason \"{reason}\""))?;
        let attachment = &document["content"][0]["attachment"];
        let name = document["id"].as_str().unwrap_or_default();
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
            "authoredOn": sandbox.item_text("today")?,
            "businessStatus": {"coding": [{"code": outcome.code}]},
        });
        if let Some((label, text)) = &outcome.output {
            task["output"] = json!([{"type": {"text": label}, "valueString": text}]);
        }
        sandbox.create(&task).await.map(drop)
    }
}
