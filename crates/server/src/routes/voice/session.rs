//! The session of one WebSocket: carries out the agent's messages in its call, and reports the turns of the call.

use app::sandboxes::voice;
use app::sandboxes::voice::wire::relay::RelayReader;
use app::sandboxes::voice::wire::{ClientAction, native, relay};
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use model::voice::NewCall;
use serde_json::{Value, json};

use super::PhoneLine;
use crate::State;
use crate::api_error::{ApiError, Code};
use crate::routes::sandbox_routes::SandboxScope;

/// The message format of the WebSocket.
pub(super) enum Protocol {
    Native,
    Relay(RelayReader),
}

pub(super) struct Session {
    state: State,
    /// The request that opened the WebSocket. Every message is authenticated with it, like a request of its own.
    parts: Parts,
    protocol: Protocol,
    /// The id of the call; empty before it is dialed.
    pub(super) call: String,
    /// The index of the next turn to report.
    next_turn: u64,
    pub(super) has_ended: bool,
}

/// Why a message could not be carried out.
pub(super) enum SessionError {
    /// Reported to the agent; the connection stays open.
    Recoverable(ApiError),
    /// Closes the connection.
    Fatal(ApiError),
}

impl Session {
    /// A session in the given call, or in a new one.
    pub(super) fn new(state: State, parts: Parts, protocol: Protocol, call: Option<String>) -> Self {
        Self { state, parts, protocol, call: call.unwrap_or_default(), next_turn: 0, has_ended: false }
    }

    pub(super) fn app(&self) -> app::App {
        self.state.app.clone()
    }

    async fn scope(&mut self) -> Result<SandboxScope<PhoneLine>, SessionError> {
        SandboxScope::from_request_parts(&mut self.parts, &self.state).await.map_err(SessionError::Fatal)
    }

    /// Dials if there is no call yet, and returns the messages that describe the call so far.
    pub(super) async fn begin(&mut self) -> Result<Vec<Value>, SessionError> {
        let scope = self.scope().await?;
        if self.call.is_empty() {
            let dialed = voice::dial(&self.state.app, &scope.access, NewCall::default(), None).await.map_err(fatal)?;
            self.call = dialed.call["id"].as_str().unwrap_or_default().to_owned();
        }
        let (call, turns) = voice::since(&self.state.app, &scope.access, self.call.clone(), 0).await.map_err(fatal)?;
        let first = match self.protocol {
            Protocol::Native => native::begun(&call),
            Protocol::Relay(_) => {
                let number = voice::number(&scope.access);
                relay::setup(&call, &scope.access.sandbox().to_string(), &number)
            }
        };
        let mut messages = vec![first];
        // A relay only reports new turns. One that joins late starts after the agent's last turn, so that it can respond to
        // what the line said since.
        if matches!(self.protocol, Protocol::Relay(_)) {
            let is_agent = |turn: &&Value| turn["speaker"] == "agent";
            let last = turns.iter().filter(is_agent).filter_map(|turn| turn["index"].as_u64()).next_back();
            self.next_turn = last.map_or(0, |last| last + 1);
        }
        messages.extend(self.new_messages(&call, &turns));
        Ok(messages)
    }

    /// Carries out one message, and returns the messages about what followed.
    pub(super) async fn handle_message(&mut self, text: &str) -> Result<Vec<Value>, SessionError> {
        let scope = self.scope().await?;
        let act = match &mut self.protocol {
            Protocol::Native => native::read(text),
            Protocol::Relay(relay) => relay.read(text),
        };
        let invalid = |message: String| {
            SessionError::Recoverable(ApiError::new(Code::BadRequest, message.chars().take(300).collect::<String>()))
        };
        let (app, call) = (self.state.app.clone(), self.call.clone());
        let result = match act.map_err(invalid)? {
            ClientAction::Nothing => return Ok(Vec::new()),
            ClientAction::Turn(new) => voice::turn(&app, &scope.access, call, new, None).await,
            ClientAction::Answer => voice::answer(&app, &scope.access, call, None).await,
            ClientAction::HangUp => voice::hang_up(&app, &scope.access, call).await,
        };
        if let Err(error) = result {
            return Err(SessionError::Recoverable(error.into()));
        }
        self.poll_call(&scope).await
    }

    /// Messages about what happened in the call since the last report.
    pub(super) async fn catch_up(&mut self) -> Result<Vec<Value>, SessionError> {
        let scope = self.scope().await?;
        self.poll_call(&scope).await
    }

    async fn poll_call(&mut self, scope: &SandboxScope<PhoneLine>) -> Result<Vec<Value>, SessionError> {
        let updates = voice::since(&self.state.app, &scope.access, self.call.clone(), self.next_turn).await;
        let (call, turns) = updates.map_err(fatal)?;
        Ok(self.new_messages(&call, &turns))
    }

    fn new_messages(&mut self, call: &Value, turns: &[Value]) -> Vec<Value> {
        let mut messages = Vec::new();
        for turn in turns.iter().filter(|turn| turn["index"].as_u64() >= Some(self.next_turn)) {
            messages.extend(match self.protocol {
                Protocol::Native => native::turn(turn),
                Protocol::Relay(_) => relay::turn(turn),
            });
        }
        self.next_turn =
            turns.iter().filter_map(|turn| turn["index"].as_u64()).next_back().map_or(self.next_turn, |last| last + 1);
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
            Protocol::Native => native::error(&json!(error.code()), &error.public_message()),
            Protocol::Relay(_) => relay::error(&error.public_message()),
        }
    }
}

fn fatal(error: app::AppError) -> SessionError {
    SessionError::Fatal(error.into())
}
