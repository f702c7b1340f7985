//! R1 for NDJSON: an acknowledged upload is complete after `kill -9`; an interrupted one is stored completely or not at all.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::api::Api;

/// One client's dataset, whose content each upload replaces, and what the client knows about it.
pub(crate) struct Uploads {
    dataset: String,
    client: usize,
    /// How many uploads were started.
    started: usize,
    /// The upload that made each revision; revision 0 is empty.
    revisions: Vec<Upload>,
    pub(crate) acknowledged: usize,
    pub(crate) cut_off: usize,
    pub(crate) cut_off_and_kept: usize,
}

/// One upload and its size.
#[derive(Clone, Copy, PartialEq)]
struct Upload {
    number: usize,
    lines: usize,
    bytes: usize,
}

impl Upload {
    fn new(number: usize, content: &str) -> Self {
        Self { number, lines: content.lines().count(), bytes: content.len() }
    }
}

impl Uploads {
    pub(crate) async fn create(api: &Api, client: usize) -> Self {
        let created = api.create("/datasets", json!({"name": format!("data {client}"), "type": "fhir"})).await;
        let dataset = created.expect("a dataset")["id"].as_str().unwrap().to_owned();
        let revisions = vec![Upload::new(0, "")];
        Self { dataset, client, started: 0, revisions, acknowledged: 0, cut_off: 0, cut_off_and_kept: 0 }
    }

    /// False when the server was killed before it acknowledged.
    pub(crate) async fn upload(&mut self, api: &Api) -> bool {
        self.started += 1;
        let path = format!("/datasets/{}/data", self.dataset);
        let content = self.content(self.started);
        let upload = Upload::new(self.started, &content);
        let Some(response) = api.put(&path, "application/fhir+ndjson", content).await else {
            self.cut_off += 1;
            return false;
        };
        assert_eq!(response["revision"], self.revisions.len(), "a revision is missing or duplicated");
        self.acknowledged += 1;
        self.revisions.push(upload);
        true
    }

    /// Checks that every acknowledged revision is stored, possibly the interrupted one too, and that all are complete.
    pub(crate) async fn check(&mut self, api: &Api) {
        let shown = api.get(&format!("/datasets/{}", self.dataset)).await;
        let revision = usize::try_from(shown["revision"].as_u64().unwrap()).unwrap();
        let is_known = self.revisions.last().is_some_and(|upload| upload.number == self.started);
        if revision == self.revisions.len() && !is_known {
            self.revisions.push(Upload::new(self.started, &self.content(self.started)));
            self.cut_off_and_kept += 1;
        }
        assert_eq!(revision + 1, self.revisions.len(), "an acknowledged upload is lost, or an unknown one is stored");
        let content = self.content(self.revisions[revision].number);
        assert!(
            api.read(&format!("/datasets/{}/data", self.dataset)).await == content,
            "the data is not what was sent"
        );
        self.check_sizes(&shown, revision);
        let kept = api.get(&format!("/datasets/{}/checkpoints?limit=100", self.dataset)).await;
        let kept = kept["data"].as_array().unwrap();
        let numbers: Vec<u64> = kept.iter().map(|one| one["revision"].as_u64().unwrap()).collect();
        let all: Vec<u64> = (1..=revision as u64).rev().take(100).collect();
        assert_eq!(numbers, all, "a revision is missing, or an unknown one is stored");
        for (checkpoint, number) in kept.iter().zip(all) {
            self.check_sizes(checkpoint, usize::try_from(number).unwrap());
        }
    }

    fn check_sizes(&self, shown: &Value, revision: usize) {
        let Upload { lines, bytes, .. } = self.revisions[revision];
        let counts = if lines == 0 { json!({}) } else { json!({"Observation": lines}) };
        assert_eq!((&shown["bytes"], &shown["counts"]), (&json!(bytes), &counts), "revision {revision}");
    }

    /// Every second upload of every fourth client is larger than one blob, so that it could be stored partially.
    fn content(&self, upload: usize) -> String {
        let (lines, length) = match upload {
            0 => (0, 0),
            _ if self.client.is_multiple_of(4) && upload % 2 == 1 => (90, 50_000),
            _ => (30 + upload, 100),
        };
        let mut content = String::new();
        for line in 0..lines {
            let note = "x".repeat(length);
            let id = format!("c{}-u{upload}-{line}", self.client);
            let _ = writeln!(content, r#"{{"resourceType":"Observation","id":"{id}","note":[{{"text":"{note}"}}]}}"#);
        }
        content
    }
}
