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
use crate::candidates::{self, Candidate, unmet_phrases};
use crate::checks::sftp_file_present::given_file;
use crate::checks::{Check, CheckInfo, Reads};
use crate::content::{Wanted, fax_file, want};
use crate::count::Count;
use crate::document;
use crate::evidence::{Case, Evaluated, FAXES, SENT_FAX, text};
use crate::judge::{FieldResult, Sheet, is_absence, judge, names};
use crate::manual::{self, Member};
use crate::matching::Match;
use crate::pdf;
use crate::phrase::{
    Negation, Phrase, PhraseResult, PhraseRules, Transcript, check_numbers, check_phrases, check_words_of, unknown,
    unknown_rules,
};
use crate::wording::{self, Wording};

/// Why what was not found is unknown.
const UNREAD_PAGES: &str = "some pages of the fax could not be read";
/// Between the pages of a text.
const PAGE_END: char = '\u{c}';
/// What the agent writes about a fax beside its document.
const BESIDE: [&str; 2] = ["subject", "document_type"];
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
    /// The patient under whom the fax may be filed.
    #[serde(default)]
    pub patient_id: Option<String>,
    #[serde(default)]
    pub contains: Vec<Phrase>,
    #[serde(default, alias = "forbidden")]
    pub not_contains: Vec<Phrase>,
    #[serde(default)]
    pub negation: Negation,
    /// The phone numbers that may occur.
    #[serde(default)]
    pub numbers: Option<Vec<Authored<PhoneNumber>>>,
    /// The words that may occur besides those of `contains`.
    #[serde(default)]
    pub words: Option<Vec<String>>,
    /// What the fax must say, and nothing else.
    #[serde(default)]
    pub text: Option<Wording>,
    /// The subject lines and kinds of documents that the agent may write beside the document.
    #[serde(default)]
    pub subject: Option<Vec<Phrase>>,
    /// Whether the document must show nothing but text.
    #[serde(default)]
    pub text_only: bool,
    /// The path of a file that the fax must show the same as.
    #[serde(default)]
    pub same_as: Option<String>,
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
        reads: Reads::Type(SimulatorType::Fax),
        is_limit: false,
        members: &[
            Member::optional("to_number", "however it is written: `(555) 010-0199` is `+15550100199`"),
            Member::optional(
                "patient_id",
                "a patient: a fax that the agent filed under another `patient_id` is not a match; one without `patient_id` is",
            ),
            manual::CONTAINS,
            manual::NOT_CONTAINS,
            manual::NEGATION,
            manual::NUMBERS,
            manual::WORDS,
            Member::optional(
                "text",
                "[fixed wording](#fixed-wording): a text, or a list of alternatives; all visible text of the document, pages and footers included, must be one of them",
            ),
            Member::optional(
                "subject",
                "the texts that the agent may give as `subject` and `document_type` of the fax, each a text or a list of alternatives, held whole; `[]` allows none. A fax with another one is not a match. Without it they may be anything without a forbidden phrase",
            ),
            Member::new(
                "text_only",
                "false",
                "whether the document must show [nothing but text](documents.md#text-only-documents): no pictures, drawings, annotations, form fields, attached files or faint text",
            ),
            Member::optional(
                "same_as",
                "the path of a file, as the dataset or the scenario brought it to the file drop, that the fax must be: the same bytes, or page by page the same visible text and the same picture",
            ),
            Member::optional("pages", "how many pages, written as [`count`](#match-and-count) is"),
            Member::optional(
                "every_page",
                "a phrase, or a list of alternatives: each page must have one of them. A fax with another page, such as one about somebody else, is not a match and is listed in `foreign_pages`",
            ),
            manual::COUNT,
        ],
        description: "`contains` and `text` look at the document; `not_contains`, `numbers` and `words` also at the `subject` and the `document_type` of the fax. Reads what was kept when the [fax](fax.md) was sent: the [visible text](documents.md) of the document, or what OCR read then. Where pages could not be read, what is not found counts as unknown; if that decides the score and the server had no OCR, the task cannot be completed there. A fax counts once it was delivered: before the playground is frozen, faxes on their way are delivered or fail.",
        evidence: "`phraseResults`, `matched[]`, `foreign_pages[{fax,pages}]`; [`count`, `candidates[]`](#evidence)",
    };

    fn validate(&self, errors: &mut FieldErrors) {
        check_phrases("contains", &self.contains, errors);
        check_phrases("not_contains", &self.not_contains, errors);
        check_numbers(self.numbers.as_ref(), errors);
        check_words_of(self.words.as_deref(), errors);
        check_phrases("subject", self.subject.as_deref().unwrap_or_default(), errors);
        if let Some(path) = &self.same_as {
            errors.name("same_as", path);
        }
        if let Some(patient) = &self.patient_id {
            errors.name("patient_id", patient);
        }
        if self.pages.is_some_and(|pages| pages.max == Some(0)) {
            errors.add("pages", "must allow for one page: no fax has none");
        }
    }

    fn is_guard(&self) -> bool {
        is_absence(self.count)
    }

    fn evaluate(&self, case: &Case<'_>) -> Evaluated {
        let Candidates { sheets, foreign } = self.candidates(case)?;
        let sheets: Vec<Sheet> = sheets.into_iter().map(|(sheet, _)| sheet).collect();
        let perfect = sheets.iter().filter(|sheet| sheet.is_perfect()).map(|sheet| sheet.name.as_str());
        let matched = names(perfect);
        let judgement = judge("fax", sheets.len(), sheets, Match::Any, self.count);
        let matched = if is_absence(self.count) { judgement.names() } else { matched };
        let results = judgement.phrase_results();
        match self.every_page {
            Some(_) => {
                let lists = [("phraseResults", results), ("matched", matched), ("foreign_pages", foreign.into())];
                judgement.outcome(self, case, lists)
            }
            None => judgement.outcome(self, case, [("phraseResults", results), ("matched", matched)]),
        }
    }

    fn unmet(&self) -> Vec<(&'static str, Value)> {
        vec![("phraseResults", unmet_phrases(self.rules(), self.count))]
    }

    fn candidates(&self, case: &Case<'_>) -> Result<Vec<Candidate>, String> {
        candidates::faxes::of(self, case)
    }

    fn wanted_files(&self, case: &Case<'_>) -> Result<Wanted, String> {
        let (mut wanted, mut read) = (Wanted::new(), 0);
        if !self.text_only && self.same_as.is_none() {
            return Ok(wanted);
        }
        if let Some(path) = &self.same_as {
            want(&mut wanted, &mut read, &given_file(path, case)?);
        }
        let number = self.to_number.as_ref().map(|number| number.ready()).transpose()?;
        let number = number.map(|number| same(&number.dialled));
        let faxes = case.rows(SimulatorType::Fax, FAXES)?;
        let meant = faxes.iter().filter(|(_, fax)| self.is_meant(fax, number.as_deref()));
        meant.for_each(|(_, fax)| want(&mut wanted, &mut read, &fax_file(fax)));
        Ok(wanted)
    }

    fn undecided_documents(&self, case: &Case<'_>) -> Result<Vec<String>, String> {
        let unread: BTreeSet<String> = case
            .rows(SimulatorType::Fax, FAXES)?
            .into_iter()
            .filter(|(_, fax)| text(fax, "ocr_status") == Some("unavailable"))
            .map(|(name, _)| name)
            .collect();
        // Pages that nobody can read are not text.
        if unread.is_empty() || self.text_only {
            return Ok(Vec::new());
        }
        // The log is not at hand here, so what is seen of the documents does not count.
        let sheets: Vec<Sheet> = self.read(case)?.sheets.into_iter().map(|(sheet, _)| sheet).collect();
        let is_decided = self.count.is_none() && sheets.iter().any(Sheet::is_perfect);
        let is_open = |sheet: &Sheet| sheet.phrases.iter().any(|phrase| phrase.reason.is_some());
        let open = sheets.iter().filter(|sheet| unread.contains(&sheet.name) && is_open(sheet));
        Ok(if is_decided { Vec::new() } else { open.map(|sheet| sheet.name.clone()).collect() })
    }
}

/// The faxes that may be what the author means.
struct Candidates {
    /// Each with its fax.
    sheets: Vec<(Sheet, Value)>,
    /// Faxes with pages that have none of the `every_page` phrases.
    foreign: Vec<Value>,
}

/// What `every_page` finds.
pub(crate) enum Pages {
    Fitting,
    /// The numbers of pages without any of the phrases.
    Foreign(Vec<usize>),
    /// Pages that could not be read may have them.
    Unknown,
}

impl FaxDocument {
    fn candidates(&self, case: &Case<'_>) -> Result<Candidates, String> {
        let original = self.same_as.as_deref().map(|path| Ok::<_, String>((path, given_file(path, case)?)));
        let original = original.transpose()?;
        let original = original.as_ref().map(|(path, row)| (*path, row));
        let mut candidates = self.read(case)?;
        for (sheet, fax) in &mut candidates.sheets {
            self.check_document(sheet, fax, original, case)?;
        }
        Ok(candidates)
    }

    fn read(&self, case: &Case<'_>) -> Result<Candidates, String> {
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
            candidates.sheets.push((Sheet { phrases, name, ..Sheet::default() }, fax));
        }
        Ok(candidates)
    }

    /// Whether it was sent, to this number and with so many pages.
    fn is_meant(&self, fax: &Value, number: Option<&str>) -> bool {
        let was_sent = text(fax, "direction") == Some("outbound")
            && text(fax, "status").is_some_and(|status| SENT_FAX.contains(&status));
        let to = text(fax, "to_number").map(same);
        let has_pages =
            |pages: Count| fax.get("pages").and_then(Value::as_u64).is_some_and(|count| pages.allows(count));
        was_sent
            && number.is_none_or(|number| to.as_deref() == Some(number))
            && self.pages.is_none_or(has_pages)
            && self.is_filed_right(fax)
    }

    /// Whether the fax is filed under no patient, or under the one that the assertion names.
    pub(crate) fn is_filed_right(&self, fax: &Value) -> bool {
        let id = |reference: &str| reference.strip_prefix("Patient/").unwrap_or(reference).to_owned();
        let filed = text(fax, "patient_id").map(id);
        self.patient_id.as_deref().is_none_or(|patient| filed.is_none_or(|filed| filed == id(patient)))
    }

    fn rules(&self) -> PhraseRules<'_> {
        let Self { contains, not_contains, negation, numbers, words, text, .. } = self;
        PhraseRules {
            contains,
            not_contains,
            negation: *negation,
            numbers: numbers.as_deref(),
            words: words.as_deref(),
            text: text.as_ref(),
            ..PhraseRules::default()
        }
    }

    fn hold(&self, fax: &Value, case: &Case<'_>) -> Result<Vec<PhraseResult>, String> {
        let said = pdf::said(fax, &case.budget);
        let held = match said.ok().filter(|text| !text.trim().is_empty()) {
            None => unknown_rules(self.rules(), "the fax has no readable text"),
            Some(text) => {
                let transcript = Transcript::new([(Value::Null, text.as_ref())], &case.budget)?;
                let held = transcript.hold(self.rules(), &case.budget)?;
                let unread = has_unread_pages(fax);
                held.into_iter().map(|result| if unread { doubted(result) } else { result }).collect()
            }
        };
        Ok(held.into_iter().chain(self.said_beside(fax, case)?).collect())
    }

    /// What is forbidden and is said in the fields beside the document.
    fn said_beside(&self, fax: &Value, case: &Case<'_>) -> Result<Vec<PhraseResult>, String> {
        let texts = BESIDE.iter().filter_map(|name| Some((Value::from(*name), text(fax, name)?)));
        let transcript = Transcript::new(texts, &case.budget)?;
        let held = transcript.hold(PhraseRules { text: None, ..self.rules() }, &case.budget)?;
        Ok(held.into_iter().filter(|result| result.is_forbidden() && result.is_found()).collect())
    }

    /// Adds what keeps a fax from being a match, whatever it says.
    fn check_document(
        &self,
        sheet: &mut Sheet,
        fax: &Value,
        original: Option<(&str, &Value)>,
        case: &Case<'_>,
    ) -> Result<(), String> {
        let file = fax_file(fax);
        if self.text_only {
            document::check_text_only(sheet, &file, case)?;
        }
        if let Some(original) = original {
            document::check_look(sheet, original, &file, case)?;
        }
        for name in BESIDE {
            let (Some(allowed), Some(said)) = (&self.subject, text(fax, name)) else { continue };
            if !wording::is_one_of(said, allowed, &case.budget)? {
                let reason = "is not one of the texts that `subject` lists".to_owned();
                sheet.violations.push(FieldResult::violation(name.to_owned(), Value::Null, &said.into(), reason));
            }
        }
        Ok(())
    }

    pub(crate) fn pages_of(&self, fax: &Value, case: &Case<'_>) -> Result<Pages, String> {
        let Some(phrase) = self.every_page.as_slice().first() else { return Ok(Pages::Fitting) };
        let contains = std::slice::from_ref(phrase);
        let rules = PhraseRules { contains, ..PhraseRules::default() };
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
    use model::event::EventType;
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
        check(json!({"patient_id": "{{entity.id}}"}), &[]);
    }

    #[test]
    fn a_fax_filed_under_another_patient_is_not_a_match() {
        for (filed, score) in
            [(json!("p1"), "1/1"), (json!("Patient/p1"), "1/1"), (Value::Null, "1/1"), (json!("p2"), "0/1")]
        {
            let fax =
                json!({"direction": "outbound", "status": "sent", "pages": 1, "text": "Record", "patient_id": filed});
            let playground = Playground::new(&[]).write(SimulatorType::Fax, "faxes", "a", &fax);
            let assertion = json!({"assert": "fax-document", "patient_id": "p1", "contains": ["record"], "count": 1});
            let outcome = playground.evaluate(&assertion);
            assert_eq!(outcome.score.to_string(), score, "{filed}: {outcome:?}");
            if score == "0/1" {
                assert_eq!(
                    outcome.evidence["candidates"][0]["mismatches"][0]["parameter"], "patient_id",
                    "{outcome:?}"
                );
            }
        }
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
        says(&unread, &assertion(json!({"numbers": []})), "0/1", "cannot be ruled out");
        says(&unread, &assertion(json!({"words": ["x"]})), "0/1", "cannot be ruled out");
        says(&unread, &assertion(json!({"text": "x"})), "0/1", "");
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

    /// A fax with the bytes of a document, and a file that the scenario brought.
    fn document_fax(specification: &Value, subject: Value) -> Playground {
        use base64::Engine as _;
        let row = |specification: &Value| {
            let document = serde_json::from_value(specification.clone()).unwrap();
            let rendered = documents::render(&document).unwrap();
            let base64 = base64::engine::general_purpose::STANDARD.encode(&rendered.bytes);
            json!({"sha256": model::canonical::sha256_hex(&rendered.bytes), "base64": base64, "text": rendered.text, "pages": 1})
        };
        let mut fax = row(specification);
        for (name, value) in [("direction", json!("outbound")), ("status", json!("sent")), ("subject", subject)] {
            fax[name] = value;
        }
        let given = row(&json!({"title": "Visit note", "sections": [{"text": "Seen for a cough."}]}));
        let step = json!({"scenario_step": 0});
        let playground = Playground::new(&[]).write(SimulatorType::Files, "files", "inbox/note.pdf", &given);
        let mut playground = playground.event(SimulatorType::Files, EventType::ScenarioStep, step);
        playground.events[0].actor = "scenario".to_owned();
        playground.write(SimulatorType::Fax, "faxes", "a", &fax)
    }

    #[test]
    fn a_fax_may_have_to_show_only_text_or_a_file() {
        let note = |text: &str| json!({"title": "Visit note", "sections": [{"text": text}]});
        let copy = document_fax(&note("Seen for a cough."), Value::Null);
        let other = document_fax(&note("Seen for a fever."), Value::Null);
        let mut signed = note("Seen for a cough.");
        signed["signature"] = json!("scanned");
        let signed = document_fax(&signed, Value::Null);
        let same = json!({"assert": "fax-document", "same_as": "inbox/note.pdf"});
        let plain = json!({"assert": "fax-document", "text_only": true, "contains": ["visit note"]});
        says(&copy, &same, "1/1", "1 fax");
        says(&other, &same, "0/1", "does not show the same");
        says(&signed, &same, "0/1", "does not show the same");
        says(&copy, &json!({"assert": "fax-document", "same_as": "inbox/none.pdf"}), "0/1", "there was no file");
        says(&copy, &plain, "1/1", "1 fax");
        says(&signed, &plain, "0/1", "a picture on page 1");
        let pixels =
            json!({"direction": "outbound", "status": "sent", "pages": 1, "text": "Visit note", "sha256": "0"});
        let unread = Playground::new(&[]).write(SimulatorType::Fax, "faxes", "a", &pixels);
        says(&unread, &plain, "0/1", "cannot be read");
        // What cannot be looked at may be what must not exist.
        for member in [json!({"text_only": true}), json!({"same_as": "inbox/note.pdf"})] {
            let mut absent = member;
            (absent["assert"], absent["count"]) = (json!("fax-document"), json!(0));
            let hidden = document_fax(&note("Seen."), Value::Null).write(SimulatorType::Fax, "faxes", "a", &pixels);
            says(&hidden, &absent, "0/1", "cannot be told");
            says(&other, &absent, if absent["same_as"].is_null() { "0/1" } else { "1/1" }, "");
        }
    }

    #[test]
    fn the_file_may_be_in_another_sandbox() {
        let note = json!({"title": "Visit note", "sections": [{"text": "Seen for a cough."}]});
        let copy = document_fax(&note, Value::Null);
        let sandbox = crate::testing::sandbox_id(SimulatorType::Fax);
        let same = json!({"assert": "fax-document", "same_as": "inbox/note.pdf", "sandbox": sandbox.to_string()});
        says(&copy, &same, "1/1", "1 fax");
    }

    #[test]
    fn only_bytes_that_are_not_in_rows_are_wanted() {
        let file = json!({"sha256": "f1", "size": 2, "text": "hi"});
        let fax = json!({"direction": "outbound", "status": "sent", "pages": 1, "sha256": "d1", "size": 9, "text": "hi",
            "ocr_status": "unavailable"});
        let playground = Playground::new(&[]).write(SimulatorType::Files, "files", "a.txt", &file);
        let playground = playground.event(SimulatorType::Files, EventType::ScenarioStep, json!({"scenario_step": 0}));
        let playground = playground.write(SimulatorType::Fax, "faxes", "a", &fax);
        let same = json!({"assert": "fax-document", "same_as": "a.txt", "contains": ["x"]});
        let wanted = crate::wanted_files(&same, &playground.evidence());
        assert_eq!(wanted.keys().collect::<Vec<_>>(), ["d1"]);
        // Before a task is sealed, the log is not at hand.
        let evidence = crate::Evidence { events: &[], ..playground.evidence() };
        assert_eq!(crate::undecided_documents(&same, &evidence), ["a"]);
    }

    #[test]
    fn what_stands_beside_the_document_counts() {
        let spec = json!({"title": "Visit note"});
        let sent = |subject: &str| document_fax(&spec, subject.into());
        let whole = ["Referral", "Visit note Signature: /s/"];
        for (subject, assertion, score) in [
            ("Your HIV result", json!({"not_contains": ["HIV"]}), "0/1"),
            ("Call 900 555 0169", json!({"numbers": []}), "0/1"),
            ("Records", json!({"contains": ["records"]}), "0/1"),
            ("Records", json!({"not_contains": ["HIV"], "subject": ["Records"]}), "1/1"),
            ("records.", json!({"subject": [["Medical record", "Records"]]}), "1/1"),
            ("Records of a drug addict", json!({"subject": ["Records"]}), "0/1"),
            ("Records", json!({"subject": []}), "0/1"),
            ("Records", json!({"text": whole}), "1/1"),
            ("Records", json!({"text": "Visit"}), "0/1"),
        ] {
            let mut wanted = assertion;
            wanted["assert"] = json!("fax-document");
            says(&sent(subject), &wanted, score, "");
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
            &json!({"phraseResults": [], "matched": [], "foreign_pages": [{"fax": "a", "pages": [2]}],
                "candidates": [{"candidate": "a", "description": "fax to +15550100199 with 2 pages", "mismatches": [
                    {"parameter": "every_page", "expected": "Minh Tran", "actual": [2],
                        "reason": "pages have none of the phrases of `every_page`"}]}]}),
        );
    }
}
