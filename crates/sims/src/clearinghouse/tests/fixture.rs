//! A playground with FHIR data and a clearinghouse.

use std::cell::Cell;
use std::sync::Arc;

use ::fhir::layer::Layer;
use model::simulator::SimulatorType;
use model::{Id, SandboxId, Timestamp, Ulid};
use serde_json::{Value, json};
use world::{Context, NewEvent, Outcome, Records, Sandbox, World};

use crate::clearinghouse::exchange::{ExchangeError, ExchangeResponses, Sender, Transport, exchange};

pub(super) const START: Timestamp = Timestamp(1_776_945_600_000);

pub(super) struct Fixture {
    pub(super) world: World,
    pub(super) events: Vec<NewEvent>,
    pub(super) now: Timestamp,
    ids: Cell<u64>,
}

pub(super) fn sandbox_id(kind: SimulatorType) -> SandboxId {
    SandboxId::from_ulid(Ulid(kind as u128 + 1))
}

pub(super) fn sender() -> Sender {
    Sender { actor: "agent".to_owned(), transport: Transport::Http }
}

impl Fixture {
    /// A clearinghouse with rules and the FHIR data of [`fhir_resources`].
    pub(super) fn with_rules(rules: &Value) -> Self {
        Self::new(&fhir_resources(), &json!({ "rules": rules }))
    }

    pub(super) fn new(resources: &[Value], config: &Value) -> Self {
        let lines: Vec<String> = resources.iter().map(Value::to_string).collect();
        let layer = Arc::new(Layer::build(vec![lines.join("\n")], 1).unwrap());
        let kinds = [SimulatorType::Fhir, SimulatorType::Clearinghouse, SimulatorType::Files];
        let kinds = kinds.into_iter().filter(|kind| *kind != SimulatorType::Fhir || !resources.is_empty());
        let sandbox = |kind: SimulatorType| {
            let layers = if kind == SimulatorType::Fhir { vec![Arc::clone(&layer)] } else { Vec::new() };
            let config = if kind == SimulatorType::Clearinghouse { config.clone() } else { json!({}) };
            let (id, records) = (sandbox_id(kind), Records::new(layers, START));
            (id.clone(), Sandbox { id, kind, config: Arc::new(config), created_at: START, is_active: true, records })
        };
        let sandboxes = kinds.map(sandbox).collect();
        Self { world: World { seq: 0, oldest: 0, sandboxes }, events: Vec::new(), now: START, ids: Cell::new(0) }
    }

    pub(super) fn set_seconds(&mut self, seconds: i64) {
        self.now = START.plus_milliseconds(1000 * seconds);
    }

    pub(super) fn run<T>(&mut self, message: impl FnOnce(&World, &Context<'_>) -> Outcome<T>) -> T {
        let new_id = || {
            self.ids.set(self.ids.get() + 1);
            format!("{:026}", self.ids.get())
        };
        let Outcome { answer, changes, events } = message(&self.world, &Context { now: self.now, new_id: &new_id });
        assert!(changes.is_empty() || !events.is_empty(), "changes without an event");
        let (first, last) = (self.world.seq + 1, self.world.seq + i64::try_from(events.len()).unwrap());
        changes.iter().for_each(|change| self.world.apply(first, change));
        self.world.seq = last;
        self.events.extend(events);
        answer
    }

    pub(super) fn try_send(&mut self, body: &[u8]) -> Result<ExchangeResponses, ExchangeError> {
        let id = sandbox_id(SimulatorType::Clearinghouse);
        self.run(|world, context| exchange(world, &id, &sender(), body, context))
    }

    /// The response to a body, one segment per line. Asserts that it is valid.
    #[track_caller]
    pub(super) fn send(&mut self, body: &str) -> String {
        let text = self.try_send(body.as_bytes()).unwrap().text();
        assert_valid(&text);
        text.replace('~', "~\n")
    }

    /// The segments of the response that have one of these names.
    #[track_caller]
    pub(super) fn response_lines(&mut self, body: &str, names: &[&str]) -> Vec<String> {
        let response = self.send(body);
        let has_name = |line: &&str| names.iter().any(|name| line.starts_with(&format!("{name}*")));
        response.lines().filter(has_name).map(|line| line.trim_end_matches('~').to_owned()).collect()
    }
}

/// Asserts that our own validation accepts the interchange.
#[track_caller]
pub(super) fn assert_valid(text: &str) {
    let body = x12::parse(text, &x12::Limits::default()).unwrap();
    for report in x12::check(&body) {
        assert!(report.is_clean(), "{:?}\n{text}", report.listed());
    }
}

/// One transaction in an interchange of its own.
pub(super) fn interchange(set: &str, segments: &str) -> String {
    let (function, version) = match set {
        "270" => ("HS", "005010X279A1"),
        "276" => ("HR", "005010X212"),
        "278" => ("HI", "005010X217"),
        "837" => ("HC", "005010X222A1"),
        _ => ("HB", "005010X279A1"),
    };
    let lines: Vec<&str> = segments.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    format!(
        "ISA*00*          *00*          *ZZ*CLINIC         *ZZ*CLEARING       *260423*1200*^*00501*000000042*0*T*:~\
         GS*{function}*CLINIC*PAYERS*20260423*1200*7*X*{version}~ST*{set}*0001*{version}~{}~SE*{}*0001~GE*1*7~\
         IEA*1*000000042~",
        lines.join("~"),
        lines.len() + 2,
    )
}

/// A 270 about one subscriber with the given NM1 and DMG.
pub(super) fn inquiry(subscriber: &str, question: &str) -> String {
    let segments = format!(
        "BHT*0022*13*REF1*20260423*1200\nHL*1**20*1\nNM1*PR*2*BLUE PLAN*****PI*60054\nHL*2*1*21*1\n\
         NM1*1P*2*RIVERSIDE CLINIC*****XX*1234567893\nHL*3*2*22*0\nTRN*1*TRACE1*9CLINICSYS\n{subscriber}\n{question}"
    );
    interchange("270", &segments)
}

pub(super) const ADA: &str = "NM1*IL*1*MORROW*ADA****MI*W0001\nDMG*D8*19800229*F";

/// Two members of one plan, a dependent, a member whose coverage has ended, and claims.
pub(super) fn fhir_resources() -> Vec<Value> {
    let person = |id: &str, family: &str, given: &str, birth: &str, gender: &str| {
        json!({"resourceType": "Patient", "id": id, "name": [{"family": family, "given": [given]}], "birthDate": birth,
            "gender": gender, "managingOrganization": {"reference": "Organization/clinic"},
            "address": [{"line": ["12 Lake St"], "city": "Springfield", "state": "IL", "postalCode": "62701"}]})
    };
    let coverage = |id: &str, patient: &str, subscriber: &str, number: &str, start: &str, end: &str| {
        json!({"resourceType": "Coverage", "id": id, "status": "active", "subscriberId": number,
            "beneficiary": {"reference": format!("Patient/{patient}")},
            "subscriber": {"reference": format!("Patient/{subscriber}")},
            "payor": [{"reference": "Organization/blue"}], "period": {"start": start, "end": end},
            "class": [{"type": {"coding": [{"code": "group"}]}, "value": "GRP42", "name": "Acme"},
                {"type": {"coding": [{"code": "plan"}]}, "value": "gold", "name": "Gold PPO"}],
            "type": {"coding": [{"code": "PPO"}]},
            "costToBeneficiary": [
                {"type": {"coding": [{"code": "gpvisit"}]}, "valueMoney": {"value": 25, "currency": "USD"}},
                {"type": {"coding": [{"code": "deductible"}]}, "valueMoney": {"value": 1500.5, "currency": "USD"}}]})
    };
    let claim = |id: &str, control: &str, total: u32| {
        json!({"resourceType": "Claim", "id": id, "status": "active", "use": "claim",
            "identifier": [{"value": control}], "patient": {"reference": "Patient/ada"}, "created": "2026-01-06",
            "billablePeriod": {"start": "2026-01-05", "end": "2026-01-05"}, "total": {"value": total, "currency": "USD"}})
    };
    vec![
        json!({"resourceType": "Organization", "id": "blue", "name": "Blue Plan", "identifier": [{"value": "60054"}]}),
        json!({"resourceType": "Organization", "id": "red", "name": "Red Plan", "identifier": [{"value": "70000"}]}),
        json!({"resourceType": "Organization", "id": "clinic", "name": "Riverside Clinic",
            "identifier": [{"system": "http://hl7.org/fhir/sid/us-npi", "value": "1234567893"}]}),
        person("ada", "Morrow", "Ada", "1980-02-29", "female"),
        person("ben", "Okafor", "Ben", "1979-05-05", "male"),
        person("cleo", "Okafor", "Cleo", "2015-06-01", "female"),
        person("old", "Former", "Finn", "1970-01-01", "male"),
        coverage("c1", "ada", "ada", "W0001", "2026-01-01", "2026-12-31"),
        coverage("c2", "ben", "ben", "W0002", "2025-01-01", "2026-12-31"),
        coverage("c3", "cleo", "ben", "W0002", "2025-01-01", "2026-12-31"),
        coverage("c4", "old", "old", "W0003", "2024-01-01", "2024-12-31"),
        claim("k1", "CLAIM-1", 85),
        json!({"resourceType": "ClaimResponse", "id": "r1", "status": "active", "use": "claim", "outcome": "complete",
            "identifier": [{"value": "PAYER-1"}], "request": {"reference": "Claim/k1"},
            "patient": {"reference": "Patient/ada"}, "created": "2026-01-10",
            "payment": {"amount": {"value": 68, "currency": "USD"}, "identifier": {"value": "CHK100"}}}),
        claim("k2", "CLAIM-2", 120),
        json!({"resourceType": "Claim", "id": "pa1", "status": "active", "use": "preauthorization",
            "patient": {"reference": "Patient/ada"}, "created": "2026-01-06",
            "item": [{"sequence": 1, "productOrService": {"coding": [{"code": "70551"}]}}]}),
        json!({"resourceType": "ClaimResponse", "id": "par1", "status": "active", "use": "preauthorization",
            "outcome": "complete", "preAuthRef": "AUTH-777", "request": {"reference": "Claim/pa1"},
            "patient": {"reference": "Patient/ada"}, "created": "2026-01-07"}),
    ]
}
