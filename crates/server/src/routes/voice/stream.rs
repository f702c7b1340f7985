//! The WebSocket of a call (RFC 6455). Frames, time and connections are bounded; what is said is the session's.

use std::time::Duration;

use app::sandboxes::voice;
use app::sandboxes::voice::wire::relay::Relay;
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

use super::Line;
use super::session::{Fault, Protocol, Session};
use super::streams::Place;
use crate::State;
use crate::envelope::{ApiError, Code, ErrorBody, Refusals};
use crate::extract::Params;
use crate::routes::doors::{Door, mounted};

const MOST_FRAME_BYTES: usize = 64 * 1024;
const BUFFER_BYTES: usize = 4 * 1024;
const MOST_WAITING_BYTES: usize = 1024 * 1024;
/// Whoever does not read for so long has gone.
const LONGEST_WRITE: Duration = Duration::from_secs(10);
const PING_EVERY: Duration = Duration::from_secs(30);
/// Faulty messages of one connection.
const MOST_FAULTS: usize = 100;

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
/// The connection is the call: it is dialled when the connection opens. See the documentation for the messages.
#[utoipa::path(get, path = "/voice/stream", operation_id = "dial_stream", params(StreamQuery),
    responses((status = 101, description = "The connection goes on as a WebSocket"),
        (status = 409, description = "The sandbox takes no traffic", body = ErrorBody), Refusals))]
async fn dial_stream(
    extract::State(state): extract::State<State>,
    door: Door<Line>,
    Params(query): Params<StreamQuery>,
    upgrade: Upgrade,
    parts: Parts,
) -> Result<Response, ApiError> {
    voice::check_open(&state.app, &door.access).await?;
    open(state, &door, &query, upgrade, parts, None)
}

/// Hear and speak in a call over a WebSocket.
///
/// The same call as over REST: what is done at one is heard at the other. See the documentation for the messages.
#[utoipa::path(get, path = "/voice/calls/{call_id}/stream", operation_id = "join_stream",
    params(("call_id" = String, Path, description = "The call"), StreamQuery),
    responses((status = 101, description = "The connection goes on as a WebSocket"),
        (status = 409, description = "The sandbox takes no traffic", body = ErrorBody), Refusals))]
async fn join_stream(
    extract::State(state): extract::State<State>,
    door: Door<Line>,
    Params(query): Params<StreamQuery>,
    upgrade: Upgrade,
    parts: Parts,
) -> Result<Response, ApiError> {
    let call = door.value(0).to_owned();
    voice::since(&state.app, &door.access, call.clone(), u64::MAX).await?;
    open(state, &door, &query, upgrade, parts, Some(call))
}

/// Answers the handshake; from then on the connection has a task of its own.
fn open(
    state: State,
    door: &Door<Line>,
    query: &StreamQuery,
    upgrade: Upgrade,
    parts: Parts,
    call: Option<String>,
) -> Result<Response, ApiError> {
    let upgrade =
        upgrade.map_err(|_| ApiError::new(Code::BadRequest, "open this address as a WebSocket (RFC 6455)"))?;
    let place = state.streams.take(door.access.sandbox())?;
    let upgrade = upgrade
        .protocols([NATIVE, RELAY])
        .max_frame_size(MOST_FRAME_BYTES)
        .max_message_size(MOST_FRAME_BYTES)
        .read_buffer_size(BUFFER_BYTES)
        .write_buffer_size(0)
        .max_write_buffer_size(MOST_WAITING_BYTES);
    let chosen = upgrade.selected_protocol().and_then(|name| name.to_str().ok()).map(ToOwned::to_owned);
    let protocol = match query.protocol.as_deref().or(chosen.as_deref()) {
        None | Some(NATIVE) => Protocol::Native,
        Some(RELAY) => Protocol::Relay(Relay::default()),
        Some(_) => {
            let message = format!("must be `{NATIVE}` or `{RELAY}`");
            return Err(ApiError::invalid(FieldErrors::one("protocol", message)));
        }
    };
    let idle = Duration::from_secs(state.app.limits().voice_idle_seconds);
    let session = Session::new(state, parts, protocol, call);
    Ok(upgrade.on_upgrade(move |socket| Connection { socket, session, idle, faults: 0 }.serve(place)))
}

struct Connection {
    socket: WebSocket,
    session: Session,
    idle: Duration,
    faults: usize,
}

/// The other side cannot be told anything any more.
struct Gone;

impl Connection {
    async fn serve(mut self, _place: Place) {
        // Whoever has gone needs no goodbye.
        let _ = self.talk().await;
    }

    async fn talk(&mut self) -> Result<(), Gone> {
        let begun = self.session.begin().await;
        if !self.tell(begun).await? {
            return Ok(());
        }
        let app = self.session.app();
        let mut others = app.listen_to_call(&self.session.call);
        let mut pings = interval(PING_EVERY.min(self.idle));
        pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
        pings.reset();
        let mut deadline = Instant::now() + self.idle;
        loop {
            let told = tokio::select! {
                received = timeout_at(deadline, self.socket.recv()) => match received {
                    Err(_) => return self.close(close_code::NORMAL, "nothing was said for too long").await,
                    Ok(None | Some(Err(_) | Ok(Message::Close(_)))) => return Ok(()),
                    Ok(Some(Ok(Message::Ping(_) | Message::Pong(_)))) => continue,
                    Ok(Some(Ok(Message::Text(text)))) => {
                        deadline = Instant::now() + self.idle;
                        self.session.hear(text.as_str()).await
                    }
                    Ok(Some(Ok(Message::Binary(_)))) => {
                        Err(Fault::Told(ApiError::new(Code::BadRequest, "messages are text frames")))
                    }
                },
                () = others.changed() => self.session.catch_up().await,
                _ = pings.tick() => {
                    self.send(Message::Ping(Default::default())).await?;
                    continue;
                }
            };
            if !self.tell(told).await? {
                return Ok(());
            }
        }
    }

    /// Sends what there is to tell; whether the connection goes on.
    async fn tell(&mut self, told: Result<Vec<Value>, Fault>) -> Result<bool, Gone> {
        let (messages, is_fatal) = match told {
            Ok(messages) => (messages, false),
            Err(Fault::Told(error)) => {
                self.faults += 1;
                (vec![self.session.error(&error)], self.faults >= MOST_FAULTS)
            }
            Err(Fault::Fatal(error)) => (vec![self.session.error(&error)], true),
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

    async fn send(&mut self, message: Message) -> Result<(), Gone> {
        match timeout(LONGEST_WRITE, self.socket.send(message)).await {
            Ok(Ok(())) => Ok(()),
            _ => Err(Gone),
        }
    }

    /// Says goodbye, and waits a moment for the other side to say it too.
    async fn close(&mut self, code: u16, reason: &'static str) -> Result<(), Gone> {
        self.send(Message::Close(Some(CloseFrame { code, reason: reason.into() }))).await?;
        let rest = async { while let Some(Ok(_)) = self.socket.recv().await {} };
        let _ = timeout(Duration::from_secs(2), rest).await;
        Ok(())
    }
}

pub(super) fn router() -> OpenApiRouter<State> {
    mounted(routes!(dial_stream)).merge(mounted(routes!(join_stream)))
}
