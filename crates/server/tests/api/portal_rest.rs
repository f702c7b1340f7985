//! The REST API of a payer portal: find the member, request an authorization, and read the determination.

use reqwest::Method;
use serde_json::{Value, json};
use testkit::both_databases;

use crate::portal_kit::{Clinic, request};

both_databases! {
    async fn a_request_is_submitted_decided_and_found_again(server: TestServer) {
        let config = json!({"determinations": [
            {"match": {"procedure_code": "70551", "diagnosis": "G43909"}, "determination": {"status": "denied", "reason": "No trial"}},
            {"match": {"procedure_code": "70551"}, "determination": {"status": "approved"}},
        ]});
        let clinic = Clinic::open(&server, config).await;
        let denied = clinic.submit(json!({"answers": {"red_flags": "no"}, "documents": [{"name": "note.txt", "content": "hello"}]})).await.expect(201);
        assert_eq!(denied["auth_number"], "PA-100001");
        assert_eq!((&denied["status"], &denied["determination"]["status"]), (&json!("submitted"), &json!("denied")));
        assert_eq!(denied["determination"]["reason"], "No trial");
        assert_eq!((&denied["patient_name"], &denied["patient_id"]), (&json!("Maria Lopez"), &json!("maria")));
        assert_eq!((&denied["provider_name"], &denied["urgency"]), (&json!("Ana Reyes"), &json!("standard")));
        assert_eq!(denied["documents"][0]["size"], 5);
        assert!(denied.header("location").unwrap().ends_with("/portal/prior-auths/PA-100001"));
        let approved = clinic.submit(json!({"diagnosis_code": "M54.5", "urgency": "urgent"})).await.expect(201);
        assert_eq!((&approved["auth_number"], &approved["determination"]["status"]), (&json!("PA-100002"), &json!("approved")));
        let pending = clinic.submit(json!({"procedure_code": null, "drug": "Adalimumab", "patient_member_id": "M200"})).await.expect(201);
        assert_eq!(pending["determination"], json!({"status": "pending", "reason": null, "decided_at": null}));
        for (query, numbers) in [
            ("", vec!["PA-100003", "PA-100002", "PA-100001"]),
            ("?determination=approved", vec!["PA-100002"]),
            ("?patient_member_id=M200&status=submitted", vec!["PA-100003"]),
            ("?drug=adalimumab", vec!["PA-100003"]),
            ("?status=withdrawn", vec![]),
        ] {
            let listed = clinic.author.get(&clinic.path(&format!("/prior-auths{query}"))).await.expect(200);
            let found: Vec<&str> = listed.data().iter().map(|row| row["auth_number"].as_str().unwrap()).collect();
            assert_eq!(found, numbers, "{query}");
        }
        let one = clinic.author.get(&clinic.path("/prior-auths/PA-100001")).await.expect(200);
        assert_eq!(one.json, denied.json);
        clinic.author.get(&clinic.path("/prior-auths/PA-1")).await.expect_error(404, "NOT_FOUND");
        assert_eq!(clinic.rows("prior_auth_requests").await.len(), 3);
        assert_eq!(clinic.rows("documents").await[0]["auth_number"], "PA-100001");
        let events = clinic.events("portal_submit").await;
        assert_eq!(events[0]["payload"]["row"]["auth_number"], "PA-100001");
        assert_eq!(events[0]["summary"], "submit PA-100001");
    }

    async fn an_invalid_request_is_rejected_and_changes_nothing(server: TestServer) {
        let clinic = Clinic::open(&server, json!({})).await;
        for (change, fields) in [
            (json!({"patient_member_id": "M999"}), vec!["patient_member_id"]),
            (json!({"patient_member_id": null, "provider_npi": null}), vec!["patient_member_id"]),
            (json!({"procedure_code": "7", "diagnosis_code": "?", "provider_npi": "x"}), vec!["diagnosis_code", "procedure_code", "provider_npi"]),
            (json!({"drug": "x"}), vec!["drug"]),
            (json!({"documents": [{"name": "a", "base64": "*"}]}), vec!["documents.0.base64"]),
            (json!({"answers": {"a": [1]}}), vec!["answers.a"]),
            (json!({"auth_number": "PA-1", "status": "approved"}), vec!["auth_number", "status"]),
        ] {
            let refused = clinic.submit(change.clone()).await.expect_error(400, "VALIDATION_ERROR");
            assert_eq!(refused.invalid_fields(), fields, "{change}");
        }
        clinic.author.post(&clinic.path("/prior-auths/PA-9/documents"), json!({"name": "a"})).await.expect_error(404, "NOT_FOUND");
        clinic.author.post(&clinic.path("/prior-auths/PA-9/withdraw"), json!({})).await.expect_error(404, "NOT_FOUND");
        assert!(clinic.rows("prior_auth_requests").await.is_empty() && clinic.rows("documents").await.is_empty());
    }

    async fn decisions_come_when_due_and_requested_information_continues_the_request(server: TestServer) {
        let server = server.with_fixed_clock().await;
        let config = json!({"default_determination": {"status": "need_more_info", "reason": "Notes", "delay_seconds": 60,
            "then": {"status": "approved", "delay_seconds": 30}}});
        let clinic = Clinic::open(&server, config).await;
        let status = async || {
            let row = clinic.author.get(&clinic.path("/prior-auths/PA-100001")).await.expect(200);
            row["determination"]["status"].as_str().unwrap().to_owned()
        };
        clinic.submit(json!({})).await.expect(201);
        server.clock.advance(59_000);
        assert_eq!(status().await, "pending");
        server.clock.advance(1_000);
        assert_eq!(status().await, "need_more_info");
        let empty = clinic.author.post(&clinic.path("/prior-auths/PA-100001/information"), json!({})).await;
        empty.expect_error(400, "VALIDATION_ERROR");
        let told = json!({"clinical_notes": "Six weeks of therapy", "answers": {"conservative_treatment": "yes"}});
        let told = clinic.author.post(&clinic.path("/prior-auths/PA-100001/information"), told).await.expect(200);
        assert_eq!((&told["determination"]["status"], &told["clinical_notes"]), (&json!("pending"), &json!("Six weeks of therapy")));
        server.clock.advance(30_000);
        assert_eq!(status().await, "approved");
        let row = &clinic.rows("prior_auth_requests").await[0];
        assert_eq!(row["determination"]["decided_at"], row["updated_at"]);
        let decisions = clinic.events("portal_determination").await;
        let said: Vec<&Value> = decisions.iter().map(|event| &event["summary"]).collect();
        assert_eq!(said, ["PA-100001 is need_more_info", "PA-100001 is approved"]);
    }

    async fn a_withdrawn_request_is_no_longer_decided(server: TestServer) {
        let server = server.with_fixed_clock().await;
        let clinic = Clinic::open(&server, json!({"default_determination": {"status": "approved", "delay_seconds": 5}})).await;
        clinic.submit(json!({})).await.expect(201);
        let withdraw = clinic.path("/prior-auths/PA-100001/withdraw");
        assert_eq!(clinic.author.send(Method::POST, &withdraw, &[], None).await.expect(200)["status"], "withdrawn");
        server.clock.advance(60_000);
        let row = clinic.author.get(&clinic.path("/prior-auths/PA-100001")).await.expect(200);
        assert_eq!((&row["status"], &row["determination"]["status"]), (&json!("withdrawn"), &json!("pending")));
        clinic.author.send(Method::POST, &withdraw, &[], None).await.expect_error(409, "CONFLICT");
    }

    async fn a_repeated_submission_is_one_request(server: TestServer) {
        let clinic = Clinic::open(&server, json!({})).await;
        let path = clinic.path("/prior-auths");
        let send = async |body: Value| clinic.author.send(Method::POST, &path, &[("idempotency-key", "k1")], Some(body)).await;
        let (first, second) = tokio::join!(send(request(json!({}))), send(request(json!({}))));
        let (first, second) = (first.expect(201), second.expect(201));
        assert_eq!(first["auth_number"], second["auth_number"]);
        assert_eq!(first.header("idempotent-replayed").is_some(), second.header("idempotent-replayed").is_none());
        send(request(json!({"urgency": "urgent"}))).await.expect_error(409, "CONFLICT");
        assert_eq!(clinic.rows("prior_auth_requests").await.len(), 1);
        let documents = clinic.path("/prior-auths/PA-100001/documents");
        for _ in 0..2 {
            let note = json!({"name": "a.txt", "content": "a"});
            clinic.author.send(Method::POST, &documents, &[("idempotency-key", "k2")], Some(note)).await.expect(201);
        }
        assert_eq!(clinic.rows("prior_auth_requests").await[0]["documents"].as_array().unwrap().len(), 1);
    }

    async fn documents_are_accepted_as_json_or_as_a_form(server: TestServer) {
        let clinic = Clinic::open(&server, json!({})).await;
        clinic.submit(json!({})).await.expect(201);
        let path = clinic.path("/prior-auths/PA-100001/documents");
        let form = "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"scan.pdf\"\r\nContent-Type: application/pdf\r\n\r\n%PDF-1.7 x\r\n--b--\r\n";
        let kind = "multipart/form-data; boundary=b";
        let added = clinic.author.send_bytes(Method::POST, &path, &[], Some((kind, form.into()))).await.expect(201);
        assert_eq!((&added["documents"][0]["name"], &added["documents"][0]["size"]), (&json!("scan.pdf"), &json!(10)));
        clinic.author.post(&path, json!({"name": "b.json", "base64": "e30="})).await.expect(201);
        for (kind, body, status) in [
            (kind, "--b\r\nnonsense", 400),
            ("multipart/form-data", "", 400),
            (kind, "--b--\r\n", 400),
            ("application/json", "{", 400),
            ("text/plain", "x", 415),
        ] {
            let refused = clinic.author.send_bytes(Method::POST, &path, &[], Some((kind, body.into()))).await;
            assert_eq!(refused.status, status, "{kind} {body}: {}", refused.text());
        }
        assert_eq!(clinic.rows("documents").await.len(), 2);
    }

    async fn members_providers_and_drugs_are_found(server: TestServer) {
        let formulary = json!([{"drug": "Adalimumab", "tier": "Specialty", "prior_auth_required": true}, {"drug": "Methotrexate"}]);
        let clinic = Clinic::open(&server, json!({"formulary": formulary})).await;
        let names = async |query: &str| {
            let found = clinic.author.get(&clinic.path(query)).await.expect(200);
            let name = |row: &Value| row["name"].as_str().or(row["drug"].as_str()).unwrap_or_default().to_owned();
            found.data().iter().map(name).collect::<Vec<_>>().join(", ")
        };
        for (query, expected) in [
            ("/patients", "Maria Lopez, Mark López, Uma Stone"),
            ("/patients?member_id=M100", "Maria Lopez"),
            ("/patients?member_id=OLD1", "Maria Lopez"),
            ("/patients?member_id=M200", "Mark López"),
            ("/patients?member_id=M300", "Uma Stone"),
            ("/patients?member_id=M100&name=mark", ""),
            ("/patients?name=lopez", "Maria Lopez, Mark López"),
            ("/patients?name=mar%20lop&birth_date=1975-11-30", "Mark López"),
            ("/patients?name=nobody", ""),
            ("/patients?birth_date=nonsense", ""),
            ("/providers", "Lakeside Imaging, Ana Reyes"),
            ("/providers?npi=1234567893", "Ana Reyes"),
            ("/providers?name=lake", "Lakeside Imaging"),
            ("/formulary", "Adalimumab, Methotrexate"),
            ("/formulary?drug=metho", "Methotrexate"),
        ] {
            assert_eq!(names(query).await, expected, "{query}");
        }
        let maria = clinic.author.get(&clinic.path("/patients?member_id=M100")).await.expect(200);
        assert_eq!((&maria.data()[0]["plan"], &maria.data()[0]["payer"]), (&json!("Gold PPO"), &json!("Acme Health")));
        clinic.author.get(&clinic.path("/patients?nam=x")).await.expect_error(400, "VALIDATION_ERROR");
        let mut seen = Vec::new();
        let mut path = clinic.path("/patients?limit=1");
        for _ in 0..5 {
            let page = clinic.author.get(&path).await.expect(200);
            seen.extend(page.data().iter().map(|row| row["patient_id"].as_str().unwrap().to_owned()));
            let Some(next) = page["_meta"]["next"].as_str() else { break };
            path = clinic.path(&format!("/patients?limit=1&cursor={next}"));
        }
        assert_eq!(seen, ["maria", "mark", "uma"]);
        assert_eq!(clinic.events("portal_search").await.len(), 19);
    }

    async fn the_portals_own_login_is_accepted_by_its_rest_api(server: TestServer) {
        let clinic = Clinic::open(&server, json!({})).await;
        let other = Clinic::open(&server, json!({})).await;
        let http = testkit::http_client();
        let ask = async |name: &str, password: &str| {
            let url = format!("{}/prior-auths", clinic.credential("api_url"));
            http.get(url).basic_auth(name, Some(password)).send().await.unwrap().status().as_u16()
        };
        let (name, password) = (clinic.credential("username"), clinic.credential("password"));
        assert_eq!(ask(name, password).await, 200);
        assert_eq!(ask("somebody", password).await, 401);
        assert_eq!(ask(name, other.credential("password")).await, 401);
        assert_eq!(clinic.credential("portal_url"), format!("{}{}", server.base_url, clinic.path("")));
        for _ in 0..9 {
            assert_eq!(ask(name, "wrong").await, 401);
        }
        assert_eq!(ask(name, password).await, 429, "ten failures a minute, and the account is left alone");
        assert_eq!(ask("somebody", "wrong").await, 401, "another name has failures of its own");
    }
}
