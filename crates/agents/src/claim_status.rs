//! Reference agent of `claim-status`: asks the payer about due claims, files the responses, and creates follow-up tasks.

use anyhow::{Context, bail};
use serde_json::{Value, json};

use crate::sandbox::Sandbox;
use crate::x12::{Parties, compact, interchange, read};

pub(crate) async fn solve(sandbox: &Sandbox) -> anyhow::Result<()> {
    let payer_reference = sandbox.item_text("payer")?;
    let payer = sandbox.get(&format!("fhir/{payer_reference}")).await?;
    let before = sandbox.item_text("created_before")?;
    let claims = sandbox.search(&format!("Claim?insurer={payer_reference}&status=active&use=claim")).await?;
    let is_due = |claim: &&Value| claim["created"].as_str().is_some_and(|created| created < before);
    let due: Vec<&Value> = claims.iter().filter(is_due).collect();
    if due.is_empty() {
        let content = json!({"payer_id": payer["identifier"][0]["value"], "as_of": sandbox.item_text("today")?});
        return file(sandbox, "none", &content).await;
    }
    for claim in due {
        let status = query_status(sandbox, claim, &payer).await?;
        let number = number(claim)?;
        let content = json!({"claim_number": number, "status": status.name, "paid_amount": status.paid});
        file(sandbox, number, &content).await?;
        if let Some(code) = status.follow_up() {
            create_follow_up(sandbox, claim, code).await?;
        }
    }
    Ok(())
}

/// The status of a claim in a 277 response.
struct Status {
    name: &'static str,
    paid: Value,
}

impl Status {
    fn of(response: &str) -> anyhow::Result<Self> {
        let segments = read(response)?;
        let status = segments.iter().find(|segment| segment.name() == "STC").context("the response has no status")?;
        let name = match status.first_of(1) {
            "F1" => "paid",
            "F2" => "denied",
            "P1" => "pending",
            "P3" => "information_requested",
            "A4" => "not_found",
            other => bail!("unknown claim status {other}"),
        };
        let paid = serde_json::from_str(status.at(5)).unwrap_or_else(|_| json!(0));
        Ok(Self { name, paid })
    }

    fn follow_up(&self) -> Option<&'static str> {
        match self.name {
            "denied" => Some("appeal"),
            "information_requested" => Some("send_records"),
            "not_found" => Some("resubmit"),
            _ => None,
        }
    }
}

fn number(claim: &Value) -> anyhow::Result<&str> {
    claim["identifier"][0]["value"].as_str().context("the claim has no number")
}

async fn query_status(sandbox: &Sandbox, claim: &Value, payer: &Value) -> anyhow::Result<Status> {
    let follow = async |reference: &Value| {
        let reference = reference["reference"].as_str().context("the claim lacks a reference")?;
        sandbox.get(&format!("fhir/{reference}")).await
    };
    let patient = follow(&claim["patient"]).await?;
    let provider = follow(&claim["provider"]).await?;
    let coverage = follow(&claim["insurance"][0]["coverage"]).await?;
    let member = coverage["subscriberId"].as_str().context("the insurance has no member number")?;
    let parties = Parties { payer, provider: &provider, patient: &patient, member };
    let (today, claim_number) = (sandbox.item_text("today")?, number(claim)?);
    let date =
        |name: &str| claim["billablePeriod"][name].as_str().map(compact).context("the claim has no service date");
    let (first, last) = (date("start")?, date("end")?);
    let days = if first == last { format!("D8*{first}") } else { format!("RD8*{first}-{last}") };
    let segments = [
        format!("BHT*0010*13*{claim_number}*{}*0800", compact(today)),
        "HL*1**20*1".to_owned(),
        parties.payer()?,
        "HL*2*1*21*1".to_owned(),
        parties.provider("41")?,
        "HL*3*2*19*1".to_owned(),
        parties.provider("1P")?,
        "HL*4*3*22*0".to_owned(),
        parties.demographics()?,
        parties.subscriber()?,
        format!("TRN*1*{claim_number}"),
        format!("REF*EJ*{claim_number}"),
        format!("AMT*T3*{}", claim["total"]["value"]),
        format!("DTP*472*{days}"),
    ];
    Status::of(&sandbox.send_x12(&interchange("276", today, &segments)?).await?)
}

async fn file(sandbox: &Sandbox, name: &str, content: &Value) -> anyhow::Result<()> {
    let path = format!("outbox/claim-status/{name}.json");
    sandbox.put_file(&path, "application/json", content.to_string().into_bytes()).await
}

async fn create_follow_up(sandbox: &Sandbox, claim: &Value, code: &str) -> anyhow::Result<()> {
    let id = claim["id"].as_str().context("the claim has no id")?;
    let task = json!({
        "resourceType": "Task",
        "status": "requested",
        "intent": "order",
        "code": {"coding": [{"code": code}]},
        "focus": {"reference": format!("Claim/{id}")},
        "for": claim["patient"],
        "authoredOn": sandbox.item_text("today")?,
    });
    sandbox.create(&task).await.map(drop)
}
