//! Passes if the sandbox has a file at the path whose content has the fields and phrases.
//!
//! Reads the sandbox's file tree. `path` is a glob (with the aliases `glob` and `pattern`). `parse` is the format of the content
//! and decides the notation of the field paths: JSON paths for `json` and `csv` (a list of rows, each an object by column
//! name), HL7 and X12 paths for `hl7` and `x12`. `text` and `pdf` have phrases only. Without `parse`, a file is read as
//! `json` if there are fields, else as `text`. The example: [`EXAMPLE`].
//! Evidence: `fieldResults[{path,expected,actual,passed}]`, `matched_paths[]`.

use std::fmt;

use model::FieldErrors;
use model::simulator::SimulatorType;
use serde::Deserialize;
use serde_json::Value;
use world::Sandbox;
use x12::query::View;

use crate::authored::{Authored, Notation};
use crate::baseline::Baselines;
use crate::bind::Escaping;
use crate::bounds::short;
use crate::candidates::{self, Candidate, unmet_fields, unmet_phrases};
use crate::checks::{Check, CheckInfo, ReadSimulators};
use crate::closed_world::{self, OnlyJson, check_ignore};
use crate::compare::Typing;
use crate::content::{WantedFiles, add_wanted_file, file_text};
use crate::count::Count;
use crate::csv;
use crate::document;
use crate::evidence::{EvaluationContext, EvaluationResult, FILES, check_is_local};
use crate::field::{FieldAssertion, check_fields};
use crate::glob::Glob;
use crate::limits::LONGEST_PATH;
use crate::manual::{self, Parameter};
use crate::matching::Match;
use crate::path::hl7::Hl7Path;
use crate::path::json::JsonPath;
use crate::path::x12::X12Path;
use crate::phrase::{Negation, Phrase, PhraseRules, Transcript, check_phrases, unknown};
use crate::quantifier::Quantifier;
use crate::scoring::{CandidateResult, FieldResult, evaluate_fields_with, is_absence, names, score_candidates};

pub const EXAMPLE: &str = r#"{
  "assert": "sftp-file-present",
  "path": "outbox/returns/*.json",
  "parse": "json",
  "fields": [{"path": "reason", "expected": "missing_signature"}],
  "contains": [["resubmit", "send again"]],
  "count": {"min": 1, "max": 1}
}"#;

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SftpFilePresent {
    #[serde(alias = "glob", alias = "pattern")]
    pub path: Authored<Glob>,
    #[serde(default)]
    pub parse: Option<FileFormat>,
    #[serde(default)]
    pub fields: Vec<FieldAssertion<ContentPath>>,
    #[serde(default)]
    pub contains: Vec<Phrase>,
    #[serde(default, alias = "forbidden")]
    pub not_contains: Vec<Phrase>,
    #[serde(default)]
    pub negation: Negation,
    /// Whether the document must show nothing but text.
    #[serde(default)]
    pub text_only: bool,
    /// The path of a file of the dataset or the scenario that this one must be a copy of.
    #[serde(default)]
    pub same_as: Option<String>,
    #[serde(default)]
    pub count: Option<Count>,
    /// Whether the file must contain nothing other than the asserted values.
    #[serde(default)]
    pub only: bool,
    /// Parts that `only` ignores.
    #[serde(default)]
    pub ignore: Vec<Authored<ContentPath>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileFormat {
    Json,
    Text,
    Csv,
    Hl7,
    X12,
    Pdf,
}

/// A path whose notation depends on `parse`. See [`ContentPath::read_as`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContentPath(String);

/// A path in the notation of the content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FormatPath {
    Json(JsonPath),
    Hl7(Hl7Path),
    X12(X12Path),
}

impl ContentPath {
    pub fn read_as(&self, format: FileFormat) -> Result<FormatPath, String> {
        match format {
            FileFormat::Json | FileFormat::Csv => JsonPath::read(&self.0).map(FormatPath::Json),
            FileFormat::Hl7 => Hl7Path::read(&self.0).map(FormatPath::Hl7),
            FileFormat::X12 => X12Path::read(&self.0).map(FormatPath::X12),
            FileFormat::Text | FileFormat::Pdf => Err("cannot be used with `text` and `pdf`".to_owned()),
        }
    }
}

impl Notation for ContentPath {
    const LONGEST: usize = LONGEST_PATH;

    fn read(text: &str) -> Result<Self, String> {
        Ok(Self(text.to_owned()))
    }
}

impl SftpFilePresent {
    pub fn format(&self) -> FileFormat {
        let default = if self.fields.is_empty() { FileFormat::Text } else { FileFormat::Json };
        self.parse.unwrap_or(default)
    }
}

impl Check for SftpFilePresent {
    const INFO: CheckInfo = CheckInfo {
        name: "sftp-file-present",
        summary: "The sandbox has a file at the path whose content has the fields and phrases.",
        example: EXAMPLE,
        reads: ReadSimulators::Type(SimulatorType::Files),
        is_limit: false,
        parameters: &[
            Parameter::required(
                "path",
                "a glob: `*` and `?` within a segment, `**` for any number of them, `[a-z]`, `[!a-z]`, `{a,b}`",
            )
            .aliases(&["glob", "pattern"])
            .escaped(Escaping::Glob),
            Parameter::optional(
                "parse",
                "`json`, `csv`, `hl7`, `x12`, `text` or `pdf` (its text layer, see [documents](documents.md)); without it, `json` if there are fields, else `text`",
            ),
            Parameter::with_default(
                "fields",
                "[]",
                "[fields](#fields-and-operators): JSON paths for `json` and `csv` (a list of rows by column name), HL7 and X12 paths for `hl7` and `x12`; none for `text` and `pdf`",
            ),
            manual::CONTAINS,
            manual::NOT_CONTAINS,
            manual::NEGATION,
            Parameter::with_default(
                "text_only",
                "false",
                "with `parse: pdf`: whether the document must show [nothing but text](documents.md#text-only-documents)",
            ),
            Parameter::optional(
                "same_as",
                "the path of a file of the dataset or the scenario that this one must be a copy of, byte for byte",
            ),
            manual::COUNT,
            manual::ONLY,
            manual::IGNORE,
        ],
        description: "Reads up to 64 MiB of the files that match the glob in the [file drop](files.md).",
        evidence: "`fieldResults[…]`, with phrases `phraseResults[…]`, `matched_paths[]`; [`count`, `candidates[]`](#evidence)",
    };
    const ALIASES: &[(&str, &str)] = &[("glob", "path"), ("pattern", "path")];

    fn validate(&self, errors: &mut FieldErrors) {
        check_fields("fields", &self.fields, errors);
        check_phrases("contains", &self.contains, errors);
        check_phrases("not_contains", &self.not_contains, errors);
        if let Some(path) = &self.same_as {
            errors.name("same_as", path);
        }
        check_ignore(self.only, self.ignore.len(), errors);
        let format = self.format();
        if self.text_only && format != FileFormat::Pdf {
            errors.add("text_only", "requires `parse` to be `pdf`");
        }
        if self.only && !matches!(format, FileFormat::Json | FileFormat::Csv | FileFormat::Hl7) {
            errors.add("only", "requires `parse` to be `json`, `csv` or `hl7`");
            return;
        }
        for (index, path) in self.ignore.iter().enumerate() {
            if let Authored::Ready(path) = path
                && let Err(error) = path.read_as(format)
            {
                errors.add(format!("ignore.{index}"), error);
            }
        }
        if !self.fields.is_empty() && matches!(format, FileFormat::Text | FileFormat::Pdf) {
            errors.add("fields", "require `parse` to be `json`, `csv`, `hl7` or `x12`; use `contains` for text");
            return;
        }
        for (index, field) in self.fields.iter().enumerate() {
            if let Authored::Ready(path) = &field.path
                && let Err(error) = path.read_as(format)
            {
                errors.add(format!("fields.{index}.path"), error);
            }
        }
    }

    fn is_guard(&self) -> bool {
        is_absence(self.count)
    }

    fn evaluate(&self, context: &EvaluationContext<'_>) -> EvaluationResult {
        let glob = self.path.ready()?;
        let original = self.same_as.as_deref().map(|path| given_file(path, context)).transpose()?;
        let mut candidate_results = Vec::new();
        for (path, file) in context.rows(SimulatorType::Files, FILES)? {
            context.budget.spend(path.len())?;
            if glob.matches(&path) {
                let mut result = self.evaluate_file(path, &file, context)?;
                result.violations.extend(original.as_ref().and_then(|original| copy_violation(original, &file)));
                candidate_results.push(result);
            }
        }
        let paths = names(candidate_results.iter().map(|result| result.name.as_str()));
        let scored = score_candidates("file", candidate_results.len(), candidate_results, Match::Any, self.count);
        let results = scored.field_results();
        if self.contains.is_empty() && self.not_contains.is_empty() {
            return scored.outcome(self, context, [("fieldResults", results), ("matched_paths", paths)]);
        }
        let phrases = scored.phrase_results();
        let lists = [("fieldResults", results), ("phraseResults", phrases), ("matched_paths", paths)];
        scored.outcome(self, context, lists)
    }

    fn unmet(&self) -> Vec<(&'static str, Value)> {
        let phrases = unmet_phrases(self.rules(), self.count);
        vec![("fieldResults", unmet_fields(&self.fields, self.count)), ("phraseResults", phrases)]
    }

    fn candidates(&self, context: &EvaluationContext<'_>) -> Result<Vec<Candidate>, String> {
        candidates::files::of(self, context)
    }

    fn wanted_files(&self, context: &EvaluationContext<'_>) -> Result<WantedFiles, String> {
        let (glob, mut wanted, mut total_size) = (self.path.ready()?, WantedFiles::new(), 0);
        if !self.reads_content() {
            return Ok(wanted);
        }
        for (path, file) in context.rows(SimulatorType::Files, FILES)? {
            context.budget.spend(path.len())?;
            if glob.matches(&path) {
                add_wanted_file(&mut wanted, &mut total_size, &file);
            }
        }
        Ok(wanted)
    }
}

impl SftpFilePresent {
    fn reads_content(&self) -> bool {
        let has_phrases = !self.contains.is_empty() || !self.not_contains.is_empty();
        !self.fields.is_empty() || has_phrases || self.parse.is_some()
    }

    fn rules(&self) -> PhraseRules<'_> {
        let Self { contains, not_contains, negation, .. } = self;
        PhraseRules { contains, not_contains, negation: *negation, ..PhraseRules::default() }
    }

    fn evaluate_file(
        &self,
        name: String,
        file: &Value,
        context: &EvaluationContext<'_>,
    ) -> Result<CandidateResult, String> {
        if !file.is_object() {
            return Ok(CandidateResult {
                name,
                error: Some("the file has no description".to_owned()),
                ..CandidateResult::default()
            });
        }
        if !self.reads_content() {
            return Ok(CandidateResult { name, ..CandidateResult::default() });
        }
        let content = match file_text(file, self.format(), context) {
            Ok(content) => content,
            Err(error) => {
                let phrases = unknown(&self.contains, &self.not_contains, &error);
                return Ok(CandidateResult { name, phrases, error: Some(error), ..CandidateResult::default() });
            }
        };
        let content: &str = &content;
        context.budget.spend(content.len())?;
        let (fields, violations, error) = match self.evaluate_fields(content, context) {
            Ok(fields) => (fields, self.extras(content, context)?, None),
            Err(error) => (Vec::new(), Vec::new(), Some(error)),
        };
        let transcript = Transcript::new([(Value::Null, content)], &context.budget)?;
        let phrases = transcript.evaluate(self.rules(), &context.budget)?;
        let mut result = CandidateResult { name, fields, phrases, error, violations, event: None };
        if self.text_only {
            document::check_text_only(&mut result, file, context)?;
        }
        Ok(result)
    }

    /// The violations of `only`.
    fn extras(&self, content: &str, context: &EvaluationContext<'_>) -> Result<Vec<FieldResult>, String> {
        if !self.only || is_absence(self.count) {
            return Ok(Vec::new());
        }
        let budget = &context.budget;
        let in_json = |document: &Value, typing| {
            let json = |path: FormatPath| match path {
                FormatPath::Json(path) => Ok(path),
                _ => Err("is not a path into JSON".to_owned()),
            };
            let (fields, ignore) = self.read_paths(&json)?;
            let only = OnlyJson { fields: &fields, ignore: &ignore, quantifier: Quantifier::All, typing };
            only.violations(document, None, &|_, _, _| false, budget)
        };
        match self.format() {
            FileFormat::Json => match serde_json::from_str(content) {
                Ok(document) => in_json(&document, Typing::Typed),
                Err(_) => Ok(Vec::new()),
            },
            FileFormat::Csv => in_json(&csv::read(content)?, Typing::Untyped),
            FileFormat::Hl7 => {
                let hl7 = |path: FormatPath| match path {
                    FormatPath::Hl7(path) => Ok(path),
                    _ => Err("is not a path into HL7".to_owned()),
                };
                let (fields, ignore) = self.read_paths(&hl7)?;
                let limits = hl7v2::Limits::default();
                let message = hl7v2::Message::parse_text(content, &limits).map_err(|error| error.to_string())?;
                closed_world::hl7::violations(&message, std::iter::empty(), &fields, &ignore, budget)
            }
            FileFormat::Text | FileFormat::Pdf | FileFormat::X12 => Ok(Vec::new()),
        }
    }

    /// The fields and the paths of `ignore`, in the notation of the content.
    #[expect(clippy::type_complexity, reason = "the two lists of one specification")]
    fn read_paths<P>(
        &self,
        read: &dyn Fn(FormatPath) -> Result<P, String>,
    ) -> Result<(Vec<FieldAssertion<P>>, Vec<Authored<P>>), String> {
        let format = self.format();
        let ready =
            |path: &Authored<ContentPath>| Ok::<_, String>(Authored::Ready(read(path.ready()?.read_as(format)?)?));
        let field = |field: &FieldAssertion<ContentPath>| {
            let FieldAssertion { path, op, expected, tolerance, quantifier } = field.clone();
            Ok(FieldAssertion { path: ready(&path)?, op, expected, tolerance, quantifier })
        };
        let fields = self.fields.iter().map(field).collect::<Result<_, String>>()?;
        Ok((fields, self.ignore.iter().map(ready).collect::<Result<_, String>>()?))
    }

    /// The results of the fields. Fails if the content does not have the format of `parse`.
    fn evaluate_fields(&self, content: &str, context: &EvaluationContext<'_>) -> Result<Vec<FieldResult>, String> {
        let format = self.format();
        let steps = content.len() * self.fields.len();
        let quantifier = match format {
            FileFormat::Hl7 | FileFormat::X12 => Quantifier::First,
            _ => Quantifier::All,
        };
        let evaluate = |typing, find: &dyn Fn(FormatPath) -> Result<Vec<Value>, String>| {
            evaluate_fields_with(quantifier, &self.fields, typing, &context.budget, |path| find(path.read_as(format)?))
        };
        let in_json = |document: Value, typing| {
            evaluate(typing, &|path| match path {
                FormatPath::Json(path) => Ok(path.find(&document, &context.budget)?.into_iter().cloned().collect()),
                _ => Err("is not a path into JSON".to_owned()),
            })
        };
        match format {
            FileFormat::Text | FileFormat::Pdf => Ok(Vec::new()),
            FileFormat::Json => {
                let document = serde_json::from_str(content).map_err(|error| format!("is not JSON: {error}"))?;
                model::distinct_keys::check(content.as_bytes()).map_err(|error| format!("is ambiguous: {error}"))?;
                Ok(in_json(document, Typing::Typed))
            }
            FileFormat::Csv => Ok(in_json(csv::read(content)?, Typing::Untyped)),
            FileFormat::Hl7 => {
                context.budget.spend(steps)?;
                let limits = hl7v2::Limits::default();
                let message = hl7v2::Message::parse_text(content, &limits).map_err(|error| error.to_string())?;
                Ok(evaluate(Typing::Untyped, &|path| match path {
                    FormatPath::Hl7(path) => Ok(path.find(&message).into_iter().map(Value::from).collect()),
                    _ => Err("is not a path into HL7".to_owned()),
                }))
            }
            FileFormat::X12 => {
                context.budget.spend(steps)?;
                let body = x12::parse(content, &x12::Limits::default()).map_err(|error| error.to_string())?;
                let views: Vec<View<'_, '_>> = body.transactions().map(|one| View::of_transaction(&one)).collect();
                Ok(evaluate(Typing::Untyped, &|path| match path {
                    FormatPath::X12(path) => {
                        Ok(views.iter().flat_map(|view| path.find(view)).map(Value::from).collect())
                    }
                    _ => Err("is not a path into X12".to_owned()),
                }))
            }
        }
    }
}

/// A file of the dataset or the scenario, in the scored sandbox or else in another one.
pub(crate) fn given_file(path: &str, context: &EvaluationContext<'_>) -> Result<Value, String> {
    let baselines = Baselines::new(context)?;
    let sandboxes = context.evidence.world.sandboxes.values().chain(context.whole.world.sandboxes.values());
    let drops: Vec<&Sandbox> = sandboxes.filter(|sandbox| sandbox.kind == SimulatorType::Files).collect();
    drops.iter().try_for_each(|drop| check_is_local(drop))?;
    let mut found = drops.iter().filter_map(|drop| baselines.of(&drop.records, FILES, path));
    found.next().map(|file| Value::clone(&file)).ok_or_else(|| format!("there was no file {}", short(path)))
}

/// The violation for a file that is not a copy of the original.
fn copy_violation(original: &Value, file: &Value) -> Option<FieldResult> {
    let hash = |file: &Value| file.get("sha256").cloned().unwrap_or_default();
    let (expected, actual) = (hash(original), hash(file));
    let reason = "is not a copy of the file that `same_as` names".to_owned();
    (expected.is_null() || expected != actual)
        .then(|| FieldResult::violation("sha256".to_owned(), expected, &actual, reason))
}

impl fmt::Display for ContentPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{Playground, says, scores};
    use model::simulator::SimulatorType;
    use serde_json::{Value, json};

    fn check(specification: Value, expected_errors: &[(&str, &str)]) {
        crate::testing::check("sftp-file-present", specification, expected_errors);
    }

    #[test]
    fn valid_specifications() {
        check(json!({"path": "outbox/report.pdf"}), &[]);
        check(json!({"glob": "outbox/**/*.txt", "contains": ["approved"]}), &[]);
        check(json!({"pattern": "outbox/{{entity.id}}/[", "count": 0}), &[]);
        check(json!({"path": "*.json", "fields": [{"path": "a.b", "expected": 1}]}), &[]);
        check(json!({"path": "*.csv", "parse": "csv", "fields": [{"path": "[mrn=1].status", "expected": "ok"}]}), &[]);
        check(json!({"path": "*.hl7", "parse": "hl7", "fields": [{"path": "PID.3.1", "expected": "1"}]}), &[]);
        check(json!({"path": "*.edi", "parse": "x12", "fields": [{"path": "2110C.EB.1", "expected": "1"}]}), &[]);
        check(json!({"path": "*.hl7", "parse": "hl7", "fields": [{"path": "PID.{{entity.n}}", "expected": "1"}]}), &[]);
    }

    #[test]
    fn invalid_specifications() {
        check(json!({}), &[("path", "required")]);
        check(json!({"path": "a", "glob": "b"}), &[("path", "twice")]);
        check(json!({"glob": "a", "pattern": "b"}), &[("path", "twice")]);
        check(json!({"path": "../secret"}), &[("path", "`..`")]);
        check(json!({"glob": "a["}), &[("glob", "without `]`")]);
        check(json!({"path": "a", "parse": "xml"}), &[("parse", "one of `json`")]);
        check(
            json!({"path": "a", "parse": "pdf", "fields": [{"path": "a", "expected": 1}]}),
            &[("fields", "use `contains`")],
        );
        check(
            json!({"path": "a", "parse": "hl7", "fields": [{"path": "a.b", "expected": 1}, {"path": "PID.3"}]}),
            &[("fields.0.path", "segment name"), ("fields.1.expected", "required")],
        );
        check(
            json!({"path": "a", "contains": ["ok", "", ["yes", 7]]}),
            &[("contains.1", "empty"), ("contains.2", "list of strings")],
        );
        check(json!({"path": "a", "contains": vec!["x"; 201]}), &[("contains", "at most 200")]);
        check(json!({"path": "a".repeat(513)}), &[("path", "at most 512")]);
    }

    fn tree() -> Playground {
        let file = |text: &str| json!({"sha256": "0", "size": text.len(), "content_type": "text/plain", "text": text});
        let put = |playground: Playground, path: &str, file: &Value| {
            playground.write(SimulatorType::Files, "files", path, file)
        };
        let playground = put(Playground::new(&[]), "outbox/a.json", &file(r#"{"reason": "other", "n": 1.0}"#));
        let playground = put(playground, "outbox/b.json", &file(r#"{"reason": "missing_signature", "n": 1.0}"#));
        let playground = put(playground, "outbox/list.csv", &file("mrn,value\n1,5.0\n2,x\n"));
        let playground = put(playground, "outbox/m.hl7", &file("MSH|^~\\&|||||||ADT^A01|1|P|2.5\rPID|||12"));
        let playground =
            put(playground, "outbox/scan.pdf", &json!({"sha256": "0", "size": 9, "content_type": "image/png"}));
        put(playground, "outbox/odd", &json!(7))
    }

    fn assertion(specification: Value) -> Value {
        let mut assertion = specification;
        assertion["assert"] = json!("sftp-file-present");
        assertion
    }

    #[test]
    fn files_are_found_and_read() {
        scores(
            &tree(),
            &assertion(
                json!({"path": "outbox/*.json", "fields": [{"path": "reason", "expected": "missing_signature"}],
                "contains": ["missing signature", "resubmit"]}),
            ),
            "2/3",
            &json!({
                "fieldResults": [
                    {"path": "reason", "expected": "missing_signature", "actual": "missing_signature", "passed": true}],
                "phraseResults": [
                    {"phrase": "missing signature", "found": true, "turn": null},
                    {"phrase": "resubmit", "found": false, "turn": null}],
                "matched_paths": ["outbox/a.json", "outbox/b.json"],
            }),
        );
        for (specification, score, expected_text) in [
            (json!({"path": "outbox/**"}), "1/1", "6 file"),
            (json!({"path": "inbox/**"}), "0/1", "no file"),
            (json!({"path": "inbox/**", "count": 0}), "1/1", "as expected"),
            (json!({"path": "outbox/*.json", "count": 1}), "0/1", "expected 1 file, found 2"),
            (json!({"path": "outbox/scan.pdf"}), "1/1", "1 file"),
            (json!({"path": "outbox/scan.pdf", "contains": ["x"]}), "0/1", "too large to be read"),
            (json!({"path": "outbox/scan.pdf", "contains": ["x"], "count": 0}), "0/1", "cannot be ruled out"),
            (json!({"path": "outbox/odd"}), "0/1", "cannot be read"),
            (json!({"path": "outbox/list.csv", "fields": [{"path": "a", "expected": null}]}), "0/1", "not JSON"),
            (json!({"path": "outbox/b.json", "not_contains": ["resubmit"]}), "1/1", "no forbidden"),
            (json!({"path": "outbox/b.json", "not_contains": ["missing signature"]}), "0/1", "forbidden phrase occurs"),
            (
                json!({"path": "outbox/b.json", "fields": [{"path": "n", "expected": 1}], "not_contains": ["missing signature"]}),
                "0/1",
                "forbidden phrase occurs",
            ),
            (
                json!({"path": "outbox/b.json", "fields": [{"path": "n", "expected": 2}, {"path": "reason", "op": "exists"}],
                "not_contains": ["a", "b", "c"]}),
                "1/2",
                "1 of 2",
            ),
            (json!({"path": "outbox/scan.pdf", "not_contains": ["x"]}), "0/1", "too large to be read"),
            (json!({"path": "outbox/list.csv", "parse": "json"}), "0/1", "not JSON"),
            (
                json!({"path": "outbox/*.csv", "parse": "csv", "fields": [{"path": "[mrn=1].value", "expected": 5}]}),
                "1/1",
                "",
            ),
            (json!({"path": "outbox/*.hl7", "parse": "hl7", "fields": [{"path": "PID.3", "expected": 12}]}), "1/1", ""),
            (
                json!({"path": "outbox/*.hl7", "parse": "x12", "fields": [{"path": "EB.1", "expected": null}]}),
                "0/1",
                "read",
            ),
        ] {
            says(&tree(), &assertion(specification), score, expected_text);
        }
    }

    #[test]
    fn only_allows_nothing_else() {
        for (specification, score, expected_text) in [
            (
                json!({"path": "outbox/a.json", "fields": [{"path": "reason", "expected": "other"}], "only": true}),
                "0/1",
                "n: is not asserted",
            ),
            (
                json!({"path": "outbox/a.json", "fields": [{"path": "reason", "expected": "other"}], "only": true, "ignore": ["n"]}),
                "1/1",
                "",
            ),
            (
                json!({"path": "outbox/*.csv", "parse": "csv", "fields": [{"path": "[mrn=1].value", "expected": 5}], "only": true}),
                "0/1",
                "1: is not asserted",
            ),
            (
                json!({"path": "outbox/*.hl7", "parse": "hl7", "fields": [{"path": "PID.3", "expected": 12}], "only": true}),
                "1/1",
                "",
            ),
            (
                json!({"path": "outbox/*.hl7", "parse": "hl7", "fields": [{"path": "PID.5", "expected": null}], "only": true}),
                "0/1",
                "PID[1]",
            ),
        ] {
            says(&tree(), &assertion(specification), score, expected_text);
        }
        check(json!({"path": "a", "parse": "pdf", "only": true}), &[("only", "`json`, `csv` or `hl7`")]);
        check(json!({"path": "a", "parse": "hl7", "only": true, "ignore": ["a.b"]}), &[("ignore.0", "segment name")]);
    }

    /// The row of a file whose bytes are not text.
    fn packed(bytes: &[u8]) -> Value {
        use base64::Engine as _;
        let base64 = base64::engine::general_purpose::STANDARD.encode(bytes);
        json!({"sha256": "0", "size": bytes.len(), "content_type": "application/pdf", "base64": base64})
    }

    #[test]
    fn text_of_pdfs_is_found_and_text_in_pictures_is_not() {
        let letter = |change: &str| {
            let specification = format!(
                r#"{{"title": "Denial letter", "header": {{"Patient": "Đặng Müller"}}, {change}
                    "sections": [{{"text": "The request for CPT 72148 was denied."}}]}}"#
            );
            packed(&documents::render(&serde_json::from_str(&specification).unwrap()).unwrap().bytes)
        };
        let files = [
            ("text.pdf", letter("")),
            ("scan.pdf", letter(r#""text_layer": false,"#)),
            ("fax.tif", letter(r#""format": "tiff","#)),
            ("broken.pdf", packed(b"%PDF-1.7 and nothing more")),
            ("odd.pdf", packed(&[0xff, 0, 1])),
        ];
        let playground = files.iter().fold(Playground::new(&[]), |playground, (name, file)| {
            playground.write(SimulatorType::Files, "files", &format!("outbox/{name}"), file)
        });
        for (path, score, expected_text) in [
            ("text.pdf", "1/1", ""),
            ("scan.pdf", "0/1", "its pages are pictures"),
            ("fax.tif", "0/1", "its pages are pictures"),
            ("broken.pdf", "0/1", "the file is damaged"),
            ("odd.pdf", "0/1", "cannot be read as text"),
        ] {
            let specification = json!({"path": format!("outbox/{path}"), "parse": "pdf",
                "contains": ["dang muller", "CPT 72148 was denied"]});
            says(&playground, &assertion(specification), score, expected_text);
            says(&playground, &assertion(json!({"path": format!("outbox/{path}")})), "1/1", "1 file");
        }
    }
}
