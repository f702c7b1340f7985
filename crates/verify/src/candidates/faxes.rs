//! Candidates of `fax-document`: all faxes that the agent sent, including those to other numbers and undelivered ones.

use clinical::normalized_phone_number;
use model::simulator::SimulatorType;
use serde_json::Value;

use super::{Candidate, MOST_EXAMINED};
use crate::checks::fax_document::{EveryPage, FaxDocument};
use crate::count::counted;
use crate::evidence::{EvaluationContext, FAXES, SENT_FAX, text};

pub(crate) fn of(check: &FaxDocument, context: &EvaluationContext<'_>) -> Result<Vec<Candidate>, String> {
    let mut faxes = context.rows(SimulatorType::Fax, FAXES)?;
    faxes.retain(|(_, fax)| text(fax, "direction") == Some("outbound"));
    faxes.into_iter().rev().take(MOST_EXAMINED).map(|(name, fax)| candidate(check, name, &fax, context)).collect()
}

fn candidate(
    check: &FaxDocument,
    name: String,
    fax: &Value,
    context: &EvaluationContext<'_>,
) -> Result<Candidate, String> {
    let member = |name: &str| fax.get(name).cloned().unwrap_or_default();
    let (to, pages) = (text(fax, "to_number"), fax.get("pages").and_then(Value::as_u64));
    let length = counted(pages.and_then(|pages| usize::try_from(pages).ok()).unwrap_or_default(), "page");
    let mut candidate = Candidate::new(name, format!("fax to {} with {length}", to.unwrap_or("nobody")));
    if let Some(number) = check.to_number.as_ref().map(|number| number.ready()).transpose()?
        && to.map(normalized_phone_number) != Some(number.normalized())
    {
        candidate.differs("to_number", number.as_str(), member("to_number"));
    }
    if let Some(patient) = check.patient_id.as_deref().filter(|_| !check.is_filed_correctly(fax)) {
        candidate.differs("patient_id", patient, member("patient_id"));
    }
    if !text(fax, "status").is_some_and(|status| SENT_FAX.contains(&status)) {
        candidate.differs_because("status", "sent", member("status"), "the fax was not delivered");
    }
    if let Some(count) = check.pages.filter(|count| !pages.is_some_and(|pages| count.allows(pages))) {
        candidate.differs("pages", count.json(), member("pages"));
    }
    if let (Some(phrase), EveryPage::Foreign(pages)) = (&check.every_page, check.every_page_result(fax, context)?) {
        let reason = "pages have none of the phrases of `every_page`";
        candidate.differs_because("every_page", phrase.json(), pages.into(), reason);
    }
    Ok(candidate)
}
