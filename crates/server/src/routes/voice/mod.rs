//! Phone lines, at `voice` of every scope: calls over REST, and the same calls over a WebSocket.

mod calls;
mod recording;
mod session;
mod stream;
mod stream_limits;
mod voicemails;

use model::Timestamp;
use model::simulator::SimulatorType;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;

pub(crate) use stream_limits::StreamLimits;

use crate::State;
use crate::routes::sandbox_routes::ScopedType;

/// Marker of routes that serve voice sandboxes.
struct PhoneLine;

impl ScopedType for PhoneLine {
    const TYPE: SimulatorType = SimulatorType::Voice;
}

/// A telephone call.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only documents the fields of a row")]
struct Call {
    id: String,
    /// `outbound` if the agent called, `inbound` if somebody calls the agent.
    direction: String,
    /// `ringing`, `in_progress`, `completed`, `transferred`, `no_answer`, `declined` or `failed`.
    status: String,
    /// The number that was called, for outbound calls.
    #[schema(required = false)]
    to_number: String,
    /// The caller's number, for inbound calls; missing if it is withheld.
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
    /// Including simulated time on hold.
    #[schema(required = false)]
    duration_seconds: i64,
    #[schema(required = false)]
    transferred_to: String,
    #[schema(required = false)]
    error: String,
}

/// Something that was said or done in a call.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only documents the fields of a row")]
struct Turn {
    call_id: String,
    /// Starts at 0 in each call.
    index: u64,
    /// `agent`, or `caller` for the other end: the line, a representative, or somebody who calls.
    speaker: String,
    text: String,
    /// The keys that were pressed.
    #[schema(required = false)]
    dtmf: String,
    /// How long the agent was on hold after this turn.
    #[schema(required = false)]
    hold_seconds: i64,
    /// `silence`, `interrupts`, `unheard` (the line cannot be interrupted there) or `cut_off`.
    #[schema(required = false)]
    note: String,
    at: Timestamp,
}

/// A call, and the turns that followed from the request.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only documents the fields of a response")]
struct CallExchange {
    call: Call,
    turns: Vec<Turn>,
}

pub(crate) fn router() -> OpenApiRouter<State> {
    calls::router().merge(voicemails::router()).merge(recording::router()).merge(stream::router())
}
