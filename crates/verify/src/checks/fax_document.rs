//! Passes when the agent sent a fax whose text has the phrases.
//!
//! Reads the sent faxes, their text from the document or by OCR. `pages` is a number or a range, as `count` is.
//! The example: [`EXAMPLE`]. Evidence: `phraseResults[{phrase,found}]`, `matched[]`.

use model::FieldErrors;
use model::phone::PhoneNumber;
use model::phone::same;
use model::simulator::SimulatorType;
use serde::Deserialize;
use serde_json::Value;

use crate::authored::Authored;
use crate::checks::{Check, CheckInfo};
use crate::count::Count;
use crate::evidence::{Case, Evaluated, FAXES, SENT_FAX, text};
use crate::judge::{Sheet, is_absence, judge, names};
use crate::matching::Match;
use crate::pdf;
use crate::phrase::{Negation, Phrase, PhraseResult, PhraseRules, Transcript, check_phrases, unknown};
use crate::manual::{self, Member};

pub const EXAMPLE: &str = r#"{
  "assert": "fax-document",
  "to_number": "+1 555 010 0199",
  "contains": ["{{entity.name}}", ["letter of medical necessity", "statement of medical necessity"]],
  "not_contains": ["draft"],
  "pages": {"max": 10},
  "count": 1
}"#;

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaxDocument {
    #[serde(default)]
    pub to_number: Option<Authored<PhoneNumber>>,
    #[serde(default)]
    pub contains: Vec<Phrase>,
    #[serde(default, alias = "forbidden")]
    pub not_contains: Vec<Phrase>,
    #[serde(default)]
    pub negation: Negation,
    #[serde(default)]
    pub pages: Option<Count>,
    #[serde(default)]
    pub count: Option<Count>,
}

impl Check for FaxDocument {
    const INFO: CheckInfo = CheckInfo {
        name: "fax-document",
        summary: "The agent sent a fax whose text has the phrases.",
        example: EXAMPLE,
        members: &[
            Member::optional("to_number", "however it is written: `(555) 010-0199` is `+15550100199`"),
            manual::CONTAINS,
            manual::NOT_CONTAINS,
            manual::NEGATION,
            Member::optional("pages", "how many pages, written as [`count`](#match-and-count) is"),
            manual::COUNT,
        ],
        told: "Reads what was kept when the [fax](fax.md) was sent: the text layer, or what OCR read then. Where pages could not be read, what is not found counts as unknown. A fax that failed was not sent.",
        evidence: "`phraseResults`, `matched[]`",
    };

    fn validate(&self, errors: &mut FieldErrors) {
        check_phrases("contains", &self.contains, errors);
        check_phrases("not_contains", &self.not_contains, errors);
        if self.pages.is_some_and(|pages| pages.max == Some(0)) {
            errors.add("pages", "must allow for one page: no fax has none");
        }
    }

    fn is_guard(&self) -> bool {
        is_absence(self.count)
    }

    fn evaluate(&self, case: &Case<'_>) -> Evaluated {
        let number = self.to_number.as_ref().map(|number| number.ready()).transpose()?;
        let number = number.map(|number| same(&number.dialled));
        let mut sheets = Vec::new();
        for (name, fax) in case.rows(SimulatorType::Fax, FAXES)? {
            if self.is_meant(&fax, number.as_deref()) {
                sheets.push(Sheet { phrases: self.hold(&fax, case)?, name, ..Sheet::default() });
            }
        }
        let perfect = sheets.iter().filter(|sheet| sheet.is_perfect()).map(|sheet| sheet.name.as_str());
        let matched = names(perfect);
        let judgement = judge("fax", sheets.len(), sheets, Match::Any, self.count);
        let matched = if is_absence(self.count) { judgement.names() } else { matched };
        let results = judgement.phrase_results();
        judgement.outcome([("phraseResults", results), ("matched", matched)])
    }
}

impl FaxDocument {
    /// Whether it was sent, to this number and with so many pages.
    fn is_meant(&self, fax: &Value, number: Option<&str>) -> bool {
        let was_sent = text(fax, "direction") == Some("outbound")
            && text(fax, "status").is_some_and(|status| SENT_FAX.contains(&status));
        let to = text(fax, "to_number").map(same);
        let has_pages = |pages: Count| fax.get("pages").and_then(Value::as_u64).is_some_and(|count| pages.allows(count));
        was_sent && number.is_none_or(|number| to.as_deref() == Some(number)) && self.pages.is_none_or(has_pages)
    }

    fn rules(&self) -> PhraseRules<'_> {
        let Self { contains, not_contains, negation, .. } = self;
        PhraseRules { contains, not_contains, in_order: false, negation: *negation }
    }

    fn hold(&self, fax: &Value, case: &Case<'_>) -> Result<Vec<PhraseResult>, String> {
        let said = pdf::said(fax, &case.budget);
        match said.ok().filter(|text| !text.trim().is_empty()) {
            None => Ok(unknown(&self.contains, &self.not_contains, "the fax has no readable text")),
            Some(text) => {
                let transcript = Transcript::new([(Value::Null, text.as_ref())], &case.budget)?;
                let held = transcript.hold(self.rules(), &case.budget)?;
                Ok(if has_unread_pages(fax) { held.into_iter().map(doubted).collect() } else { held })
            }
        }
    }
}

/// Whether some of its pages are pictures that nobody could read.
fn has_unread_pages(fax: &Value) -> bool {
    text(fax, "ocr_status").is_some_and(|status| ["unavailable", "failed"].contains(&status))
}

/// What was not found may stand on a page that could not be read.
fn doubted(result: PhraseResult) -> PhraseResult {
    if result.is_found() { result } else { result.unknown("some pages of the fax could not be read") }
}

#[cfg(test)]
mod tests {
    use crate::testing::{Playground, says, scores};
    use model::simulator::SimulatorType;
    use serde_json::{Value, json};

    fn check(specification: Value, faults: &[(&str, &str)]) {
        crate::testing::check("fax-document", specification, faults);
    }

    #[test]
    fn sound_specifications() {
        check(json!({}), &[]);
        check(json!({"to_number": "{{entity.fax}}", "pages": 2}), &[]);
        check(json!({"contains": ["MRI"], "count": {"max": 0}}), &[]);
    }

    #[test]
    fn faulty_specifications() {
        check(json!({"to_number": 15550100199_u64}), &[("to_number", "string")]);
        check(json!({"to_number": "the clinic"}), &[("to_number", "phone number")]);
        check(json!({"pages": 0}), &[("pages", "one page")]);
        check(json!({"pages": {"min": 0}, "count": {}}), &[("pages", "never fail"), ("count", "never fail")]);
        check(json!({"contains": [" "], "not_contains": [5]}), &[("contains.0", "empty"), ("not_contains.0", "string")]);
    }

    #[test]
    fn sent_faxes_are_read() {
        let fax = |direction: &str, status: &str, text: Option<&str>| {
            json!({"direction": direction, "status": status, "to_number": "+1 (555) 010-0199", "pages": 2, "text": text})
        };
        let playground = Playground::new(&[])
            .write(SimulatorType::Fax, "faxes", "a", &fax("outbound", "sent", Some("Letter of Medical Necessity")))
            .write(SimulatorType::Fax, "faxes", "b", &fax("outbound", "failed", Some("MRI")))
            .write(SimulatorType::Fax, "faxes", "c", &fax("inbound", "sent", Some("MRI")));
        let assertion = |specification: Value| {
            let mut assertion = specification;
            assertion["assert"] = json!("fax-document");
            assertion
        };
        scores(
            &playground,
            &assertion(json!({"to_number": "+15550100199", "pages": 2, "contains": ["medical necessity"]})),
            "1/1",
            &json!({"phraseResults": [{"phrase": "medical necessity", "found": true, "turn": null}], "matched": ["a"]}),
        );
        for (specification, score) in [
            (json!({"contains": ["MRI"]}), "0/1"),
            (json!({"contains": ["MRI"], "count": 0}), "1/1"),
            (json!({"to_number": "(555) 010-0199"}), "1/1"),
            (json!({"to_number": "911"}), "0/1"),
            (json!({"pages": 3}), "0/1"),
            (json!({"not_contains": ["letter"]}), "0/1"),
        ] {
            says(&playground, &assertion(specification), score, "");
        }
        let unread = Playground::new(&[]).write(SimulatorType::Fax, "faxes", "a", &fax("outbound", "sent", None));
        says(&unread, &assertion(json!({"not_contains": ["x"]})), "0/1", "cannot be ruled out");
        says(&unread, &assertion(json!({"contains": ["x"], "count": 0})), "0/1", "cannot be told");
    }

    #[test]
    fn what_stands_on_an_unread_page_is_unknown() {
        let fax = json!({"direction": "outbound", "status": "sent", "to_number": "+15550100199", "pages": 2,
            "text": "Letter\u{c}", "ocr_status": "unavailable"});
        let playground = Playground::new(&[]).write(SimulatorType::Fax, "faxes", "a", &fax);
        for (specification, score) in [
            (json!({"assert": "fax-document", "contains": ["letter"]}), "1/1"),
            (json!({"assert": "fax-document", "contains": ["letter"], "not_contains": ["draft"]}), "0/1"),
            (json!({"assert": "fax-document", "contains": ["draft"], "count": 0}), "0/1"),
        ] {
            says(&playground, &specification, score, "");
        }
    }

    #[test]
    fn a_fax_is_read_by_its_text_layer() {
        use base64::Engine as _;
        let fax = |change: &str| {
            let specification = format!(r#"{{"title": "Letter of medical necessity", {change} "signer": "Dr. Núñez"}}"#);
            let bytes = documents::render(&serde_json::from_str(&specification).unwrap()).unwrap().bytes;
            let base64 = base64::engine::general_purpose::STANDARD.encode(bytes);
            json!({"direction": "outbound", "to_number": "+15550100199", "status": "sent", "pages": 1, "base64": base64})
        };
        let contains = json!({"assert": "fax-document", "contains": ["letter of medical necessity", "Dr. Núñez"]});
        for (change, score) in [("", "1/1"), (r#""look": "scanned","#, "1/1"), (r#""text_layer": false,"#, "0/1")] {
            let playground = Playground::new(&[]).write(SimulatorType::Fax, "faxes", "f1", &fax(change));
            says(&playground, &contains, score, "");
        }
    }
}
