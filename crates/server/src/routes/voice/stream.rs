//! The WebSocket of a call (RFC 6455): limits frames, time and connections. The session handles the messages.

use std::time::Duration;

use app::sandboxes::voice;
use app::sandboxes::voice::wire::relay::RelayReader;
use axum::extract;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade, close_code};
use axum::http::request::Parts;
use axum::response::Response;
use model::FieldErrors;
use serde::Deserialize;
use serde_json::Value;
use tokio::time::{Instant, MissedTickBehavior, interval, timeout, timeout_at};
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::PhoneLine;
use super::session::{Protocol, Session, SessionError};
use super::stream_limits::StreamSlot;
use crate::State;
use crate::api_error::{ApiError, ClosedSandboxResponse, Code, ErrorResponses};
use crate::extractors::Params;
use crate::routes::sandbox_routes::{SandboxScope, in_every_scope};

const MAX_FRAME_BYTES: usize = 64 * 1024;
const BUFFER_BYTES: usize = 4 * 1024;
const MAX_WRITE_BUFFER_BYTES: usize = 1024 * 1024;
/// The connection ends when the client does not read for this long.
const WRITE_TIMEOUT: Duration = Duration::from_secs(10);
const PING_INTERVAL: Duration = Duration::from_secs(30);
/// The connection is closed after this many invalid messages.
const MAX_ERRORS: usize = 100;

const NATIVE: &str = "verial.voice.v1";
const RELAY: &str = "conversation-relay";

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct StreamQuery {
    /// `verial.voice.v1` (the default) or `conversation-relay`, where the client cannot name a subprotocol.
    #[param(value_type = String, required = false)]
    protocol: Option<String>,
}

type Upgrade = Result<WebSocketUpgrade, WebSocketUpgradeRejection>;

/// Call the line over a WebSocket.
///
/// Opening the connection dials the call. See the documentation for the messages.
#[utoipa::path(get, path = "/voice/stream", operation_id = "dial_stream", params(StreamQuery),
    responses((status = 101, description = "The connection is upgraded to a WebSocket"),
        ClosedSandboxResponse, ErrorResponses))]
async fn dial_stream(
    extract::State(state): extract::State<State>,
    scope: SandboxScope<PhoneLine>,
    Params(query): Params<StreamQuery>,
    upgrade: Upgrade,
    parts: Parts,
) -> Result<Response, ApiError> {
    voice::check_open(&state.app, &scope.access).await?;
    open(state, &scope, &query, upgrade, parts, None)
}

/// Join a call over a WebSocket.
///
/// It is the same call as over REST: both see what the other does. See the documentation for the messages.
#[utoipa::path(get, path = "/voice/calls/{call_id}/stream", operation_id = "join_stream",
    params(("call_id" = String, Path, description = "The call"), StreamQuery),
    responses((status = 101, description = "The connection is upgraded to a WebSocket"),
        ClosedSandboxResponse, ErrorResponses))]
async fn join_stream(
    extract::State(state): extract::State<State>,
    scope: SandboxScope<PhoneLine>,
    Params(query): Params<StreamQuery>,
    upgrade: Upgrade,
    parts: Parts,
) -> Result<Response, ApiError> {
    let call = scope.value(0).to_owned();
    voice::since(&state.app, &scope.access, call.clone(), u64::MAX).await?;
    open(state, &scope, &query, upgrade, parts, Some(call))
}

/// Completes the handshake; the connection then runs in its own task.
fn open(
    state: State,
    scope: &SandboxScope<PhoneLine>,
    query: &StreamQuery,
    upgrade: Upgrade,
    parts: Parts,
    call: Option<String>,
) -> Result<Response, ApiError> {
    let upgrade =
        upgrade.map_err(|_| ApiError::new(Code::BadRequest, "open this address as a WebSocket (RFC 6455)"))?;
    let slot = state.streams.acquire(scope.access.sandbox())?;
    let upgrade = upgrade
        .protocols([NATIVE, RELAY])
        .max_frame_size(MAX_FRAME_BYTES)
        .max_message_size(MAX_FRAME_BYTES)
        .read_buffer_size(BUFFER_BYTES)
        .write_buffer_size(0)
        .max_write_buffer_size(MAX_WRITE_BUFFER_BYTES);
    let chosen = upgrade.selected_protocol().and_then(|name| name.to_str().ok()).map(ToOwned::to_owned);
    let protocol = match query.protocol.as_deref().or(chosen.as_deref()) {
        None | Some(NATIVE) => Protocol::Native,
        Some(RELAY) => Protocol::Relay(RelayReader::default()),
        Some(_) => {
            let message = format!("must be `{NATIVE}` or `{RELAY}`");
            return Err(ApiError::invalid(FieldErrors::one("protocol", message)));
        }
    };
    let idle = Duration::from_secs(state.app.limits().voice_idle_seconds);
    let session = Session::new(state, parts, protocol, call);
    Ok(upgrade.on_upgrade(move |socket| Connection { socket, session, idle, errors: 0 }.serve(slot)))
}

struct Connection {
    socket: WebSocket,
    session: Session,
    idle: Duration,
    errors: usize,
}

/// The client cannot be reached any more.
struct Disconnected;

impl Connection {
    async fn serve(mut self, _slot: StreamSlot) {
        // Nothing to do when the client has disconnected.
        let _ = self.talk().await;
    }

    async fn talk(&mut self) -> Result<(), Disconnected> {
        let started = self.session.begin().await;
        if !self.send_result(started).await? {
            return Ok(());
        }
        let app = self.session.app();
        let mut changes = app.listen_to_call(&self.session.call);
        let mut pings = interval(PING_INTERVAL.min(self.idle));
        pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
        pings.reset();
        let mut deadline = Instant::now() + self.idle;
        loop {
            let result = tokio::select! {
                received = timeout_at(deadline, self.socket.recv()) => match received {
                    Err(_) => return self.close(close_code::NORMAL, "idle timeout").await,
                    Ok(None | Some(Err(_) | Ok(Message::Close(_)))) => return Ok(()),
                    Ok(Some(Ok(Message::Ping(_) | Message::Pong(_)))) => continue,
                    Ok(Some(Ok(Message::Text(text)))) => {
                        deadline = Instant::now() + self.idle;
                        self.session.handle_message(text.as_str()).await
                    }
                    Ok(Some(Ok(Message::Binary(_)))) => {
                        Err(SessionError::Recoverable(ApiError::new(Code::BadRequest, "messages must be text frames")))
                    }
                },
                () = changes.changed() => self.session.catch_up().await,
                _ = pings.tick() => {
                    self.send(Message::Ping(Default::default())).await?;
                    continue;
                }
            };
            if !self.send_result(result).await? {
                return Ok(());
            }
        }
    }

    /// Sends the messages or the error, and returns whether the connection stays open.
    async fn send_result(&mut self, result: Result<Vec<Value>, SessionError>) -> Result<bool, Disconnected> {
        let (messages, is_fatal) = match result {
            Ok(messages) => (messages, false),
            Err(SessionError::Recoverable(error)) => {
                self.errors += 1;
                (vec![self.session.error(&error)], self.errors >= MAX_ERRORS)
            }
            Err(SessionError::Fatal(error)) => (vec![self.session.error(&error)], true),
        };
        for message in messages {
            self.send(Message::Text(message.to_string().into())).await?;
        }
        if is_fatal {
            self.close(close_code::POLICY, "").await?;
        } else if self.session.has_ended {
            self.close(close_code::NORMAL, "the call has ended").await?;
        }
        Ok(!is_fatal && !self.session.has_ended)
    }

    async fn send(&mut self, message: Message) -> Result<(), Disconnected> {
        match timeout(WRITE_TIMEOUT, self.socket.send(message)).await {
            Ok(Ok(())) => Ok(()),
            _ => Err(Disconnected),
        }
    }

    /// Sends a close frame, and waits shortly for the client's.
    async fn close(&mut self, code: u16, reason: &'static str) -> Result<(), Disconnected> {
        self.send(Message::Close(Some(CloseFrame { code, reason: reason.into() }))).await?;
        let rest = async { while let Some(Ok(_)) = self.socket.recv().await {} };
        let _ = timeout(Duration::from_secs(2), rest).await;
        Ok(())
    }
}

pub(super) fn router() -> OpenApiRouter<State> {
    in_every_scope(routes!(dial_stream)).merge(in_every_scope(routes!(join_stream)))
}
