//! Passes when the sandbox holds a file at the path whose content has the fields and phrases.
//!
//! Reads the sandbox's file tree. `path` is a glob (also written `glob` or `pattern`); `parse` says how the content is
//! read, and with it the notation of the field paths: JSON paths for `json` and `csv` (a list of rows, each an object
//! by column name), HL7 and X12 paths for `hl7` and `x12`; `text` and `pdf` have phrases only. Without `parse` a file is
//! read as `json` when there are fields, else as `text`. The example: [`EXAMPLE`].
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
use crate::checks::{Check, CheckInfo, Reads};
use crate::closed_world::{self, OnlyJson, check_ignore};
use crate::compare::Typing;
use crate::content::{Wanted, readable, want};
use crate::count::Count;
use crate::csv;
use crate::document;
use crate::evidence::{Case, Evaluated, FILES, check_here};
use crate::field::{FieldAssertion, check_fields};
use crate::glob::Glob;
use crate::judge::{FieldResult, Sheet, hold_fields_by, is_absence, judge, names};
use crate::limits::LONGEST_PATH;
use crate::manual::{self, Member};
use crate::matching::Match;
use crate::path::hl7::Hl7Path;
use crate::path::json::JsonPath;
use crate::path::x12::X12Path;
use crate::phrase::{Negation, Phrase, PhraseRules, Transcript, check_phrases, unknown};
use crate::quantifier::Quantifier;

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
    /// The path of a file that this one must be a copy of, as the dataset or the scenario brought it.
    #[serde(default)]
    pub same_as: Option<String>,
    #[serde(default)]
    pub count: Option<Count>,
    /// Whether the file must have nothing beyond what the fields look at.
    #[serde(default)]
    pub only: bool,
    /// Parts that `only` does not look at.
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

/// The notation is known only beside `parse`: see [`ContentPath::read_as`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContentPath(String);

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
            FileFormat::Text | FileFormat::Pdf => Err("has no meaning in `text` and `pdf`".to_owned()),
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
        summary: "The sandbox holds a file at the path whose content has the fields and phrases.",
        example: EXAMPLE,
        reads: Reads::Type(SimulatorType::Files),
        is_limit: false,
        members: &[
            Member::required(
                "path",
                "a glob: `*` and `?` within a segment, `**` for any number of them, `[a-z]`, `[!a-z]`, `{a,b}`",
            )
            .also(&["glob", "pattern"])
            .escaped(Escaping::Glob),
            Member::optional(
                "parse",
                "`json`, `csv`, `hl7`, `x12`, `text` or `pdf` (its text layer, see [documents](documents.md)); without it `json` when there are fields, else `text`",
            ),
            Member::new(
                "fields",
                "[]",
                "[fields](#fields-and-operators): JSON paths for `json` and `csv` (a list of rows by column name), HL7 and X12 paths for theirs; none for `text` and `pdf`",
            ),
            manual::CONTAINS,
            manual::NOT_CONTAINS,
            manual::NEGATION,
            Member::new(
                "text_only",
                "false",
                "with `parse: pdf`: whether the document must show [nothing but text](documents.md#text-only-documents)",
            ),
            Member::optional(
                "same_as",
                "the path of a file that this one must be a copy of, byte for byte, as the dataset or the scenario brought it",
            ),
            manual::COUNT,
            manual::ONLY,
            manual::IGNORE,
        ],
        description: "Reads up to 64 MiB of what the glob finds in the [file drop](files.md).",
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
            errors.add("text_only", "needs `parse` to be `pdf`");
        }
        if self.only && !matches!(format, FileFormat::Json | FileFormat::Csv | FileFormat::Hl7) {
            errors.add("only", "needs `parse` to be `json`, `csv` or `hl7`");
            return;
        }
        for (index, path) in self.ignore.iter().enumerate() {
            if let Authored::Ready(path) = path
                && let Err(fault) = path.read_as(format)
            {
                errors.add(format!("ignore.{index}"), fault);
            }
        }
        if !self.fields.is_empty() && matches!(format, FileFormat::Text | FileFormat::Pdf) {
            errors.add("fields", "need `parse` to be `json`, `csv`, `hl7` or `x12`; use `contains` for text");
            return;
        }
        for (index, field) in self.fields.iter().enumerate() {
            if let Authored::Ready(path) = &field.path
                && let Err(fault) = path.read_as(format)
            {
                errors.add(format!("fields.{index}.path"), fault);
            }
        }
    }

    fn is_guard(&self) -> bool {
        is_absence(self.count)
    }

    fn evaluate(&self, case: &Case<'_>) -> Evaluated {
        let glob = self.path.ready()?;
        let original = self.same_as.as_deref().map(|path| given_file(path, case)).transpose()?;
        let mut sheets = Vec::new();
        for (path, file) in case.rows(SimulatorType::Files, FILES)? {
            case.budget.spend(path.len())?;
            if glob.matches(&path) {
                let mut sheet = self.hold(path, &file, case)?;
                sheet.violations.extend(original.as_ref().and_then(|original| other_content(original, &file)));
                sheets.push(sheet);
            }
        }
        let paths = names(sheets.iter().map(|sheet| sheet.name.as_str()));
        let judgement = judge("file", sheets.len(), sheets, Match::Any, self.count);
        let results = judgement.field_results();
        if self.contains.is_empty() && self.not_contains.is_empty() {
            return judgement.outcome(self, case, [("fieldResults", results), ("matched_paths", paths)]);
        }
        let phrases = judgement.phrase_results();
        let lists = [("fieldResults", results), ("phraseResults", phrases), ("matched_paths", paths)];
        judgement.outcome(self, case, lists)
    }

    fn unmet(&self) -> Vec<(&'static str, Value)> {
        let phrases = unmet_phrases(self.rules(), self.count);
        vec![("fieldResults", unmet_fields(&self.fields, self.count)), ("phraseResults", phrases)]
    }

    fn candidates(&self, case: &Case<'_>) -> Result<Vec<Candidate>, String> {
        candidates::files::of(self, case)
    }

    fn wanted_files(&self, case: &Case<'_>) -> Result<Wanted, String> {
        let (glob, mut wanted, mut read) = (self.path.ready()?, Wanted::new(), 0);
        if !self.reads_content() {
            return Ok(wanted);
        }
        for (path, file) in case.rows(SimulatorType::Files, FILES)? {
            case.budget.spend(path.len())?;
            if glob.matches(&path) {
                want(&mut wanted, &mut read, &file);
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

    fn hold(&self, name: String, file: &Value, case: &Case<'_>) -> Result<Sheet, String> {
        if !file.is_object() {
            return Ok(Sheet { name, fault: Some("the file has no description".to_owned()), ..Sheet::default() });
        }
        if !self.reads_content() {
            return Ok(Sheet { name, ..Sheet::default() });
        }
        let content = match readable(file, self.format(), case) {
            Ok(content) => content,
            Err(fault) => {
                let phrases = unknown(&self.contains, &self.not_contains, &fault);
                return Ok(Sheet { name, phrases, fault: Some(fault), ..Sheet::default() });
            }
        };
        let content: &str = &content;
        case.budget.spend(content.len())?;
        let (fields, violations, fault) = match self.hold_fields(content, case) {
            Ok(fields) => (fields, self.extras(content, case)?, None),
            Err(fault) => (Vec::new(), Vec::new(), Some(fault)),
        };
        let transcript = Transcript::new([(Value::Null, content)], &case.budget)?;
        let phrases = transcript.hold(self.rules(), &case.budget)?;
        let mut sheet = Sheet { name, fields, phrases, fault, violations, event: None };
        if self.text_only {
            document::check_text_only(&mut sheet, file, case)?;
        }
        Ok(sheet)
    }

    /// What the content has beyond what is asserted.
    fn extras(&self, content: &str, case: &Case<'_>) -> Result<Vec<FieldResult>, String> {
        if !self.only || is_absence(self.count) {
            return Ok(Vec::new());
        }
        let budget = &case.budget;
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
                let message = hl7v2::Message::parse_text(content, &limits).map_err(|fault| fault.to_string())?;
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

    /// The fault is that the content is not what `parse` says.
    fn hold_fields(&self, content: &str, case: &Case<'_>) -> Result<Vec<FieldResult>, String> {
        let format = self.format();
        let steps = content.len() * self.fields.len();
        let quantifier = match format {
            FileFormat::Hl7 | FileFormat::X12 => Quantifier::First,
            _ => Quantifier::All,
        };
        let hold = |typing, find: &dyn Fn(FormatPath) -> Result<Vec<Value>, String>| {
            hold_fields_by(quantifier, &self.fields, typing, &case.budget, |path| find(path.read_as(format)?))
        };
        let in_json = |document: Value, typing| {
            hold(typing, &|path| match path {
                FormatPath::Json(path) => Ok(path.find(&document, &case.budget)?.into_iter().cloned().collect()),
                _ => Err("is not a path into JSON".to_owned()),
            })
        };
        match format {
            FileFormat::Text | FileFormat::Pdf => Ok(Vec::new()),
            FileFormat::Json => {
                let document = serde_json::from_str(content).map_err(|fault| format!("is not JSON: {fault}"))?;
                model::distinct_keys::check(content.as_bytes()).map_err(|fault| format!("is ambiguous: {fault}"))?;
                Ok(in_json(document, Typing::Typed))
            }
            FileFormat::Csv => Ok(in_json(csv::read(content)?, Typing::Untyped)),
            FileFormat::Hl7 => {
                case.budget.spend(steps)?;
                let limits = hl7v2::Limits::default();
                let message = hl7v2::Message::parse_text(content, &limits).map_err(|fault| fault.to_string())?;
                Ok(hold(Typing::Untyped, &|path| match path {
                    FormatPath::Hl7(path) => Ok(path.find(&message).into_iter().map(Value::from).collect()),
                    _ => Err("is not a path into HL7".to_owned()),
                }))
            }
            FileFormat::X12 => {
                case.budget.spend(steps)?;
                let body = x12::parse(content, &x12::Limits::default()).map_err(|fault| fault.to_string())?;
                let views: Vec<View<'_, '_>> = body.transactions().map(|one| View::of_transaction(&one)).collect();
                Ok(hold(Typing::Untyped, &|path| match path {
                    FormatPath::X12(path) => {
                        Ok(views.iter().flat_map(|view| path.find(view)).map(Value::from).collect())
                    }
                    _ => Err("is not a path into X12".to_owned()),
                }))
            }
        }
    }
}

/// A file as the dataset or the scenario brought it, to the scored sandbox or else to another one.
pub(crate) fn given_file(path: &str, case: &Case<'_>) -> Result<Value, String> {
    let baselines = Baselines::new(case)?;
    let sandboxes = case.evidence.world.sandboxes.values().chain(case.whole.world.sandboxes.values());
    let drops: Vec<&Sandbox> = sandboxes.filter(|sandbox| sandbox.kind == SimulatorType::Files).collect();
    drops.iter().try_for_each(|drop| check_here(drop))?;
    let mut found = drops.iter().filter_map(|drop| baselines.of(&drop.records, FILES, path));
    found.next().map(|file| Value::clone(&file)).ok_or_else(|| format!("there was no file {}", short(path)))
}

/// A line that says that a file is not a copy of the other one.
fn other_content(original: &Value, file: &Value) -> Option<FieldResult> {
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

    fn check(specification: Value, faults: &[(&str, &str)]) {
        crate::testing::check("sftp-file-present", specification, faults);
    }

    #[test]
    fn sound_specifications() {
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
    fn faulty_specifications() {
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
        for (specification, score, said) in [
            (json!({"path": "outbox/**"}), "1/1", "6 file"),
            (json!({"path": "inbox/**"}), "0/1", "no file"),
            (json!({"path": "inbox/**", "count": 0}), "1/1", "as it should"),
            (json!({"path": "outbox/*.json", "count": 1}), "0/1", "expected 1 file, found 2"),
            (json!({"path": "outbox/scan.pdf"}), "1/1", "1 file"),
            (json!({"path": "outbox/scan.pdf", "contains": ["x"]}), "0/1", "too large to be read"),
            (json!({"path": "outbox/scan.pdf", "contains": ["x"], "count": 0}), "0/1", "cannot be told"),
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
            says(&tree(), &assertion(specification), score, said);
        }
    }

    #[test]
    fn only_allows_nothing_else() {
        for (specification, score, said) in [
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
            says(&tree(), &assertion(specification), score, said);
        }
        check(json!({"path": "a", "parse": "pdf", "only": true}), &[("only", "`json`, `csv` or `hl7`")]);
        check(json!({"path": "a", "parse": "hl7", "only": true, "ignore": ["a.b"]}), &[("ignore.0", "segment name")]);
    }

    /// A file as its row has it when its bytes are no text.
    fn packed(bytes: &[u8]) -> Value {
        use base64::Engine as _;
        let base64 = base64::engine::general_purpose::STANDARD.encode(bytes);
        json!({"sha256": "0", "size": bytes.len(), "content_type": "application/pdf", "base64": base64})
    }

    #[test]
    fn what_a_pdf_says_is_found_and_what_a_picture_shows_is_not() {
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
        for (path, score, said) in [
            ("text.pdf", "1/1", ""),
            ("scan.pdf", "0/1", "its pages are pictures"),
            ("fax.tif", "0/1", "its pages are pictures"),
            ("broken.pdf", "0/1", "the file is damaged"),
            ("odd.pdf", "0/1", "cannot be read as text"),
        ] {
            let specification = json!({"path": format!("outbox/{path}"), "parse": "pdf",
                "contains": ["dang muller", "CPT 72148 was denied"]});
            says(&playground, &assertion(specification), score, said);
            says(&playground, &assertion(json!({"path": format!("outbox/{path}")})), "1/1", "1 file");
        }
    }
}
