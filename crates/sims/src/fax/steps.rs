//! The scenario step `fax_inbound`: a fax that arrives, rendered from a document.

use model::FieldErrors;
use model::template::is_template;
use serde::Deserialize;
use serde_json::json;

use crate::authored::{self, Authored};
use crate::contact;
use crate::document::Document;
use crate::registry::StepInfo;

pub(crate) const FAX_INBOUND: StepInfo = StepInfo {
    name: "fax_inbound",
    summary: "Delivers a fax, rendered from a document, to the fax inbox",
    example: || {
        json!({"do": "fax_inbound", "from_number": "+15550100142", "document": {
            "title": "Referral",
            "header": {"Patient": "{{entity.data.name}}"},
            "sections": [{"heading": "Reason", "text": "Evaluation of palpitations"}],
            "signature": "scanned",
        }})
    },
    check: authored::check::<FaxInbound>,
};

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaxInbound {
    pub document: Document,
    pub from_number: Option<String>,
}

impl Authored for FaxInbound {
    fn validate(&self, errors: &mut FieldErrors) {
        if let Some(number) = self.from_number.as_deref().filter(|number| !is_template(number)) {
            contact::check_phone_number(errors, "from_number", number);
        }
        errors.inside("document", |errors| self.document.validate(errors));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fax_has_a_document() {
        for (step, place) in [
            (json!({"document": {"title": "x"}}), ""),
            (json!({"document": {"title": "x"}, "from_number": "{{entity.data.fax}}"}), ""),
            (json!({}), "document"),
            (json!({"document": "x"}), "document"),
            (json!({"document": {"title": "x", "pages": 3}}), "document.pages"),
            (json!({"document": {"title": "x"}, "from_number": "me"}), "from_number"),
        ] {
            let errors = authored::check::<FaxInbound>(&step).err().unwrap_or_default();
            assert_eq!(errors.iter().next().map_or("", |(place, _)| place), place, "{errors}");
        }
    }
}
