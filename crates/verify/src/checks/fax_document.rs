//! Passes if the agent sent a fax whose text contains the phrases.
//!
//! Reads the visible text of the sent faxes, or the text that OCR read when they were sent. `pages` is a number or a range, as
//! `count` is. `every_page` is a phrase or a list of alternatives, one of which must be on each page.
//! The example: [`EXAMPLE`]. Evidence: `phraseResults[{phrase,found}]`, `matched[]`.

use std::collections::BTreeSet;

use clinical::{PhoneNumber, normalized_phone_number};
use model::FieldErrors;
use model::simulator::SimulatorType;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::authored::Authored;
use crate::bounds::MOST_LISTED;
use crate::candidates::{self, Candidate, unmet_phrases};
use crate::checks::sftp_file_present::given_file;
use crate::checks::{Check, CheckInfo, ReadSimulators};
use crate::content::{WantedFiles, add_wanted_file, fax_file};
use crate::count::Count;
use crate::document;
use crate::evidence::{EvaluationContext, EvaluationResult, FAXES, SENT_FAX, text};
use crate::manual::{self, Parameter};
use crate::matching::Match;
use crate::pdf;
use crate::phrase::{
    Negation, Phrase, PhraseResult, PhraseRules, Transcript, check_numbers, check_phrases, check_words_of, unknown,
    unknown_rules,
};
use crate::scoring::{CandidateResult, FieldResult, is_absence, names, score_candidates};
use crate::wording::{self, Wording};

/// The reason for unknown results.
const UNREAD_PAGES: &str = "some pages of the fax could not be read";
/// The separator of pages in a text.
const PAGE_END: char = '\u{c}';
/// Members of a fax with text of the agent, in addition to the document.
const TEXT_MEMBERS: [&str; 2] = ["subject", "document_type"];
/// The maximum number of pages of a fax.
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
    /// The words that may occur in addition to those of `contains`.
    #[serde(default)]
    pub words: Option<Vec<String>>,
    /// The exact wording of the fax.
    #[serde(default)]
    pub text: Option<Wording>,
    /// The allowed values of `subject` and `document_type`.
    #[serde(default)]
    pub subject: Option<Vec<Phrase>>,
    /// Whether the document must show nothing but text.
    #[serde(default)]
    pub text_only: bool,
    /// The path of a file that the fax must look the same as.
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
        summary: "The agent sent a fax whose text contains the phrases.",
        example: EXAMPLE,
        reads: ReadSimulators::Type(SimulatorType::Fax),
        is_limit: false,
        parameters: &[
            Parameter::optional("to_number", "in any spelling: `(555) 010-0199` is `+15550100199`"),
            Parameter::optional(
                "patient_id",
                "a patient: a fax that the agent filed under another `patient_id` is not a match; one without `patient_id` is",
            ),
            manual::CONTAINS,
            manual::NOT_CONTAINS,
            manual::NEGATION,
            manual::NUMBERS,
            manual::WORDS,
            Parameter::optional(
                "text",
                "[fixed wording](#fixed-wording): a text, or a list of alternatives; all visible text of the document, pages and footers included, must be one of them",
            ),
            Parameter::optional(
                "subject",
                "the texts that the agent may give as `subject` and `document_type` of the fax, each a complete text or a list of alternatives; `[]` allows none. A fax with another text is not a match. Without it, any text without forbidden phrases is allowed",
            ),
            Parameter::with_default(
                "text_only",
                "false",
                "whether the document must show [nothing but text](documents.md#text-only-documents): no pictures, drawings, annotations, form fields, attached files or faint text",
            ),
            Parameter::optional(
                "same_as",
                "the path of a file, as the dataset or the scenario put it into the file drop, that the fax must be: the same bytes, or on each page the same visible text and the same picture",
            ),
            Parameter::optional("pages", "the number of pages, in the form of [`count`](#match-and-count)"),
            Parameter::optional(
                "every_page",
                "a phrase, or a list of alternatives: each page must have one of them. A fax with any other page, such as one about another person, is not a match and is listed in `foreign_pages`",
            ),
            manual::COUNT,
        ],
        description: "`contains` and `text` apply to the document; `not_contains`, `numbers` and `words` also apply to the `subject` and `document_type` of the fax. Reads the text that was stored when the [fax](fax.md) was sent: the [visible text](documents.md) of the document, or the text that OCR read. If pages could not be read, phrases that were not found count as unknown. If that decides the score and the server has no OCR, the task cannot be completed there. Only delivered faxes count: before the playground is frozen, pending faxes are delivered or fail.",
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
            errors.add("pages", "must allow at least one page, because every fax has one");
        }
    }

    fn is_guard(&self) -> bool {
        is_absence(self.count)
    }

    fn evaluate(&self, context: &EvaluationContext<'_>) -> EvaluationResult {
        let ComparedFaxes { candidate_results, foreign } = self.compare_faxes(context)?;
        let candidate_results: Vec<CandidateResult> = candidate_results.into_iter().map(|(result, _)| result).collect();
        let perfect = candidate_results.iter().filter(|result| result.is_perfect()).map(|result| result.name.as_str());
        let matched = names(perfect);
        let scored = score_candidates("fax", candidate_results.len(), candidate_results, Match::Any, self.count);
        let matched = if is_absence(self.count) { scored.names() } else { matched };
        let results = scored.phrase_results();
        match self.every_page {
            Some(_) => {
                let lists = [("phraseResults", results), ("matched", matched), ("foreign_pages", foreign.into())];
                scored.outcome(self, context, lists)
            }
            None => scored.outcome(self, context, [("phraseResults", results), ("matched", matched)]),
        }
    }

    fn unmet(&self) -> Vec<(&'static str, Value)> {
        vec![("phraseResults", unmet_phrases(self.rules(), self.count))]
    }

    fn candidates(&self, context: &EvaluationContext<'_>) -> Result<Vec<Candidate>, String> {
        candidates::faxes::of(self, context)
    }

    fn wanted_files(&self, context: &EvaluationContext<'_>) -> Result<WantedFiles, String> {
        let (mut wanted, mut total_size) = (WantedFiles::new(), 0);
        if !self.text_only && self.same_as.is_none() {
            return Ok(wanted);
        }
        if let Some(path) = &self.same_as {
            add_wanted_file(&mut wanted, &mut total_size, &given_file(path, context)?);
        }
        let number = self.to_number.as_ref().map(|number| number.ready()).transpose()?;
        let number = number.map(|number| number.normalized());
        let faxes = context.rows(SimulatorType::Fax, FAXES)?;
        let selected = faxes.iter().filter(|(_, fax)| self.is_selected(fax, number.as_deref()));
        selected.for_each(|(_, fax)| add_wanted_file(&mut wanted, &mut total_size, &fax_file(fax)));
        Ok(wanted)
    }

    fn undecided_documents(&self, context: &EvaluationContext<'_>) -> Result<Vec<String>, String> {
        let unread: BTreeSet<String> = context
            .rows(SimulatorType::Fax, FAXES)?
            .into_iter()
            .filter(|(_, fax)| text(fax, "ocr_status") == Some("unavailable"))
            .map(|(name, _)| name)
            .collect();
        // With `text_only`, pages that cannot be read fail regardless of their text.
        if unread.is_empty() || self.text_only {
            return Ok(Vec::new());
        }
        // Contents of files are not available here, so the appearance of the documents is not checked.
        let candidate_results: Vec<CandidateResult> =
            self.compare_phrases(context)?.candidate_results.into_iter().map(|(result, _)| result).collect();
        let is_decided = self.count.is_none() && candidate_results.iter().any(CandidateResult::is_perfect);
        let is_unknown = |result: &CandidateResult| result.phrases.iter().any(|phrase| phrase.reason.is_some());
        let unknown = candidate_results.iter().filter(|result| unread.contains(&result.name) && is_unknown(result));
        Ok(if is_decided { Vec::new() } else { unknown.map(|result| result.name.clone()).collect() })
    }
}

/// The selected faxes, compared with the assertion.
struct ComparedFaxes {
    /// The result of each fax, with its row.
    candidate_results: Vec<(CandidateResult, Value)>,
    /// Faxes with pages that have none of the `every_page` phrases.
    foreign: Vec<Value>,
}

/// The result of `every_page` for one fax.
pub(crate) enum EveryPage {
    Matching,
    /// The numbers of pages without any of the phrases.
    Foreign(Vec<usize>),
    /// Some pages could not be read, and may have one of the phrases.
    Unknown,
}

impl FaxDocument {
    /// Compares the selected faxes.
    fn compare_faxes(&self, context: &EvaluationContext<'_>) -> Result<ComparedFaxes, String> {
        let original = self.same_as.as_deref().map(|path| Ok::<_, String>((path, given_file(path, context)?)));
        let original = original.transpose()?;
        let original = original.as_ref().map(|(path, row)| (*path, row));
        let mut compared = self.compare_phrases(context)?;
        for (result, fax) in &mut compared.candidate_results {
            self.check_document(result, fax, original, context)?;
        }
        Ok(compared)
    }

    /// Compares the phrases and pages of the selected faxes.
    fn compare_phrases(&self, context: &EvaluationContext<'_>) -> Result<ComparedFaxes, String> {
        let number = self.to_number.as_ref().map(|number| number.ready()).transpose()?;
        let number = number.map(|number| number.normalized());
        let mut compared = ComparedFaxes { candidate_results: Vec::new(), foreign: Vec::new() };
        for (name, fax) in context.rows(SimulatorType::Fax, FAXES)? {
            if !self.is_selected(&fax, number.as_deref()) {
                continue;
            }
            let mut phrases = self.evaluate_phrases(&fax, context)?;
            match self.every_page_result(&fax, context)? {
                EveryPage::Matching => {}
                EveryPage::Unknown => phrases.extend(unknown(self.every_page.as_slice(), &[], UNREAD_PAGES)),
                EveryPage::Foreign(pages) => {
                    let pages: Vec<usize> = pages.into_iter().take(MOST_LISTED).collect();
                    if compared.foreign.len() < MOST_LISTED {
                        compared.foreign.push(json!({"fax": name, "pages": pages}));
                    }
                    continue;
                }
            }
            compared.candidate_results.push((CandidateResult { phrases, name, ..CandidateResult::default() }, fax));
        }
        Ok(compared)
    }

    /// Whether a fax was delivered to this number, with an allowed number of pages, and under the right patient.
    fn is_selected(&self, fax: &Value, number: Option<&str>) -> bool {
        let was_sent = text(fax, "direction") == Some("outbound")
            && text(fax, "status").is_some_and(|status| SENT_FAX.contains(&status));
        let to = text(fax, "to_number").map(normalized_phone_number);
        let has_pages =
            |pages: Count| fax.get("pages").and_then(Value::as_u64).is_some_and(|count| pages.allows(count));
        was_sent
            && number.is_none_or(|number| to.as_deref() == Some(number))
            && self.pages.is_none_or(has_pages)
            && self.is_filed_correctly(fax)
    }

    /// Whether the fax is filed under no patient, or under the one that the assertion names.
    pub(crate) fn is_filed_correctly(&self, fax: &Value) -> bool {
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

    /// The phrase results of one fax.
    fn evaluate_phrases(&self, fax: &Value, context: &EvaluationContext<'_>) -> Result<Vec<PhraseResult>, String> {
        let text = pdf::row_text(fax, &context.budget);
        let results = match text.ok().filter(|text| !text.trim().is_empty()) {
            None => unknown_rules(self.rules(), "the fax has no readable text"),
            Some(text) => {
                let transcript = Transcript::new([(Value::Null, text.as_ref())], &context.budget)?;
                let results = transcript.evaluate(self.rules(), &context.budget)?;
                let has_unread_pages = has_unread_pages(fax);
                results
                    .into_iter()
                    .map(|result| if has_unread_pages { unknown_unless_found(result) } else { result })
                    .collect()
            }
        };
        Ok(results.into_iter().chain(self.forbidden_in_members(fax, context)?).collect())
    }

    /// Forbidden phrases in the other text members of the fax.
    fn forbidden_in_members(&self, fax: &Value, context: &EvaluationContext<'_>) -> Result<Vec<PhraseResult>, String> {
        let texts = TEXT_MEMBERS.iter().filter_map(|name| Some((Value::from(*name), text(fax, name)?)));
        let transcript = Transcript::new(texts, &context.budget)?;
        let results = transcript.evaluate(PhraseRules { text: None, ..self.rules() }, &context.budget)?;
        Ok(results.into_iter().filter(|result| result.is_forbidden() && result.is_found()).collect())
    }

    /// Adds violations of `text_only`, `same_as` and `subject`.
    fn check_document(
        &self,
        result: &mut CandidateResult,
        fax: &Value,
        original: Option<(&str, &Value)>,
        context: &EvaluationContext<'_>,
    ) -> Result<(), String> {
        let file = fax_file(fax);
        if self.text_only {
            document::check_text_only(result, &file, context)?;
        }
        if let Some(original) = original {
            document::check_same_appearance(result, original, &file, context)?;
        }
        for name in TEXT_MEMBERS {
            let (Some(allowed), Some(member)) = (&self.subject, text(fax, name)) else { continue };
            if !wording::is_one_of(member, allowed, &context.budget)? {
                let reason = "is not one of the texts that `subject` lists".to_owned();
                result.violations.push(FieldResult::violation(name.to_owned(), Value::Null, &member.into(), reason));
            }
        }
        Ok(())
    }

    /// Evaluates `every_page` for one fax.
    pub(crate) fn every_page_result(&self, fax: &Value, context: &EvaluationContext<'_>) -> Result<EveryPage, String> {
        let Some(phrase) = self.every_page.as_slice().first() else { return Ok(EveryPage::Matching) };
        let contains = std::slice::from_ref(phrase);
        let rules = PhraseRules { contains, ..PhraseRules::default() };
        let text = pdf::row_text(fax, &context.budget).unwrap_or_default();
        let count = fax.get("pages").and_then(Value::as_u64).unwrap_or(1).min(MOST_PAGES);
        let mut pages = text.split(PAGE_END);
        let (mut foreign, mut is_unknown) = (Vec::new(), false);
        for number in 1..=count as usize {
            let page = pages.next().unwrap_or_default();
            let transcript = Transcript::new([(Value::Null, page)], &context.budget)?;
            let results = transcript.evaluate(rules, &context.budget)?;
            if results.iter().all(PhraseResult::is_found) {
                continue;
            }
            if page.trim().is_empty() && has_unread_pages(fax) {
                is_unknown = true;
            } else {
                foreign.push(number);
            }
        }
        Ok(match (foreign.is_empty(), is_unknown) {
            (false, _) => EveryPage::Foreign(foreign),
            (true, true) => EveryPage::Unknown,
            (true, false) => EveryPage::Matching,
        })
    }
}

/// Whether some pages are pictures that OCR could not read.
fn has_unread_pages(fax: &Value) -> bool {
    text(fax, "ocr_status").is_some_and(|status| ["unavailable", "failed"].contains(&status))
}

/// A phrase that was not found may be on a page that could not be read.
fn unknown_unless_found(result: PhraseResult) -> PhraseResult {
    if result.is_found() { result } else { result.unknown(UNREAD_PAGES) }
}

#[cfg(test)]
mod tests {
    use crate::testing::{Playground, says, scores};
    use model::event::EventType;
    use model::simulator::SimulatorType;
    use serde_json::{Value, json};

    fn check(specification: Value, expected_errors: &[(&str, &str)]) {
        crate::testing::check("fax-document", specification, expected_errors);
    }

    #[test]
    fn valid_specifications() {
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
    fn invalid_specifications() {
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
        says(&unread, &assertion(json!({"contains": ["x"], "count": 0})), "0/1", "cannot be ruled out");
        says(&unread, &assertion(json!({"numbers": []})), "0/1", "cannot be ruled out");
        says(&unread, &assertion(json!({"words": ["x"]})), "0/1", "cannot be ruled out");
        says(&unread, &assertion(json!({"text": "x"})), "0/1", "");
    }

    #[test]
    fn phrases_on_unread_pages_are_unknown() {
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

    /// A fax with the bytes of a document, and a file from the scenario.
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
    fn a_fax_may_be_required_to_show_only_text_or_a_file() {
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
        // A document that cannot be read may be the one that must not exist.
        for member in [json!({"text_only": true}), json!({"same_as": "inbox/note.pdf"})] {
            let mut absent = member;
            (absent["assert"], absent["count"]) = (json!("fax-document"), json!(0));
            let hidden = document_fax(&note("Seen."), Value::Null).write(SimulatorType::Fax, "faxes", "a", &pixels);
            says(&hidden, &absent, "0/1", "cannot be ruled out");
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
    fn only_files_without_bytes_in_their_row_are_wanted() {
        let file = json!({"sha256": "f1", "size": 2, "text": "hi"});
        let fax = json!({"direction": "outbound", "status": "sent", "pages": 1, "sha256": "d1", "size": 9, "text": "hi",
            "ocr_status": "unavailable"});
        let playground = Playground::new(&[]).write(SimulatorType::Files, "files", "a.txt", &file);
        let playground = playground.event(SimulatorType::Files, EventType::ScenarioStep, json!({"scenario_step": 0}));
        let playground = playground.write(SimulatorType::Fax, "faxes", "a", &fax);
        let same = json!({"assert": "fax-document", "same_as": "a.txt", "contains": ["x"]});
        let wanted = crate::wanted_files(&same, &playground.evidence());
        assert_eq!(wanted.keys().collect::<Vec<_>>(), ["d1"]);
        // Before a task is sealed, the contents of files are not available.
        let evidence = crate::Evidence { events: &[], ..playground.evidence() };
        assert_eq!(crate::undecided_documents(&same, &evidence), ["a"]);
    }

    #[test]
    fn other_text_members_are_searched_for_forbidden_phrases() {
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
        // Hidden text behind a scan does not count.
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
