//! The API as the product's public pages document it (docs.verial.ai): one row per documented request or statement, in
//! the order in which a reader of the pages would send them. A client that was written for those pages works unchanged.

use serde_json::{Value, json};
use testkit::both_databases;

use crate::cds_services::Services;
use crate::documented_row::{Row, check};

both_databases! {
    async fn errors_lists_and_environments(server: TestServer) {
        let organization = server.organization("Clinic").await;
        check(&server, &organization, &[], errors_and_lists()).await;
    }

    async fn solvers_and_keys(server: TestServer) {
        let organization = server.organization("Clinic").await;
        check(&server, &organization, &[], solvers()).await;
    }

    async fn simulators_and_datasets(server: TestServer) {
        let organization = server.organization("Clinic").await;
        check(&server, &organization, &[], simulators()).await;
        check(&server, &organization, &[], datasets()).await;
    }

    async fn benchmarks_tasks_and_criteria(server: TestServer) {
        let organization = server.organization("Clinic").await;
        check(&server, &organization, &[], setup().into_iter().chain(authoring()).collect()).await;
    }

    async fn runs_of_agents_and_of_organizations(server: TestServer) {
        let organization = server.organization("Clinic").await;
        let rows = setup().into_iter().chain(published()).chain(agent_run()).chain(organization_runs());
        check(&server, &organization, &[], rows.collect()).await;
    }

    async fn playgrounds_and_sandboxes(server: TestServer) {
        let organization = server.organization("Clinic").await;
        let rows = setup().into_iter().chain(playgrounds()).chain(standalone_sandboxes());
        check(&server, &organization, &[], rows.collect()).await;
    }

    async fn direct_services_of_records_and_interfaces(server: TestServer) {
        let organization = server.organization("Clinic").await;
        let rows = setup().into_iter().chain(playground_of_all()).chain(fhir()).chain(hl7()).chain(eligibility());
        check(&server, &organization, &[], rows.collect()).await;
    }

    async fn direct_services_of_fax_and_messages(server: TestServer) {
        let organization = server.organization("Clinic").await;
        let rows = setup().into_iter().chain(playground_of_all()).chain(faxes()).chain(messages());
        check(&server, &organization, &[], rows.collect()).await;
    }

    async fn direct_services_of_the_portal(server: TestServer) {
        let organization = server.organization("Clinic").await;
        let rows = setup().into_iter().chain(playground_of_all()).chain(portal()).chain(portal_rules());
        check(&server, &organization, &[], rows.collect()).await;
    }

    async fn direct_services_of_decision_support(server: TestServer) {
        let services = Services::start(&["sound"]).await;
        let server = server.stranger(vec![services.host()]).await;
        let organization = server.organization("Clinic").await;
        let rows = setup().into_iter().chain(playground_of_all()).chain(discovered_services()).chain(canned_cards());
        check(&server, &organization, &[("cds_url", &services.base_url)], rows.collect()).await;
    }
}

fn bundle() -> Value {
    json!({"resourceType": "Bundle", "type": "collection", "entry": [
        {"resource": {"resourceType": "Patient", "id": "pat-001", "name": [{"family": "Chen", "given": ["Maria"]}], "gender": "female",
            "birthDate": "1965-03-15", "identifier": [{"value": "BCB123456789"}], "telecom": [{"system": "phone", "value": "+15551234567"}]}},
        {"resource": {"resourceType": "Coverage", "id": "cov-001", "status": "active", "beneficiary": {"reference": "Patient/pat-001"},
            "subscriberId": "BCB123456789", "payor": [{"display": "BlueCross"}]}},
        {"resource": {"resourceType": "Practitioner", "id": "dr-rivera", "name": [{"family": "Rivera", "given": ["Ana"]}],
            "identifier": [{"system": "http://hl7.org/fhir/sid/us-npi", "value": "1467304995"}]}}]})
}

fn errors_and_lists() -> Vec<Row> {
    let text = |count: usize| "n".repeat(count);
    vec![
        Row::get("authentication: no credential is 401", "/environments").anonymous().status(&[401])
            .is("/error/code", "UNAUTHORIZED").has(&["/error/message"]),
        Row::post("errors: details map a field to its messages", "/environments", json!({})).status(&[400])
            .is("/error/code", "VALIDATION_ERROR").has(&["/error/details/name/0"]),
        Row::post("errors: an empty name is a validation error", "/environments", json!({"name": ""})).status(&[400])
            .is("/error/code", "VALIDATION_ERROR").has(&["/error/details/name/0"]),
        Row::post_form("errors: a malformed body is refused", "/environments", "{").status(&[400, 415]).has(&["/error/code"]),
        Row::get("errors: what does not exist is 404", "/environments/env_clxyz123").status(&[404]).is("/error/code", "NOT_FOUND"),
        Row::get("sdk/errors: answers carry a request id", "/environments").header("x-request-id"),
        Row::post("environments/create: name and description", "/environments",
            json!({"name": "Primary Care Clinic", "description": "Two doctors"})).save("first", "/id")
            .has(&["/id", "/created_at"]).is("/name", "Primary Care Clinic").is("/description", "Two doctors"),
        Row::post("environments/create: description is optional", "/environments", json!({"name": "Cardiology Practice"}))
            .is("/description", Value::Null).save("second", "/id"),
        Row::post("environments/create: at most 200 and 1000 characters", "/environments",
            json!({"name": text(200), "description": text(1000)})).save("long", "/id"),
        Row::post("environments/create: more is refused", "/environments", json!({"name": text(201)})).status(&[400]),
        Row::get("environments/get", "/environments/{first}").is("/id", "{first}"),
        Row::patch("mcp environments update: null clears the description", "/environments/{first}", json!({"description": null}))
            .is("/description", Value::Null),
        Row::delete("mcp environments delete", "/environments/{long}"),
        Row::get("pagination: newest first, with _meta", "/environments?limit=1").count("/data", 1).is("/data/0/id", "{second}")
            .is("/_meta/limit", 1).is("/_meta/prev", Value::Null).save("next", "/_meta/next"),
        Row::get("criterion-runs: next_cursor is the next page too", "/environments?limit=1").same("/next_cursor", "/_meta/next"),
        Row::get("pagination: the next page", "/environments?limit=1&cursor={next}").is("/data/0/id", "{first}")
            .is("/_meta/next", Value::Null).is("/next_cursor", Value::Null).save("prev", "/_meta/prev"),
        Row::get("pagination: and back", "/environments?limit=1&cursor={prev}").is("/data/0/id", "{second}"),
        Row::get("pagination: the default is 20", "/environments").is("/_meta/limit", 20),
        Row::get("pagination: more than 100 is clamped", "/environments?limit=1000").is("/_meta/limit", 100),
        Row::get("pagination: the minimum is 1", "/environments?limit=0").status(&[400]),
        Row::get("pagination: a bad cursor is 400", "/environments?cursor=eyJpZCI6ImVudl94In0").status(&[400]),
    ]
}

fn solvers() -> Vec<Row> {
    let keys = "/solvers/{solver}/api-keys";
    vec![
        Row::post("solver-keys: create a solver", "/solvers", json!({"alias": "production-agent", "real_name": "Acme Prior Auth Agent",
            "agent_description": "Submits prior authorizations via RadMD and CoverMyMeds.", "contact_email": "oncall@acme.example"}))
            .starts("/id", "slv_").is("/alias", "production-agent").save("solver", "/id"),
        Row::post("solver-keys: the alias is unique", "/solvers", json!({"alias": "production-agent", "real_name": "Twin"})).status(&[409]),
        Row::post_nothing("solver-keys: mint a key without a body", keys).starts("/id", "key_").starts("/key", "vrl_slv_")
            .is("/prefix", "vrl_slv_").has(&["/suffix"]).same("/createdAt", "/created_at").save("key", "/key"),
        Row::post("solver-keys: mint a key with an empty object", keys, json!({})).starts("/key", "vrl_slv_").save("old", "/id"),
        Row::get("solver-keys: the key is shown only once", keys).count("/data", 2).lacks(&["/data/0/key"])
            .is("/data/0/prefix", "vrl_slv_").same("/data/0/createdAt", "/data/0/created_at"),
        Row::delete("solver-keys: rotation revokes the old key", "/solvers/{solver}/api-keys/{old}"),
        Row::get("solver-keys: a solver key reaches no authoring", "/environments").bearer("key").status(&[403]),
        Row::post_nothing("authentication: an organization key starts with vk_", "/api-keys").starts("/key", "vk_")
            .is("/prefix", "vk_").same("/createdAt", "/created_at"),
    ]
}

fn simulators() -> Vec<Row> {
    let of = |kind: &str| json!({"type": kind, "name": "Any"});
    let documented = |rule: Value| json!({"type": "Payer", "name": "Plan", "config": {"portal": "covermymeds",
        "determinations": [rule], "default_determination": {"status": "need_more_info", "reason": "Send notes", "delay_seconds": 5}}});
    let mut rows = vec![
        Row::post("authoring: create a FHIR simulator", "/simulators", json!({"type": "Fhir", "name": "Primary EHR"}))
            .starts("/id", "sim_").is("/type", "Fhir").is("/name", "Primary EHR").has(&["/created_at"]).save("fhir", "/id"),
        Row::post("authoring: create a payer portal", "/simulators",
            json!({"type": "Payer", "name": "BlueCross Portal", "config": {"portal": "radmd"}})).is("/config/portal", "radmd"),
        Row::post("mcp simulators create: no config is null", "/simulators",
            json!({"type": "Clearinghouse", "name": "Availity Clearinghouse"})).is("/config", Value::Null).save("house", "/id"),
        Row::post("mcp simulators create: config may be null", "/simulators",
            json!({"type": "Clearinghouse", "name": "House", "config": null})).is("/config", Value::Null),
        Row::patch("simulators update: null restores the defaults", "/simulators/{house}", json!({"config": null})).is("/config", Value::Null),
        Row::get("simulators list", "/simulators").has(&["/data/0/id"]),
        Row::get("simulators get", "/simulators/{fhir}").is("/id", "{fhir}"),
        Row::post("web-portal: a rule by procedure code", "/simulators",
            documented(json!({"procedure_code": "72148", "status": "approved", "reason": "Meets criteria"}))),
        Row::post("web-portal: a rule by member", "/simulators", documented(json!({"patient_member_id": "M1", "status": "denied"}))),
        Row::post("web-portal: a rule with its determination inside", "/simulators",
            documented(json!({"procedure_code": "72148", "determination": {"status": "pending", "delay_seconds": 3}}))),
        Row::post("environments: link a simulator", "/environments", json!({"name": "Clinic"})).save("environment", "/id"),
        Row::post_nothing("environments: link a simulator without a body", "/environments/{environment}/simulators/{fhir}"),
        Row::delete("mcp environments removeSimulator", "/environments/{environment}/simulators/{fhir}"),
    ];
    let spellings = ["FHIR", "HL7", "Voice", "Fax", "Files", "SFTP", "X12", "Message", "Messages", "CdsHooks", "CDS Hooks", "Web Portal"];
    rows.extend(spellings.map(|kind| Row::post("simulators: types are read in any spelling of the pages", "/simulators", of(kind))));
    rows
}

fn datasets() -> Vec<Row> {
    let mut rows = vec![
        Row::post("sdk datasets.create: a name and a description", "/datasets",
            json!({"name": "Diabetes patient panel", "description": "50 patients with Type 2 diabetes and pending auths"}))
            .starts("/id", "ds_").is("/type", "fhir").save("panel", "/id"),
        Row::post("mcp datasets create: format and data", "/datasets", json!({"name": "Eligibility", "format": "fhir", "data": bundle()}))
            .is("/counts/Patient", 1).is("/counts/Coverage", 1).is("/revision", 1).save("eligibility", "/id"),
        Row::post("concepts/datasets: the Bundle in config", "/datasets", json!({"name": "Panel", "type": "FHIR", "config": bundle()}))
            .is("/counts/Patient", 1),
        Row::patch("concepts/datasets: data can be set directly", "/datasets/{panel}", json!({"data": bundle()})).is("/counts/Patient", 1),
        Row::get("concepts/datasets: the data is there", "/datasets/{eligibility}/data").contains("", "\"Maria\""),
        Row::post("datasets: data that is no Bundle is refused", "/datasets", json!({"name": "Bad", "data": {"resourceType": "Bundle", "entry": 5}}))
            .status(&[400]),
        Row::post("datasets: type and format must agree", "/datasets", json!({"name": "Bad", "type": "files", "format": "fhir"})).status(&[400]),
        Row::post("datasets: inline data is FHIR", "/datasets", json!({"name": "Bad", "type": "files", "data": bundle()})).status(&[400]),
        Row::get("datasets: what is refused leaves nothing", "/datasets").count("/data", 3),
        Row::get("datasets get", "/datasets/{panel}").has(&["/parent_id"]),
        Row::post("concepts/datasets: a branch has a parent", "/datasets", json!({"name": "Branch", "parent_id": "{eligibility}"}))
            .is("/parent_id", "{eligibility}").is("/counts/Patient", 1),
    ];
    let spellings = ["FHIR", "Fhir", "fhir", "Files", "files", "FILES"];
    rows.extend(spellings.map(|kind| {
        Row::post("concepts/datasets: types in any case", "/datasets", json!({"name": "Any", "type": kind}))
            .is("/type", kind.to_ascii_lowercase())
    }));
    rows
}

/// An environment with one simulator of each type over one dataset; not itself documented.
pub(crate) fn setup() -> Vec<Row> {
    let mut rows = vec![
        Row::post("setup", "/environments", json!({"name": "Clinic"})).save("environment", "/id"),
        Row::post("setup", "/datasets", json!({"name": "Panel", "data": bundle()})).save("dataset", "/id"),
        Row::post("setup", "/solvers", json!({"alias": "agent"})).save("solver", "/id"),
        Row::post_nothing("setup", "/solvers/{solver}/api-keys").save("solver_key", "/key"),
    ];
    for kind in ["Fhir", "Hl7", "Clearinghouse", "Files", "Payer", "Voice", "Fax", "Message", "CdsHooks"] {
        rows.push(Row::post("setup", "/simulators", json!({"type": kind, "name": kind})).save(kind, "/id"));
        rows.push(Row::post_nothing("setup", &format!("/environments/{{environment}}/simulators/{{{kind}}}")));
    }
    rows.push(Row::post_nothing("setup", "/simulators/{Fhir}/datasets/{dataset}"));
    rows
}

fn appointment() -> Value {
    json!({"task_id": "{task}", "label": "Appointment booked with correct provider", "weight": 1, "axis": "correctness",
        "assertion": {"assert": "fhir-resource-state", "resource_type": "Appointment",
            "search": {"patient": "Patient/john-smith", "status": "booked"},
            "fields": [{"path": "participant.0.actor.display", "expected": "Dr. Rivera"}]}})
}

fn authoring() -> Vec<Row> {
    let entities = "/tasks/{task}/entities";
    let mut rows = vec![
        Row::post("benchmarks create", "/benchmarks",
            json!({"name": "Prior Auth Test", "environment_id": "{environment}", "timeout": 300, "concurrency": 5}))
            .starts("/id", "bench_").has(&["/description", "/created_at", "/updated_at", "/slug", "/version"]).is("/timeout", 300)
            .is("/concurrency", 5).is("/published", false).is("/visibility", "Private").starts("/organization_id", "org_")
            .is("/environment_id", "{environment}").save("benchmark", "/id"),
        Row::patch("mcp benchmarks update: description, timeout and concurrency are nullable", "/benchmarks/{benchmark}",
            json!({"description": null, "timeout": null, "concurrency": null})).is("/concurrency", 1).is("/timeout", 3600),
        Row::get("benchmarks list", "/benchmarks").is("/data/0/id", "{benchmark}"),
        Row::post("tasks create", "/tasks", json!({"benchmark_id": "{benchmark}", "name": "Submit prior auth for MRI", "timeout": 120,
            "task_item": {"patient": "Maria Chen", "instruction": "Submit a prior authorization request for a lumbar MRI"},
            "tags": ["prior-auth", "imaging"]})).starts("/id", "task_").is("/timeout", 120).is("/tags/1", "imaging")
            .has(&["/benchmark_id", "/name", "/task_item/instruction", "/scenario", "/created_at"]).save("task", "/id"),
        Row::patch("mcp tasks update: timeout, task_item and scenario are nullable", "/tasks/{task}",
            json!({"timeout": null, "task_item": null, "scenario": null})).is("/timeout", Value::Null).is("/task_item", Value::Null),
        Row::post("files-sftp: a scenario drops a file", "/tasks", json!({"benchmark_id": "{benchmark}", "name": "Referral",
            "scenario": {"steps": [{"do": "drop_file_inbox", "path": "inbox/referral.txt", "content": "Refer"}]}})).save("second", "/id"),
        Row::get("tasks list", "/tasks?benchmark_id={benchmark}").count("/data", 2),
        Row::delete("tasks delete", "/tasks/{second}"),
        Row::post("datasets: an entity", "/datasets/{dataset}/entities", json!({"name": "maria", "ref": "Patient/pat-001"})).save("entity", "/id"),
        Row::post("tasks: bind an entity", entities, json!({"entity_id": "{entity}"})),
        Row::get("tasks: list entities", entities).count("/data", 1),
        Row::post("criteria create", "/criteria", appointment()).starts("/id", "crit_").is("/weight", 1).is("/axis", "correctness")
            .is("/input_entity_id", Value::Null).has(&["/task_id", "/label", "/assertion/search/status", "/created_at"]).save("criterion", "/id"),
        Row::get("tasks get: with criteria", "/tasks/{task}").has(&["/criteria/0/id", "/criteria/0/task_id", "/criteria/0/label",
            "/criteria/0/assertion", "/criteria/0/weight", "/criteria/0/created_at"]),
        Row::get("criteria list", "/criteria?task_id={task}").count("/data", 1),
        Row::get("criteria get", "/criteria/{criterion}").is("/id", "{criterion}"),
        Row::patch("criteria update", "/criteria/{criterion}", json!({"input_entity_id": "{entity}", "axis": null}))
            .is("/input_entity_id", "{entity}").is("/axis", Value::Null),
        Row::post("verification: an unknown assert is stored", "/criteria",
            json!({"task_id": "{task}", "label": "Unknown", "assertion": {"assert": "no-such-check"}})).has(&["/warnings/0"]).save("unknown", "/id"),
        Row::delete("criteria delete", "/criteria/{unknown}"),
        Row::patch("criteria update", "/criteria/{criterion}", json!({"input_entity_id": null})),
        Row::delete("tasks: unbind an entity", "/tasks/{task}/entities/{entity}"),
    ];
    for assertion in [
        json!({"assert": "portal-state-match", "correlate_by": {"resource": "prior_auth_requests", "key": "request_id"},
            "assertions": [{"path": "status", "expected": "submitted"}]}),
        json!({"assert": "voice-transcript", "speaker": "agent", "contains": ["member ID", "date of birth"]}),
        json!({"assert": "hl7-structural", "correlate_by": {"MSH.9.2": "A01"}, "fields": [{"path": "PID.5.1", "expected": "Smith"}]}),
        json!({"assert": "sftp-file-present", "path": "outbox/returns/*.return.json", "fields": [{"path": "reason", "expected": "missing_signature"}]}),
        json!({"assert": "x12-response", "transaction": "271", "correlate_by": {}, "fields": [{"path": "EB.1", "expected": "1"}]}),
    ] {
        let body = json!({"task_id": "{task}", "label": "Documented", "assertion": assertion, "axis": null, "input_entity_id": null});
        rows.push(Row::post("criteria: the documented assertions are known", "/criteria", body).is("/weight", 1).is("/warnings", json!([])));
    }
    rows.push(Row::delete("benchmarks delete", "/benchmarks/{benchmark}"));
    rows
}

/// A published benchmark of two tasks, `fax-referral@1`; not itself documented.
fn published() -> Vec<Row> {
    let benchmark = json!({"name": "Fax referral intake", "environment_id": "{environment}", "timeout": 300, "slug": "fax-referral",
        "visibility": "Public"});
    let mut second = appointment();
    second["task_id"] = json!("{other}");
    let unknown = json!({"task_id": "{other}", "label": "Unknown", "assertion": {"assert": "no-such-check"}});
    vec![
        Row::post("setup", "/benchmarks", benchmark).save("benchmark", "/id"),
        Row::post("setup", "/tasks", json!({"benchmark_id": "{benchmark}", "name": "Process referral #1"})).save("task", "/id"),
        Row::post("setup", "/tasks", json!({"benchmark_id": "{benchmark}", "name": "Process referral #2"})).save("other", "/id"),
        Row::post("setup", "/criteria", appointment()),
        Row::post("setup", "/criteria", second),
        Row::post("setup", "/criteria", unknown),
        Row::post_nothing("setup", "/benchmarks/{benchmark}/publish").is("/version", 1),
    ]
}

const ADMISSION: &str = "MSH|^~\\&|VERIAL|AGENT|EHR|FACILITY|20260423||ADT^A01|12345|P|2.5\rPID|1||12345^^^MRN||Smith^John||19650315|M\r\
    PV1|1|I|ICU^101^A";

fn agent_run() -> Vec<Row> {
    let run = "/v1/benchmark-runs/{run}";
    let at = |path: &str| format!("{run}/{path}");
    let token = |row: Row| row.bearer("token");
    let book = json!({"resourceType": "Appointment", "status": "booked", "participant": [
        {"actor": {"reference": "Patient/john-smith", "display": "Dr. Rivera"}, "status": "accepted"}]});
    vec![
        Row::post("quickstart: create a run", "/v1/benchmark-runs", json!({"benchmark": "fax-referral@1", "scored": false}))
            .bearer("solver_key").starts("/benchmark_run_id", "br_").same("/id", "/benchmark_run_id").is("/benchmark_id", "{benchmark}")
            .is("/benchmark/slug", "fax-referral").is("/benchmark/name", "Fax referral intake").has(&["/benchmark/version"])
            .is("/scored", false).is("/phase", "created").starts("/bearer_token", "vrl_run_").has(&["/bearer_token_expires_at"])
            .starts("/endpoints/files_inbox", "/v1/benchmark-runs/br_").starts("/endpoints/hl7_outbound", "/v1/benchmark-runs/br_")
            .starts("/endpoints/fhir", "/v1/benchmark-runs/br_").has(&["/task_runs/0/task_id", "/task_runs/0/name"])
            .starts("/task_runs/0/id", "tr_").is("/task_runs/0/phase", "created").save("run", "/benchmark_run_id")
            .save("token", "/bearer_token").save("start", "/task_runs/0/start_url").save("complete", "/task_runs/0/complete_url")
            .save("task_run", "/task_runs/0/id").save("start_next", "/task_runs/1/start_url").save("next_run", "/task_runs/1/id"),
        Row::post("authentication: only a solver key begins a v1 run", "/v1/benchmark-runs", json!({"benchmark": "fax-referral@1"}))
            .status(&[401, 403]),
        Row::post("quickstart: an unknown benchmark is 404", "/v1/benchmark-runs", json!({"benchmark": "nothing@1", "scored": false}))
            .bearer("solver_key").status(&[404]),
        token(Row::post_nothing("quickstart: start a task run", "{start}")).is("/task_run_id", "{task_run}").is("/phase", "started"),
        token(Row::post_nothing("quickstart: one task run is started at a time", "{start_next}")).status(&[409]).is("/error/code", "CONFLICT"),
        token(Row::get("fhir: search through the run", &at("fhir/Patient?identifier=BCB123456789"))).is("/total", 1),
        token(Row::put("fhir: a patient of the example", &at("fhir/Patient/john-smith"),
            json!({"resourceType": "Patient", "id": "john-smith", "name": [{"family": "Smith"}]}))),
        token(Row::post("fhir: book an appointment", &at("fhir/Appointment"), book)).is("/resourceType", "Appointment"),
        token(Row::post("hl7: the guide's own ADT^A01 is accepted", &at("hl7/outbound"), json!({"payload": ADMISSION})))
            .contains("/ack", "MSA|AA|12345"),
        token(Row::get("hl7: the inbox", &at("hl7/inbox"))).has(&["/data"]),
        token(Row::get("files-sftp: the inbox", &at("files/inbox"))).is("", json!([])),
        token(Row::get("web-portal: patients with coverage", &at("portal/patients?member_id=BCB123456789"))).is("/data/0/patient_id", "pat-001")
            .is("/data/0/coverage_status", "active"),
        token(Row::get("web-portal: providers", &at("portal/providers"))).has(&["/data/0"]),
        token(Row::post_nothing("quickstart: complete", "{complete}")).is("/task_run_id", "{task_run}").is("/phase", "completed")
            .is("/verdict", "pass").is("/score", 1.0).is("/axes/correctness/score", 1.0).is("/axes/correctness/weight", 1)
            .same("/checks/0/id", "/checks/0/criterion_run_id").is("/checks/0/passed", true).is("/checks/0/result", "pass")
            .has(&["/checks/0/score", "/checks/0/details"]).same("/checks/0/evidence/field_results", "/checks/0/evidence/fieldResults"),
        token(Row::get("running: the summary", run)).has(&["/benchmark/version", "/score"]).is("/status", "active")
            .is("/task_runs/0/verdict", "pass").is("/task_runs/0/status", "completed").is("/benchmark_id", "{benchmark}"),
        Row::get("run-results: a solver key reads it too", run).bearer("solver_key").is("/benchmark_run_id", "{run}"),
    ]
}

fn organization_runs() -> Vec<Row> {
    vec![
        Row::get("task-runs list", "/task-runs?benchmark_run_id={run}").count("/data", 2).is("/data/1/id", "{task_run}")
            .is("/data/1/status", "completed").is("/data/1/phase", "completed").is("/data/1/verdict", "pass").is("/data/1/score", 1.0)
            .has(&["/data/1/benchmark_run_id", "/data/1/task_id", "/data/1/playground_id", "/data/1/snapshot", "/data/1/started_at",
                "/data/1/completed_at"]),
        Row::get("task-runs get", "/task-runs/{task_run}").has(&["/axes/correctness", "/snapshot", "/criterion_runs/0/id",
            "/criterion_runs/0/passed", "/criterion_runs/0/score"]),
        Row::get("criterion-runs list", "/criterion-runs?task_run_id={task_run}").is("/next_cursor", Value::Null)
            .has(&["/data/0/id", "/data/0/criterion_id", "/data/0/details", "/data/0/started_at", "/data/0/completed_at"])
            .is("/data/0/task_run_id", "{task_run}").is("/data/0/passed", true).is("/data/0/score", 1.0)
            .is("/data/0/evidence/field_results/0", json!({"path": "participant.0.actor.display", "expected": "Dr. Rivera",
                "actual": "Dr. Rivera", "passed": true})).save("criterion_run", "/data/0/id"),
        Row::get("criterion-runs get", "/criterion-runs/{criterion_run}").same("/evidence/field_results", "/evidence/fieldResults"),
        Row::post_nothing("task-runs complete: needs no start", "/task-runs/{next_run}/complete").is("/phase", "completed")
            .is("/verdict", "fail").is("/score", 0.0),
        Row::get("verification: an unknown assert fails as unsupported", "/criterion-runs?task_run_id={next_run}").count("/data", 2)
            .contains("/data/0/details", "unsupported"),
        Row::get("runs: the last task run completes the run", "/benchmark-runs/{run}").is("/status", "completed").is("/phase", "completed")
            .is("/score", 0.5).is("/verdict", "partial").is("/benchmark_id", "{benchmark}").starts("/organization_id", "org_")
            .same("/id", "/benchmark_run_id").has(&["/scored", "/agent", "/started_at", "/completed_at", "/task_runs/0/criterion_runs/0/id"]),
        Row::get("runs list", "/benchmark-runs?benchmark_id={benchmark}").is("/data/0/id", "{run}").is("/data/0/benchmark_id", "{benchmark}"),
        Row::post("runs create", "/benchmark-runs", json!({"benchmark_id": "{benchmark}"})).starts("/id", "br_").is("/status", "active")
            .is("/phase", "created").is("/benchmark_id", "{benchmark}").save("own", "/id").save("own_task", "/task_runs/0/id"),
        Row::post_nothing("task-runs cancel", "/task-runs/{own_task}/cancel").is("/status", "cancelled"),
        Row::post_nothing("runs complete", "/benchmark-runs/{own}/complete").is("/phase", "completed"),
        Row::post("runs create", "/benchmark-runs", json!({"benchmark_id": "{benchmark}"})).save("own", "/id"),
        Row::post_nothing("runs cancel", "/benchmark-runs/{own}/cancel").is("/status", "cancelled"),
        Row::post("quickstart: a scored run", "/v1/benchmark-runs", json!({"benchmark": "fax-referral@1", "scored": true})).bearer("solver_key")
            .is("/scored", true).save("scored", "/id").save("token", "/bearer_token").save("start", "/task_runs/0/start_url")
            .save("complete", "/task_runs/0/complete_url").save("start_next", "/task_runs/1/start_url")
            .save("complete_next", "/task_runs/1/complete_url"),
        Row::post_nothing("setup", "{start}").bearer("token"),
        Row::post_nothing("runs: a scored run withholds details and evidence", "{complete}").bearer("token").has(&["/checks/0/passed"])
            .lacks(&["/checks/0/details", "/checks/0/evidence"]),
        Row::post_nothing("setup", "{start_next}").bearer("token"),
        Row::post_nothing("setup", "{complete_next}").bearer("token"),
        Row::post_nothing("runs publish", "/benchmark-runs/{scored}/publish"),
        Row::post_nothing("runs unpublish", "/benchmark-runs/{scored}/unpublish"),
        Row::delete("setup", "/benchmarks/{benchmark}"),
        Row::post("errors: a run of a deleted benchmark is a conflict", "/benchmark-runs", json!({"benchmark_id": "{benchmark}"})).status(&[409])
            .is("/error/code", "CONFLICT"),
        Row::post("benchmarks: a published version stays runnable for ever", "/v1/benchmark-runs", json!({"benchmark": "fax-referral@1"}))
            .bearer("solver_key"),
    ]
}

fn playgrounds() -> Vec<Row> {
    vec![
        Row::post("playgrounds create", "/playgrounds", json!({"environment_id": "{environment}"})).starts("/id", "pg_")
            .is("/environment_id", "{environment}").is("/status", "active").starts("/organization_id", "org_")
            .same("/created_at", "/updated_at").save("playground", "/id"),
        Row::get("playgrounds list", "/playgrounds").is("/data/0/id", "{playground}"),
        Row::get("playgrounds get: with credentials", "/playgrounds/{playground}").count("/sandboxes", 9)
            .has(&["/sandboxes/0/credentials/fhir_base_url"]).save("sandbox", "/sandboxes/0/id"),
        Row::get("sandboxes list: by playground", "/sandboxes?playground_id={playground}").count("/data", 9)
            .is("/data/0/playground_id", "{playground}"),
        Row::get("sandboxes list: another playground has none", "/sandboxes?playground_id=pg_01H0000000000000000000000A").count("/data", 0),
        Row::get("sandboxes list: what is no id is refused", "/sandboxes?playground_id=x").status(&[400]),
        Row::get("sandboxes get", "/sandboxes/{sandbox}").is("/playground_id", "{playground}").is("/status", "active")
            .starts("/organization_id", "org_").same("/created_at", "/updated_at").has(&["/simulator_id"])
            .is("/credentials/fhir_base_url", "{base}/sandboxes/{sandbox}/fhir")
            .has(&["/credentials/token_url", "/credentials/client_id", "/credentials/client_secret"]),
        Row::post_nothing("playgrounds teardown", "/playgrounds/{playground}/teardown").is("/status", "teardown")
            .same("/updated_at", "/torn_down_at"),
        Row::get("sandboxes: torn down with their playground", "/sandboxes/{sandbox}").is("/status", "teardown"),
        Row::get("playgrounds: events are kept", "/sandboxes/{sandbox}/events").has(&["/data"]),
    ]
}

fn standalone_sandboxes() -> Vec<Row> {
    vec![
        Row::post("sandboxes create: standalone", "/sandboxes", json!({"simulator_id": "{Fhir}"})).starts("/id", "sbx_")
            .is("/playground_id", Value::Null).is("/simulator_id", "{Fhir}").is("/status", "active").save("alone", "/id"),
        Row::get("sandboxes get: standalone", "/sandboxes/{alone}").is("/playground_id", Value::Null).starts("/own_playground_id", "pg_"),
        Row::post("cli sandboxes create: with a dataset", "/sandboxes", json!({"simulator_id": "{Fhir}", "dataset_id": "{dataset}"}))
            .is("/datasets/0/dataset_id", "{dataset}"),
        Row::post_nothing("sandboxes: add a dataset", "/sandboxes/{alone}/datasets/{dataset}").is("/datasets/0/dataset_id", "{dataset}"),
        Row::delete("sandboxes: remove a dataset", "/sandboxes/{alone}/datasets/{dataset}"),
        Row::get("sandboxes get: with attached datasets", "/sandboxes/{alone}").count("/datasets", 0),
        Row::get("sandboxes events", "/sandboxes/{alone}/events").has(&["/data", "/next_cursor"]),
        Row::post_nothing("sandboxes teardown", "/sandboxes/{alone}/teardown").is("/status", "teardown").same("/updated_at", "/torn_down_at"),
    ]
}

/// A playground of all simulators, each sandbox saved by its type in lower case; not itself documented.
fn playground_of_all() -> Vec<Row> {
    vec![Row::post("setup", "/playgrounds", json!({"environment_id": "{environment}"})).is("/sandboxes/0/type", "Fhir")
        .is("/sandboxes/1/type", "Hl7").is("/sandboxes/2/type", "Clearinghouse").is("/sandboxes/4/type", "Payer")
        .is("/sandboxes/5/type", "Voice").is("/sandboxes/6/type", "Fax").is("/sandboxes/7/type", "Message").is("/sandboxes/8/type", "CdsHooks")
        .save("fhir", "/sandboxes/0/id").save("hl7", "/sandboxes/1/id").save("house", "/sandboxes/2/id").save("payer", "/sandboxes/4/id")
        .save("fax", "/sandboxes/6/id").save("message", "/sandboxes/7/id").save("cds", "/sandboxes/8/id")
        .save("client_id", "/sandboxes/0/credentials/client_id").save("client_secret", "/sandboxes/0/credentials/client_secret")
        .save("api_url", "/sandboxes/4/credentials/api_url")
        .has(&["/sandboxes/1/credentials/inbox_url", "/sandboxes/1/credentials/outbound_url", "/sandboxes/4/credentials/portal_url",
            "/sandboxes/4/credentials/username", "/sandboxes/4/credentials/password", "/sandboxes/6/credentials/fax_number",
            "/sandboxes/6/credentials/upload_url"]).starts("/sandboxes/5/credentials/phone_number", "+")]
}

fn fhir() -> Vec<Row> {
    let form = "grant_type=client_credentials&client_id={client_id}&client_secret={client_secret}";
    let mut rows = Vec::new();
    for family in ["services", "sandboxes"] {
        let base = format!("/{family}/{{fhir}}/fhir");
        rows.push(Row::get("fhir: SMART discovery", &format!("{base}/.well-known/smart-configuration")).anonymous().has(&["/token_endpoint"]));
        rows.push(Row::post_form("fhir: the token endpoint", &format!("{base}/token"), form).anonymous().has(&["/access_token"])
            .save("smart", "/access_token"));
        rows.push(Row::post_form("fhir: with the key of the organization", &format!("{base}/token"), form).has(&["/access_token"]));
        rows.push(Row::get("fhir: read with the SMART token", &format!("{base}/Patient/pat-001")).bearer("smart").is("/id", "pat-001"));
        rows.push(Row::get("fhir: read with the organization key", &format!("{base}/Patient?identifier=BCB123456789")).is("/total", 1));
    }
    rows.push(Row::get("interactions: method, path, status and response body", "/sandboxes/{fhir}/events?type=fhir_request").count("/data", 4)
        .is("/data/0/payload/request/method", "GET").is("/data/0/payload/request/path", "Patient/pat-001")
        .is("/data/0/payload/response/status", 200).is("/data/0/payload/response/body/name/0/family", "Chen")
        .is("/data/1/payload/response/body/resourceType", "Bundle").is("/data/1/payload/response/body/entry/0/resource/id", "pat-001"));
    let leak = json!({"resourceType": "Patient", "id": "leak", "name": [{"text": format!("vk_{}", "a".repeat(38))}]});
    rows.push(Row::put("setup", "/sandboxes/{fhir}/fhir/Patient/leak", leak));
    rows.push(Row::get("setup", "/sandboxes/{fhir}/fhir/Patient/leak"));
    rows.push(Row::get("interactions: secrets are masked in what was read", "/sandboxes/{fhir}/events?type=fhir_request").count("/data", 6)
        .is("/data/5/payload/response/resource", "Patient/leak/_history/1").is("/data/5/payload/response/body/name/0/text", "vk_…"));
    rows.push(Row::get("llms.txt", "/llms.txt").anonymous().contains("", "## Get started"));
    rows
}

fn hl7() -> Vec<Row> {
    let message = |control: &str| json!({"payload": ADMISSION.replace("|12345|", &format!("|{control}|"))});
    vec![
        Row::post("hl7: send to the service", "/services/{hl7}/hl7/messages", message("1")).contains("/ack", "MSA|AA|1"),
        Row::post("hl7: send to the sandbox", "/sandboxes/{hl7}/hl7/messages", message("2")).contains("/ack", "MSA|AA|2"),
        Row::get("hl7: outbound messages are events", "/sandboxes/{hl7}/events?type=hl7_outbound").count("/data", 2)
            .contains("/data/0/payload/payload", "ADT^A01"),
    ]
}

fn eligibility() -> Vec<Row> {
    let path = |family: &str| format!("/{family}/{{house}}/clearinghouse/eligibility");
    vec![
        Row::post("x12: check eligibility", &path("sandboxes"), json!({"patient_id": "pat-001"})).is("/eligible", true).has(&["/benefits/0"]),
        Row::post("x12: check eligibility of the service", &path("services"), json!({"patient_id": "pat-001"})).is("/eligible", true),
    ]
}

fn faxes() -> Vec<Row> {
    let fax = json!({"patient_id": "pat-001", "to_number": "+15555551234", "document_type": "referral", "content_reference": "doc-ref-abc"});
    let document = json!({"resourceType": "DocumentReference", "id": "doc-ref-abc", "status": "current",
        "content": [{"attachment": {"contentType": "application/pdf", "data": base64(&testkit::world::pdf("Referral for MRI"))}}]});
    vec![
        Row::put("setup", "/sandboxes/{fhir}/fhir/DocumentReference/doc-ref-abc", document),
        Row::post("fax: send", "/sandboxes/{fax}/faxes", fax.clone()).starts("/id", "fax_").is("/patient_id", "pat-001")
            .is("/document_type", "referral").is("/to_number", "+15555551234").has(&["/status"]).save("sent", "/id"),
        Row::post("fax: send to the service", "/services/{fax}/faxes", fax),
        Row::get("fax: get with status, text and pages", "/sandboxes/{fax}/faxes/{sent}").is("/id", "{sent}").is("/status", "sent")
            .contains("/text", "Referral for MRI").contains("/page_urls/0", "/pages/1.png"),
        Row::get("fax: list", "/sandboxes/{fax}/faxes").count("/data", 2),
        Row::get("fax: a page", "/sandboxes/{fax}/faxes/{sent}/pages/1.png"),
        Row::get("interactions: faxes are events", "/sandboxes/{fax}/events?type=fax_outbound").count("/data", 2)
            .is("/data/0/payload/document_type", "referral"),
    ]
}

fn base64(bytes: &[u8]) -> String {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

fn messages() -> Vec<Row> {
    let text = json!({"channel": "sms", "patient_id": "pat-001", "body": "Hi John, ..."});
    vec![
        Row::post("messages: send", "/sandboxes/{message}/messages", text.clone()).starts("/id", "msg_").is("/channel", "sms")
            .is("/patient_id", "pat-001").is("/direction", "outbound").is("/status", "delivered").is("/to", "+15551234567")
            .is("/body", "Hi John, ...").same("/delivered_at", "/sent_at").save("message_id", "/id"),
        Row::post("messages: send to the service", "/services/{message}/messages", text),
        Row::get("messages: list with filters", "/sandboxes/{message}/messages?patient_id=pat-001&channel=sms&direction=outbound").count("/data", 2),
        Row::get("messages: get", "/sandboxes/{message}/messages/{message_id}").is("/id", "{message_id}").has(&["/delivered_at"]),
    ]
}

fn portal() -> Vec<Row> {
    let request = json!({"patient_member_id": "BCB123456789", "procedure_code": "72148"});
    vec![
        Row::post("web-portal: submit a prior authorization", "{api_url}/prior-auths", request).is("/status", "submitted")
            .is("/determination/status", "pending").is("/patient_member_id", "BCB123456789").same("/auth_number", "/tracking_number")
            .is("/authorization_number", Value::Null).save("number", "/auth_number").save("request", "/request_id"),
        Row::get("web-portal: state and determination", "{api_url}/prior-auths/{number}").is("/request_id", "{request}")
            .has(&["/determination/status"]),
        Row::get("web-portal: patients with coverage", "{api_url}/patients").count("/data", 1),
        Row::get("web-portal: credentialed providers", "{api_url}/providers").has(&["/data/0/npi"]),
        Row::post("web-portal: a request for nothing is refused", "{api_url}/prior-auths", json!({"patient_member_id": "BCB123456789"}))
            .status(&[400]),
        Row::get("interactions: submissions are events with the row", "/sandboxes/{payer}/events?type=portal_submit")
            .is("/data/0/payload/row/request_id", "{request}"),
    ]
}

fn portal_rules() -> Vec<Row> {
    let config = json!({"portal": "radmd", "determinations": [
        {"procedure_code": "72148", "status": "approved", "reason": "Meets criteria"},
        {"patient_member_id": "M-2", "determination": {"status": "denied", "reason": "Not covered"}}],
        "default_determination": {"status": "need_more_info"}});
    let request = |member: &str, code: &str| json!({"patient_member_id": member, "procedure_code": code});
    let requests = "/sandboxes/{ruled}/portal/prior-auths";
    vec![
        Row::post("setup", "/simulators", json!({"type": "Payer", "name": "Plan", "config": config})).save("plan", "/id"),
        Row::post("setup", "/sandboxes", json!({"simulator_id": "{plan}"})).save("ruled", "/id"),
        Row::post("web-portal: decided by procedure code", requests, request("M-2", "72148")).is("/determination/status", "approved")
            .is("/determination/reason", "Meets criteria").same("/authorization_number", "/auth_number").save("number", "/authorization_number"),
        Row::get("web-portal: found by the authorization number", "/sandboxes/{ruled}/portal/prior-auths/{number}")
            .is("/authorization_number", "{number}"),
        Row::post("web-portal: decided by member", requests, request("M-2", "70551")).is("/determination/status", "denied")
            .is("/authorization_number", Value::Null),
        Row::post("web-portal: decided by default", requests, request("M-3", "70551")).is("/determination/status", "need_more_info"),
    ]
}

fn discovered_services() -> Vec<Row> {
    let orders = json!({"resourceType": "Bundle", "type": "collection", "entry": [{"resource": {"resourceType": "ServiceRequest", "id": "s1",
        "status": "draft", "intent": "order", "subject": {"reference": "Patient/pat-001"}}}]});
    let sign = json!({"patient_id": "pat-001", "user_id": "Practitioner/dr-rivera", "draft_orders": orders});
    let mut rows = Vec::new();
    for family in ["sandboxes", "services"] {
        let at = |path: &str| format!("/{family}/{{cds}}/cds/{path}");
        rows.extend([
            Row::post("cds-hooks: register by discovery_url", &at("services"), json!({"discovery_url": "{cds_url}/cds-services"}))
                .is("/services/0/base_url", "{cds_url}"),
            Row::get("cds-hooks: list registered services", &at("services")).count("/data", 1),
            Row::post("cds-hooks: fire a hook with a flat body", &at("hooks/order-sign"), sign.clone()).status(&[200]).has(&["/cards/0/summary"])
                .is("/invocations/0/request/context/patientId", "pat-001"),
            Row::post("cds-hooks: what is missing is named as it is sent", &at("hooks/order-sign"), json!({"patient_id": "pat-001"}))
                .status(&[400]).has(&["/error/details/draft_orders/0"]),
        ]);
    }
    rows.push(Row::post("cds-hooks: a discovery_url ends in cds-services", "/sandboxes/{cds}/cds/services", json!({"discovery_url": "{cds_url}"}))
        .status(&[400]));
    rows
}

fn canned_cards() -> Vec<Row> {
    let card = json!({"summary": "Influenza vaccine is due", "indicator": "info", "source": {"label": "Registry"}});
    let config = json!({"hooks": ["patient-view", "medication-prescribe"], "cards": [card]});
    let feedback = "/sandboxes/{canned}/cds/feedback";
    let fire = |statement: &'static str, hook: &str| {
        Row::post(statement, &format!("/sandboxes/{{canned}}/cds/hooks/{hook}"), json!({"patient_id": "pat-001"})).status(&[200])
            .is("/cards/0/summary", "Influenza vaccine is due").save("card", "/cards/0/uuid")
    };
    let mut rows = vec![
        Row::post("cds-hooks: config advertises hooks with canned cards", "/simulators", json!({"type": "CdsHooks", "name": "EHR", "config": config}))
            .save("ehr", "/id"),
        Row::post("setup", "/sandboxes", json!({"simulator_id": "{ehr}"})).save("canned", "/id"),
        fire("cds-hooks: canned cards on invocation", "medication-prescribe"),
        fire("cds-hooks: canned cards on invocation", "patient-view"),
        Row::get("interactions: invocations and cards are events", "/sandboxes/{canned}/events?type=cds_invoke").count("/data", 2)
            .is("/data/0/payload/cards/0/summary", "Influenza vaccine is due"),
    ];
    rows.extend(["accepted", "overridden", "ignored"].map(|outcome| {
        Row::post("cds-hooks: feedback on a card", feedback, json!({"card_id": "{card}", "outcome": outcome})).is("/feedback/0/outcome", outcome)
    }));
    rows.push(Row::post("cds-hooks: another outcome is refused", feedback, json!({"card_id": "{card}", "outcome": "dismissed"})).status(&[400]));
    rows
}
