//! Delivers the messages of an HL7 inbox to the agent's own MLLP listener, if the config names one and the operator allows
//! its host. The message is in the inbox in any case; an event records the outcome of the delivery. This is the client side
//! of MLLP; the server side is in the crate `server`.

use std::time::Duration;

use hl7v2::mllp::{Deframer, Frame, frame};
use hl7v2::{Limits, Message};
use model::event::EventType;
use model::simulator::SimulatorType;
use model::{PlaygroundId, SandboxId};
use serde_json::{Value, json};
use sims::hl7::config::{Hl7Config, MllpTarget};
use sims::hl7::inbox::INBOX;
use store::log::{Entry, Text};
use store::sandboxes::StoredSandbox;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use world::{NewEvent, Outcome, Write};

use crate::App;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const ACKNOWLEDGMENT_TIMEOUT: Duration = Duration::from_secs(15);
const MAX_ACKNOWLEDGMENT_BYTES: usize = 1 << 20;
/// Maximum number of deliveries at a time.
const MAX_CONCURRENT: usize = 64;

/// Limits concurrent deliveries.
pub(crate) struct Deliveries(Semaphore);

impl Default for Deliveries {
    fn default() -> Self {
        Self(Semaphore::new(MAX_CONCURRENT))
    }
}

/// A message that has just arrived in an inbox.
struct Arrival {
    sandbox: SandboxId,
    message: String,
    /// The index of the scenario step that sent it.
    step: Value,
}

impl App {
    /// Delivers the messages that these log entries have added to inboxes, in the background.
    pub(crate) fn deliver_arrivals(&self, entries: &[Entry]) {
        let arrivals: Vec<Arrival> = entries.iter().flat_map(arrivals).collect();
        if !arrivals.is_empty() {
            let app = self.clone();
            tokio::spawn(async move {
                for arrival in arrivals {
                    deliver(&app, arrival).await;
                }
            });
        }
    }

    /// Runs later steps when they are due if a sandbox has a listener, which receives messages without sending requests.
    pub(crate) fn deliver_later(&self, playground: &PlaygroundId, sandboxes: &[StoredSandbox]) {
        if sandboxes.iter().any(|sandbox| target_of(sandbox).is_some()) {
            tokio::spawn(run_due_steps(self.clone(), playground.clone()));
        }
    }
}

/// Ends with the last step, or with the playground.
async fn run_due_steps(app: App, playground: PlaygroundId) {
    const MIN_WAIT_MILLISECONDS: i64 = 1000;
    loop {
        let Ok(loaded) = app.runtime().load_after_due_work(&playground).await else { return };
        let (Some(due), false) = (sims::scenario::next_due(&loaded.world), loaded.has_ended()) else { return };
        drop(loaded);
        let wait = (due.milliseconds() - app.now().milliseconds()).max(MIN_WAIT_MILLISECONDS);
        tokio::time::sleep(Duration::from_millis(wait.unsigned_abs())).await;
    }
}

fn arrivals(entry: &Entry) -> Vec<Arrival> {
    if entry.r#type != EventType::ScenarioStep {
        return Vec::new();
    }
    let payload = match &entry.payload {
        Text::Inline(text) => serde_json::from_str(text).unwrap_or(Value::Null),
        Text::Blob(_) => Value::Null,
    };
    let step = payload.get("index").cloned().unwrap_or_else(|| 0.into());
    let is_new = |change: &&world::Change| &*change.collection == INBOX && change.write == Write::Create;
    let changes = entry.changes.iter().map(|(change, _)| change).filter(is_new);
    let arrival = |change: &world::Change| Arrival {
        sandbox: change.sandbox.clone(),
        message: change.key.to_string(),
        step: step.clone(),
    };
    changes.map(arrival).collect()
}

fn target_of(sandbox: &StoredSandbox) -> Option<MllpTarget> {
    if sandbox.kind != SimulatorType::Hl7 {
        return None;
    }
    // Most sandboxes have no listener. Then the config is not parsed.
    sandbox.config.get("mllp")?;
    sims::authored::read::<Hl7Config>(&sandbox.config).ok()?.mllp
}

async fn deliver(app: &App, arrival: Arrival) {
    let Ok(Some(sandbox)) = app.runtime().sandbox(&arrival.sandbox).await else { return };
    let Some(target) = target_of(&sandbox) else { return };
    let Some(payload) = payload_of(app, &sandbox, &arrival.message).await else { return };
    let result = match app.inner.mllp_deliveries.0.acquire().await {
        Ok(_permit) => send(app, &target, &payload).await,
        Err(_) => return,
    };
    let event = delivery_event(&sandbox, &arrival, &target, &result);
    let message = move |_: &world::World, _: &world::Context<'_>| Outcome {
        answer: (),
        changes: vec![],
        events: vec![event.clone()],
    };
    if let Err(error) = app.runtime().command(&sandbox, message).await {
        tracing::debug!(%error, sandbox = %sandbox.id, "the event of a delivery could not be written");
    }
}

async fn payload_of(app: &App, sandbox: &StoredSandbox, message: &str) -> Option<String> {
    let world = app.runtime().load(&sandbox.playground).await.ok()?.world;
    let record = world.sandboxes.get(&sandbox.id)?.records.get(INBOX, message).live()?;
    Some(record.json().get("payload")?.as_str()?.to_owned())
}

/// Returns the code of the listener's acknowledgment, or why there is none.
async fn send(app: &App, target: &MllpTarget, payload: &str) -> Result<String, String> {
    let port = u16::try_from(target.port).unwrap_or_default();
    let reached = app.inner.outbound.addresses(&target.host, port).await.map_err(|error| error.to_string())?;
    let message = Message::parse_text(payload, &Limits::default()).map_err(|error| error.to_string())?;
    let connecting = timeout(CONNECT_TIMEOUT, TcpStream::connect(reached.as_slice())).await;
    let mut stream = connecting.ok().and_then(Result::ok).ok_or("nobody listens there")?;
    let exchange = async {
        stream.write_all(&frame(&message.to_bytes())).await.ok()?;
        read_acknowledgment(&mut stream).await
    };
    let acknowledgment = timeout(ACKNOWLEDGMENT_TIMEOUT, exchange).await.ok().flatten();
    let acknowledgment = acknowledgment.ok_or("the listener did not acknowledge it")?;
    let ack = Message::parse(&acknowledgment, &Limits::default()).map_err(|error| format!("the answer: {error}"))?;
    let field = |number| ack.segments_named("MSA").next().and_then(|segment| segment.field(number));
    let text = |number| field(number).map_or_else(String::new, |field| field.text().into_owned());
    if text(2) != message.control_id() {
        return Err("the listener acknowledged another message".to_owned());
    }
    Ok(text(1))
}

async fn read_acknowledgment(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let mut deframer = Deframer::new(MAX_ACKNOWLEDGMENT_BYTES);
    let mut chunk = vec![0; 8192];
    loop {
        let read = stream.read(&mut chunk).await.ok().filter(|read| *read > 0)?;
        deframer.push(chunk.get(..read)?);
        while let Some(frame) = deframer.next_frame().ok()? {
            if let Frame::Message(bytes) = frame {
                return Some(bytes);
            }
        }
    }
}

fn delivery_event(
    sandbox: &StoredSandbox,
    arrival: &Arrival,
    target: &MllpTarget,
    result: &Result<String, String>,
) -> NewEvent {
    let address = format!("{}:{}", target.host, target.port);
    let (code, why) = (result.as_ref().ok(), result.as_ref().err());
    let payload = json!({
        "action": "push",
        "id": arrival.message,
        "address": address,
        "delivered": result.is_ok(),
        "ack_code": code,
        "why": why,
        "scenario_step": arrival.step,
    });
    let outcome = code.or(why).map(|words| words.chars().filter(|c| !c.is_control()).take(100).collect::<String>());
    NewEvent {
        sandbox: sandbox.id.clone(),
        r#type: EventType::Hl7Inbound,
        actor: "scenario".to_owned(),
        summary: format!("pushed to {address}: {}", outcome.unwrap_or_default()),
        payload: payload.into(),
    }
}
