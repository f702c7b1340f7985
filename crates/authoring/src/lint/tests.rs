//! Tests each rule on the folder that `init` creates, with one change.

use std::path::{Path, PathBuf};

use super::{Finding, Severity, lint};
use crate::source::{self, Files};
use crate::{Error, read};

const TASK: &str = "tasks/10-order.yaml";
const DATA: &str = "datasets/chart/data.ndjson";
const DATASET: &str = "datasets/chart/dataset.yaml";

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The folder that `init` creates.
fn starter() -> Files {
    let templates = source::read_directory(&workspace().join("crates/cli/src/folders")).unwrap();
    let names =
        [("benchmark.yaml", "benchmark.yaml"), (DATASET, "dataset.yaml"), (DATA, "data.ndjson"), (TASK, "task.yaml")];
    let text = |name: &str| String::from_utf8(templates[name].clone()).unwrap().replace("SLUG", "starter");
    names.into_iter().map(|(path, name)| (path.to_owned(), text(name).into_bytes())).collect()
}

/// The starter folder with a text replaced in one file.
fn with(path: &str, from: &str, to: &str) -> Files {
    let mut files = starter();
    let text = String::from_utf8(files[path].clone()).unwrap();
    assert!(text.contains(from), "{path} has no {from:?}");
    files.insert(path.to_owned(), text.replace(from, to).into_bytes());
    files
}

/// The starter folder with another file.
fn added(path: &str, text: &str) -> Files {
    let mut files = starter();
    files.insert(path.to_owned(), text.as_bytes().to_vec());
    files
}

/// The findings of a folder, without hints.
fn found(files: &Files) -> Vec<Finding> {
    match read(files) {
        Ok(folder) => lint(&folder).into_iter().filter(|one| one.severity != Severity::Hint).collect(),
        Err(Error::Findings(findings)) => findings,
        Err(other) => panic!("{other}"),
    }
}

/// Checks that exactly these findings are reported, each given by its start and a part of its text.
fn check(files: &Files, expected: &[(&str, &str)]) {
    // Another test checks the lines.
    let without_line = |finding: &Finding| match finding.file.ends_with(".yaml") {
        true => Finding { line: None, ..finding.clone() }.to_string(),
        false => finding.to_string(),
    };
    let found: Vec<String> = found(files).iter().map(without_line).collect();
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for (start, part) in expected {
        assert!(found.iter().any(|one| one.starts_with(start) && one.contains(part)), "{start} … {part}: {found:#?}");
    }
}

#[test]
fn the_starter_and_the_bundled_benchmarks_have_no_findings() {
    check(&starter(), &[]);
    let bundled = std::fs::read_dir(workspace().join("benchmarks")).unwrap().map(|entry| entry.unwrap().path());
    let folders: Vec<PathBuf> = bundled.filter(|path| path.is_dir()).collect();
    assert!(folders.len() >= 10);
    for folder in folders {
        let mut findings = found(&source::read_directory(&folder).unwrap());
        // Two labels of records-release say "release"; they change with its instructions.
        findings.retain(|finding| !finding.message.contains("`The release is written down`"));
        assert!(findings.is_empty(), "{}: {findings:#?}", folder.display());
    }
}

#[test]
fn only_is_recommended_for_assertions_about_written_records() {
    let hints = |files: &Files| {
        let findings = lint(&read(files).unwrap());
        let hints = findings.into_iter().filter(|one| one.severity == Severity::Hint);
        hints.map(|one| one.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(hints(&starter()), [""; 0]);
    let open = hints(&with(TASK, "      only: true\n", ""));
    assert!(
        matches!(open.as_slice(), [one] if one.starts_with("hint: tasks/10-order.yaml:11: criteria.0.assertion: `only")),
        "{open:?}"
    );
    let mut absent = with(TASK, "      only: true\n", "");
    let text = String::from_utf8(absent[TASK].clone()).unwrap().replace("count: 1", "count: 0");
    absent.insert(TASK.to_owned(), text.into_bytes());
    assert_eq!(hints(&absent), [""; 0]);
}

#[test]
fn a_dataset_of_a_simulator_must_have_data() {
    let mut files = starter();
    files.remove(DATA);
    check(&files, &[("error: datasets/chart/data.ndjson: ", "is missing")]);
    // An empty file is accepted, but the records of the entities are missing.
    let missing = ("warning: datasets/chart/dataset.yaml: ", "is neither in the data nor in a scenario");
    check(&added(DATA, ""), &[missing, missing]);
    let simulator = "datasets: [chart]";
    let mut unattached = with("benchmark.yaml", simulator, "datasets: []");
    unattached.remove(DATA);
    check(&unattached, &[missing, missing]);
    let files_dataset = "name: Letters\ntype: files\n";
    check(&added("datasets/letters/dataset.yaml", files_dataset), &[]);
}

#[test]
fn invalid_data_is_reported_with_file_and_line() {
    for (second, expected) in [
        ("{\"resourceType\":\"Patient\",", "not valid JSON"),
        ("{\"resourceType\":\"Patient\",\"id\":\"ada\"}", "Patient/ada is there more than once"),
        ("{\"id\":\"ben\"}", "resource has no resourceType"),
        ("{\"resourceType\":\"Patiend\",\"id\":\"ben\"}", "did you mean \"Patient\"?"),
    ] {
        let data = format!("{{\"resourceType\":\"Patient\",\"id\":\"ada\"}}\n{second}\n");
        check(&added(DATA, &data), &[("error: datasets/chart/data.ndjson:2: ", expected)]);
    }
    let mut files = starter();
    files.remove(DATA);
    files.insert(
        "datasets/chart/data.json".to_owned(),
        br#"{"resourceType":"Bundle","type":"collection","entry":[{"resource":{"id":"a"}}]}"#.to_vec(),
    );
    check(&files, &[("error: datasets/chart/data.json: entry 1: ", "no resourceType")]);
}

#[test]
fn stray_files_among_tasks_and_datasets_are_errors() {
    for path in ["tasks/20-record.yml", "tasks/20-record", "tasks/more/20.YAML"] {
        check(&added(path, "name: x"), &[(&format!("error: {path}: is not a task"), ".yaml")]);
    }
    for path in [
        "datasets/chart/dataset.yml",
        "datasets/chart/files/letter.txt",
        "datasets/other/data.ndjson",
        "datasets/chart.ndjson",
        "datasets/chart/more/data.ndjson",
    ] {
        check(&added(path, ""), &[(&format!("error: {path}: is not part of a dataset"), "")]);
    }
    check(&added("tasks/README.md", "words"), &[]);
    check(&added("notes.txt", "words"), &[("warning: notes.txt: ", "will not be pushed")]);
    let mut files = starter();
    let benchmark = files.remove("benchmark.yaml").unwrap();
    files.insert("benchmark.yml".to_owned(), benchmark);
    assert!(read(&files).unwrap_err().to_string().contains("rename benchmark.yml to benchmark.yaml"));
}

#[test]
fn the_record_of_a_used_entity_must_exist() {
    let missing = with(DATASET, "Patient/ada", "Patient/adda");
    check(&missing, &[("warning: datasets/chart/dataset.yaml: the ref of `Ada Stone`, Patient/adda", "")]);
    let step = "scenario:\n  steps:\n    - do: fhir\n      bundle:\n        resourceType: Bundle\n        type: collection\n\
                \x20       entry: [{resource: {resourceType: Patient, id: \"{{entity.id}}\"}}]\ncriteria:";
    let mut created = with(TASK, "criteria:", step);
    created.insert(DATASET.to_owned(), missing[DATASET].clone());
    check(&created, &[]);
    // Nothing uses the record.
    let mut unused = with(TASK, "subject: \"Patient/{{entity.id}}\", ", "");
    unused.insert(DATASET.to_owned(), missing[DATASET].clone());
    check(&unused, &[]);
}

#[test]
fn searches_and_globs_must_use_known_names() {
    let place = "error: tasks/10-order.yaml: criteria.0.assertion.search.";
    check(&with(TASK, "{subject:", "{pateint:"), &[(&format!("{place}pateint: "), "did you mean `patient`?")]);
    check(&with(TASK, "intent: order", "authored: April"), &[(&format!("{place}authored: "), "")]);
    check(&with(TASK, "intent: order", "\"intent:nott\": order"), &[(&format!("{place}intent:nott: "), "")]);
    check(&with(TASK, "intent: order", "\"patient.name\": Stone, _sort: -authored, \"code:not\": x"), &[]);
    let template = with(TASK, "resource_type: ServiceRequest", "resource_type: \"{{task.task_item.kind}}\"");
    let template =
        String::from_utf8(template[TASK].clone()).unwrap().replace("task_item:", "task_item:\n  kind: Patient");
    check(
        &added(TASK, &template),
        &[
            (&format!("{place}code: "), "Patient has no such search parameter"),
            (&format!("{place}intent: "), "Patient has no such search parameter"),
            (&format!("{place}subject: "), "Patient has no such search parameter"),
            ("error: tasks/10-order.yaml: criteria.0.assertion.fields.0.path: ", "Patient has no element `status`"),
        ],
    );
    let place = "error: tasks/10-order.yaml: criteria.1.assertion.";
    check(
        &with(TASK, "fhir/ServiceRequest", "fhir/ServiceReqest"),
        &[
            (&format!("{place}require.0: "), "did you mean \"ServiceRequest\"?"),
            (&format!("{place}at_most.fhir/ServiceReqest: "), "unknown resource type"),
        ],
    );
    let allowing = |glob: &str| with(TASK, "require:", &format!("allow: [\"{glob}\"], require:"));
    check(&allowing("fhir/{Task,Tusk}"), &[(&format!("{place}allow.0: "), "Tusk")]);
    for valid in ["fhir/*Request", "fhir/**", "fhir/{Task,Appointment}/*", "files/Tusk", "fhir/{{entity.name}}"] {
        check(&allowing(valid), &[]);
    }
}

#[test]
fn a_task_needs_an_instruction_and_a_name_without_templates() {
    let without_instruction = with(TASK, "  instruction:", "  words:");
    check(&without_instruction, &[("warning: tasks/10-order.yaml: task_item has no `instruction`", "")]);
    let task = "name: For {{entity.name}}\nentities: [chart/Ada Stone]\ntask_item: {instruction: Do it}\ncriteria:\n  - label: Done\n    \
                assertion: {assert: no-side-effects, require: [fhir/Task]}\n";
    check(&added("tasks/20.yaml", task), &[("error: tasks/20.yaml: name: ", "`each`")]);
    let named = task.replace("For {{entity.name}}", "For Ada");
    check(&added("tasks/20.yaml", &named), &[]);
    let text = named.replace("{instruction: Do it}", "Do it");
    check(&added("tasks/20.yaml", &text), &[("error: tasks/20.yaml: task_item: ", "must be an object")]);
}

#[test]
fn an_unknown_check_is_reported_with_a_suggestion() {
    let place = "error: tasks/10-order.yaml: criteria.1.assertion.assert: there is no check";
    check(&with(TASK, "no-side-effects", "no_sideeffects"), &[(place, "did you mean `no-side-effects`?")]);
    check(&with(TASK, "no-side-effects", "mind-reading"), &[(place, "there are fhir-resource-state, hl7-structural")]);
}

#[test]
fn an_error_does_not_hide_others() {
    let mut files = with(TASK, "axis: correctness", "axes: correctness");
    let text =
        String::from_utf8(files[TASK].clone()).unwrap().replace("no-side-effects,", "no-side-effects, requires: [],");
    files.insert(TASK.to_owned(), text.clone().into_bytes());
    let second = ("error: tasks/10-order.yaml: criteria.1.assertion.requires: ", "");
    check(&files, &[("error: tasks/10-order.yaml: criteria.0.axes: ", ""), second]);
    // The format error is in another file.
    let valid_format = text.replace("axes:", "axis:");
    let mut files = added("tasks/20.yaml", "name: [");
    files.insert(TASK.to_owned(), valid_format.into_bytes());
    check(&files, &[("error: tasks/20.yaml: ", ""), second]);
    // One entity is missing: the tasks of the others are still checked.
    let mut files = with(TASK, "chart/Ben Wells", "chart/Bob Wells");
    let text = String::from_utf8(files[TASK].clone()).unwrap().replace("{subject:", "{pateint:");
    files.insert(TASK.to_owned(), text.into_bytes());
    let found = found(&files);
    assert_eq!(found.iter().filter(|one| one.severity == Severity::Error).count(), 2, "{found:#?}");
}

/// Two tasks that differ in their names and tags.
fn triage(inbox: &str, label: &str, title: &str) -> Files {
    let mut files = starter();
    files.remove(TASK);
    for (name, tag) in [("Return: Ada Stone, no signature", "no-action"), ("Accept: Ada Stone", "action")] {
        let is_return = tag == "no-action";
        let (inbox, label, title) =
            if is_return { (inbox, label, title) } else { ("inbox/1.json", "The task is done", "Triage") };
        let text = format!(
            "name: \"{name}\"\ntags: [{tag}]\nentities: [chart/Ada Stone]\n\
             task_item: {{title: \"{title}\", instruction: \"Triage the referral of {{{{entity.mrn}}}}.\"}}\n\
             scenario: {{steps: [{{do: file, path: \"{inbox}\", content: x}}]}}\n\
             criteria:\n  - label: \"{label}\"\n    assertion: {{assert: no-side-effects, require: [fhir/Task]}}\n"
        );
        files.insert(format!("tasks/{tag}.yaml"), text.into_bytes());
    }
    let benchmark = String::from_utf8(files["benchmark.yaml"].clone()).unwrap();
    let drop = "    - {name: Drop, type: Files}\n";
    files.insert("benchmark.yaml".into(), (benchmark + drop).into_bytes());
    files
}

#[test]
fn visible_texts_must_not_repeat_the_name_or_tags_of_the_task() {
    let leaks = |files: &Files| -> Vec<String> {
        let found = found(files).iter().map(ToString::to_string).collect::<Vec<_>>();
        found.into_iter().filter(|one| one.contains("scored runs")).collect()
    };
    assert_eq!(leaks(&triage("inbox/1.json", "The task is done", "Triage")), [] as [String; 0]);
    for (files, part) in [
        (triage("inbox/no-signature-1.json", "x", "Triage"), "the file name `inbox/no-signature-1.json`"),
        (triage("inbox/1.json", "No action was taken", "Triage"), "repeats \"no action\""),
        (triage("inbox/1.json", "x", "A return"), "the title `A return`"),
    ] {
        let found = leaks(&files);
        assert!(found.len() == 1 && found[0].contains(part), "{found:#?}");
    }
    let mut named = triage("inbox/1.json", "x", "Triage");
    let benchmark = String::from_utf8(named["benchmark.yaml"].clone()).unwrap();
    named.insert(
        "benchmark.yaml".into(),
        benchmark.replace("name: Drop", "name: Returns without signature").into_bytes(),
    );
    assert_eq!(leaks(&named), [] as [String; 0], "other words");
    let benchmark = benchmark.replace("name: Drop", "name: No signature");
    named.insert("benchmark.yaml".into(), benchmark.into_bytes());
    assert!(leaks(&named)[0].contains("the simulator's name `No signature`"), "{:#?}", leaks(&named));
    let found = leaks(&triage("inbox/{{task.name}}.json", "x", "Triage"));
    assert!(found.iter().any(|one| one.contains("uses `{{task.name}}`")), "{found:#?}");
    // The patient's name does not reveal the answer, and neither does a phrase that every task has.
    assert_eq!(leaks(&triage("inbox/Ada Stone.json", "x", "Triage")), [] as [String; 0]);
}

/// Each mistake is reported with its file and line.
#[test]
fn mistakes_are_reported_with_file_and_line() {
    let long = "x".repeat(65);
    for (files, expected) in [
        (with(TASK, "axis: safety", "axes: safety"), "tasks/10-order.yaml:19: criteria.1.axes: "),
        (with(TASK, "axis: safety", &format!("axis: {long}")), "tasks/10-order.yaml:19: criteria.1.axis: "),
        (with(TASK, "path: status", "path: stauts"), "tasks/10-order.yaml:15: criteria.0.assertion.fields.0.path: "),
        (with(TASK, "weight: 2", "weight: -2"), "tasks/10-order.yaml:9: criteria.0.weight: "),
        (with(TASK, "tags: [action]", "timeout: 0"), "tasks/10-order.yaml:4: timeout: "),
        (with(TASK, "subject: \"Patient", "subjct: \"Patient"), "tasks/10-order.yaml:14: criteria.0.assertion.search"),
        (with(TASK, "chart/Ben Wells", "chart/Ben Well"), "tasks/10-order.yaml:3: each: there is no entity `chart/Ben"),
        (
            with(TASK, "      search:", "      sandbox: Elsewhere\n      search:"),
            "criteria.0.assertion.sandbox: the environment has no simulator `Elsewhere`; it has ",
        ),
        (with("benchmark.yaml", "timeout: 900", "concurrency: 300"), "benchmark.yaml:4: concurrency: "),
        (
            with("benchmark.yaml", "datasets: [chart]", "datasets: [charts]"),
            "benchmark.yaml:11: environment.simulators.",
        ),
        (with("benchmark.yaml", "type: Fhir", "type: Fihr"), "benchmark.yaml:10: environment.simulators.0.type: "),
    ] {
        let found = found(&files);
        let messages: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert!(messages.iter().any(|one| one.contains(expected)), "{expected}: {messages:#?}");
    }
}

#[test]
fn invalid_r4_data_and_dangling_references_are_reported() {
    let mut files = starter();
    let lines = "\n{\"resourceType\":\"Patient\",\"id\":\"x\",\"birthDate\":\"04/02/1960\",\
                 \"generalPractitioner\":[{\"reference\":\"Practitioner/gone\"}]}";
    let mut data = String::from_utf8(files[DATA].clone()).unwrap().trim_end().to_owned();
    let line = data.lines().count() + 1;
    data.push_str(lines);
    files.insert(DATA.to_owned(), data.into_bytes());
    let place = format!("warning: {DATA}:{line}: Patient/x: ");
    check(&files, &[(&place, "birthDate"), (&place, "refers to Practitioner/gone")]);
}
