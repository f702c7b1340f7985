//! A file drop over HTTP: the dataset's files, writes, ranges, conditions and quotas.

use reqwest::Method;
use serde_json::{Value, json};
use testkit::{Caller, TestResponse, TestServer, both_databases};

both_databases! {
    async fn a_tree_starts_with_the_files_of_its_datasets(server: TestServer) {
        let caller = server.organization("Acme").await;
        let files = Drop::over(&caller, json!({}), &[("inbox/a.txt", "alpha"), ("inbox/b/c.csv", "x,y\n1,2\n"), ("z", "last")]).await;
        assert_eq!(files.paths("").await, ["inbox/a.txt", "inbox/b/c.csv", "z"]);
        assert_eq!(files.paths("inbox/b/").await, ["inbox/b/c.csv"]);
        assert_eq!(files.paths("z").await, ["z"]);
        let inbox = files.get("inbox").await.expect(200).json;
        let rows = inbox.as_array().unwrap();
        assert_eq!(rows.len(), 2);
        let mut members: Vec<&String> = rows[0].as_object().unwrap().keys().collect();
        members.sort();
        assert_eq!(members, ["content_type", "modified_at", "path", "sha256", "size"]);
        assert_eq!((&rows[1]["path"], &rows[1]["size"]), (&json!("inbox/b/c.csv"), &json!(8)));
        assert_eq!(files.read("inbox/a.txt").await, "alpha");
        // The same state at the alias, and nothing at other paths.
        let alias = caller.get(&format!("/services/{}/files/inbox/a.txt", files.sandbox)).await.expect(200);
        assert_eq!(alias.text(), "alpha");
        files.get("inbox/b").await.expect_error(409, "CONFLICT");
        files.get("inbox/none").await.expect_error(404, "NOT_FOUND");
    }

    async fn a_written_file_replaces_the_datasets_until_a_reset(server: TestServer) {
        let caller = server.organization("Acme").await;
        let files = Drop::over(&caller, json!({}), &[("inbox/a.txt", "alpha"), ("inbox/b.txt", "beta")]).await;
        let made = files.put("outbox/new/report.json", r#"{"ok":true}"#).await.expect(201);
        assert_eq!((&made["content_type"], &made["size"]), (&json!("application/json"), &json!(11)));
        files.put("inbox/a.txt", "changed").await.expect(200);
        files.delete("inbox/b.txt").await.expect(204);
        files.delete("inbox/b.txt").await.expect_error(404, "NOT_FOUND");
        assert_eq!(files.paths("").await, ["inbox/a.txt", "outbox/new/report.json"]);
        assert_eq!(files.read("inbox/a.txt").await, "changed");
        let before = caller.get(&format!("/datasets/{}/files/inbox/a.txt", files.dataset)).await.expect(200);
        assert_eq!(before.text(), "alpha", "the dataset stays");
        files.put("outbox/new/report.json/x", "1").await.expect_error(409, "CONFLICT");
        files.put("outbox/new", "1").await.expect_error(409, "CONFLICT");
        let diff = caller.get(&format!("/sandboxes/{}/diff", files.sandbox)).await.expect(200);
        let changes: Vec<(&str, &str)> = diff.data().iter().filter(|row| row["collection"] == "files")
            .map(|row| (row["key"].as_str().unwrap(), row["change"].as_str().unwrap())).collect();
        assert_eq!(changes, [("inbox/a.txt", "updated"), ("inbox/b.txt", "deleted"), ("outbox/new/report.json", "created")]);
        let row = caller.get(&format!("/sandboxes/{}/state?resource=files/inbox/a.txt", files.sandbox)).await.expect(200);
        assert_eq!(row.data().len(), 1, "{}", row.text());
        caller.post(&format!("/playgrounds/{}/reset", files.playground), json!({})).await.expect(200);
        assert_eq!(files.paths("").await, ["inbox/a.txt", "inbox/b.txt"]);
        assert_eq!(files.read("inbox/a.txt").await, "alpha");
    }

    async fn files_and_directories_can_be_moved(server: TestServer) {
        let caller = server.organization("Acme").await;
        let files = Drop::over(&caller, json!({}), &[("inbox/a.txt", "alpha"), ("work/x/1", "one"), ("work/2", "two")]).await;
        files.rename("inbox/a.txt", json!({"move_to": "archive/2026/a.txt"})).await.expect(204);
        assert_eq!(files.read("archive/2026/a.txt").await, "alpha");
        files.get("inbox/a.txt").await.expect_error(404, "NOT_FOUND");
        files.rename("work/2", json!({"move_to": "archive/2026/a.txt"})).await.expect_error(409, "CONFLICT");
        files.rename("work/2", json!({"move_to": "archive/2026/a.txt", "overwrite": true})).await.expect(204);
        assert_eq!(files.read("archive/2026/a.txt").await, "two");
        files.rename("work", json!({"move_to": "work/deeper"})).await.expect_error(409, "CONFLICT");
        files.rename("work", json!({"move_to": "done"})).await.expect(204);
        assert_eq!(files.paths("").await, ["archive/2026/a.txt", "done/x/1"]);
        files.rename("outbox", json!({"move_to": "other"})).await.expect_error(409, "CONFLICT");
        files.rename("nothing", json!({"move_to": "other"})).await.expect_error(404, "NOT_FOUND");
        for bad in [json!({"move_to": "../x"}), json!({"move_to": "/x"}), json!({}), json!({"move_to": "x", "over": 1})] {
            files.rename("done/x/1", bad).await.expect_error(400, "VALIDATION_ERROR");
        }
        assert_eq!(files.events("file_write").await, ["move", "move", "move", "move", "move", "move", "move"]);
    }

    async fn ranges_of_a_file_can_be_read(server: TestServer) {
        let caller = server.organization("Acme").await;
        let files = Drop::over(&caller, json!({}), &[]).await;
        // Larger than one chunk, so that a range crosses a chunk border.
        let bytes: Vec<u8> = (0..2_500_000u32).map(|number| (number.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        let put = files.send(Method::PUT, "big.bin", &[], Some(("application/x-data", bytes.clone()))).await.expect(201);
        let tag = put.etag().to_owned();
        let whole = files.get("big.bin").await.expect(200);
        assert!(whole.body == bytes);
        assert_eq!((whole.header("accept-ranges"), whole.header("content-type")), (Some("bytes"), Some("application/x-data")));
        assert_eq!(whole.etag(), tag);
        for (range, part) in [("bytes=0-9", 0..10), ("bytes=1048570-1048585", 1_048_570..1_048_586), ("bytes=-5", 2_499_995..2_500_000), ("bytes=2499999-", 2_499_999..2_500_000)] {
            let response = files.with("big.bin", &[("range", range)]).await.expect(206);
            let told = format!("bytes {}-{}/2500000", part.start, part.end - 1);
            assert_eq!(response.header("content-range"), Some(told.as_str()));
            assert!(response.body == bytes[part], "{range}");
        }
        let nowhere = files.with("big.bin", &[("range", "bytes=2500000-")]).await.expect_error(416, "RANGE_NOT_SATISFIABLE");
        assert_eq!(nowhere.header("content-range"), Some("bytes */2500000"));
        files.with("big.bin", &[("range", "bytes=0-1,5-6")]).await.expect(200);
        files.with("big.bin", &[("range", "bytes=0-1"), ("if-range", &tag)]).await.expect(206);
        files.with("big.bin", &[("range", "bytes=0-1"), ("if-range", "\"other\"")]).await.expect(200);
        files.with("big.bin", &[("if-none-match", &tag)]).await.expect(304);
        let head = files.send(Method::HEAD, "big.bin", &[], None).await.expect(200);
        assert_eq!((head.header("content-length"), head.body.len()), (Some("2500000"), 0));
        // A client that accepts compression gets the uncompressed bytes.
        let packed = files.with("big.bin", &[("range", "bytes=0-99999"), ("accept-encoding", "gzip")]).await.expect(206);
        assert_eq!((packed.header("content-encoding"), packed.body.len()), (None, 100_000));
    }

    async fn conditional_writes_detect_conflicts(server: TestServer) {
        let caller = server.organization("Acme").await;
        let files = Drop::over(&caller, json!({}), &[("a", "one")]).await;
        let one = files.get("a").await.expect(200).etag().to_owned();
        let text = |text: &str| Some(("text/plain", text.as_bytes().to_vec()));
        files.send(Method::PUT, "a", &[("if-none-match", "*")], text("x")).await.expect_error(412, "PRECONDITION_FAILED");
        files.send(Method::PUT, "b", &[("if-match", "*")], text("x")).await.expect_error(412, "PRECONDITION_FAILED");
        files.send(Method::PUT, "b", &[("if-none-match", "*")], text("new")).await.expect(201);
        files.send(Method::PUT, "a", &[("if-match", &one)], text("two")).await.expect(200);
        files.send(Method::PUT, "a", &[("if-match", &one)], text("three")).await.expect_error(412, "PRECONDITION_FAILED");
        files.send(Method::DELETE, "a", &[("if-match", &one)], None).await.expect_error(412, "PRECONDITION_FAILED");
        assert_eq!(files.read("a").await, "two");
        // Only one of many concurrent creations succeeds.
        let tries = (0..12).map(|number| {
            let files = files.clone();
            tokio::spawn(async move {
                files.send(Method::PUT, "only", &[("if-none-match", "*")], Some(("", format!("{number}").into_bytes()))).await.status
            })
        });
        let mut statuses = Vec::new();
        for one in tries.collect::<Vec<_>>() {
            statuses.push(one.await.unwrap());
        }
        assert_eq!(statuses.iter().filter(|status| **status == 201).count(), 1, "{statuses:?}");
        assert!(statuses.iter().all(|status| [201, 412].contains(status)), "{statuses:?}");
    }

    async fn quotas_are_enforced(server: TestServer) {
        let caller = server.organization("Acme").await;
        let files = Drop::over(&caller, json!({"quota_bytes": 100}), &[("given", &"x".repeat(500))]).await;
        files.put("a", &"a".repeat(60)).await.expect(201);
        files.put("b", &"b".repeat(60)).await.expect_error(413, "PAYLOAD_TOO_LARGE");
        files.put("a", &"a".repeat(60)).await.expect(200);
        files.put("a", &"c".repeat(41)).await.expect_error(413, "PAYLOAD_TOO_LARGE");
        files.put("b", &"b".repeat(40)).await.expect(201);
        assert_eq!(files.read("a").await, "a".repeat(60));
        assert_eq!(files.paths("").await, ["a", "b", "given"]);
    }

    async fn a_torn_down_sandbox_accepts_no_files(server: TestServer) {
        let caller = server.organization("Acme").await;
        let files = Drop::over(&caller, json!({}), &[("a", "one")]).await;
        caller.post(&format!("/sandboxes/{}/teardown", files.sandbox), json!({})).await.expect(200);
        files.put("b", "x").await.expect_error(409, "CONFLICT");
        files.get("a").await.expect_error(409, "CONFLICT");
        files.get("inbox").await.expect_error(409, "CONFLICT");
    }

    async fn every_operation_is_an_event(server: TestServer) {
        let caller = server.organization("Acme").await;
        let files = Drop::over(&caller, json!({}), &[]).await;
        files.put("outbox/a", "x").await.expect(201);
        files.read("outbox/a").await;
        files.send(Method::HEAD, "outbox/a", &[], None).await.expect(200);
        files.get("inbox").await.expect(200);
        files.get("nothing").await.expect(404);
        files.delete("outbox/a").await.expect(204);
        assert_eq!(files.events("file_write").await, ["write"]);
        assert_eq!(files.events("file_read").await, ["read", "stat", "list", "read"]);
        assert_eq!(files.events("file_delete").await, ["delete"]);
        let events = caller.get(&format!("/sandboxes/{}/events?type=file_read&limit=100", files.sandbox)).await.expect(200);
        assert_eq!(events.data()[3]["payload"]["refused"], "not_found");
        assert_eq!(events.data()[0]["payload"]["via"], "http");
    }
}

/// A file drop in its own playground.
#[derive(Clone)]
pub(crate) struct Drop {
    pub(crate) caller: Caller,
    pub(crate) sandbox: String,
    pub(crate) playground: String,
    pub(crate) dataset: String,
}

impl Drop {
    pub(crate) async fn over(caller: &Caller, config: Value, files: &[(&str, &str)]) -> Self {
        let dataset = caller.post("/datasets", json!({"name": "Files", "type": "files"})).await.expect(201).id();
        for (path, text) in files {
            caller.put_bytes(&format!("/datasets/{dataset}/files/{path}"), "text/plain", *text).await.expect(200);
        }
        let simulator = json!({"type": "Files", "name": "Drop", "config": config});
        let simulator = caller.post("/simulators", simulator).await.expect(201).id();
        let attached =
            caller.send(Method::POST, &format!("/simulators/{simulator}/datasets/{dataset}"), &[], None).await;
        attached.expect(200);
        let made = caller.post("/sandboxes", json!({"simulator_id": simulator})).await.expect(201);
        let playground = made["own_playground_id"].as_str().unwrap().to_owned();
        Self { caller: caller.clone(), sandbox: made.id(), playground, dataset }
    }

    pub(crate) async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<(&str, Vec<u8>)>,
    ) -> TestResponse {
        self.caller.send_bytes(method, &format!("/sandboxes/{}/files/{path}", self.sandbox), headers, body).await
    }

    pub(crate) async fn get(&self, path: &str) -> TestResponse {
        self.with(path, &[]).await
    }

    async fn with(&self, path: &str, headers: &[(&str, &str)]) -> TestResponse {
        self.send(Method::GET, path, headers, None).await
    }

    pub(crate) async fn read(&self, path: &str) -> String {
        self.get(path).await.expect(200).text()
    }

    pub(crate) async fn put(&self, path: &str, text: &str) -> TestResponse {
        self.send(Method::PUT, path, &[], Some(("", text.as_bytes().to_vec()))).await
    }

    async fn delete(&self, path: &str) -> TestResponse {
        self.send(Method::DELETE, path, &[], None).await
    }

    async fn rename(&self, path: &str, body: Value) -> TestResponse {
        self.caller.post(&format!("/sandboxes/{}/files/{path}", self.sandbox), body).await
    }

    pub(crate) async fn paths(&self, prefix: &str) -> Vec<String> {
        let path = format!("/sandboxes/{}/files?limit=100&prefix={prefix}", self.sandbox);
        let listed = self.caller.get(&path).await.expect(200);
        listed.data().iter().map(|row| row["path"].as_str().unwrap().to_owned()).collect()
    }

    /// The operations of all events of a type.
    pub(crate) async fn events(&self, kind: &str) -> Vec<String> {
        let path = format!("/sandboxes/{}/events?type={kind}&limit=100", self.sandbox);
        let events = self.caller.get(&path).await.expect(200);
        events.data().iter().map(|event| event["payload"]["operation"].as_str().unwrap().to_owned()).collect()
    }
}

/// Also used by tests of other modules.
pub(crate) async fn drop_of(server: &TestServer, config: Value, files: &[(&str, &str)]) -> Drop {
    Drop::over(&server.organization("Acme").await, config, files).await
}
