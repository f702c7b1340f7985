//! Updates: PATCH semantics, conditional requests, and deletion of resources in use.

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};
use testkit::world::{self, Authored};
use testkit::{Caller, both_databases};

both_databases! {
    async fn a_patch_keeps_other_fields_and_null_clears_optional_ones(server: TestServer) {
        let caller = server.organization("Updates").await;
        let made = Authored::create(&caller).await;
        for Editable { path, nullable, required } in editables(&made) {
            let before = without_times(&caller.get(&path).await.expect(200).json);
            assert_eq!(without_times(&caller.patch(&path, json!({})).await.expect(200).json), before, "{path}");
            for (field, value) in nullable {
                let mut expected = without_times(&caller.get(&path).await.expect(200).json);
                for value in [value, Value::Null] {
                    expected[field] = value.clone();
                    let changed = caller.patch(&path, json!({field: value})).await.expect(200);
                    assert_eq!(without_times(&changed.json), expected, "{path}");
                    assert_eq!(caller.get(&path).await.expect(200).json, changed.json, "{path}");
                }
            }
            for field in required {
                let refused = caller.patch(&path, json!({field: null})).await.expect_error(400, "VALIDATION_ERROR");
                assert_eq!(refused.invalid_fields(), [field], "{path}");
            }
        }
    }

    async fn immutable_and_unknown_fields_are_rejected(server: TestServer) {
        let caller = server.organization("Updates").await;
        let made = Authored::create(&caller).await;
        for (path, field, value) in [
            (format!("/simulators/{}", made.simulator), "type", json!("Files")),
            (format!("/datasets/{}", made.dataset), "parent_id", json!(made.dataset)),
            (format!("/tasks/{}", made.task), "benchmark_id", json!(made.benchmark)),
            (format!("/criteria/{}", made.criterion), "task_id", json!(made.task)),
            (format!("/benchmarks/{}", made.benchmark), "published", json!(true)),
            (format!("/environments/{}", made.environment), "colour", json!("red")),
        ] {
            let refused = caller.patch(&path, json!({field: value})).await.expect_error(400, "VALIDATION_ERROR");
            assert_eq!(refused.invalid_fields(), [field], "{path}");
        }
    }

    async fn all_responses_give_the_same_entity_tag_for_a_state(server: TestServer) {
        let caller = server.organization("Updates").await;
        let made = Authored::create(&caller).await;
        for (collection, body, change) in creations(&made) {
            let created = caller.post(&collection, body).await.expect(201);
            let path = format!("{collection}/{}", created.id());
            let read = caller.get(&path).await.expect(200);
            assert_eq!((read.etag(), &read.json), (created.etag(), &created.json), "{path}");
            let changed = caller.patch(&path, change).await.expect(200);
            assert_ne!(changed.etag(), created.etag(), "{path}");
            assert_eq!(caller.get(&path).await.expect(200).etag(), changed.etag(), "{path}");
        }
    }

    async fn if_match_prevents_changes_of_another_state(server: TestServer) {
        let caller = server.organization("Updates").await;
        let made = Authored::create(&caller).await;
        for (collection, body, change) in creations(&made) {
            let created = caller.post(&collection, body).await.expect(201);
            let path = format!("{collection}/{}", created.id());
            let patch = |tag: String| {
                let (caller, path, change) = (caller.clone(), path.clone(), change.clone());
                async move { caller.send(Method::PATCH, &path, &[("if-match", &tag)], Some(change)).await }
            };
            let changed = patch(created.etag().to_owned()).await.expect(200);
            patch(created.etag().to_owned()).await.expect_error(412, "PRECONDITION_FAILED");
            assert_eq!(caller.get(&path).await.expect(200).json, changed.json, "{path}");
            patch(format!("\"other\", {}", changed.etag())).await.expect(200);
            let any = patch("*".to_owned()).await.expect(200);
            let delete = |tag: String| {
                let (caller, path) = (caller.clone(), path.clone());
                async move { caller.send(Method::DELETE, &path, &[("if-match", &tag)], None).await }
            };
            delete(created.etag().to_owned()).await.expect_error(412, "PRECONDITION_FAILED");
            delete(any.etag().to_owned()).await.expect(204);
            caller.get(&path).await.expect_error(404, "NOT_FOUND");
        }
    }

    async fn an_unchanged_resource_is_304(server: TestServer) {
        let caller = server.organization("Updates").await;
        let made = Authored::create(&caller).await;
        for Editable { path, .. } in editables(&made) {
            let tag = caller.get(&path).await.expect(200).etag().to_owned();
            for known in [tag.clone(), format!("\"other\", {tag}"), format!("W/{tag}"), "*".to_owned()] {
                let response = caller.send(Method::GET, &path, &[("if-none-match", &known)], None).await.expect(304);
                assert!(response.body.is_empty());
                assert_eq!(response.etag(), tag);
            }
            caller.send(Method::GET, &path, &[("if-none-match", "\"other\"")], None).await.expect(200);
        }
    }

    async fn only_one_of_several_concurrent_changes_with_if_match_succeeds(server: TestServer) {
        let caller = server.organization("Updates").await;
        let created = caller.post("/environments", json!({"name": "contested"})).await.expect(201);
        let path = format!("/environments/{}", created.id());
        let (path, tag) = (path.as_str(), created.etag());
        let answers = join_all((0..16).map(|number| {
            let (caller, body) = (caller.clone(), json!({"name": format!("writer {number}")}));
            async move { caller.send(Method::PATCH, path, &[("if-match", tag)], Some(body)).await }
        }))
        .await;
        let winners: Vec<_> = answers.iter().filter(|response| response.status == 200).collect();
        assert_eq!(winners.len(), 1);
        assert_eq!(answers.iter().filter(|response| response.status == 412).count(), 15);
        assert_eq!(caller.get(path).await.expect(200).json, winners[0].json);
    }

    /// Without a condition every change is applied, and none is lost.
    async fn concurrent_changes_of_different_fields_are_all_applied(server: TestServer) {
        let caller = server.organization("Updates").await;
        let solver = format!("/solvers/{}", caller.post("/solvers", json!({"alias": "a"})).await.expect(201).id());
        let fields = ["real_name", "agent_description", "agent_version"];
        for round in 0..8 {
            let value = format!("round {round}");
            join_all(fields.iter().map(|field| caller.patch(&solver, json!({*field: value})))).await;
            let after = caller.get(&solver).await.expect(200);
            for field in fields {
                assert_eq!(after[field], value);
            }
        }
    }

    async fn resources_in_use_cannot_be_deleted_and_the_error_names_the_user(server: TestServer) {
        let caller = server.organization("Updates").await;
        let made = Authored::create(&caller).await;
        let branch = json!({"name": "Branch", "type": "files", "parent_id": made.files_dataset});
        let branch = caller.post("/datasets", branch).await.expect(201).id();
        let reading = json!({
            "task_id": made.task, "label": "reads the patient", "input_entity_id": made.entity,
            "assertion": {"assert": "fhir-resource-state", "resource_type": "Patient", "search": {"_id": "{{entity.id}}"}},
        });
        let reading = caller.post("/criteria", reading).await.expect(201).id();
        let (environment, simulator) =
            (format!("/environments/{}", made.environment), format!("/simulators/{}", made.simulator));
        let (dataset, files) = (format!("/datasets/{}", made.dataset), format!("/datasets/{}", made.files_dataset));
        let entity = format!("{dataset}/entities/{}", made.entity);
        let (attached, files_attached) =
            (format!("{simulator}{dataset}"), format!("/simulators/{}{files}", made.files_simulator));

        blocked(&caller, &environment, &made.benchmark).await;
        blocked(&caller, &simulator, &made.environment).await;
        blocked(&caller, &dataset, &made.simulator).await;
        blocked(&caller, &files, &made.files_simulator).await;
        blocked(&caller, &entity, &made.task).await;

        caller.delete(&attached).await.expect(204);
        blocked(&caller, &dataset, &made.task).await;
        caller.delete(&format!("/tasks/{}/entities/{}", made.task, made.entity)).await.expect(204);
        blocked(&caller, &entity, &reading).await;
        blocked(&caller, &dataset, &reading).await;
        caller.delete(&format!("/criteria/{reading}")).await.expect(204);
        caller.delete(&dataset).await.expect(204);
        caller.get(&entity).await.expect_error(404, "NOT_FOUND");

        caller.delete(&files_attached).await.expect(204);
        blocked(&caller, &files, &branch).await;
        caller.delete(&format!("/datasets/{branch}")).await.expect(204);
        caller.delete(&files).await.expect(204);

        caller.delete(&format!("{environment}{simulator}")).await.expect(204);
        caller.delete(&simulator).await.expect(204);
        caller.patch(&format!("/benchmarks/{}", made.benchmark), json!({"environment_id": null})).await.expect(200);
        caller.delete(&environment).await.expect(204);
    }

    async fn deleting_a_benchmark_deletes_its_tasks_and_criteria(server: TestServer) {
        let caller = server.organization("Updates").await;
        let made = Authored::create(&caller).await;
        let other = caller.post("/benchmarks", json!({"name": "Other"})).await.expect(201).id();
        let other_task = caller.post("/tasks", json!({"benchmark_id": other, "name": "Other"})).await.expect(201).id();
        let other_criterion = caller.post("/criteria", world::criterion(&other_task)).await.expect(201).id();
        caller.delete(&format!("/benchmarks/{}", made.benchmark)).await.expect(204);
        for gone in [
            format!("/benchmarks/{}", made.benchmark),
            format!("/tasks/{}", made.task),
            format!("/tasks/{}/entities", made.task),
            format!("/criteria/{}", made.criterion),
        ] {
            caller.get(&gone).await.expect_error(404, "NOT_FOUND");
        }
        for stays in [
            format!("/environments/{}", made.environment),
            format!("/datasets/{}/entities/{}", made.dataset, made.entity),
            format!("/tasks/{other_task}"),
            format!("/criteria/{other_criterion}"),
        ] {
            caller.get(&stays).await.expect(200);
        }
        caller.delete(&format!("/datasets/{}/entities/{}", made.dataset, made.entity)).await.expect(204);
        caller.delete(&format!("/tasks/{other_task}")).await.expect(204);
        caller.get(&format!("/criteria/{other_criterion}")).await.expect_error(404, "NOT_FOUND");
    }

    async fn attaching_twice_has_no_effect_and_keeps_the_order(server: TestServer) {
        let caller = server.organization("Updates").await;
        let environment = caller.post("/environments", json!({"name": "Order"})).await.expect(201).id();
        let mut expected = Vec::new();
        for name in ["C", "A", "B"] {
            let simulator = caller.post("/simulators", json!({"type": "Files", "name": name})).await.expect(201).id();
            for _ in 0..2 {
                let attach = format!("/environments/{environment}/simulators/{simulator}");
                caller.send(Method::POST, &attach, &[], None).await.expect(200);
            }
            expected.push(json!({"id": simulator, "type": "Files", "name": name}));
        }
        let read = caller.get(&format!("/environments/{environment}")).await.expect(200);
        assert_eq!(read["simulators"], json!(expected));
        let detach = format!("/environments/{environment}/simulators/{}", expected[1]["id"].as_str().unwrap());
        caller.delete(&detach).await.expect(204);
        caller.delete(&detach).await.expect_error(404, "NOT_FOUND");
        expected.remove(1);
        assert_eq!(
            caller.get(&format!("/environments/{environment}")).await.expect(200)["simulators"],
            json!(expected)
        );
    }
}

/// A resource, the fields that may be empty with a value for each, and those that may not.
struct Editable {
    path: String,
    nullable: Vec<(&'static str, Value)>,
    required: Vec<&'static str>,
}

fn editables(made: &Authored) -> Vec<Editable> {
    let editable = |path: String, nullable, required| Editable { path, nullable, required };
    let description = || vec![("description", json!("wörds"))];
    vec![
        editable("/organization".into(), vec![], vec!["name"]),
        editable(
            format!("/solvers/{}", made.solver),
            vec![
                ("real_name", json!("A")),
                ("agent_description", json!("B")),
                ("agent_version", json!("C")),
                ("contact_email", json!("a@b.example")),
            ],
            vec!["alias"],
        ),
        editable(format!("/environments/{}", made.environment), description(), vec!["name"]),
        editable(
            format!("/simulators/{}", made.simulator),
            vec![("config", json!({"validation": "relaxed"}))],
            vec!["name"],
        ),
        editable(format!("/datasets/{}", made.dataset), description(), vec!["name"]),
        editable(
            format!("/datasets/{}/entities/{}", made.dataset, made.entity),
            vec![("ref", json!("Patient/p2"))],
            vec!["name", "data"],
        ),
        editable(
            format!("/tasks/{}", made.task),
            vec![("timeout", json!(5)), ("task_item", json!({"a": 1})), ("scenario", Value::Null)],
            vec!["name", "tags"],
        ),
        editable(
            format!("/criteria/{}", made.criterion),
            vec![("axis", json!("safety")), ("input_entity_id", json!(made.entity))],
            vec!["label", "assertion", "weight"],
        ),
        // Last, because a scenario is only valid with its environment.
        editable(
            format!("/benchmarks/{}", made.benchmark),
            vec![("description", json!("x")), ("slug", json!("a-slug")), ("environment_id", json!(made.environment))],
            vec!["name", "visibility"],
        ),
    ]
}

/// The path, the body and a change for each type of resource.
fn creations(made: &Authored) -> Vec<(String, Value, Value)> {
    let renamed = || json!({"name": "After"});
    vec![
        ("/solvers".into(), json!({"alias": "before"}), json!({"alias": "after"})),
        ("/environments".into(), json!({"name": "Before"}), renamed()),
        ("/simulators".into(), json!({"type": "files", "name": "Before", "config": {}}), renamed()),
        ("/datasets".into(), json!({"type": "fhir", "name": "Before"}), renamed()),
        (format!("/datasets/{}/entities", made.dataset), json!({"name": "Before", "data": exact()}), renamed()),
        ("/benchmarks".into(), json!({"name": "Before", "slug": "before"}), renamed()),
        ("/tasks".into(), json!({"benchmark_id": made.benchmark, "name": "Before", "task_item": exact()}), renamed()),
        ("/criteria".into(), world::criterion(&made.task), json!({"label": "After", "weight": 0.1})),
    ]
}

/// Numbers and an order that a careless store would change.
fn exact() -> Value {
    serde_json::from_str(r#"{"z": 1.10, "a": 1e2, "m": -0.0, "n": 12345678901234567890123, "x": [1.0, "é😀"]}"#)
        .unwrap()
}

fn without_times(value: &Value) -> Value {
    let mut value = value.clone();
    value.as_object_mut().unwrap().shift_remove("updated_at");
    value
}

async fn blocked(caller: &Caller, path: &str, by: &str) {
    let refused = caller.delete(path).await.expect_error(409, "CONFLICT");
    assert!(refused.message().contains(by), "{path}: {} does not name {by}", refused.message());
    caller.get(path).await.expect(200);
}
