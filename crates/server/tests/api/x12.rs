//! A clearinghouse: raw interchanges, delayed responses, eligibility, and the check in a run.

use reqwest::Method;
use serde_json::{Value, json};
use testkit::runs::{Agent, Bench, solver};
use testkit::{Caller, TestResponse, both_databases};

const X12: &str = "application/edi-x12";

both_databases! {
    async fn an_interchange_gets_a_raw_or_parsed_response(server: TestServer) {
        let house = House::open(&server.organization("Acme").await, json!([])).await;
        let raw = house.send(&inquiry("W0001", "30"), &[]).await.expect(200);
        assert_eq!(raw.header("content-type"), Some(X12));
        let text = raw.text();
        assert!(text.contains("~TRN*2*TRACE1*9CLINICSYS~") && text.contains("~EB*1*IND*30"), "{text}");

        let parsed = house.send(&inquiry("W0009", "30"), &[("accept", "application/json")]).await.expect(200).json;
        let transaction = &parsed["interchanges"][0]["groups"][0]["transactions"][0];
        assert_eq!((&transaction["set"], &transaction["version"]), (&json!("271"), &json!("005010X279A1")));
        let reject = json!({"name": "AAA", "loop": "2100C", "elements": ["N", "", "72", "C"]});
        assert!(transaction["segments"].as_array().unwrap().contains(&reject), "{transaction}");
        assert!(parsed["payload"].as_str().unwrap().starts_with("ISA*"));

        let alias = house.caller.send_bytes(Method::POST, &house.path("/x12/transactions").replace("/sandboxes/", "/services/"),
            &[], Some((X12, inquiry("W0001", "30").into_bytes()))).await.expect(200);
        assert!(alias.text().contains("~EB*1*IND*30"));
    }

    async fn each_of_several_interchanges_gets_a_response_that_is_listed(server: TestServer) {
        let house = House::open(&server.organization("Acme").await, json!([])).await;
        let faulty = inquiry("W0001", "30").replace("000000042", "000000043").replace("SE*13*", "SE*14*");
        let body = format!("{}{faulty}", inquiry("W0001", "30"));
        let text = house.send(&body, &[]).await.expect(200).text();
        assert!(text.contains("~ST*271*") && text.contains("~IK5*R*4~"), "{text}");
        assert_eq!(text.matches("ISA*").count(), 2);

        let listed = house.caller.get(&house.path("/x12/responses")).await.expect(200).json;
        let [row] = &listed["data"].as_array().unwrap()[..] else { panic!("{listed}") };
        assert_eq!((&row["in_reply_to"], &row["transaction_sets"]), (&json!("000000042"), &json!(["271"])));
        let one = house.path(&format!("/x12/responses/{}", row["id"].as_str().unwrap()));
        assert_eq!(house.caller.get(&one).await.expect(200).text(), row["payload"].as_str().unwrap());
        let in_parts = house.caller.send(Method::GET, &one, &[("accept", "application/json")], None).await.expect(200);
        assert_eq!(in_parts.json, *row);
        house.caller.get(&house.path("/x12/responses/x12_nothing")).await.expect_error(404, "NOT_FOUND");
    }

    async fn an_invalid_interchange_is_rejected_and_only_recorded_as_an_event(server: TestServer) {
        let house = House::open(&server.organization("Acme").await, json!([])).await;
        let endless = inquiry("W0001", "30").trim_end_matches('~').to_owned();
        for body in ["", "hello", "ISA*00*short~", "\u{0}\u{1}\u{2}", endless.as_str()] {
            house.send(body, &[]).await.expect_error(400, "BAD_REQUEST");
        }
        let long = inquiry("W0001", &"3".repeat(70_000));
        house.send(&long, &[]).await.expect_error(413, "PAYLOAD_TOO_LARGE");
        let json = house.caller.post(&house.path("/x12/transactions"), json!({"payload": "ISA"})).await;
        json.expect_error(415, "UNSUPPORTED_MEDIA_TYPE");
        let events = house.caller.get(&house.path("/events")).await.expect(200).json;
        let types: Vec<&Value> = events["data"].as_array().unwrap().iter().map(|event| &event["type"]).collect();
        assert_eq!(types, vec![&json!("x12_request"); 6]);
        assert_eq!(house.caller.get(&house.path("/state")).await.expect(200).data().len(), 0);
    }

    async fn eligibility_can_be_checked_by_patient(server: TestServer) {
        let house = House::open(&server.organization("Acme").await, json!([])).await;
        for path in ["/x12/eligibility", "/clearinghouse/eligibility"] {
            let response = house.caller.post(&house.path(path), json!({"patient_id": "ada"})).await.expect(200).json;
            assert_eq!((&response["eligible"], &response["status"]), (&json!(true), &json!("active")));
            assert_eq!((&response["member_id"], &response["payer"]["id"]), (&json!("W0001"), &json!("60054")));
            assert!(response["request"].as_str().unwrap().contains("~ST*270*"));
            assert!(response["response"].as_str().unwrap().contains("~ST*271*"));
        }
        let path = house.path("/x12/eligibility");
        house.caller.post(&path, json!({"patient_id": "nobody"})).await.expect_error(404, "NOT_FOUND");
        let faulty = json!({"patient_id": "ada", "service_types": ["***"], "date": "soon"});
        let refused = house.caller.post(&path, faulty).await.expect_error(400, "VALIDATION_ERROR");
        assert_eq!(refused.invalid_fields(), ["date", "service_types.0"]);
        house.caller.post(&path, json!({})).await.expect_error(400, "VALIDATION_ERROR");
    }

    async fn a_delayed_response_is_available_when_it_is_due(server: TestServer) {
        let server = server.with_fixed_clock().await;
        let rules = json!([{"match": {"service_type": "98"}, "status": "active", "delay_seconds": 30}]);
        let house = House::open(&server.organization("Acme").await, rules).await;
        let held = house.send(&inquiry("W0001", "98"), &[]).await.expect(200).text();
        assert!(held.contains("~AAA*Y**42*Y~"), "{held}");
        let count = async || house.caller.get(&house.path("/x12/responses")).await.expect(200).data().len();
        server.clock.advance(29_999);
        assert_eq!(count().await, 1);
        server.clock.advance(1);
        assert_eq!(count().await, 2);
        let due = house.caller.get(&house.path("/x12/responses")).await.expect(200).json["data"][0].clone();
        assert!(due["payload"].as_str().unwrap().contains("~EB*1*IND*98"), "{due}");
        assert!(due["delivered_at"].is_string());
    }

    async fn a_dropped_file_gets_a_response_file(server: TestServer) {
        let caller = server.organization("Acme").await;
        let config = json!({"batch": {"take_from": "edi/outbound", "answer_to": "edi/inbound"}});
        let environment = caller.post("/environments", json!({"name": "Payer"})).await.expect(201).id();
        for (kind, config) in [("Files", json!({})), ("Clearinghouse", config)] {
            let simulator = json!({"type": kind, "name": kind, "config": config});
            let simulator = caller.post("/simulators", simulator).await.expect(201).id();
            let path = format!("/environments/{environment}/simulators/{simulator}");
            caller.send(Method::POST, &path, &[], None).await.expect(200);
        }
        let playground = caller.post("/playgrounds", json!({"environment_id": environment})).await.expect(201).json;
        let files = playground["sandboxes"].as_array().unwrap().iter().find(|sandbox| sandbox["type"] == "Files").unwrap();
        let tree = format!("/sandboxes/{}/files", files["id"].as_str().unwrap());
        caller.put_bytes(&format!("{tree}/edi/outbound/a.x12"), X12, inquiry("W0001", "30")).await.expect(201);
        caller.put_bytes(&format!("{tree}/edi/outbound/b.x12"), X12, "no interchange").await.expect(201);
        caller.put_bytes(&format!("{tree}/edi/other/c.x12"), X12, inquiry("W0001", "30")).await.expect(201);
        let listed = caller.get(&format!("{tree}?prefix=edi/inbound/")).await.expect(200).json;
        let paths: Vec<&str> = listed["data"].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap()).collect();
        let [response, error] = paths[..] else { panic!("{listed}") };
        assert!(response.starts_with("edi/inbound/a.") && error == "edi/inbound/b.error.txt", "{paths:?}");
        let text = caller.get(&format!("{tree}/{response}")).await.expect(200).text();
        assert!(text.contains("~ST*999*") && text.contains("~AAA*Y**42*R~"), "{text}");
    }

    async fn a_run_is_scored_by_the_clearinghouses_responses(server: TestServer) {
        let author = server.organization("Acme").await;
        let bench = Bench::new(&author, json!({})).await;
        author.put_bytes(&format!("/datasets/{}/data", bench.dataset), "application/fhir+ndjson", record()).await.expect(200);
        let simulator = json!({"type": "X12", "name": "Payers", "config": {"rules": [
            {"match": {"procedure": "70551"}, "status": "approved"}]}});
        let simulator = author.post("/simulators", simulator).await.expect(201).id();
        let path = format!("/environments/{}/simulators/{simulator}", bench.environment);
        author.send(Method::POST, &path, &[], None).await.expect(200);
        let asked = json!({"assert": "x12-response", "transaction": "271", "correlate_by": {"NM1[1=IL].9": "W0001"},
            "fields": [{"path": "2110C.EB.1", "expected": "1"}, {"path": "EB[1=B].7", "op": "lte", "expected": 40}]});
        let refused = json!({"assert": "x12-response", "transaction": "TA1", "count": 0});
        let clean = json!({"assert": "no-side-effects", "allow": ["x12/270"]});
        let criteria = [("asked", asked), ("no rejects", refused), ("nothing else", clean)];
        let criteria = criteria.map(|(label, assertion)| json!({"label": label, "assertion": assertion}));
        bench.task("Eligibility", &criteria).await;
        let version = bench.publish().await;
        let solver = solver(&server, &author, "agent").await;

        let agent = Agent::begin(&server, &solver, &version, false).await;
        let endpoint = format!("/v1/benchmark-runs/{}/x12", agent.run);
        assert_eq!(agent.created["endpoints"]["x12"], endpoint.as_str());
        let started = agent.start(0).await.expect(200).json;
        let sandboxes = started["sandboxes"].as_array().unwrap();
        let own = sandboxes.iter().find(|sandbox| sandbox["type"] == "Clearinghouse").unwrap();
        let below = format!("/v1/task-runs/{}/sandbox/x12", agent.task_runs[0]);
        let given = own["credentials"]["transactions_url"].as_str().unwrap();
        assert!(given.ends_with(&format!("{below}/transactions")), "{given}");
        let body = Some((X12, inquiry("W0001", "98").into_bytes()));
        let response = agent.caller.send_bytes(Method::POST, &format!("{endpoint}/transactions"), &[], body).await.expect(200);
        assert!(response.text().contains("~EB*B*IND*98***27*25~"), "{}", response.text());
        assert_eq!(agent.caller.get(&format!("{below}/responses")).await.expect(200).data().len(), 1);
        let result = agent.complete(0).await.expect(200).json;
        assert_eq!((&result["score"], &result["verdict"]), (&json!(1.0), &json!("pass")), "{result}");

        let idle = Agent::begin(&server, &solver, &version, false).await;
        idle.start(0).await.expect(200);
        let result = idle.complete(0).await.expect(200).json;
        assert_eq!(result["checks"][0]["result"], "fail", "who asked nothing was told nothing");
    }
}

/// A playground with a health record and a clearinghouse over it.
pub(crate) struct House {
    pub(crate) caller: Caller,
    pub(crate) sandbox: String,
}

impl House {
    pub(crate) async fn open(caller: &Caller, rules: Value) -> Self {
        let dataset = caller.post("/datasets", json!({"name": "Members", "type": "fhir"})).await.expect(201).id();
        caller.put_bytes(&format!("/datasets/{dataset}/data"), "application/fhir+ndjson", record()).await.expect(200);
        let environment = caller.post("/environments", json!({"name": "Payer"})).await.expect(201).id();
        let ehr = caller.post("/simulators", json!({"type": "Fhir", "name": "EHR"})).await.expect(201).id();
        caller.send(Method::POST, &format!("/simulators/{ehr}/datasets/{dataset}"), &[], None).await.expect(200);
        let house = json!({"type": "Clearinghouse", "name": "Payers", "config": {"rules": rules}});
        let house = caller.post("/simulators", house).await.expect(201).id();
        for simulator in [ehr, house] {
            let path = format!("/environments/{environment}/simulators/{simulator}");
            caller.send(Method::POST, &path, &[], None).await.expect(200);
        }
        let playground = caller.post("/playgrounds", json!({"environment_id": environment})).await.expect(201).json;
        let sandboxes = playground["sandboxes"].as_array().unwrap();
        let own = sandboxes.iter().find(|sandbox| sandbox["type"] == "Clearinghouse").unwrap();
        Self { caller: caller.clone(), sandbox: own["id"].as_str().unwrap().to_owned() }
    }

    pub(crate) fn path(&self, below: &str) -> String {
        format!("/sandboxes/{}{below}", self.sandbox)
    }

    pub(crate) async fn send(&self, body: impl AsRef<[u8]>, headers: &[(&str, &str)]) -> TestResponse {
        let body = Some((X12, body.as_ref().to_vec()));
        self.caller.send_bytes(Method::POST, &self.path("/x12/transactions"), headers, body).await
    }
}

pub(crate) fn inquiry(member: &str, service_type: &str) -> String {
    format!(
        "ISA*00*          *00*          *ZZ*CLINIC         *ZZ*CLEARING       *260423*1200*^*00501*000000042*0*T*:~\
         GS*HS*CLINIC*PAYERS*20260423*1200*7*X*005010X279A1~ST*270*0001*005010X279A1~\
         BHT*0022*13*REF1*20260423*1200~HL*1**20*1~NM1*PR*2*BLUE PLAN*****PI*60054~HL*2*1*21*1~\
         NM1*1P*2*RIVERSIDE CLINIC*****XX*1234567893~HL*3*2*22*0~TRN*1*TRACE1*9CLINICSYS~\
         NM1*IL*1*MORROW*ADA****MI*{member}~DMG*D8*19800229*F~DTP*291*D8*20260423~EQ*{service_type}~SE*13*0001~\
         GE*1*7~IEA*1*000000042~"
    )
}

fn record() -> String {
    let resources = [
        json!({"resourceType": "Organization", "id": "blue", "name": "Blue Plan", "identifier": [{"value": "60054"}]}),
        json!({"resourceType": "Patient", "id": "ada", "name": [{"family": "Morrow", "given": ["Ada"]}],
            "birthDate": "1980-02-29", "gender": "female"}),
        json!({"resourceType": "Coverage", "id": "c1", "status": "active", "subscriberId": "W0001",
            "beneficiary": {"reference": "Patient/ada"}, "payor": [{"reference": "Organization/blue"}],
            "costToBeneficiary": [{"type": {"coding": [{"code": "gpvisit"}]}, "valueMoney": {"value": 25}}]}),
    ];
    resources.iter().map(|resource| format!("{resource}\n")).collect()
}
