//! Passes when the agent sent a fax whose text has the phrases.
//!
//! Reads the sent faxes: the visible text of the document, or what OCR read when it was sent. `pages` is a number or a
//! range, as `count` is. `every_page` is a phrase or a list of alternatives, one of which must be on each page.
//! The example: [`EXAMPLE`]. Evidence: `phraseResults[{phrase,found}]`, `matched[]`.

use std::collections::BTreeSet;

use model::FieldErrors;
use model::phone::PhoneNumber;
use model::phone::same;
use model::simulator::SimulatorType;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::authored::Authored;
use crate::bounds::MOST_LISTED;
use crate::checks::{Check, CheckInfo};
use crate::count::Count;
use crate::evidence::{Case, Evaluated, FAXES, SENT_FAX, text};
use crate::judge::{Sheet, is_absence, judge, names};
use crate::manual::{self, Member};
use crate::matching::Match;
use crate::pdf;
use crate::phrase::{Negation, Phrase, PhraseResult, PhraseRules, Transcript, check_phrases, unknown};

/// Why what was not found is unknown.
const UNREAD_PAGES: &str = "some pages of the fax could not be read";
/// Between the pages of a text.
const PAGE_END: char = '\u{c}';
/// A fax has no more.
const MOST_PAGES: u64 = 200;

pub const EXAMPLE: &str = r#"{
  "assert": "fax-document",
  "to_number": "+1 555 010 0199",
  "contains": ["{{entity.name}}", ["letter of medical necessity", "statement of medical necessity"]],
  "not_contains": ["draft"],
  "pages": {"max": 10},
  "every_page": "{{entity.name}}",
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
    pub every_page: Option<Phrase>,
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
            Member::optional(
                "every_page",
                "a phrase, or a list of alternatives: each page must have one of them. A fax with another page, such as one about somebody else, is not a match and is listed in `foreign_pages`",
            ),
            manual::COUNT,
        ],
        told: "Reads what was kept when the [fax](fax.md) was sent: the [visible text](documents.md) of the document, or what OCR read then. Where pages could not be read, what is not found counts as unknown; if that decides the score and the server had no OCR, the task cannot be completed there. A fax counts once it was delivered: before the playground is frozen, faxes on their way are delivered or fail.",
        evidence: "`phraseResults`, `matched[]`, `foreign_pages[{fax,pages}]`",
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
        let Candidates { sheets, foreign } = self.candidates(case)?;
        let perfect = sheets.iter().filter(|sheet| sheet.is_perfect()).map(|sheet| sheet.name.as_str());
        let matched = names(perfect);
        let judgement = judge("fax", sheets.len(), sheets, Match::Any, self.count);
        let matched = if is_absence(self.count) { judgement.names() } else { matched };
        let results = judgement.phrase_results();
        match self.every_page {
            Some(_) => {
                judgement.outcome([("phraseResults", results), ("matched", matched), ("foreign_pages", foreign.into())])
            }
            None => judgement.outcome([("phraseResults", results), ("matched", matched)]),
        }
    }
}

/// The faxes that may be what the author means.
struct Candidates {
    sheets: Vec<Sheet>,
    /// Faxes with pages that have none of the `every_page` phrases.
    foreign: Vec<Value>,
}

/// What `every_page` finds.
enum Pages {
    Fitting,
    /// The numbers of pages without any of the phrases.
    Foreign(Vec<usize>),
    /// Pages that could not be read may have them.
    Unknown,
}

impl FaxDocument {
    fn candidates(&self, case: &Case<'_>) -> Result<Candidates, String> {
        let number = self.to_number.as_ref().map(|number| number.ready()).transpose()?;
        let number = number.map(|number| same(&number.dialled));
        let mut candidates = Candidates { sheets: Vec::new(), foreign: Vec::new() };
        for (name, fax) in case.rows(SimulatorType::Fax, FAXES)? {
            if !self.is_meant(&fax, number.as_deref()) {
                continue;
            }
            let mut phrases = self.hold(&fax, case)?;
            match self.pages_of(&fax, case)? {
                Pages::Fitting => {}
                Pages::Unknown => phrases.extend(unknown(self.every_page.as_slice(), &[], UNREAD_PAGES)),
                Pages::Foreign(pages) => {
                    let pages: Vec<usize> = pages.into_iter().take(MOST_LISTED).collect();
                    if candidates.foreign.len() < MOST_LISTED {
                        candidates.foreign.push(json!({"fax": name, "pages": pages}));
                    }
                    continue;
                }
            }
            candidates.sheets.push(Sheet { phrases, name, ..Sheet::default() });
        }
        Ok(candidates)
    }

    /// The faxes whose unread pages decide the outcome, where the server had no OCR to read them.
    pub(crate) fn undecided(&self, case: &Case<'_>) -> Result<Vec<String>, String> {
        let unread: BTreeSet<String> = case
            .rows(SimulatorType::Fax, FAXES)?
            .into_iter()
            .filter(|(_, fax)| text(fax, "ocr_status") == Some("unavailable"))
            .map(|(name, _)| name)
            .collect();
        if unread.is_empty() {
            return Ok(Vec::new());
        }
        let sheets = self.candidates(case)?.sheets;
        let is_decided = self.count.is_none() && sheets.iter().any(Sheet::is_perfect);
        let is_open = |sheet: &Sheet| sheet.phrases.iter().any(|phrase| phrase.reason.is_some());
        let open = sheets.iter().filter(|sheet| unread.contains(&sheet.name) && is_open(sheet));
        Ok(if is_decided { Vec::new() } else { open.map(|sheet| sheet.name.clone()).collect() })
    }

    /// Whether it was sent, to this number and with so many pages.
    fn is_meant(&self, fax: &Value, number: Option<&str>) -> bool {
        let was_sent = text(fax, "direction") == Some("outbound")
            && text(fax, "status").is_some_and(|status| SENT_FAX.contains(&status));
        let to = text(fax, "to_number").map(same);
        let has_pages =
            |pages: Count| fax.get("pages").and_then(Value::as_u64).is_some_and(|count| pages.allows(count));
        was_sent && number.is_none_or(|number| to.as_deref() == Some(number)) && self.pages.is_none_or(has_pages)
    }

    fn rules(&self) -> PhraseRules<'_> {
        let Self { contains, not_contains, negation, .. } = self;
        PhraseRules { contains, not_contains, in_order: false, negation: *negation, numbers: None, words: None }
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

    fn pages_of(&self, fax: &Value, case: &Case<'_>) -> Result<Pages, String> {
        let Some(phrase) = self.every_page.as_slice().first() else { return Ok(Pages::Fitting) };
        let contains = std::slice::from_ref(phrase);
        let rules = PhraseRules {
            contains,
            not_contains: &[],
            in_order: false,
            negation: Negation::default(),
            numbers: None,
            words: None,
        };
        let said = pdf::said(fax, &case.budget).unwrap_or_default();
        let count = fax.get("pages").and_then(Value::as_u64).unwrap_or(1).min(MOST_PAGES);
        let mut texts = said.split(PAGE_END);
        let (mut foreign, mut is_unknown) = (Vec::new(), false);
        for number in 1..=count as usize {
            let page = texts.next().unwrap_or_default();
            let transcript = Transcript::new([(Value::Null, page)], &case.budget)?;
            let held = transcript.hold(rules, &case.budget)?;
            if held.iter().all(PhraseResult::is_found) {
                continue;
            }
            if page.trim().is_empty() && has_unread_pages(fax) {
                is_unknown = true;
            } else {
                foreign.push(number);
            }
        }
        Ok(match (foreign.is_empty(), is_unknown) {
            (false, _) => Pages::Foreign(foreign),
            (true, true) => Pages::Unknown,
            (true, false) => Pages::Fitting,
        })
    }
}

/// Whether some of its pages are pictures that nobody could read.
fn has_unread_pages(fax: &Value) -> bool {
    text(fax, "ocr_status").is_some_and(|status| ["unavailable", "failed"].contains(&status))
}

/// What was not found may stand on a page that could not be read.
fn doubted(result: PhraseResult) -> PhraseResult {
    if result.is_found() { result } else { result.unknown(UNREAD_PAGES) }
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
        check(
            json!({"contains": [" "], "not_contains": [5]}),
            &[("contains.0", "empty"), ("not_contains.0", "string")],
        );
    }

    #[test]
    fn sent_faxes_are_read() {
        let fax = |direction: &str, status: &str, text: Option<&str>| json!({"direction": direction, "status": status, "to_number": "+1 (555) 010-0199", "pages": 2, "text": text});
        let playground = Playground::new(&[])
            .write(SimulatorType::Fax, "faxes", "a", &fax("outbound", "sent", Some("Letter of Medical Necessity")))
            .write(SimulatorType::Fax, "faxes", "b", &fax("outbound", "failed", Some("MRI")))
            .write(SimulatorType::Fax, "faxes", "c", &fax("inbound", "sent", Some("MRI")))
            .write(SimulatorType::Fax, "faxes", "d", &fax("outbound", "queued", Some("MRI")));
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
            let specification =
                format!(r#"{{"title": "Letter of medical necessity", {change} "signer": "Dr. Núñez"}}"#);
            let bytes = documents::render(&serde_json::from_str(&specification).unwrap()).unwrap().bytes;
            let base64 = base64::engine::general_purpose::STANDARD.encode(bytes);
            json!({"direction": "outbound", "to_number": "+15550100199", "status": "sent", "pages": 1, "base64": base64})
        };
        let contains = json!({"assert": "fax-document", "contains": ["letter of medical necessity", "Dr. Núñez"]});
        // Words behind a scan are not what the scan shows.
        for (change, score) in [("", "1/1"), (r#""look": "scanned","#, "0/1"), (r#""text_layer": false,"#, "0/1")] {
            let playground = Playground::new(&[]).write(SimulatorType::Fax, "faxes", "f1", &fax(change));
            says(&playground, &contains, score, "");
        }
    }

    #[test]
    fn every_page_must_be_about_the_patient() {
        let fax = |text: &str, ocr_status: &str| {
            json!({"direction": "outbound", "status": "sent", "to_number": "+15550100199", "pages": 2, "text": text,
                "ocr_status": ocr_status})
        };
        let assertion =
            json!({"assert": "fax-document", "contains": ["order"], "every_page": ["Minh Tran", "MRN 4411"]});
        for (text, ocr_status, score) in [
            ("Order for Minh Tran\u{c}Results, MRN 4411", "not_needed", "1/1"),
            ("Order for Minh Tran\u{c}Results of Ana Lopez", "not_needed", "0/1"),
            ("Order for Minh Tran\u{c}", "not_needed", "0/1"),
            ("Order for Minh Tran\u{c}", "unavailable", "1/2"),
            ("Order for Minh Tran", "not_needed", "0/1"),
        ] {
            let playground = Playground::new(&[]).write(SimulatorType::Fax, "faxes", "a", &fax(text, ocr_status));
            says(&playground, &assertion, score, "");
        }
        let foreign = fax("Order for Minh Tran\u{c}Results of Ana Lopez", "done");
        let playground = Playground::new(&[]).write(SimulatorType::Fax, "faxes", "a", &foreign);
        scores(
            &playground,
            &json!({"assert": "fax-document", "every_page": "Minh Tran"}),
            "0/1",
            &json!({"phraseResults": [], "matched": [], "foreign_pages": [{"fax": "a", "pages": [2]}]}),
        );
    }
}
