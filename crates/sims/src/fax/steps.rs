//! The scenario step `fax_inbound`: a fax that arrives, rendered from a document.

use model::FieldErrors;
use model::event::EventType;
use model::template::is_template;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::authored::Authored;
use crate::contact_points;
use crate::document::{self, Document};
use crate::registry::StepInfo;
use crate::scenario::step::{Arrival, ScenarioStep, StepContext, StepOutput, object};

pub(crate) const FAX_INBOUND: StepInfo =
    StepInfo::of::<FaxInbound>("fax_inbound", "Delivers a fax, rendered from a document, to the fax inbox", || {
        json!({"do": "fax_inbound", "from_number": "+15550100142", "document": {
            "title": "Referral",
            "header": {"Patient": "{{entity.data.name}}"},
            "sections": [{"heading": "Reason", "text": "Evaluation of palpitations"}],
            "signature": "scanned",
        }})
    });

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaxInbound {
    pub document: Document,
    pub from_number: Option<String>,
}

impl Authored for FaxInbound {
    fn validate(&self, errors: &mut FieldErrors) {
        if let Some(number) = self.from_number.as_deref().filter(|number| !is_template(number)) {
            contact_points::check_phone_number(errors, "from_number", number);
        }
        errors.inside("document", |errors| self.document.validate(errors));
    }
}

/// Rows are `{id, direction, from_number, status, received_at, content_type, pages, size, sha256, base64, text?, document,
/// read}`; a scanned fax has no `text`.
pub(crate) const FAXES: &str = "faxes";

impl ScenarioStep for FaxInbound {
    fn execute(&self, context: &StepContext<'_>) -> Result<StepOutput, FieldErrors> {
        let id = context.new_id("fax");
        let mut row = object([
            ("id", id.as_str().into()),
            ("direction", "inbound".into()),
            ("from_number", self.from_number.clone().into()),
            ("status", "received".into()),
            ("received_at", context.due_at.to_string().into()),
        ]);
        row.extend(document::render_row(&self.document)?);
        // The event does not repeat the bytes, which are in the row.
        let arrival = row.iter().filter(|(name, _)| !matches!(name.as_str(), "base64" | "document"));
        let arrival = arrival.map(|(name, value)| (name.clone(), value.clone())).collect();
        row.insert("read".to_owned(), false.into());
        let summary = format!("a fax arrived from {}", self.from_number.as_deref().unwrap_or("a withheld number"));
        Ok(StepOutput {
            details: object([("id", id.as_str().into())]),
            changes: vec![context.put(FAXES, &id, &Value::Object(row))],
            arrivals: vec![Arrival { r#type: EventType::FaxInbound, summary: summary.clone(), payload: arrival }],
            summary,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::authored;

    #[test]
    fn a_fax_needs_a_document() {
        for (step, field) in [
            (json!({"document": {"title": "x"}}), ""),
            (json!({"document": {"title": "x"}, "from_number": "{{entity.data.fax}}"}), ""),
            (json!({}), "document"),
            (json!({"document": "x"}), "document"),
            (json!({"document": {"title": "x", "pages": 3}}), "document.pages"),
            (json!({"document": {"title": "x"}, "from_number": "me"}), "from_number"),
        ] {
            let errors = authored::check::<FaxInbound>(&step).err().unwrap_or_default();
            assert_eq!(errors.iter().next().map_or("", |(field, _)| field), field, "{errors}");
        }
    }
}
