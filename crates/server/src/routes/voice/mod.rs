//! The phone line, at `voice` of every door: calls over REST, and the same calls over a WebSocket.

mod calls;
mod recording;
mod session;
mod stream;
mod streams;
mod voicemails;

use model::Timestamp;
use model::simulator::SimulatorType;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;

pub(crate) use streams::Streams;

use crate::State;
use crate::routes::doors::Kind;

struct Line;

impl Kind for Line {
    const TYPE: SimulatorType = SimulatorType::Voice;
}

/// A telephone call.
#[derive(ToSchema)]
#[expect(dead_code, reason = "documentation: the members are what rows have")]
struct Call {
    id: String,
    /// `outbound` is the agent's, `inbound` somebody's who calls.
    direction: String,
    /// `ringing`, `in_progress`, `completed`, `transferred`, `no_answer`, `declined` or `failed`.
    status: String,
    /// Of an outbound call.
    #[schema(required = false)]
    to_number: String,
    /// Of an inbound call; withheld without it.
    #[schema(required = false)]
    from_number: Option<String>,
    #[schema(required = false)]
    caller_name: Option<String>,
    started_at: Timestamp,
    #[schema(required = false)]
    ended_at: Timestamp,
    /// `agent`, `line` or `caller`.
    #[schema(required = false)]
    ended_by: String,
    /// With the time on hold, which nobody waited for.
    #[schema(required = false)]
    duration_seconds: i64,
    #[schema(required = false)]
    transferred_to: String,
    #[schema(required = false)]
    error: String,
}

/// Something that was said or done in a call.
#[derive(ToSchema)]
#[expect(dead_code, reason = "documentation: the members are what rows have")]
struct Turn {
    call_id: String,
    /// From 0 in each call.
    index: u64,
    /// `agent`, or `caller` for whoever is at the other end: the line, a representative, somebody who calls.
    speaker: String,
    text: String,
    /// Keys that were pressed.
    #[schema(required = false)]
    dtmf: String,
    /// How long the agent was put on hold after it.
    #[schema(required = false)]
    hold_seconds: i64,
    /// `silence`, `interrupts`, `unheard` (the line cannot be interrupted there) or `cut_off`.
    #[schema(required = false)]
    note: String,
    at: Timestamp,
}

/// A call, and the turns that a request led to.
#[derive(ToSchema)]
#[expect(dead_code, reason = "documentation: the members are what answers have")]
struct CallExchange {
    call: Call,
    turns: Vec<Turn>,
}

pub(crate) fn router() -> OpenApiRouter<State> {
    calls::router().merge(voicemails::router()).merge(recording::router()).merge(stream::router())
}
