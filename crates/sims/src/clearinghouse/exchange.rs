//! Processes one request body: returns one response interchange for each interchange in it.

use model::SandboxId;
use model::clearinghouse::{Exchange, Response};
use world::{Context, NewEvent, Outcome, Sandbox, World};
use x12::{Body, Interchange, Limits};

use super::event;
use super::interchange_json;
use super::interchange_response::{InterchangeResponse, respond_to};
use super::response_context::ResponseContext;
use super::responses;
use super::syntax;

/// Larger bodies are rejected. Real clearinghouses accept batches of some thousands of transactions.
pub const MAX_BYTES: usize = 8 << 20;
const LIMITS: Limits = Limits { bytes: MAX_BYTES, segments: 200_000, segment_bytes: 64 << 10 };
/// HL segments of the whole body. Each of them may need a search for a person.
const MAX_HL_SEGMENTS: usize = 2000;
/// Each interchange has its own response and log event.
const MAX_INTERCHANGES: usize = 100;
const MAX_TRANSACTIONS: usize = 2000;

/// Who sent a body, and how.
#[derive(Clone, Debug)]
pub struct Sender {
    pub actor: String,
    pub transport: Transport,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    Http,
    /// Written into the Files sandbox. Always acknowledged with a 999.
    File,
    /// A 270 built from a patient's id.
    Eligibility,
}

/// Why a body cannot be answered with X12.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExchangeError {
    /// Not a sequence of interchanges.
    Unreadable(String),
    TooLarge(String),
}

/// The responses, one for each interchange.
#[derive(Clone, Debug, Default)]
pub struct ExchangeResponses {
    pub responses: Vec<Response>,
}

impl ExchangeResponses {
    /// All responses as one body.
    pub fn text(&self) -> String {
        self.responses.iter().map(|response| response.payload.as_str()).collect()
    }

    /// All responses as JSON.
    pub fn parsed(&self) -> Exchange {
        let payload = self.text();
        Exchange { interchanges: interchange_json::interchanges(&payload), payload }
    }
}

pub fn exchange(
    world: &World,
    sandbox: &SandboxId,
    sender: &Sender,
    body: &[u8],
    context: &Context<'_>,
) -> Outcome<Result<ExchangeResponses, ExchangeError>> {
    let Some(sandbox) = world.sandboxes.get(sandbox) else {
        let error = ExchangeError::Unreadable("sandbox not found".to_owned());
        return Outcome { answer: Err(error), changes: Vec::new(), events: Vec::new() };
    };
    match parse(body) {
        Err(error) => {
            let events = vec![event::request_rejected(&sandbox.id, sender, body, &error)];
            Outcome { answer: Err(error), changes: Vec::new(), events }
        }
        Ok(body) => respond(world, sandbox, sender, &body, context),
    }
}

fn parse(body: &[u8]) -> Result<Body<'_>, ExchangeError> {
    use x12::ParseFault::{SegmentTooLong, TooLarge, TooManySegments};
    let parsed = x12::parse_bytes(body, &LIMITS).map_err(|error| match error.fault {
        TooLarge(_) | TooManySegments(_) | SegmentTooLong(_) => ExchangeError::TooLarge(error.to_string()),
        _ => ExchangeError::Unreadable(error.to_string()),
    })?;
    let count = |interchange: &Interchange<'_>, name: &str| {
        interchange.segments().iter().filter(|segment| segment.name() == name).count()
    };
    let count_all = |name: &str| parsed.interchanges().iter().map(|interchange| count(interchange, name)).sum();
    let counts = [
        (parsed.interchanges().len(), MAX_INTERCHANGES, "interchanges"),
        (parsed.transactions().count(), MAX_TRANSACTIONS, "transactions"),
        (count_all("GS"), MAX_TRANSACTIONS, "groups"),
        (count_all("HL"), MAX_HL_SEGMENTS, "HL segments"),
    ];
    if let Some((_, max, what)) = counts.into_iter().find(|(count, max, _)| count > max) {
        return Err(ExchangeError::TooLarge(format!("a body may contain at most {max} {what}")));
    }
    Ok(parsed)
}

fn respond(
    world: &World,
    sandbox: &Sandbox,
    sender: &Sender,
    body: &Body<'_>,
    context: &Context<'_>,
) -> Outcome<Result<ExchangeResponses, ExchangeError>> {
    let mut reports = x12::check(body);
    for (interchange, report) in body.interchanges().iter().zip(&mut reports) {
        syntax::check(interchange, report);
    }
    let mut response_context = ResponseContext::new(world, sandbox, context);
    let mut events = vec![event::request_received(&sandbox.id, sender, body)];
    let mut exchange = ExchangeResponses::default();
    let mut stored = Vec::new();
    for ((interchange, report), index) in body.interchanges().iter().zip(&reports).zip(0..) {
        let numbers = ControlNumbers { seq: world.seq, index };
        let Some(InterchangeResponse { text, is_accepted, deferred }) =
            respond_to(&mut response_context, interchange, report, sender.transport, numbers)
        else {
            let error =
                ExchangeError::Unreadable("the response contains values that no delimiters can separate".to_owned());
            events.truncate(1);
            return Outcome { answer: Err(error), changes: Vec::new(), events };
        };
        let response = responses::delivered(interchange, text, context);
        events.push(event::response_sent(&sandbox.id, sender, &response, is_accepted));
        if is_accepted {
            stored.push(response.clone());
        }
        stored.extend(deferred.into_iter().map(|(due, text)| responses::deferred(interchange, text, due, context)));
        exchange.responses.push(response);
    }
    let rows = response_context.rows.into_iter().chain(stored.iter().map(responses::row));
    let changes = rows.map(|(collection, key, row)| sandbox.put(collection, &key, &row, context.now)).collect();
    Outcome { answer: Ok(exchange), changes, events }
}

/// Control numbers are derived from the position in the log, so that each response of a sandbox has a different one.
#[derive(Clone, Copy)]
pub(super) struct ControlNumbers {
    seq: i64,
    /// The position of the interchange in the body.
    index: i64,
}

impl ControlNumbers {
    pub(super) fn immediate(self) -> u32 {
        Self::within(self.seq + 2 + self.index, 0)
    }

    /// For the deferred responses, which have no position in the log yet. They use the upper half of the range.
    pub(super) fn deferred(self, which: usize) -> u32 {
        let which = i64::try_from(which).unwrap_or(0);
        Self::within(self.seq.wrapping_mul(1000) + self.index * 20 + which, HALF)
    }

    fn within(number: i64, from: i64) -> u32 {
        u32::try_from(from + number.rem_euclid(HALF)).unwrap_or(1)
    }
}

const HALF: i64 = 500_000_000;

/// The outcome of a message that only reads.
pub(super) fn events_only<T>(answer: T, events: Vec<NewEvent>) -> Outcome<T> {
    Outcome { answer, changes: Vec::new(), events }
}
