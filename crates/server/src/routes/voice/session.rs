//! One agent on one WebSocket: what it does in its call, and what it is told of it.

use app::sandboxes::voice;
use app::sandboxes::voice::wire::relay::Relay;
use app::sandboxes::voice::wire::{Act, native, relay};
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use model::voice::NewCall;
use serde_json::{Value, json};

use super::Line;
use crate::State;
use crate::envelope::{ApiError, Code};
use crate::routes::doors::Door;

/// How the two sides talk.
pub(super) enum Protocol {
    Native,
    Relay(Relay),
}

pub(super) struct Session {
    state: State,
    /// Of the request that opened it: every message is let in as if it were a request of its own.
    parts: Parts,
    protocol: Protocol,
    /// The call, once there is one.
    pub(super) call: String,
    /// How many turns the agent has been told.
    told: u64,
    pub(super) has_ended: bool,
}

/// Why a message was not carried out, and whether the connection may go on.
pub(super) enum Fault {
    Told(ApiError),
    Fatal(ApiError),
}

impl Session {
    /// In a call, or in a new one if there is none.
    pub(super) fn new(state: State, parts: Parts, protocol: Protocol, call: Option<String>) -> Self {
        Self { state, parts, protocol, call: call.unwrap_or_default(), told: 0, has_ended: false }
    }

    pub(super) fn app(&self) -> app::App {
        self.state.app.clone()
    }

    async fn door(&mut self) -> Result<Door<Line>, Fault> {
        Door::from_request_parts(&mut self.parts, &self.state).await.map_err(Fault::Fatal)
    }

    /// Dials if need be, and tells the call as it is.
    pub(super) async fn begin(&mut self) -> Result<Vec<Value>, Fault> {
        let door = self.door().await?;
        if self.call.is_empty() {
            let dialled = voice::dial(&self.state.app, &door.access, NewCall::default(), None).await.map_err(fatal)?;
            self.call = dialled.call["id"].as_str().unwrap_or_default().to_owned();
        }
        let (call, turns) = voice::since(&self.state.app, &door.access, self.call.clone(), 0).await.map_err(fatal)?;
        let first = match self.protocol {
            Protocol::Native => native::begun(&call),
            Protocol::Relay(_) => {
                let number = voice::number(&door.access);
                relay::setup(&call, &door.access.sandbox().to_string(), &number)
            }
        };
        let mut messages = vec![first];
        // A relay tells what is said from now on. Who joins a call late has what the line last said to answer.
        if matches!(self.protocol, Protocol::Relay(_)) {
            let is_of_agent = |turn: &&Value| turn["speaker"] == "agent";
            let last = turns.iter().filter(is_of_agent).filter_map(|turn| turn["index"].as_u64()).next_back();
            self.told = last.map_or(0, |last| last + 1);
        }
        messages.extend(self.news(&call, &turns));
        Ok(messages)
    }

    /// Carries out one message, and tells what followed.
    pub(super) async fn hear(&mut self, text: &str) -> Result<Vec<Value>, Fault> {
        let door = self.door().await?;
        let act = match &mut self.protocol {
            Protocol::Native => native::read(text),
            Protocol::Relay(relay) => relay.read(text),
        };
        let words =
            |words: String| Fault::Told(ApiError::new(Code::BadRequest, words.chars().take(300).collect::<String>()));
        let (app, call) = (self.state.app.clone(), self.call.clone());
        let done = match act.map_err(words)? {
            Act::Nothing => return Ok(Vec::new()),
            Act::Turn(new) => voice::turn(&app, &door.access, call, new, None).await,
            Act::Answer => voice::answer(&app, &door.access, call, None).await,
            Act::HangUp => voice::hang_up(&app, &door.access, call).await,
        };
        if let Err(error) = done {
            return Err(Fault::Told(error.into()));
        }
        self.look(&door).await
    }

    /// What happened in the call since it was last told.
    pub(super) async fn catch_up(&mut self) -> Result<Vec<Value>, Fault> {
        let door = self.door().await?;
        self.look(&door).await
    }

    async fn look(&mut self, door: &Door<Line>) -> Result<Vec<Value>, Fault> {
        let found = voice::since(&self.state.app, &door.access, self.call.clone(), self.told).await;
        let (call, turns) = found.map_err(fatal)?;
        Ok(self.news(&call, &turns))
    }

    fn news(&mut self, call: &Value, turns: &[Value]) -> Vec<Value> {
        let mut messages = Vec::new();
        for turn in turns.iter().filter(|turn| turn["index"].as_u64() >= Some(self.told)) {
            messages.extend(match self.protocol {
                Protocol::Native => native::turn(turn),
                Protocol::Relay(_) => relay::turn(turn),
            });
        }
        self.told =
            turns.iter().filter_map(|turn| turn["index"].as_u64()).next_back().map_or(self.told, |last| last + 1);
        if !["ringing", "in_progress"].contains(&call["status"].as_str().unwrap_or_default()) {
            self.has_ended = true;
            if let Protocol::Native = self.protocol {
                messages.extend(native::ended(call));
            }
        }
        messages
    }

    pub(super) fn error(&self, error: &ApiError) -> Value {
        match self.protocol {
            Protocol::Native => native::error(&json!(error.code()), &error.shown_message()),
            Protocol::Relay(_) => relay::error(&error.shown_message()),
        }
    }
}

fn fatal(error: app::AppError) -> Fault {
    Fault::Fatal(error.into())
}
