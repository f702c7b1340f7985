//! Report formats: valid JUnit, inert HTML, and Markdown with escaped text.

use std::collections::BTreeMap;

use quick_xml::Reader;
use quick_xml::events::Event;
use serde_json::json;
use testkit::Database;

use crate::fixture::{RunFixture, expect_exit, report};

const HOSTILE_NAME: &str = "Write b </title><script>alert(1)</script> | @all ![x](http://evil.example/x.png)";
/// An agent that writes markup, terminal escapes and invalid XML characters into the evidence.
const HOSTILE_AGENT: &str = r#"printf '\033[2J<script>alert(2)</script>\n'; "$VERIAL" call POST /v1/task-runs/$VERIAL_TASK_RUN_ID/sandbox/fhir/Basic '{"resourceType":"Basic","code":{"text":"<img src=x onerror=alert(3)>]]>\u001b[31m https://evil.example/"}}'"#;

#[tokio::test(flavor = "multi_thread")]
async fn every_report_is_written_and_text_of_agents_is_escaped() {
    let fixture = RunFixture::open_on(Database::Sqlite, HOSTILE_NAME).await;
    let forms = ["--junit", "j.xml", "--report", "r.html", "--markdown", "r.md", "--min-score", "0.9"];
    let (card, _) = expect_exit(fixture.run(HOSTILE_AGENT, &forms).env("CLICOLOR_FORCE", "1").env("NO_COLOR", "1"), 1);
    assert!(!card.contains('\u{1b}'), "{card}");

    let cases = junit(&fixture.read("j.xml"));
    assert_eq!((cases["testsuites"], cases["testsuite"], cases["testcase"]), (1, 2, 3));
    assert_eq!((cases["failure"], cases.get("error")), (3, None));

    let html = fixture.read("r.html");
    assert!(html.contains("&lt;script&gt;alert(1)&lt;/script&gt;") && html.contains("<svg"), "{html}");
    for bad in ["<script", "<img", "<iframe", "<link", "javascript:", "<a ", "src=", "@import", "\u{1b}"] {
        let found = html.to_lowercase().replace("&lt;img src=x", "").replace("&lt;script", "");
        assert!(!found.contains(bad), "{bad}");
    }
    // No attribute refers to another host; `evil.example` only occurs as text.
    assert!(
        !html.contains("href") && !html.contains("url(") && html.contains("default-src &#39;none&#39;")
            || html.contains("default-src 'none'")
    );

    let markdown = fixture.read("r.md");
    assert!(!markdown.contains("<script") && !markdown.contains("@all") && !markdown.contains("![x]("), "{markdown}");
    assert!(markdown.contains("not met") && markdown.contains("| task | score |"), "{markdown}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unwritable_report_path_is_rejected_before_the_run() {
    let fixture = RunFixture::open().await;
    let (_, stderr) = expect_exit(&mut fixture.run("echo x > begun", &["--junit", "nowhere/j.xml"]), 2);
    assert!(stderr.contains("cannot be written") && !fixture.folder().join("begun").exists(), "{stderr}");
    let report_json = report(&mut fixture.run("exit 127", &["--junit", "j.xml"]), 4);
    assert_eq!(report_json["exit_code"], json!(4));
    let cases = junit(&fixture.read("j.xml"));
    assert_eq!((cases["error"], cases["skipped"], cases.get("failure")), (1, 1, None));
}

/// Counts each element in a well-formed document, and checks the count attributes.
fn junit(text: &str) -> BTreeMap<String, usize> {
    let mut reader = Reader::from_str(text);
    reader.config_mut().check_end_names = true;
    let mut found = BTreeMap::new();
    let mut counts = BTreeMap::new();
    let mut depth = 0;
    loop {
        match reader.read_event().unwrap_or_else(|error| panic!("{error}: {text}")) {
            Event::Eof => break,
            Event::End(_) => depth -= 1,
            event @ (Event::Start(_) | Event::Empty(_)) => {
                let is_start = matches!(event, Event::Start(_));
                let (Event::Start(element) | Event::Empty(element)) = event else { continue };
                let name = String::from_utf8(element.name().as_ref().to_vec()).unwrap();
                for attribute in element.attributes() {
                    let attribute = attribute.unwrap();
                    let value = attribute.normalized_value(quick_xml::XmlVersion::Implicit1_0).unwrap();
                    assert!(value.chars().all(|character| !character.is_control() || character == '\n'), "{value:?}");
                    if name == "testsuites" {
                        let key = String::from_utf8(attribute.key.as_ref().to_vec()).unwrap();
                        counts.insert(key, value.into_owned());
                    }
                }
                *found.entry(name).or_insert(0) += 1;
                depth += i32::from(is_start);
            }
            _ => {}
        }
    }
    assert_eq!(depth, 0, "{text}");
    for (attribute, element) in
        [("tests", "testcase"), ("failures", "failure"), ("errors", "error"), ("skipped", "skipped")]
    {
        let count = found.get(element).copied().unwrap_or(0);
        assert_eq!(counts[attribute], count.to_string(), "{attribute}: {text}");
    }
    found
}
