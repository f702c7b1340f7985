//! Fixtures: one of everything that an organization can create, and the request bodies for it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::{Caller, TestResponse};

/// One of everything that an organization can create, attached to each other.
pub struct Authored {
    pub environment: String,
    pub simulator: String,
    pub files_simulator: String,
    pub dataset: String,
    pub files_dataset: String,
    /// SHA-256 of the only file of the files dataset, which no other dataset has.
    pub file_sha256: String,
    pub entity: String,
    pub benchmark: String,
    pub task: String,
    pub criterion: String,
    pub solver: String,
    pub solver_key: String,
    pub api_key: String,
    pub playground: String,
    /// The playground's FHIR server.
    pub sandbox: String,
    /// An HL7 interface of its own, with the message [`HL7_MESSAGE`] in its inbox.
    pub hl7_sandbox: String,
    /// A message sandbox in a playground of its own, and the first message.
    pub message_sandbox: String,
    pub message: String,
    /// A phone line in a playground of its own, and a call to it that waits for key presses.
    pub voice_sandbox: String,
    pub call: String,
    /// A fax line in a playground of its own, a fax that it sent to itself, and the same fax in its inbox.
    pub fax_line: String,
    pub fax: String,
    pub inbound_fax: String,
    /// The playground's file drop.
    pub files_sandbox: String,
    /// A CDS Hooks client in a playground of its own, with a service that its organization plays, one pending hook and
    /// one that was answered with [`cards`], and feedback.
    pub cds_sandbox: String,
    pub cds_service: String,
    pub pending_invocation: String,
    pub answered_invocation: String,
    pub cds_feedback: String,
    /// A clearinghouse without members in a playground of its own, and a response that it returned.
    pub clearinghouse: String,
    pub x12_response: String,
    /// A completed run of the draft, for the solver.
    pub run: String,
    pub task_run: String,
    pub criterion_run: String,
    /// A payer portal without members in a playground of its own.
    pub portal: String,
    pub portal_playground: String,
    /// The number of a prior authorization there.
    pub prior_auth: String,
}

impl Authored {
    /// Creates everything over the API.
    pub async fn create(caller: &Caller) -> Self {
        let (dataset, files_dataset, file_sha256, entity) = datasets(caller).await;
        let (environment, simulator, files_simulator) = environment(caller, &dataset, &files_dataset).await;
        let benchmark = json!({"name": "Referral intake", "environment_id": environment});
        let benchmark = caller.post("/benchmarks", benchmark).await.expect(201).id();
        let task = caller.post("/tasks", task(&benchmark)).await.expect(201).id();
        caller.post(&format!("/tasks/{task}/entities"), json!({"entity_id": entity})).await.expect(200);
        let criterion = caller.post("/criteria", criterion(&task)).await.expect(201).id();
        let (solver, solver_key) = solver(caller).await;
        let api_key = caller.post("/api-keys", json!({"name": "second"})).await.expect(201).id();
        let (playground, sandbox, files_sandbox) = playground(caller, &environment).await;
        let (clearinghouse, x12_response) = clearinghouse(caller).await;
        let (message_sandbox, message) = messages(caller).await;
        let (voice_sandbox, call) = voice(caller).await;
        let (fax_line, fax, inbound_fax) = fax_line(caller).await;
        let (cds_sandbox, cds_service, [pending_invocation, answered_invocation], cds_feedback) =
            cds_client(caller).await;
        let hl7_sandbox = hl7_sandbox(caller, json!({"inbox": [{"message": hl7_update("1")}]})).await.id();
        let (run, task_run, criterion_run) = completed_run(caller, &benchmark, &solver).await;
        let (portal, portal_playground, prior_auth) = portal(caller).await;
        Self {
            environment,
            simulator,
            files_simulator,
            dataset,
            files_dataset,
            file_sha256,
            entity,
            benchmark,
            task,
            criterion,
            solver,
            solver_key,
            api_key,
            playground,
            sandbox,
            hl7_sandbox,
            message_sandbox,
            message,
            voice_sandbox,
            call,
            fax_line,
            fax,
            inbound_fax,
            files_sandbox,
            cds_sandbox,
            cds_service,
            pending_invocation,
            answered_invocation,
            cds_feedback,
            clearinghouse,
            x12_response,
            run,
            task_run,
            criterion_run,
            portal,
            portal_playground,
            prior_auth,
        }
    }
}

/// An environment with a FHIR server and a file drop over their datasets, and these two simulators.
async fn environment(caller: &Caller, dataset: &str, files_dataset: &str) -> (String, String, String) {
    let simulator = caller.post("/simulators", json!({"type": "Fhir", "name": "EHR"})).await.expect(201).id();
    let files_simulator = caller.post("/simulators", json!({"type": "Files", "name": "Drop"})).await.expect(201).id();
    attach(caller, &format!("/simulators/{simulator}/datasets/{dataset}")).await;
    attach(caller, &format!("/simulators/{files_simulator}/datasets/{files_dataset}")).await;
    let environment = caller.post("/environments", json!({"name": "Clinic"})).await.expect(201).id();
    attach(caller, &format!("/environments/{environment}/simulators/{simulator}")).await;
    attach(caller, &format!("/environments/{environment}/simulators/{files_simulator}")).await;
    (environment, simulator, files_simulator)
}

/// A portal, its playground, and a request that was submitted to it.
async fn portal(caller: &Caller) -> (String, String, String) {
    let simulator = caller.post("/simulators", json!({"type": "Payer", "name": "Portal"})).await.expect(201).id();
    let sandbox = caller.post("/sandboxes", json!({"simulator_id": simulator})).await.expect(201);
    let path = format!("/sandboxes/{}/portal/prior-auths", sandbox.id());
    let request = caller.post(&path, prior_auth()).await.expect(201);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    (sandbox.id(), text(&sandbox["own_playground_id"]), text(&request["auth_number"]))
}

/// A valid request for a prior authorization.
pub fn prior_auth() -> Value {
    json!({"patient_member_id": "M100", "procedure_code": "70551", "diagnosis_code": "G43.909",
        "provider_npi": "1234567893"})
}

/// A dataset of each type, and an entity of the first.
async fn datasets(caller: &Caller) -> (String, String, String, String) {
    let dataset = caller.post("/datasets", json!({"name": "Patients", "type": "fhir"})).await.expect(201).id();
    let patients = caller.put_bytes(&format!("/datasets/{dataset}/data"), "application/fhir+ndjson", patients(3)).await;
    patients.expect(200);
    let files_dataset = caller.post("/datasets", json!({"name": "Referrals", "type": "files"})).await.expect(201).id();
    let path = format!("/datasets/{files_dataset}/files/inbox/a.txt");
    let file = caller.put_bytes(&path, "text/plain", files_dataset.clone()).await.expect(200);
    let file_sha256 = file["sha256"].as_str().unwrap().to_owned();
    let entity = json!({"name": "the patient", "ref": "Patient/p1", "data": {"mrn": "1"}});
    let entity = caller.post(&format!("/datasets/{dataset}/entities"), entity).await.expect(201).id();
    (dataset, files_dataset, file_sha256, entity)
}

/// A solver and its key.
async fn solver(caller: &Caller) -> (String, String) {
    let solver = caller.post("/solvers", json!({"alias": "agent-1"})).await.expect(201).id();
    let key = caller.post(&format!("/solvers/{solver}/api-keys"), json!({"name": "ci"})).await.expect(201).id();
    (solver, key)
}

/// A playground, its FHIR server and its file drop.
async fn playground(caller: &Caller, environment: &str) -> (String, String, String) {
    let created = caller.post("/playgrounds", json!({"environment_id": environment})).await.expect(201);
    let sandbox = |number: usize| created.json["sandboxes"][number]["id"].as_str().unwrap().to_owned();
    (created.id(), sandbox(0), sandbox(1))
}

/// A clearinghouse that has answered an eligibility inquiry.
async fn clearinghouse(caller: &Caller) -> (String, String) {
    let simulator = json!({"type": "Clearinghouse", "name": "Clearinghouse"});
    let simulator = caller.post("/simulators", simulator).await.expect(201).id();
    let sandbox = caller.post("/sandboxes", json!({"simulator_id": simulator})).await.expect(201).id();
    ask_clearinghouse(caller, &format!("/sandboxes/{sandbox}/x12/transactions")).await;
    let listed = caller.get(&format!("/sandboxes/{sandbox}/x12/responses")).await.expect(200).json;
    (sandbox, listed["data"][0]["id"].as_str().unwrap().to_owned())
}

/// Sends a valid 270 eligibility inquiry.
pub async fn ask_clearinghouse(caller: &Caller, path: &str) {
    let inquiry = "ISA*00*          *00*          *ZZ*CLINIC         *ZZ*CLEARING       *260423*1200*^*00501*000000042*0*T*:~\
        GS*HS*CLINIC*PAYERS*20260423*1200*7*X*005010X279A1~ST*270*0001*005010X279A1~BHT*0022*13*R*20260423*1200~\
        HL*1**20*1~NM1*PR*2*PLAN*****PI*1~HL*2*1*21*1~NM1*1P*2*CLINIC*****XX*1234567893~HL*3*2*22*0~\
        NM1*IL*1*DOE*JO****MI*M1~EQ*30~SE*10*0001~GE*1*7~IEA*1*000000042~";
    let body = Some(("application/edi-x12", inquiry.as_bytes().to_vec()));
    caller.send_bytes(reqwest::Method::POST, path, &[], body).await.expect(200);
}

/// A message sandbox and a message that it sent.
async fn messages(caller: &Caller) -> (String, String) {
    let simulator = caller.post("/simulators", json!({"type": "Message", "name": "Texts"})).await.expect(201).id();
    let sandbox = caller.post("/sandboxes", json!({"simulator_id": simulator})).await.expect(201).id();
    let sent = caller.post(&format!("/sandboxes/{sandbox}/messages"), message()).await.expect(201).id();
    (sandbox, sent)
}

/// The id of the first voicemail of a config.
pub const VOICEMAIL: &str = "vm_0000000001";

/// A phone line that asks for a number, and a call to it.
async fn voice(caller: &Caller) -> (String, String) {
    let nodes = json!({"number": {"type": "collect", "prompt": "Enter a number.", "field": "n", "kind": "digits",
        "next": "bye"}, "bye": {"type": "hangup", "prompt": "Goodbye."}});
    let config = json!({"voicemails": [{"text": "Call me"}], "ivr": {"start": "number", "nodes": nodes}});
    let sandbox = voice_sandbox(caller, config).await.id();
    let dialled = caller.post(&format!("/sandboxes/{sandbox}/voice/calls"), json!({})).await.expect(201);
    (sandbox, dialled["call"]["id"].as_str().unwrap().to_owned())
}

/// A phone line in a playground of its own.
pub async fn voice_sandbox(caller: &Caller, config: Value) -> TestResponse {
    let simulator = json!({"type": "Voice", "name": "Line", "config": config});
    let simulator = caller.post("/simulators", simulator).await.expect(201).id();
    caller.post("/sandboxes", json!({"simulator_id": simulator})).await.expect(201)
}

/// A text message to a number.
pub fn message() -> Value {
    json!({"channel": "sms", "to": "+15550100123", "body": "Hello"})
}

/// A fax line, a fax that it sent to itself, and the received fax.
async fn fax_line(caller: &Caller) -> (String, String, String) {
    let config = json!({"fax_number": FAX_NUMBER});
    let simulator = json!({"type": "Fax", "name": "Fax line", "config": config});
    let simulator = caller.post("/simulators", simulator).await.expect(201).id();
    let sandbox = caller.post("/sandboxes", json!({"simulator_id": simulator})).await.expect(201).id();
    let sent = caller.post(&format!("/sandboxes/{sandbox}/fax/faxes"), fax()).await.expect(201).id();
    let inbox = caller.get(&format!("/sandboxes/{sandbox}/fax/inbox")).await.expect(200).json;
    (sandbox, sent, inbox["data"][0]["id"].as_str().unwrap().to_owned())
}

/// The fax line's number.
pub const FAX_NUMBER: &str = "+15550100100";

/// A one-page fax to [`FAX_NUMBER`].
pub fn fax() -> Value {
    json!({"to_number": FAX_NUMBER, "base64": STANDARD.encode(pdf("Hello"))})
}

/// A one-page PDF with one line of text.
pub fn pdf(text: &str) -> Vec<u8> {
    let content = format!("BT /F1 12 Tf 72 720 Td ({text}) Tj ET");
    let font = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>";
    format!(
        "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n\
         3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1 {font}>>>>>>endobj\n\
         4 0 obj<</Length {}>>stream\n{content}\nendstream endobj\ntrailer<</Root 1 0 R>>\n",
        content.len()
    )
    .into_bytes()
}

/// A CDS Hooks client, its service, its invocations (one pending, one answered) and its feedback.
async fn cds_client(caller: &Caller) -> (String, String, [String; 2], String) {
    let simulator = caller.post("/simulators", json!({"type": "CdsHooks", "name": "CDS"})).await.expect(201).id();
    let sandbox = caller.post("/sandboxes", json!({"simulator_id": simulator})).await.expect(201).id();
    let path = format!("/sandboxes/{sandbox}/cds");
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let service = caller.post(&format!("{path}/services"), json!({"service": cds_service("triage")})).await.expect(201);
    let mut invocations = Vec::new();
    for _ in 0..2 {
        let fired = json!({"context": hook_context()});
        let fired = caller.post(&format!("{path}/hooks/patient-view"), fired).await.expect(201);
        invocations.push(text(&fired["invocations"][0]["id"]));
    }
    let [pending, answered] = [invocations[0].clone(), invocations[1].clone()];
    let response = json!({"cards": cards()});
    caller.post(&format!("{path}/invocations/{answered}/response"), response).await.expect(200);
    let feedback = json!({"feedback": [{"card": CARD, "outcome": "overridden"}]});
    let feedback = caller.post(&format!("{path}/feedback"), feedback).await.expect(201);
    (sandbox, text(&service["services"][0]["id"]), [pending, answered], text(&feedback["feedback"][0]["id"]))
}

/// A CDS service whose responses the client that registers it sends.
pub fn cds_service(id: &str) -> Value {
    json!({"hook": "patient-view", "id": id, "description": "Says whom to call today",
        "prefetch": {"patient": "Patient/{{context.patientId}}"}})
}

/// The context of the hook `patient-view`.
pub fn hook_context() -> Value {
    json!({"userId": "Practitioner/d1", "patientId": "p1"})
}

/// The uuids of the card of [`cards`] and of its suggestion.
pub const CARD: &str = "4e0a3a1e-3283-4575-ab82-028d55fe2719";
pub const SUGGESTION: &str = "e56e1945-20b3-4393-8503-a1a20fd73152";

/// One card with a suggestion that does nothing.
pub fn cards() -> Value {
    json!([{"uuid": CARD, "summary": "Potassium is high", "indicator": "warning", "source": {"label": "Lab"},
        "selectionBehavior": "any", "suggestions": [{"label": "Noted", "uuid": SUGGESTION}]}])
}

/// The id of the first message of a config.
pub const HL7_MESSAGE: &str = "hl7_seed_0001";

/// An HL7 interface in a playground of its own.
pub async fn hl7_sandbox(caller: &Caller, config: Value) -> TestResponse {
    let simulator = json!({"type": "Hl7", "name": "Interface", "config": config});
    let simulator = caller.post("/simulators", simulator).await.expect(201).id();
    caller.post("/sandboxes", json!({"simulator_id": simulator})).await.expect(201)
}

/// An ADT^A08 patient update with this control id.
pub fn hl7_update(control_id: &str) -> String {
    format!(
        "MSH|^~\\&|EHR|CLINIC|LAB|HOSP|20260401120000||ADT^A08|{control_id}|P|2.5.1\rEVN||20260401120000\r\
         PID|1||77^^^MRN||Doe^Ann\rPV1|1|O\r"
    )
}

/// A completed run of the draft without any work, its task run and its criterion run.
pub async fn completed_run(caller: &Caller, benchmark: &str, solver: &str) -> (String, String, String) {
    let new = json!({"benchmark_id": benchmark, "solver_id": solver});
    let run = caller.post("/benchmark-runs", new).await.expect(201).json;
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let task_run = text(&run["task_runs"][0]["id"]);
    caller.post(&format!("/task-runs/{task_run}/start"), json!({})).await.expect(200);
    let completed = caller.post(&format!("/task-runs/{task_run}/complete"), json!({})).await.expect(200).json;
    (text(&run["benchmark_run_id"]), task_run, text(&completed["criterion_runs"][0]["id"]))
}

async fn attach(caller: &Caller, path: &str) {
    caller.send(reqwest::Method::POST, path, &[], None).await.expect(200);
}

pub fn task(benchmark: &str) -> Value {
    json!({
        "benchmark_id": benchmark,
        "name": "Accept a complete referral",
        "tags": ["easy"],
        "task_item": {"instruction": "Process the referral of {{entity.name}}."},
        "scenario": {"steps": [{"do": "drop_file_inbox", "path": "inbox/referral.txt", "content": "Referral for {{entity.name}}"}]},
    })
}

pub fn criterion(task: &str) -> Value {
    json!({
        "task_id": task,
        "label": "A service request was made",
        "assertion": {"assert": "fhir-resource-state", "resource_type": "ServiceRequest", "fields": [{"path": "status", "expected": "active"}]},
        "weight": 2,
        "axis": "correctness",
    })
}

/// NDJSON of patients `p1`, `p2` …
pub fn patients(count: usize) -> String {
    (1..=count)
        .map(|number| format!("{}\n", json!({"resourceType": "Patient", "id": format!("p{number}"), "active": true})))
        .collect()
}
