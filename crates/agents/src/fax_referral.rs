//! Reference agent of `fax-referral`: reads each referral in the inbox, and orders the consultation or returns the document
//! with a reason.

use anyhow::{Context, anyhow};
use serde_json::{Value, json};

use crate::hl7::segment;
use crate::sandbox::Sandbox;

pub(crate) async fn solve(sandbox: &Sandbox) -> anyhow::Result<()> {
    for path in sandbox.inbox().await? {
        let bytes = sandbox.file(&path).await?;
        let referral = Referral::read(&bytes).with_context(|| path.clone())?;
        match referral.return_reason(sandbox).await? {
            None => sandbox.send_hl7(&referral.order(sandbox)?).await?,
            Some(reason) => return_referral(sandbox, &path, &bytes, &referral, reason).await?,
        }
    }
    Ok(())
}

/// The text of a referral, whose fields are found by their labels.
struct Referral {
    text: String,
}

impl Referral {
    fn read(bytes: &[u8]) -> anyhow::Result<Self> {
        let pages = documents::text(bytes).map_err(|error| anyhow!("{error}"))?;
        Ok(Self { text: pages.joined() })
    }

    /// The value after a label, if there is one.
    fn field(&self, label: &str) -> Option<&str> {
        let label = format!("{label}:");
        let mut after = self.text.match_indices(&label).map(|(at, _)| &self.text[at + label.len()..]);
        let value = after.next()?.trim_start_matches(['\t', ' ']).split(['\t', '\n']).next()?.trim();
        (!value.is_empty()).then_some(value)
    }

    fn number(&self) -> anyhow::Result<&str> {
        self.field("Referral number").context("the referral has no number")
    }

    /// Why the referral must be returned by the rules of the task, if so.
    async fn return_reason(&self, sandbox: &Sandbox) -> anyhow::Result<Option<&'static str>> {
        if self.field("Refer to").is_none_or(|to| !to.eq_ignore_ascii_case("cardiology")) {
            return Ok(Some("wrong_specialty"));
        }
        if self.field("Diagnosis").is_none() {
            return Ok(Some("missing_diagnosis"));
        }
        if !self.text.contains("/s/") {
            return Ok(Some("missing_signature"));
        }
        let Some(patient) = self.patient(sandbox).await? else {
            return Ok(Some("unknown_patient"));
        };
        let born = self.field("Date of birth").unwrap_or_default();
        let family = self.name().0.to_lowercase();
        let is_same = patient["birthDate"].as_str() == Some(born)
            && patient["name"][0]["family"].as_str().is_some_and(|name| name.to_lowercase() == family);
        Ok((!is_same).then_some("patient_mismatch"))
    }

    async fn patient(&self, sandbox: &Sandbox) -> anyhow::Result<Option<Value>> {
        let number = self.field("MRN").unwrap_or_default();
        let found = sandbox.search(&format!("Patient?identifier={number}")).await?;
        Ok(found.into_iter().next())
    }

    /// Family and given name, from `Family, Given`.
    fn name(&self) -> (String, String) {
        let name = self.field("Patient").unwrap_or_default();
        let (family, given) = name.split_once(',').unwrap_or((name, ""));
        (family.trim().to_owned(), given.trim().to_owned())
    }

    fn order(&self, sandbox: &Sandbox) -> anyhow::Result<String> {
        let (family, given) = self.name();
        let field = |label: &str| self.field(label).with_context(|| format!("the referral has no {label}"));
        let born = field("Date of birth")?.replace('-', "");
        let (code, meaning) = field("Diagnosis")?.split_once(' ').unwrap_or((field("Diagnosis")?, ""));
        let provider = field("Referring provider")?;
        let (doctor_given, doctor_family) = provider.rsplit_once(' ').unwrap_or(("", provider));
        let (npi, number, mrn) = (field("NPI")?, self.number()?, field("MRN")?);
        let priority = if field("Priority")?.eq_ignore_ascii_case("urgent") { "S" } else { "R" };
        let stamp = sandbox.item_text("today")?.replace('-', "");
        let doctor = format!("{npi}^{doctor_family}^{doctor_given}");
        let (timing, reason) = (format!("^^^^^{priority}"), format!("{code}^{meaning}^I10"));
        Ok([
            format!("MSH|^~\\&|INTAKE|HEARTCENTER|SCHED|HEARTCENTER|{stamp}080000||ORM^O01^ORM_O01|{number}|P|2.5.1"),
            segment(
                "PID",
                &[(1, "1"), (3, &format!("{mrn}^^^HEARTCENTER^MR")), (5, &format!("{family}^{given}")), (7, &born)],
            ),
            segment("ORC", &[(1, "NW"), (2, number), (7, &timing), (12, &doctor)]),
            segment("OBR", &[(1, "1"), (2, number), (4, "CARDCONS^Cardiology consultation^L"), (31, &reason)]),
        ]
        .join("\r"))
    }
}

async fn return_referral(
    sandbox: &Sandbox,
    path: &str,
    bytes: &[u8],
    referral: &Referral,
    reason: &str,
) -> anyhow::Result<()> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let note = json!({"referral_number": referral.number()?, "reason": reason});
    sandbox.put_file(&format!("outbox/returns/{name}"), "application/pdf", bytes.to_vec()).await?;
    let note_name = name.trim_end_matches(".pdf");
    sandbox
        .put_file(&format!("outbox/returns/{note_name}.json"), "application/json", note.to_string().into_bytes())
        .await
}
