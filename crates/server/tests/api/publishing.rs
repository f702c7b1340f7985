//! Publishing: a version is immutable, has a number and a content hash, and other organizations may see parts of it.

use std::collections::HashSet;

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};
use testkit::world::{self, Authored};
use testkit::{Caller, TestResponse, both_databases};

both_databases! {
    async fn a_version_does_not_change_when_its_parts_do(server: TestServer) {
        let author = server.organization("Author").await;
        let made = Authored::create(&author).await;
        let published = publish(&author, &made).await.expect(201);
        assert_eq!(published.header("location"), Some("/benchmarks/referral-intake@1"));
        let frozen = author.get("/benchmarks/referral-intake@1").await.expect(200);
        assert_eq!(frozen.text(), published.text());
        for (method, path, body) in edits(&made).into_iter().chain(deletions(&made)) {
            let change = author.send(method, &path, &[], body).await;
            assert!(change.status < 300, "{path}: {}", change.text());
            assert_eq!(author.get("/benchmarks/referral-intake@1").await.expect(200).text(), frozen.text(), "{path}");
        }
    }

    async fn version_numbers_count_up_and_an_unchanged_draft_is_a_conflict(server: TestServer) {
        let author = server.organization("Author").await;
        let made = Authored::create(&author).await;
        let task = format!("/tasks/{}", made.task);
        assert_eq!(publish(&author, &made).await.expect(201)["version"], 1);
        assert!(publish(&author, &made).await.expect_error(409, "CONFLICT").message().contains("referral-intake@1"));
        author.patch(&task, json!({"tags": ["hard"]})).await.expect(200);
        assert_eq!(publish(&author, &made).await.expect(201)["version"], 2);
        assert!(publish(&author, &made).await.expect_error(409, "CONFLICT").message().contains("referral-intake@2"));
        author.patch(&task, json!({"tags": ["easy"]})).await.expect(200);
        assert!(publish(&author, &made).await.expect_error(409, "CONFLICT").message().contains("referral-intake@1"));
        let benchmark = author.get(&format!("/benchmarks/{}", made.benchmark)).await.expect(200);
        assert_eq!(
            (&benchmark["published"], &benchmark["slug"], &benchmark["version"]),
            (&json!(true), &json!("referral-intake"), &json!(2))
        );
        let versions = author.get(&format!("/benchmarks/{}/versions", made.benchmark)).await.expect(200);
        assert_eq!(versions.data().iter().map(|version| &version["version"]).collect::<Vec<_>>(), [2, 1]);
        assert_eq!(versions.data()[1], author.get("/benchmarks/referral-intake@1").await.expect(200).json);
        assert_eq!(versions.data()[1]["tasks"][0]["tags"], json!(["easy"]));
    }

    async fn equal_content_has_the_same_hash(server: TestServer) {
        let mut hashes = HashSet::new();
        for (index, reversed) in [false, false, true].into_iter().enumerate() {
            let author = server.organization("Author").await;
            let benchmark = written(&author, reversed).await;
            let version = author
                .post(&format!("/benchmarks/{benchmark}/publish"), json!({"slug": format!("copy-{index}")}))
                .await
                .expect(201);
            hashes.insert(version["content_hash"].as_str().unwrap().to_owned());
        }
        assert_eq!(hashes.len(), 1);
    }

    async fn every_change_of_content_changes_the_hash(server: TestServer) {
        let author = server.organization("Author").await;
        let made = Authored::create(&author).await;
        let files = format!("/datasets/{}/files", made.files_dataset);
        let mut hashes = HashSet::from([publish(&author, &made).await.expect(201)["content_hash"].to_string()]);
        for (method, path, body) in edits(&made) {
            author.send(method, &path, &[], body.clone()).await.expect(200);
            let version = publish(&author, &made).await.expect(201);
            assert!(hashes.insert(version["content_hash"].to_string()), "{path}: {body:?}");
        }
        // Field names of a snapshot are plain file names here.
        for name in ["inbox/a.txt", "revision", "id", "created_at", "updated_at", "warnings", "config", "datasets"] {
            for content in ["one", "another"] {
                author.put_bytes(&format!("{files}/{name}"), "text/plain", content).await.expect(200);
                let version = publish(&author, &made).await.expect(201);
                assert!(hashes.insert(version["content_hash"].to_string()), "{name}: {content}");
            }
        }
        author
            .put_bytes(&format!("/datasets/{}/data", made.dataset), "application/fhir+ndjson", world::patients(4))
            .await
            .expect(200);
        assert!(hashes.insert(publish(&author, &made).await.expect(201)["content_hash"].to_string()));
    }

    async fn changes_outside_of_the_content_do_not_change_the_hash(server: TestServer) {
        let author = server.organization("Author").await;
        let made = Authored::create(&author).await;
        publish(&author, &made).await.expect(201);
        let dataset = format!("/datasets/{}/data", made.dataset);
        for (method, path, body) in [
            (Method::PATCH, format!("/benchmarks/{}", made.benchmark), json!({"visibility": "Public"})),
            (Method::PATCH, format!("/tasks/{}", made.task), json!({"tags": ["easy"]})),
            (Method::PATCH, format!("/criteria/{}", made.criterion), json!({"weight": 2.0})),
            (Method::PATCH, format!("/simulators/{}", made.simulator), json!({"config": {}})),
        ] {
            author.send(method, &path, &[], Some(body)).await.expect(200);
            publish(&author, &made).await.expect_error(409, "CONFLICT");
        }
        for count in [5, 3] {
            author.put_bytes(&dataset, "application/fhir+ndjson", world::patients(count)).await.expect(200);
        }
        publish(&author, &made).await.expect_error(409, "CONFLICT");
    }

    async fn a_slug_is_checked_unique_and_fixed_by_the_first_publication(server: TestServer) {
        let author = server.organization("Author").await;
        let made = Authored::create(&author).await;
        let benchmark = format!("/benchmarks/{}", made.benchmark);
        for bad in ["", "A", "a--b", "-a", "a-", "a b", "a@1", "ä", &"a".repeat(65)] {
            for (method, path) in [(Method::PATCH, benchmark.clone()), (Method::POST, format!("{benchmark}/publish"))] {
                let refused =
                    author.send(method, &path, &[], Some(json!({"slug": bad}))).await.expect_error(400, "VALIDATION_ERROR");
                assert_eq!(refused.invalid_fields(), ["slug"], "{bad}");
            }
            author.post("/benchmarks", json!({"name": "x", "slug": bad})).await.expect_error(400, "VALIDATION_ERROR");
        }
        author.post("/benchmarks", json!({"name": "Mine", "slug": "mine"})).await.expect(201);
        let stranger = server.organization("Stranger").await;
        let theirs = stranger.post("/benchmarks", json!({"name": "Theirs", "slug": "theirs"})).await.expect(201).id();
        for taken in ["mine", "theirs"] {
            for (method, path) in [(Method::PATCH, benchmark.clone()), (Method::POST, format!("{benchmark}/publish"))] {
                let refused =
                    author.send(method, &path, &[], Some(json!({"slug": taken}))).await.expect_error(409, "CONFLICT");
                assert!(refused.message().contains(&format!("`{taken}`")));
            }
        }
        stranger.patch(&format!("/benchmarks/{theirs}"), json!({"slug": "other"})).await.expect(200);
        author.patch(&benchmark, json!({"slug": "theirs"})).await.expect(200);
        author.patch(&benchmark, json!({"slug": null})).await.expect(200);
        assert_eq!(
            author.post(&format!("{benchmark}/publish"), json!({"slug": "final"})).await.expect(201)["slug"],
            "final"
        );
        for other in [json!("another"), Value::Null] {
            author.patch(&benchmark, json!({"slug": other})).await.expect_error(409, "CONFLICT");
        }
        author.patch(&benchmark, json!({"slug": "final", "name": "Changed"})).await.expect(200);
        author.post(&format!("{benchmark}/publish"), json!({"slug": "another"})).await.expect_error(409, "CONFLICT");
        assert_eq!(
            author.post(&format!("{benchmark}/publish"), json!({"slug": "final"})).await.expect(201)["version"],
            2
        );
    }

    async fn a_slug_is_derived_from_the_name(server: TestServer) {
        let author = server.organization("Author").await;
        let made = Authored::create(&author).await;
        let benchmark = format!("/benchmarks/{}", made.benchmark);
        author.patch(&benchmark, json!({"name": "转诊"})).await.expect(200);
        assert_eq!(publish(&author, &made).await.expect_error(400, "VALIDATION_ERROR").invalid_fields(), ["slug"]);
        author.patch(&benchmark, json!({"name": "  Fax & Referral: Intake (2) "})).await.expect(200);
        let bare = author.send(Method::POST, &format!("{benchmark}/publish"), &[], None).await.expect(201);
        assert_eq!(
            (&bare["slug"], &bare["name"]),
            (&json!("fax-referral-intake-2"), &json!("  Fax & Referral: Intake (2) "))
        );
    }

    async fn an_incomplete_draft_reports_everything_that_is_missing(server: TestServer) {
        let author = server.organization("Author").await;
        let made = Authored::create(&author).await;
        let bare = author.post("/benchmarks", json!({"name": "Bare"})).await.expect(201).id();
        let refused = author.post(&format!("/benchmarks/{bare}/publish"), json!({})).await.expect_error(409, "CONFLICT");
        assert_eq!(refused.invalid_fields(), ["environment_id", "tasks"]);
        let empty = author.post("/environments", json!({"name": "Empty"})).await.expect(201).id();
        author.patch(&format!("/benchmarks/{bare}"), json!({"environment_id": empty})).await.expect(200);
        author.post("/tasks", json!({"benchmark_id": bare, "name": "Talk"})).await.expect(201);
        let refused = author.post(&format!("/benchmarks/{bare}/publish"), json!({})).await.expect_error(409, "CONFLICT");
        assert_eq!(refused.invalid_fields(), ["environment_id"]);

        author
            .delete(&format!("/environments/{}/simulators/{}", made.environment, made.files_simulator))
            .await
            .expect(204);
        let refused = publish(&author, &made).await.expect_error(409, "CONFLICT");
        assert_eq!(refused.invalid_fields(), [format!("{}.scenario.steps.0.do", made.task)]);
        let benchmark = author.get(&format!("/benchmarks/{}", made.benchmark)).await.expect(200);
        assert_eq!((&benchmark["published"], &benchmark["slug"]), (&json!(false), &Value::Null));
        attach(&author, &format!("/environments/{}/simulators/{}", made.environment, made.files_simulator)).await;
        publish(&author, &made).await.expect(201);
    }

    async fn other_organizations_see_public_versions_without_criteria(server: TestServer) {
        let (author, stranger) = (server.organization("Author").await, server.organization("Stranger").await);
        let made = Authored::create(&author).await;
        let benchmark = format!("/benchmarks/{}", made.benchmark);
        let paths = [benchmark.clone(), format!("{benchmark}/versions"), "/benchmarks/referral-intake@1".to_owned()];
        author.patch(&benchmark, json!({"visibility": "Public", "slug": "referral-intake"})).await.expect(200);
        hidden(&stranger, &paths).await;
        publish(&author, &made).await.expect(201);
        author.patch(&benchmark, json!({"name": "A later draft", "description": "unfinished"})).await.expect(200);

        let seen = stranger.get(&benchmark).await.expect(200);
        assert_eq!(
            (&seen["owned"], &seen["environment_id"], &seen["name"]),
            (&json!(false), &Value::Null, &json!("Referral intake"))
        );
        assert_eq!(stranger.get("/benchmarks").await.expect(200).data(), std::slice::from_ref(&seen.json));
        let own = author.get("/benchmarks/referral-intake@1").await.expect(200);
        assert_eq!(own["tasks"][0]["criteria"][0]["label"], "A service request was made");
        let mut expected = own.json.clone();
        expected["tasks"][0].as_object_mut().unwrap().shift_remove("criteria");
        expected.as_object_mut().unwrap().shift_remove("axis_names");
        assert_eq!(stranger.get("/benchmarks/referral-intake@1").await.expect(200).json, expected);
        assert_eq!(stranger.get(&format!("{benchmark}/versions")).await.expect(200).data(), [expected]);
        for path in &paths {
            let text = stranger.get(path).await.expect(200).text();
            for secret in
                ["A service request was made", "ServiceRequest", "drop_file_inbox", "unfinished", &made.environment]
            {
                assert!(!text.contains(secret), "{path} shows {secret}");
            }
        }
        stranger.patch(&benchmark, json!({"name": "Stolen"})).await.expect_error(404, "NOT_FOUND");
        stranger.delete(&benchmark).await.expect_error(404, "NOT_FOUND");
        stranger.post(&format!("{benchmark}/publish"), json!({})).await.expect_error(404, "NOT_FOUND");

        author.patch(&benchmark, json!({"visibility": "Private"})).await.expect(200);
        hidden(&stranger, &paths).await;
        assert_eq!(author.get("/benchmarks/referral-intake@1").await.expect(200)["visibility"], "Private");
        author.patch(&benchmark, json!({"visibility": "Public"})).await.expect(200);
        stranger.get("/benchmarks/referral-intake@1").await.expect(200);
    }

    async fn a_slug_without_a_version_names_the_newest_version(server: TestServer) {
        let (author, stranger) = (server.organization("Author").await, server.organization("Stranger").await);
        let made = Authored::create(&author).await;
        author.patch(&format!("/benchmarks/{}", made.benchmark), json!({"slug": "referral-intake"})).await.expect(200);
        author.get("/benchmarks/referral-intake").await.expect_error(404, "NOT_FOUND");
        publish(&author, &made).await.expect(201);
        author.patch(&format!("/tasks/{}", made.task), json!({"name": "Changed"})).await.expect(200);
        publish(&author, &made).await.expect(201);
        assert!(
            author
                .get("/benchmarks/referral-intake")
                .await
                .expect_error(400, "BAD_REQUEST")
                .message()
                .contains("referral-intake@2")
        );
        let foreign = stranger.get("/benchmarks/referral-intake").await.expect_error(404, "NOT_FOUND");
        assert_eq!(
            foreign.without_request_id(),
            stranger.get("/benchmarks/no-such").await.expect_error(404, "NOT_FOUND").without_request_id()
        );
        for unknown in [
            "referral-intake@3",
            "referral-intake@0",
            "referral-intake@01",
            "referral-intake@-1",
            "referral-intake@",
            "Referral-Intake@1",
            "no-such@1",
        ] {
            author.get(&format!("/benchmarks/{unknown}")).await.expect_error(404, "NOT_FOUND");
        }
    }

    async fn deleting_a_draft_keeps_its_versions_and_its_slug(server: TestServer) {
        let (author, stranger) = (server.organization("Author").await, server.organization("Stranger").await);
        let made = Authored::create(&author).await;
        publish(&author, &made).await.expect(201);
        let frozen = author.get("/benchmarks/referral-intake@1").await.expect(200);
        author.delete(&format!("/benchmarks/{}", made.benchmark)).await.expect(204);
        assert_eq!(author.get("/benchmarks/referral-intake@1").await.expect(200).text(), frozen.text());
        assert!(author.get("/benchmarks/referral-intake").await.expect_error(400, "BAD_REQUEST").message().contains("@1"));
        stranger
            .post("/benchmarks", json!({"name": "Squatter", "slug": "referral-intake"}))
            .await
            .expect_error(409, "CONFLICT");

        let again = author
            .post("/benchmarks", json!({"name": "Referral intake", "environment_id": made.environment}))
            .await
            .expect(201)
            .id();
        let task = author.post("/tasks", world::task(&again)).await.expect(201).id();
        let unbound = author.post(&format!("/benchmarks/{again}/publish"), json!({})).await.expect_error(409, "CONFLICT");
        assert!(unbound.invalid_fields().contains(&format!("{task}.entities").as_str()), "{}", unbound.text());
        author.post(&format!("/tasks/{task}/entities"), json!({"entity_id": made.entity})).await.expect(200);
        let second = author.post(&format!("/benchmarks/{again}/publish"), json!({})).await.expect(201);
        assert_eq!(
            (&second["slug"], &second["version"], &second["benchmark_id"]),
            (&json!("referral-intake"), &json!(2), &json!(again))
        );
        assert_eq!(author.get("/benchmarks/referral-intake@1").await.expect(200).text(), frozen.text());
        let versions = author.get(&format!("/benchmarks/{again}/versions")).await.expect(200);
        assert_eq!(versions.data().iter().map(|version| &version["version"]).collect::<Vec<_>>(), [2, 1]);
    }

    async fn only_one_of_several_concurrent_publications_succeeds(server: TestServer) {
        let other_node = server.another_node().await;
        let author = server.organization("Author").await;
        let made = Authored::create(&author).await;
        let callers = [author.clone(), other_node.caller(author.key())];
        for version in 1..=3 {
            author
                .patch(&format!("/tasks/{}", made.task), json!({"name": format!("Round {version}")}))
                .await
                .expect(200);
            let answers = join_all((0..8).map(|number| publish(&callers[number % 2], &made))).await;
            let (made, refused): (Vec<_>, Vec<_>) = answers.iter().partition(|response| response.status == 201);
            assert_eq!(made.len(), 1);
            assert_eq!(made[0]["version"], version);
            assert!(
                refused.iter().all(|response| response.status == 409),
                "{:?}",
                refused.iter().map(|response| response.text()).collect::<Vec<_>>()
            );
        }
    }

    async fn only_one_of_several_concurrent_claims_of_a_slug_succeeds(server: TestServer) {
        let mut waiting = Vec::new();
        for number in 0..6 {
            let author = server.organization(&format!("Author {number}")).await;
            let made = Authored::create(&author).await;
            waiting.push((author, made));
        }
        let answers = join_all(waiting.iter().map(|(author, made)| publish(author, made))).await;
        let mut statuses: Vec<u16> = answers.iter().map(|response| response.status).collect();
        statuses.sort_unstable();
        assert_eq!(statuses, [201, 409, 409, 409, 409, 409]);
    }
}

async fn publish(author: &Caller, made: &Authored) -> TestResponse {
    author.post(&format!("/benchmarks/{}/publish", made.benchmark), json!({})).await
}

async fn attach(author: &Caller, path: &str) {
    author.send(Method::POST, path, &[], None).await.expect(200);
}

async fn hidden(stranger: &Caller, paths: &[String]) {
    for path in paths {
        stranger.get(path).await.expect_error(404, "NOT_FOUND");
    }
    assert!(stranger.get("/benchmarks").await.expect(200).data().is_empty());
}

type Change = (Method, String, Option<Value>);

/// One change of each part of a version.
fn edits(made: &Authored) -> Vec<Change> {
    let patch = |path: String, body: Value| (Method::PATCH, path, Some(body));
    let (benchmark, task) = (format!("/benchmarks/{}", made.benchmark), format!("/tasks/{}", made.task));
    let (criterion, entity) =
        (format!("/criteria/{}", made.criterion), format!("/datasets/{}/entities/{}", made.dataset, made.entity));
    let simulator = format!("/simulators/{}", made.simulator);
    vec![
        patch(benchmark.clone(), json!({"name": "Changed"})),
        patch(benchmark.clone(), json!({"description": "Changed"})),
        patch(benchmark.clone(), json!({"timeout": 60})),
        patch(benchmark, json!({"concurrency": 2})),
        patch(task.clone(), json!({"name": "Changed"})),
        patch(task.clone(), json!({"timeout": 30})),
        patch(task.clone(), json!({"tags": ["easy", "changed"]})),
        patch(task.clone(), json!({"task_item": {"instruction": "Changed"}})),
        patch(task.clone(), json!({"task_item": {"id": made.task}})),
        patch(task, json!({"scenario": {"steps": []}})),
        patch(criterion.clone(), json!({"label": "Changed"})),
        patch(criterion.clone(), json!({"weight": 2.5})),
        patch(criterion.clone(), json!({"axis": null})),
        patch(criterion.clone(), json!({"input_entity_id": made.entity})),
        patch(criterion, json!({"assertion": {"assert": "fhir-resource-state", "resource_type": "Task"}})),
        patch(entity.clone(), json!({"name": "Changed"})),
        patch(entity.clone(), json!({"ref": "Patient/p2"})),
        patch(entity, json!({"data": {"mrn": "2", "id": "x", "revision": 7}})),
        patch(simulator.clone(), json!({"name": "Changed"})),
        patch(simulator, json!({"config": sims::info(model::simulator::SimulatorType::Fhir).example_config()})),
        patch(format!("/environments/{}", made.environment), json!({"name": "Changed"})),
        patch(format!("/datasets/{}", made.files_dataset), json!({"name": "Changed"})),
    ]
}

/// Deletes everything in a possible order.
fn deletions(made: &Authored) -> Vec<Change> {
    let paths = [
        format!("/datasets/{}/files/inbox/a.txt", made.files_dataset),
        format!("/benchmarks/{}", made.benchmark),
        format!("/datasets/{}/entities/{}", made.dataset, made.entity),
        format!("/environments/{}", made.environment),
        format!("/simulators/{}", made.simulator),
        format!("/simulators/{}", made.files_simulator),
        format!("/datasets/{}", made.dataset),
        format!("/datasets/{}", made.files_dataset),
    ];
    paths.into_iter().map(|path| (Method::DELETE, path, None)).collect()
}

/// A benchmark with two datasets and two entities, created in either order.
async fn written(author: &Caller, reversed: bool) -> String {
    let mut names = ["first", "second"];
    if reversed {
        names.reverse();
    }
    let mut parts = std::collections::BTreeMap::new();
    for name in names {
        let dataset = author.post("/datasets", json!({"name": name, "type": "files"})).await.expect(201).id();
        author.put_bytes(&format!("/datasets/{dataset}/files/{name}.txt"), "text/plain", name).await.expect(200);
        let entity =
            author.post(&format!("/datasets/{dataset}/entities"), json!({"name": name})).await.expect(201).id();
        parts.insert(name, (dataset, entity));
    }
    let simulator = author.post("/simulators", json!({"type": "Files", "name": "Drop"})).await.expect(201).id();
    let environment = author.post("/environments", json!({"name": "Clinic"})).await.expect(201).id();
    attach(author, &format!("/environments/{environment}/simulators/{simulator}")).await;
    let body = json!({"name": "Same", "environment_id": environment});
    let benchmark = author.post("/benchmarks", body).await.expect(201).id();
    let task = author.post("/tasks", json!({"benchmark_id": benchmark, "name": "Do"})).await.expect(201).id();
    for (dataset, entity) in parts.values() {
        attach(author, &format!("/simulators/{simulator}/datasets/{dataset}")).await;
        author.post(&format!("/tasks/{task}/entities"), json!({"entity_id": entity})).await.expect(200);
    }
    benchmark
}
