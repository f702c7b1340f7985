//! Inbound messages as a hospital sends them: to the agent's own MLLP listener, if the config names one and the operator
//! allows its host. They are in the inbox whatever becomes of that; an event tells of it.

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
use tokio::time::timeout;
use world::{NewEvent, Outcome, Write};

use crate::App;

const CONNECT: Duration = Duration::from_secs(5);
const ANSWER: Duration = Duration::from_secs(15);
const MOST_ANSWER_BYTES: usize = 1 << 20;
/// Pushes that are on their way at a time.
pub(crate) const MOST_AT_ONCE: usize = 64;

/// A message that has just arrived in an inbox.
struct Arrived {
    sandbox: SandboxId,
    message: String,
    /// The step that brought it.
    step: Value,
}

impl App {
    /// Pushes what these entries of a log have brought, without making anyone wait.
    pub(crate) fn deliver_arrivals(&self, entries: &[Entry]) {
        let arrived: Vec<Arrived> = entries.iter().flat_map(arrived).collect();
        if !arrived.is_empty() {
            let app = self.clone();
            tokio::spawn(async move {
                for one in arrived {
                    push(&app, one).await;
                }
            });
        }
    }

    /// Nobody may look when a message is due that somebody listens for.
    pub(crate) fn deliver_later(&self, playground: &PlaygroundId, sandboxes: &[StoredSandbox]) {
        if sandboxes.iter().any(|sandbox| target_of(sandbox).is_some()) {
            tokio::spawn(look_when_due(self.clone(), playground.clone()));
        }
    }
}

/// Ends with the last step, or with the playground.
async fn look_when_due(app: App, playground: PlaygroundId) {
    const LEAST: i64 = 1000;
    loop {
        let Ok(loaded) = app.runtime().load_after_due_work(&playground).await else { return };
        let (Some(due), false) = (sims::scenario::next_due(&loaded.world), loaded.has_ended()) else { return };
        drop(loaded);
        let wait = (due.milliseconds() - app.now().milliseconds()).max(LEAST);
        tokio::time::sleep(Duration::from_millis(wait.unsigned_abs())).await;
    }
}

fn arrived(entry: &Entry) -> Vec<Arrived> {
    if entry.r#type != EventType::ScenarioStep {
        return Vec::new();
    }
    let told = match &entry.payload {
        Text::Inline(text) => serde_json::from_str(text).unwrap_or(Value::Null),
        Text::Blob(_) => Value::Null,
    };
    let step = told.get("index").cloned().unwrap_or_else(|| 0.into());
    let is_new = |change: &&world::Change| &*change.collection == INBOX && change.write == Write::Create;
    let changes = entry.changes.iter().map(|(change, _)| change).filter(is_new);
    let one = |change: &world::Change| Arrived {
        sandbox: change.sandbox.clone(),
        message: change.key.to_string(),
        step: step.clone(),
    };
    changes.map(one).collect()
}

fn target_of(sandbox: &StoredSandbox) -> Option<MllpTarget> {
    if sandbox.kind != SimulatorType::Hl7 {
        return None;
    }
    // Most have none: no need to read the whole config.
    sandbox.config.get("mllp")?;
    sims::authored::read::<Hl7Config>(&sandbox.config).ok()?.mllp
}

async fn push(app: &App, arrived: Arrived) {
    let Ok(Some(sandbox)) = app.runtime().sandbox(&arrived.sandbox).await else { return };
    let Some(target) = target_of(&sandbox) else { return };
    let Some(payload) = payload_of(app, &sandbox, &arrived.message).await else { return };
    let pushed = match app.inner.pushes.acquire().await {
        Ok(_turn) => deliver(app, &target, &payload).await,
        Err(_) => return,
    };
    let event = told(&sandbox, &arrived, &target, &pushed);
    let message = move |_: &world::World, _: &world::Context<'_>| Outcome {
        answer: (),
        changes: vec![],
        events: vec![event.clone()],
    };
    if let Err(error) = app.runtime().command(&sandbox, message).await {
        tracing::debug!(%error, sandbox = %sandbox.id, "a push could not be told");
    }
}

async fn payload_of(app: &App, sandbox: &StoredSandbox, message: &str) -> Option<String> {
    let world = app.runtime().load(&sandbox.playground).await.ok()?.world;
    let record = world.sandboxes.get(&sandbox.id)?.records.get(INBOX, message).live()?;
    Some(record.json().get("payload")?.as_str()?.to_owned())
}

/// The code of the listener's acknowledgement, or why there is none.
async fn deliver(app: &App, target: &MllpTarget, payload: &str) -> Result<String, String> {
    let port = u16::try_from(target.port).unwrap_or_default();
    let reached = app.inner.outbound.addresses(&target.host, port).await.map_err(|refused| refused.to_string())?;
    let message = Message::parse_text(payload, &Limits::default()).map_err(|fault| fault.to_string())?;
    let connecting = timeout(CONNECT, TcpStream::connect(reached.as_slice())).await;
    let mut stream = connecting.ok().and_then(Result::ok).ok_or("nobody listens there")?;
    let exchange = async {
        stream.write_all(&frame(&message.to_bytes())).await.ok()?;
        answer(&mut stream).await
    };
    let answered = timeout(ANSWER, exchange).await.ok().flatten();
    let answered = answered.ok_or("the listener did not acknowledge it")?;
    let ack = Message::parse(&answered, &Limits::default()).map_err(|fault| format!("the answer: {fault}"))?;
    let field = |number| ack.segments_named("MSA").next().and_then(|segment| segment.field(number));
    let text = |number| field(number).map_or_else(String::new, |field| field.text().into_owned());
    if text(2) != message.control_id() {
        return Err("the listener acknowledged another message".to_owned());
    }
    Ok(text(1))
}

async fn answer(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let mut deframer = Deframer::new(MOST_ANSWER_BYTES);
    let mut chunk = vec![0; 8192];
    loop {
        let read = stream.read(&mut chunk).await.ok().filter(|read| *read > 0)?;
        deframer.push(chunk.get(..read)?);
        while let Some(found) = deframer.next_frame().ok()? {
            if let Frame::Message(bytes) = found {
                return Some(bytes);
            }
        }
    }
}

fn told(sandbox: &StoredSandbox, arrived: &Arrived, target: &MllpTarget, pushed: &Result<String, String>) -> NewEvent {
    let address = format!("{}:{}", target.host, target.port);
    let (code, why) = (pushed.as_ref().ok(), pushed.as_ref().err());
    let payload = json!({
        "action": "push",
        "id": arrived.message,
        "address": address,
        "delivered": pushed.is_ok(),
        "ack_code": code,
        "why": why,
        "scenario_step": arrived.step,
    });
    let became = code.or(why).map(|words| words.chars().filter(|c| !c.is_control()).take(100).collect::<String>());
    NewEvent {
        sandbox: sandbox.id.clone(),
        r#type: EventType::Hl7Inbound,
        actor: "scenario".to_owned(),
        summary: format!("pushed to {address}: {}", became.unwrap_or_default()),
        payload: payload.into(),
    }
}
