//! Reference agent of `eligibility`: asks the payer about the insurance for a visit, files the response, and creates a
//! follow-up task where something must be corrected.

use anyhow::{Context, anyhow};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::insurance::in_force;
use crate::sandbox::Sandbox;
use crate::x12::{Parties, Segment, compact, interchange, read};

pub(crate) async fn solve(sandbox: &Sandbox) -> anyhow::Result<()> {
    let visit = Visit::read(sandbox).await?;
    let finding = match in_force(sandbox, &visit.patient_reference()?, &visit.day).await? {
        None => Finding::self_pay(),
        Some(coverage) => visit.query(sandbox, &coverage).await?,
    };
    visit.file(sandbox, &finding).await?;
    match finding.follow_up() {
        None => Ok(()),
        Some(code) => visit.create_follow_up(sandbox, code).await,
    }
}

/// The appointment, with what an inquiry needs.
struct Visit {
    reference: String,
    patient: Value,
    day: String,
    service: String,
}

impl Visit {
    async fn read(sandbox: &Sandbox) -> anyhow::Result<Self> {
        let reference = sandbox.item_text("appointment")?.to_owned();
        let appointment = sandbox.get(&format!("fhir/{reference}")).await?;
        let participants = appointment["participant"].as_array().context("the appointment has no participants")?;
        let mut references = participants.iter().filter_map(|one| one["actor"]["reference"].as_str());
        let patient =
            references.find(|reference| reference.starts_with("Patient/")).context("the appointment has no patient")?;
        let patient = sandbox.get(&format!("fhir/{patient}")).await?;
        let day = appointment["start"].as_str().and_then(|start| start.get(..10)).context("the visit has no date")?;
        let service = appointment["serviceType"][0]["coding"][0]["code"].as_str().context("the visit has no type")?;
        Ok(Self { reference, patient, day: day.to_owned(), service: service.to_owned() })
    }

    fn patient_reference(&self) -> anyhow::Result<String> {
        Ok(format!("Patient/{}", self.patient["id"].as_str().context("the patient has no id")?))
    }

    /// Asks the payer, and again with the member number on the insurance card if the payer does not know the first one.
    async fn query(&self, sandbox: &Sandbox, coverage: &Value) -> anyhow::Result<Finding> {
        let member = coverage["subscriberId"].as_str().context("the insurance has no member number")?;
        let first = self.query_member(sandbox, coverage, member).await?;
        if first.reject_code.as_deref() != Some("72") {
            return Ok(first);
        }
        match self.number_on_card(sandbox).await? {
            None => Ok(first),
            Some(number) => {
                let second = self.query_member(sandbox, coverage, &number).await?;
                Ok(Finding { is_corrected: second.status == "active", ..second })
            }
        }
    }

    async fn query_member(&self, sandbox: &Sandbox, coverage: &Value, member: &str) -> anyhow::Result<Finding> {
        let response = match sandbox.item_text("ask_at")? {
            "x12/eligibility" => {
                let body = json!({"patient_id": self.patient["id"], "service_types": [self.service], "date": self.day});
                let result = sandbox.post("x12/eligibility", &body).await?;
                result["response"].as_str().context("the response has no 271")?.to_owned()
            }
            _ => sandbox.send_x12(&self.inquiry(sandbox, coverage, member).await?).await?,
        };
        Ok(Finding::of(&read(&response)?, member, &self.service))
    }

    async fn inquiry(&self, sandbox: &Sandbox, coverage: &Value, member: &str) -> anyhow::Result<String> {
        let payer = coverage["payor"][0]["reference"].as_str().context("the insurance has no payer")?;
        let payer = sandbox.get(&format!("fhir/{payer}")).await?;
        let practices = sandbox.search("Organization?name=Harbor%20Family%20Practice").await?;
        let provider = practices.first().context("the practice is not in the chart")?;
        let parties = Parties { payer: &payer, provider, patient: &self.patient, member };
        let today = sandbox.item_text("today")?;
        let visit = sandbox.item_text("appointment")?.trim_start_matches("Appointment/");
        let segments = [
            format!("BHT*0022*13*{visit}*{}*0800", compact(today)),
            "HL*1**20*1".to_owned(),
            parties.payer()?,
            "HL*2*1*21*1".to_owned(),
            parties.provider("1P")?,
            "HL*3*2*22*0".to_owned(),
            format!("TRN*1*{visit}*9PRACTICE0"),
            parties.subscriber()?,
            parties.demographics()?,
            format!("DTP*291*D8*{}", compact(&self.day)),
            format!("EQ*{}", self.service),
        ];
        interchange("270", today, &segments)
    }

    /// The member number on the newest insurance card.
    async fn number_on_card(&self, sandbox: &Sandbox) -> anyhow::Result<Option<String>> {
        let query = format!("DocumentReference?patient={}&type=64290-0", self.patient_reference()?);
        let cards = sandbox.search(&query).await?;
        let newest = cards.iter().max_by_key(|card| card["date"].as_str().unwrap_or_default());
        let Some(data) = newest.and_then(|card| card["content"][0]["attachment"]["data"].as_str()) else {
            return Ok(None);
        };
        let text = decoded(data)?;
        let mut numbers = text.lines().filter_map(|line| line.strip_prefix("Member ID:"));
        Ok(numbers.next().map(|number| number.trim().to_owned()))
    }

    async fn file(&self, sandbox: &Sandbox, finding: &Finding) -> anyhow::Result<()> {
        let id = self.reference.rsplit('/').next().unwrap_or_default();
        let content = json!({
            "member_id": finding.member,
            "service_date": self.day,
            "status": finding.status,
            "copay_amount": finding.copay,
            "deductible_remaining": finding.deductible,
            "reject_code": finding.reject_code,
        });
        let path = format!("outbox/eligibility/{id}.json");
        sandbox.put_file(&path, "application/json", content.to_string().into_bytes()).await
    }

    async fn create_follow_up(&self, sandbox: &Sandbox, code: &str) -> anyhow::Result<()> {
        let task = json!({
            "resourceType": "Task",
            "status": "requested",
            "intent": "order",
            "code": {"coding": [{"code": code}]},
            "focus": {"reference": self.reference},
            "for": {"reference": self.patient_reference()?},
            "authoredOn": sandbox.item_text("today")?,
        });
        sandbox.create(&task).await.map(drop)
    }
}

/// The payer's response.
struct Finding {
    member: Option<String>,
    status: &'static str,
    copay: Value,
    deductible: Value,
    reject_code: Option<String>,
    needs_authorization: bool,
    is_corrected: bool,
}

impl Finding {
    fn self_pay() -> Self {
        Self {
            member: None,
            status: "self_pay",
            copay: Value::Null,
            deductible: Value::Null,
            reject_code: None,
            needs_authorization: false,
            is_corrected: false,
        }
    }

    fn of(segments: &[Segment], member: &str, service: &str) -> Self {
        let reject_code = segments.iter().find(|segment| segment.name() == "AAA").map(|reject| reject.at(3).to_owned());
        let benefits: Vec<&Segment> = segments.iter().filter(|segment| segment.name() == "EB").collect();
        let is_active = benefits.iter().any(|benefit| benefit.at(1) == "1");
        let status = match (&reject_code, is_active) {
            (Some(_), _) => "rejected",
            (None, true) => "active",
            (None, false) => "inactive",
        };
        let of_service = |benefit: &&&Segment| benefit.at(3) == service && benefit.at(12) != "N";
        let copay = benefits.iter().filter(of_service).find(|benefit| benefit.at(1) == "B");
        let is_remaining_deductible = |benefit: &&&Segment| {
            benefit.at(1) == "C" && benefit.at(2) == "IND" && benefit.at(6) == "29" && benefit.at(12) != "N"
        };
        Self {
            member: Some(member.to_owned()),
            status,
            copay: amount(copay.copied()),
            deductible: amount(benefits.iter().find(is_remaining_deductible).copied()),
            reject_code,
            needs_authorization: benefits.iter().filter(of_service).any(|benefit| benefit.at(11) == "Y"),
            is_corrected: false,
        }
    }

    fn follow_up(&self) -> Option<&'static str> {
        match self.status {
            "inactive" => Some("update_insurance"),
            "rejected" => Some("verify_insurance"),
            _ if self.is_corrected => Some("correct_member_number"),
            _ if self.needs_authorization => Some("request_authorization"),
            _ => None,
        }
    }
}

/// The amount (EB07) of a benefit, or null.
fn amount(benefit: Option<&Segment>) -> Value {
    benefit.and_then(|benefit| serde_json::from_str(benefit.at(7)).ok()).unwrap_or_default()
}

/// Decodes a text attachment.
fn decoded(data: &str) -> anyhow::Result<String> {
    let bytes = STANDARD.decode(data).map_err(|error| anyhow!("the card is not base64: {error}"))?;
    String::from_utf8(bytes).context("the card is not UTF-8 text")
}
