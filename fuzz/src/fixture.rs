//! A small fixed playground: resources in a layer, and what an agent left in each kind of sandbox.
#![expect(clippy::expect_used, reason = "without its fixture no target says anything")]

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use fhir::layer::Layer;
use model::event::{Event, EventType};
use model::simulator::SimulatorType;
use model::{EventId, Id, SandboxId, Timestamp, Ulid};
use serde_json::{Value, json};
use verify::{Evidence, Outcome, evaluate};
use world::{Change, Records, Sandbox, World, Write};

pub(crate) const START: Timestamp = Timestamp(1_774_900_000_000);
pub(crate) const HL7: &str = "MSH|^~\\&|A|B|C|D|20260301||ORU^R01|1|P|2.5\rPID|1||42^^^MR~43||Brandt^Zo\u{eb}\r\
                              OBX|1|NM|718-7^Hb^LN||13.2|g/dL\rOBX|2|ST|x||a\\T\\b~c&d";
pub(crate) const X12: &str = "ISA*00*          *00*          *ZZ*CLINIC         *ZZ*PAYER          *260115*0930*^*00501*\
                              000000905*1*T*:~GS*HB*CLINIC*PAYER*20260115*0930*7*X*005010X279A1~\
                              ST*271*0001*005010X279A1~BHT*0022*11*A*20260115*0930~HL*1**20*1~NM1*PR*2*PLAN*****PI*1~\
                              HL*2*1*21*1~NM1*1P*2*CLINIC*****XX*1234567893~HL*3*2*22*0~NM1*IL*1*DOE*JO****MI*M1~\
                              EB*1**30^98*HM~EB*C*IND*30*HC:99213**23*500~SE*11*0001~GE*1*7~IEA*1*000000905~";

/// NDJSON with one resource of several kinds each.
pub(crate) static LINES: &str = include_str!("resources.ndjson");

pub(crate) static LAYER: LazyLock<Arc<Layer>> =
    LazyLock::new(|| Arc::new(Layer::build(vec![LINES], 1).expect("the resources are sound")));

pub(crate) static PLAYGROUND: LazyLock<Playground> = LazyLock::new(Playground::worked);

#[derive(Clone, Debug)]
pub(crate) struct Playground {
    pub(crate) world: World,
    events: Vec<Event>,
    entity: Value,
    task: Value,
}

pub(crate) fn sandbox_id(kind: SimulatorType) -> SandboxId {
    SandboxId::from_ulid(Ulid(kind as u128 + 1))
}

impl Playground {
    /// Nobody has worked in it.
    pub(crate) fn fresh() -> Self {
        let mut world = World { seq: 0, oldest: 0, sandboxes: BTreeMap::new() };
        for kind in SimulatorType::ALL {
            let layers = if kind == SimulatorType::Fhir { vec![Arc::clone(&LAYER)] } else { Vec::new() };
            let (id, config, records) = (sandbox_id(kind), Arc::default(), Records::new(layers, START));
            let sandbox = Sandbox { id: id.clone(), kind, config, created_at: START, is_active: true, records };
            world.sandboxes.insert(id, sandbox);
        }
        let data = json!({"mrn": "42", "member_id": "M1", "first_name": "Ada", "odd": "a.b]*|{x"});
        let entity = json!({"name": "Ada", "ref": "Patient/a", "data": data});
        Self { world, events: Vec::new(), entity, task: json!({"name": "Task", "id": "task_1"}) }
    }

    fn worked() -> Self {
        let mut playground = Self::fresh();
        let row = json!({"patient_member_id": "M1", "status": "submitted", "list": [1, "2", null, 1.10, {"a": true}]});
        playground.write(SimulatorType::Payer, "prior_auth_requests", "r1", &row);
        for (path, text) in [
            ("outbox/a.json", r#"{"a":[{"k":"v","n":1.50}],"b":null}"#),
            ("outbox/a.csv", "mrn,note\n42,\"a, b\"\n43,\n"),
            ("outbox/a.hl7", HL7),
            ("outbox/a.x12", X12),
            ("outbox/deep/er/a.txt", "Dear Ada, your member ID is M 1 four fifty-six."),
        ] {
            let file = json!({"sha256": "00", "size": text.len(), "content_type": "text/plain", "text": text});
            playground.write(SimulatorType::Files, "files", path, &file);
        }
        let fax = json!({"direction": "outbound", "to_number": "+15550100199", "status": "sent", "pages": 2,
            "text": "letter of medical necessity for Ada"});
        playground.write(SimulatorType::Fax, "faxes", "f1", &fax);
        let appointment = json!({"resourceType": "Appointment", "id": "new", "status": "booked",
            "participant": [{"actor": {"reference": "Patient/a"}, "status": "accepted"}]});
        playground.write(SimulatorType::Fhir, "Appointment", "new", &appointment);
        for (kind, r#type, payload) in [
            (SimulatorType::Hl7, EventType::Hl7Outbound, json!({"payload": HL7})),
            (SimulatorType::Clearinghouse, EventType::X12Response, json!({"payload": X12})),
            (
                SimulatorType::Voice,
                EventType::VoiceTurn,
                json!({"speaker": "agent", "text": "M as in Mike, one", "index": 0}),
            ),
            (
                SimulatorType::Voice,
                EventType::VoiceTurn,
                json!({"speaker": "caller", "text": "date of birth?", "index": 1}),
            ),
            (SimulatorType::Message, EventType::MessageOutbound, json!({"channel": "sms", "body": "appointment, Ada"})),
            (
                SimulatorType::CdsHooks,
                EventType::CdsInvoke,
                json!({"hook": "order-sign", "cards": [{"indicator": "warning"}]}),
            ),
            (SimulatorType::Fhir, EventType::FhirRequest, json!({"request": {"method": "GET"}})),
        ] {
            playground.happen(kind, r#type, payload);
        }
        playground
    }

    /// Writes a record; null deletes it.
    pub(crate) fn write(&mut self, kind: SimulatorType, collection: &str, key: &str, json: &Value) {
        let seq = self.world.seq + 1;
        let change = Change {
            sandbox: sandbox_id(kind),
            collection: collection.into(),
            key: key.into(),
            version: seq.unsigned_abs() + 1,
            at: START.plus_milliseconds(1_000 * seq),
            write: if json.is_null() { Write::Delete } else { Write::Update },
            text: (!json.is_null()).then(|| json.to_string().into()),
        };
        self.world.apply(seq, &change);
    }

    /// An event at the place of the last write.
    pub(crate) fn happen(&mut self, kind: SimulatorType, r#type: EventType, payload: Value) {
        let number = self.events.len() as u64 + 1;
        self.events.push(Event {
            id: EventId::from_ulid(Ulid(number.into())),
            sandbox_id: sandbox_id(kind),
            seq: self.world.seq,
            r#type,
            at: START.plus_milliseconds(1_000 * self.world.seq),
            actor: "agent".to_owned(),
            summary: String::new(),
            payload,
        });
    }

    pub(crate) fn evaluate(&self, assertion: &Value) -> Outcome {
        let (entity, task) = (Some(&self.entity), Some(&self.task));
        let effects = sims::effects::of_agent(&self.world, &self.events);
        let (world, events, contents) = (&self.world, &self.events, &verify::NO_FILE_CONTENTS);
        let (completed_seq, names) = (None, &verify::sandbox_scope::NO_NAMES);
        evaluate(
            assertion,
            &Evidence { world, events, effects: &effects, names, completed_seq, contents, entity, task },
        )
    }
}
