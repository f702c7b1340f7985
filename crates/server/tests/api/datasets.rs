//! Datasets: FHIR resources and files in revisions, stored byte for byte, and their entities.

use reqwest::Method;
use serde_json::{Value, json};
use testkit::world::{self, Authored};
use testkit::{Caller, TestResponse, both_databases};

const NDJSON: &str = "application/fhir+ndjson";
const BUNDLE: &str = "application/fhir+json";

/// Resources that a careless parser would change: digits, order, escapes, unknown fields, whitespace.
const ODD: [&str; 4] = [
    r#"{"resourceType":"Observation","id":"o1","status":"final","valueQuantity":{"value":1.10,"unit":"mg"},"code":{"text":"a"}}"#,
    r#"{"id":"p1","zebra":{"b":1,"a":2},"resourceType":"Patient","extension":[{"url":"http://example.org/unknown","valueDecimal":0.0010}]}"#,
    r#"{"resourceType":"Patient", "id":"p2" ,"name":[{"family":"M\u00fcller \ud83d\ude00 \/ \"x\"\n"}],"multipleBirthInteger":12345678901234567890}"#,
    r#"{"resourceType":"Basic","id":"b1","code":{"text":"é😀"},"extension":[{"url":"x","valueDecimal":-1.0E+2},{"url":"y","valueDecimal":1e2}]}"#,
];

both_databases! {
    async fn resources_are_returned_byte_for_byte(server: TestServer) {
        let caller = server.organization("Datasets").await;
        let by_lines = new_dataset(&caller, "fhir").await;
        let by_bundle = new_dataset(&caller, "fhir").await;
        let uploaded = put(&caller, &by_lines, NDJSON, &lines(&ODD)).await.expect(200);
        assert_eq!(uploaded["counts"], json!({"Basic": 1, "Observation": 1, "Patient": 2}));
        assert_eq!(uploaded["bytes"], lines(&ODD).len());
        put(&caller, &by_bundle, BUNDLE, &bundle(&ODD)).await.expect(200);
        for dataset in [&by_lines, &by_bundle] {
            let read = caller.get(&format!("{dataset}/data")).await.expect(200);
            assert_eq!(read.header("content-type"), Some(NDJSON));
            assert_eq!(read.text(), lines(&ODD));
            let read =
                caller.send(Method::GET, &format!("{dataset}/data"), &[("accept", BUNDLE)], None).await.expect(200);
            assert_eq!(read.header("content-type"), Some(BUNDLE));
            assert_eq!(read.text(), bundle(&ODD));
        }
        assert_eq!(newest_hash(&caller, &by_lines).await, newest_hash(&caller, &by_bundle).await);
    }

    async fn formatting_and_line_endings_do_not_change_the_content(server: TestServer) {
        let caller = server.organization("Datasets").await;
        let plain = new_dataset(&caller, "fhir").await;
        put(&caller, &plain, NDJSON, &world::patients(3)).await.expect(200);
        let expected = newest_hash(&caller, &plain).await;
        let pretty = json!({"resourceType": "Bundle", "type": "collection", "entry": (1..=3).map(|number| {
            json!({"fullUrl": format!("urn:x:{number}"), "resource": {"resourceType": "Patient", "id": format!("p{number}"), "active": true}})
        }).collect::<Vec<_>>()});
        for (media, body) in [
            (BUNDLE, serde_json::to_string_pretty(&pretty).unwrap()),
            (NDJSON, format!("\u{feff}\r\n{}", world::patients(3).replace('\n', "\r\n\r\n"))),
            (NDJSON, world::patients(3).trim_end().to_owned()),
            ("application/x-ndjson; charset=utf-8", world::patients(3)),
        ] {
            let dataset = new_dataset(&caller, "fhir").await;
            put(&caller, &dataset, media, &body).await.expect(200);
            assert_eq!(newest_hash(&caller, &dataset).await, expected, "{body}");
        }
    }

    async fn only_a_change_of_content_makes_a_new_revision(server: TestServer) {
        let caller = server.organization("Datasets").await;
        let dataset = new_dataset(&caller, "fhir").await;
        assert_eq!(caller.get(&dataset).await.expect(200)["revision"], 0);
        assert_eq!(caller.get(&format!("{dataset}/data")).await.expect(200).text(), "");
        assert_eq!(put(&caller, &dataset, NDJSON, &world::patients(2)).await.expect(200)["revision"], 1);
        let same = put(&caller, &dataset, NDJSON, &world::patients(2)).await.expect(200);
        assert_eq!(same["revision"], 1);
        assert_eq!(same.json, caller.get(&dataset).await.expect(200).json);
        let renamed = caller.patch(&dataset, json!({"name": "Renamed"})).await.expect(200);
        assert_eq!(renamed["revision"], 1);
        assert_eq!(put(&caller, &dataset, NDJSON, &world::patients(3)).await.expect(200)["revision"], 2);
        let emptied = put(&caller, &dataset, NDJSON, "").await.expect(200);
        assert_eq!((&emptied["revision"], &emptied["counts"], &emptied["bytes"]), (&json!(3), &json!({}), &json!(0)));
        put(&caller, &dataset, NDJSON, &world::patients(2)).await.expect(200);
        let checkpoints = caller.get(&format!("{dataset}/checkpoints")).await.expect(200);
        let revisions: Vec<&Value> = checkpoints.data().iter().map(|checkpoint| &checkpoint["revision"]).collect();
        assert_eq!(revisions, [4, 3, 2, 1]);
        assert_eq!(checkpoints.data()[0]["content_hash"], checkpoints.data()[3]["content_hash"]);
        assert_ne!(checkpoints.data()[0]["content_hash"], checkpoints.data()[1]["content_hash"]);
        assert_eq!(checkpoints.data()[2]["counts"], json!({"Patient": 3}));
    }

    async fn an_invalid_upload_reports_the_position_and_changes_nothing(server: TestServer) {
        let caller = server.organization("Datasets").await;
        let dataset = new_dataset(&caller, "fhir").await;
        put(&caller, &dataset, NDJSON, &world::patients(2)).await.expect(200);
        let before = caller.get(&dataset).await.expect(200).json;
        let patient = |id: &str| format!("{{\"resourceType\":\"Patient\",\"id\":\"{id}\"}}");
        for (media, body, place) in [
            (NDJSON, format!("{}\n\n{}\n{}\n", patient("a"), patient("b"), patient("a")), "line 4"),
            (NDJSON, format!("{}\n{{\n", patient("a")), "line 2"),
            (NDJSON, "{\"resourceType\":\"Patient\"}\n".to_owned(), "line 1"),
            (NDJSON, "{\"resourceType\":\"Person2\",\"id\":\"a\"}\n".to_owned(), "line 1"),
            (NDJSON, format!("{}\n{}", patient("a"), patient("no good id")), "line 2"),
            (NDJSON, "{\"resourceType\":\"Patient\",\"id\":\"a\",\"x\":\"\\u0000\"}".to_owned(), "line 1"),
            (BUNDLE, bundle(&[&patient("a"), &patient("b"), &patient("a")]), "entry 3"),
            (BUNDLE, "{\"resourceType\":\"Bundle\",\"type\":\"collection\",\"entry\":[".to_owned(), "data"),
            (BUNDLE, patient("a"), "data"),
            (BUNDLE, "[]".to_owned(), "data"),
            (BUNDLE, String::new(), "data"),
        ] {
            let refused = put(&caller, &dataset, media, &body).await.expect_error(400, "VALIDATION_ERROR");
            assert_eq!(refused.invalid_fields(), [place], "{body}");
        }
        // The same id in two types identifies two resources.
        let twins = ["{\"resourceType\":\"Patient\",\"id\":\"a\"}", "{\"resourceType\":\"Basic\",\"id\":\"a\"}"];
        put(&caller, &dataset, "text/plain", &lines(&twins)).await.expect_error(415, "UNSUPPORTED_MEDIA_TYPE");
        let zipped = [("content-encoding", "gzip")];
        let path = format!("{dataset}/data");
        caller
            .send_bytes(Method::PUT, &path, &zipped, Some((NDJSON, vec![1])))
            .await
            .expect_error(415, "UNSUPPORTED_MEDIA_TYPE");
        assert_eq!(caller.get(&dataset).await.expect(200).json, before);
        put(&caller, &dataset, NDJSON, &lines(&twins)).await.expect(200);
    }

    async fn twenty_thousand_resources_are_stored_across_chunks(server: TestServer) {
        let caller = server.organization("Datasets").await;
        let resources: Vec<String> = (0..20_000).map(large_patient).collect();
        let resources: Vec<&str> = resources.iter().map(String::as_str).collect();
        let (by_lines, by_bundle) = (new_dataset(&caller, "fhir").await, new_dataset(&caller, "fhir").await);
        let text = lines(&resources);
        assert!(text.len() > 2 * 4 * 1024 * 1024, "{}", text.len());
        let uploaded = put(&caller, &by_lines, NDJSON, &text).await.expect(200);
        assert_eq!((&uploaded["counts"], &uploaded["bytes"]), (&json!({"Patient": 20_000}), &json!(text.len())));
        assert!(caller.get(&format!("{by_lines}/data")).await.expect(200).text() == text);
        let whole = bundle(&resources);
        put(&caller, &by_bundle, BUNDLE, &whole).await.expect(200);
        assert_eq!(newest_hash(&caller, &by_lines).await, newest_hash(&caller, &by_bundle).await);
        let read = caller.send(Method::GET, &format!("{by_lines}/data"), &[("accept", BUNDLE)], None).await.expect(200);
        assert!(read.text() == whole);
        let twice = format!("{text}{}\n", resources[7]);
        let refused = put(&caller, &by_lines, NDJSON, &twice).await.expect_error(400, "VALIDATION_ERROR");
        assert_eq!(refused.invalid_fields(), ["line 20001"]);
    }

    async fn content_is_served_by_the_endpoint_of_its_type(server: TestServer) {
        let caller = server.organization("Datasets").await;
        let (fhir, files) = (new_dataset(&caller, "fhir").await, new_dataset(&caller, "files").await);
        put(&caller, &files, NDJSON, &world::patients(1)).await.expect_error(409, "CONFLICT");
        caller.get(&format!("{files}/data")).await.expect_error(409, "CONFLICT");
        caller.get(&format!("{fhir}/files")).await.expect_error(409, "CONFLICT");
        caller.put_bytes(&format!("{fhir}/files/a"), "text/plain", "a").await.expect_error(409, "CONFLICT");
        caller.delete(&format!("{fhir}/files/a")).await.expect_error(409, "CONFLICT");
        let simulator = caller.post("/simulators", json!({"type": "Fhir", "name": "EHR"})).await.expect(201).id();
        let attach = format!("/simulators/{simulator}{files}");
        caller.send(Method::POST, &attach, &[], None).await.expect_error(409, "CONFLICT");
    }

    async fn a_branch_starts_with_its_parents_content_and_then_diverges(server: TestServer) {
        let caller = server.organization("Datasets").await;
        let parent = new_dataset(&caller, "fhir").await;
        put(&caller, &parent, NDJSON, &world::patients(3)).await.expect(200);
        let branch = branch_of(&caller, &parent, "fhir").await;
        assert_eq!(
            (&branch["counts"], &branch["parent_id"]),
            (&json!({"Patient": 3}), &json!(parent["/datasets/".len()..]))
        );
        let branch = format!("/datasets/{}", branch.id());
        assert_eq!(newest_hash(&caller, &branch).await, newest_hash(&caller, &parent).await);
        put(&caller, &branch, NDJSON, &world::patients(1)).await.expect(200);
        assert_eq!(data(&caller, &parent).await, world::patients(3));
        put(&caller, &parent, NDJSON, &world::patients(5)).await.expect(200);
        assert_eq!(data(&caller, &branch).await, world::patients(1));

        let wrong_type = json!({"name": "B", "type": "files", "parent_id": parent["/datasets/".len()..]});
        assert_eq!(
            caller.post("/datasets", wrong_type).await.expect_error(400, "VALIDATION_ERROR").invalid_fields(),
            ["parent_id"]
        );
        let foreign = json!({"name": "B", "type": "fhir", "parent_id": parent["/datasets/".len()..]});
        let stranger = server.organization("Stranger").await;
        assert_eq!(
            stranger.post("/datasets", foreign).await.expect_error(400, "VALIDATION_ERROR").invalid_fields(),
            ["parent_id"]
        );
    }

    async fn a_branch_of_files_diverges_from_its_parent(server: TestServer) {
        let caller = server.organization("Datasets").await;
        let parent = new_dataset(&caller, "files").await;
        put_file(&caller, &parent, "a.txt", "a").await;
        put_file(&caller, &parent, "b.txt", "b").await;
        let branch = branch_of(&caller, &parent, "files").await;
        assert_eq!((&branch["counts"], &branch["bytes"]), (&json!({"files": 2}), &json!(2)));
        let branch = format!("/datasets/{}", branch.id());
        put_file(&caller, &branch, "a.txt", "changed").await;
        caller.delete(&format!("{branch}/files/b.txt")).await.expect(204);
        put_file(&caller, &parent, "c.txt", "c").await;
        assert_eq!(paths(&caller, &parent).await, ["a.txt", "b.txt", "c.txt"]);
        assert_eq!(paths(&caller, &branch).await, ["a.txt"]);
        assert_eq!(caller.get(&format!("{parent}/files/a.txt")).await.expect(200).text(), "a");
    }

    async fn files_are_stored_read_listed_and_deleted(server: TestServer) {
        let caller = server.organization("Datasets").await;
        let dataset = new_dataset(&caller, "files").await;
        let bytes: Vec<u8> = (0..=255).collect();
        let file = format!("{dataset}/files/inbox/page%201.html");
        let stored = caller.put_bytes(&file, "text/html; charset=utf-8", bytes.clone()).await.expect(200);
        assert_eq!((&stored["path"], &stored["size"]), (&json!("inbox/page 1.html"), &json!(256)));
        let read = caller.get(&file).await.expect(200);
        assert_eq!(read.body, bytes);
        assert_eq!(read.header("content-type"), Some("text/html; charset=utf-8"));
        assert_eq!(read.header("content-disposition"), Some("attachment"));
        assert_eq!(read.header("x-content-type-options"), Some("nosniff"));
        // SHA-256 of the bytes 0 to 255.
        let sha256 = "40aff2e9d2d8922e47afd4648e6967497158785fbd1da870e7110266bf944880";
        assert_eq!((read.etag(), &stored["sha256"]), (format!("\"{sha256}\"").as_str(), &json!(sha256)));
        caller.send(Method::GET, &file, &[("if-none-match", read.etag())], None).await.expect(304);
        let after = caller.get(&dataset).await.expect(200);
        assert_eq!(
            (&after["revision"], &after["counts"], &after["bytes"]),
            (&json!(1), &json!({"files": 1}), &json!(256))
        );

        caller.put_bytes(&file, "text/html; charset=utf-8", bytes.clone()).await.expect(200);
        assert_eq!(caller.get(&dataset).await.expect(200)["revision"], 1);
        caller.put_bytes(&file, "application/json", bytes).await.expect(200);
        assert_eq!(caller.get(&dataset).await.expect(200)["revision"], 2);
        assert_eq!(caller.get(&file).await.expect(200).header("content-type"), Some("application/json"));
        caller.delete(&file).await.expect(204);
        caller.delete(&file).await.expect_error(404, "NOT_FOUND");
        caller.get(&file).await.expect_error(404, "NOT_FOUND");
        let emptied = caller.get(&dataset).await.expect(200);
        assert_eq!(
            (&emptied["revision"], &emptied["counts"], &emptied["bytes"]),
            (&json!(3), &json!({"files": 0}), &json!(0))
        );
    }

    async fn a_path_is_a_file_or_a_folder(server: TestServer) {
        let caller = server.organization("Datasets").await;
        let dataset = new_dataset(&caller, "files").await;
        put_file(&caller, &dataset, "a/b/c.txt", "x").await;
        put_file(&caller, &dataset, "a-b", "x").await;
        put_file(&caller, &dataset, "a0", "x").await;
        for taken in ["a", "a/b", "a/b/c.txt/d", "a/b/c.txt/d/e"] {
            let refused =
                caller.put_bytes(&format!("{dataset}/files/{taken}"), "text/plain", "x").await.expect_error(409, "CONFLICT");
            assert!(refused.message().contains("`a/b/c.txt`"), "{}", refused.message());
        }
        caller.get(&format!("{dataset}/files/a/b")).await.expect_error(404, "NOT_FOUND");
        put_file(&caller, &dataset, "a/b/c", "x").await;
        for bad in ["a//b", "%2e%2e%2fx", "x/%2e%2e%2fb", "x/%2e%2fb", "x%5Cb", "a%00b", "a%0Ab", "a/"] {
            let refused = caller.put_bytes(&format!("{dataset}/files/{bad}"), "text/plain", "x").await;
            assert!([400, 404].contains(&refused.status), "{bad}: {}", refused.text());
        }
        assert_eq!(paths(&caller, &dataset).await, ["a-b", "a/b/c", "a/b/c.txt", "a0"]);
    }

    async fn concurrent_uploads_of_files_are_all_stored(server: TestServer) {
        let caller = server.organization("Datasets").await;
        let dataset = new_dataset(&caller, "files").await;
        let uploads = (0..24).map(|number| {
            let (caller, dataset) = (caller.clone(), dataset.clone());
            async move { put_file(&caller, &dataset, &format!("{number:02}.txt"), "x").await }
        });
        futures_util::future::join_all(uploads).await;
        let after = caller.get(&dataset).await.expect(200);
        assert_eq!((&after["revision"], &after["counts"]), (&json!(24), &json!({"files": 24})));
    }

    async fn entities_refer_to_rows_of_a_dataset(server: TestServer) {
        let caller = server.organization("Datasets").await;
        let made = Authored::create(&caller).await;
        let entities = format!("/datasets/{}/entities", made.dataset);
        let body = json!({"name": "Ms. Müller", "ref": "Patient/p2", "data": {"mrn": "2"}});
        let entity = caller.post(&entities, body).await.expect(201);
        let path = format!("{entities}/{}", entity.id());
        assert_eq!(entity.header("location"), Some(path.as_str()));
        assert_eq!(caller.get(&path).await.expect(200).json, entity.json);
        caller.post(&entities, json!({"name": "Ms. Müller"})).await.expect_error(409, "CONFLICT");
        caller.patch(&path, json!({"name": "the patient"})).await.expect_error(409, "CONFLICT");
        let bare = caller.post(&entities, json!({"name": "bare"})).await.expect(201);
        assert_eq!((&bare["ref"], &bare["data"]), (&Value::Null, &json!({})));
        let elsewhere = format!("/datasets/{}/entities/{}", made.files_dataset, entity.id());
        caller.get(&elsewhere).await.expect_error(404, "NOT_FOUND");
        caller.delete(&elsewhere).await.expect_error(404, "NOT_FOUND");
        caller.delete(&path).await.expect(204);
        caller.get(&path).await.expect_error(404, "NOT_FOUND");
        caller.post(&entities, json!({"name": "Ms. Müller"})).await.expect(201);
    }

    async fn an_entitys_reference_has_the_form_of_its_datasets_type(server: TestServer) {
        let caller = server.organization("Datasets").await;
        let (fhir, files) = (new_dataset(&caller, "fhir").await, new_dataset(&caller, "files").await);
        let mut number = 0;
        for (dataset, reference, good) in [
            (&fhir, "Patient/123", true),
            (&fhir, "Patient/p-1.x", true),
            (&fhir, "Patient", false),
            (&fhir, "Patient/", false),
            (&fhir, "Patiant/1", false),
            (&fhir, "inbox/a.txt", false),
            (&fhir, "Patient/a b", false),
            (&files, "inbox/a b.txt", true),
            (&files, "/inbox/a.txt", false),
            (&files, "../a.txt", false),
            (&files, "a//b", false),
        ] {
            number += 1;
            let body = json!({"name": format!("entity {number}"), "ref": reference});
            let response = caller.post(&format!("{dataset}/entities"), body).await;
            if good {
                response.expect(201);
            } else {
                assert_eq!(response.expect_error(400, "VALIDATION_ERROR").invalid_fields(), ["ref"], "{reference}");
            }
        }
        let several = json!({"name": "", "ref": "x", "data": []});
        let refused = caller.post(&format!("{fhir}/entities"), several).await.expect_error(400, "VALIDATION_ERROR");
        assert_eq!(refused.invalid_fields(), ["data", "name", "ref"]);
    }
}

/// The path of the new dataset.
async fn new_dataset(caller: &Caller, kind: &str) -> String {
    let made = caller.post("/datasets", json!({"name": "Data", "type": kind})).await.expect(201);
    format!("/datasets/{}", made.id())
}

async fn branch_of(caller: &Caller, parent: &str, kind: &str) -> TestResponse {
    let parent = parent.trim_start_matches("/datasets/");
    caller.post("/datasets", json!({"name": "Branch", "type": kind, "parent_id": parent})).await.expect(201)
}

async fn put(caller: &Caller, dataset: &str, media: &str, body: &str) -> TestResponse {
    caller.put_bytes(&format!("{dataset}/data"), media, body).await
}

async fn data(caller: &Caller, dataset: &str) -> String {
    caller.get(&format!("{dataset}/data")).await.expect(200).text()
}

async fn put_file(caller: &Caller, dataset: &str, path: &str, content: &str) {
    caller.put_bytes(&format!("{dataset}/files/{path}"), "text/plain", content).await.expect(200);
}

async fn paths(caller: &Caller, dataset: &str) -> Vec<String> {
    let files = caller.get(&format!("{dataset}/files")).await.expect(200);
    files.data().iter().map(|file| file["path"].as_str().unwrap().to_owned()).collect()
}

async fn newest_hash(caller: &Caller, dataset: &str) -> String {
    let checkpoints = caller.get(&format!("{dataset}/checkpoints?limit=1")).await.expect(200);
    checkpoints.data()[0]["content_hash"].as_str().unwrap().to_owned()
}

fn lines(resources: &[&str]) -> String {
    resources.iter().map(|resource| format!("{resource}\n")).collect()
}

/// A Bundle as the server writes it.
fn bundle(resources: &[&str]) -> String {
    let entries: Vec<String> = resources.iter().map(|resource| format!("{{\"resource\":{resource}}}")).collect();
    format!("{{\"resourceType\":\"Bundle\",\"type\":\"collection\",\"entry\":[{}]}}", entries.join(","))
}

/// Resources of uneven length, so that chunks end at arbitrary positions.
fn large_patient(number: usize) -> String {
    let note = "ä".repeat(150 + number % 97);
    format!(
        "{{\"resourceType\":\"Patient\",\"id\":\"p{number}\",\"text\":{{\"status\":\"generated\",\"div\":\"<div>{note}</div>\"}},\"multipleBirthInteger\":{number}}}"
    )
}
