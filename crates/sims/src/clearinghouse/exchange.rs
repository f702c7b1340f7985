//! One body of interchanges in, its answers out: what is wrong is acknowledged so, what is right is answered.

use model::SandboxId;
use model::clearinghouse::{Exchange, Response};
use world::{Context, NewEvent, Outcome, Sandbox, World};
use x12::{Body, Interchange, Limits};

use super::answer::{Answer, answer};
use super::desk::Desk;
use super::event;
use super::parsed;
use super::responses;
use super::syntax;

/// Larger bodies are refused: real clearinghouses take batches of some thousands of transactions.
pub const MOST_BYTES: usize = 8 << 20;
const LIMITS: Limits = Limits { bytes: MOST_BYTES, segments: 200_000, segment_bytes: 64 << 10 };
/// Levels of all hierarchies together: each may be a person to look for.
const MOST_LEVELS: usize = 2000;
/// Each is answered and told in the log by itself.
const MOST_INTERCHANGES: usize = 100;
const MOST_TRANSACTIONS: usize = 2000;

/// By whom and how a body came.
#[derive(Clone, Debug)]
pub struct Sender {
    pub actor: String,
    pub transport: Transport,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    Http,
    /// Dropped into the Files sandbox: acknowledged even if all is well.
    File,
    /// Made from a patient's id.
    Eligibility,
}

/// A body that cannot be answered in X12.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Not divisible into interchanges.
    Unreadable(String),
    TooLarge(String),
}

/// The answers, one for each interchange.
#[derive(Clone, Debug, Default)]
pub struct Exchanged {
    pub responses: Vec<Response>,
}

impl Exchanged {
    /// All answers as one body.
    pub fn text(&self) -> String {
        self.responses.iter().map(|response| response.payload.as_str()).collect()
    }

    /// The same, with its parts.
    pub fn parsed(&self) -> Exchange {
        let payload = self.text();
        Exchange { interchanges: parsed::interchanges(&payload), payload }
    }
}

pub fn exchange(
    world: &World,
    sandbox: &SandboxId,
    sender: &Sender,
    body: &[u8],
    context: &Context<'_>,
) -> Outcome<Result<Exchanged, Refusal>> {
    let Some(sandbox) = world.sandboxes.get(sandbox) else {
        let refusal = Refusal::Unreadable("there is no such sandbox".to_owned());
        return Outcome { answer: Err(refusal), changes: Vec::new(), events: Vec::new() };
    };
    match read(body) {
        Err(refusal) => {
            let events = vec![event::refused(&sandbox.id, sender, body, &refusal)];
            Outcome { answer: Err(refusal), changes: Vec::new(), events }
        }
        Ok(body) => answered(world, sandbox, sender, &body, context),
    }
}

fn read(body: &[u8]) -> Result<Body<'_>, Refusal> {
    use x12::ParseFault::{SegmentTooLong, TooLarge, TooManySegments};
    let read = x12::parse_bytes(body, &LIMITS).map_err(|error| match error.fault {
        TooLarge(_) | TooManySegments(_) | SegmentTooLong(_) => Refusal::TooLarge(error.to_string()),
        _ => Refusal::Unreadable(error.to_string()),
    })?;
    let named = |interchange: &Interchange<'_>, name: &str| {
        interchange.segments().iter().filter(|segment| segment.name() == name).count()
    };
    let all = |name: &str| read.interchanges().iter().map(|interchange| named(interchange, name)).sum();
    let counts = [
        (read.interchanges().len(), MOST_INTERCHANGES, "interchanges"),
        (read.transactions().count(), MOST_TRANSACTIONS, "transactions"),
        (all("GS"), MOST_TRANSACTIONS, "groups"),
        (all("HL"), MOST_LEVELS, "levels (HL)"),
    ];
    if let Some((_, most, what)) = counts.into_iter().find(|(count, most, _)| count > most) {
        return Err(Refusal::TooLarge(format!("there are more than {most} {what}")));
    }
    Ok(read)
}

fn answered(
    world: &World,
    sandbox: &Sandbox,
    sender: &Sender,
    body: &Body<'_>,
    context: &Context<'_>,
) -> Outcome<Result<Exchanged, Refusal>> {
    let mut reports = x12::check(body);
    for (interchange, report) in body.interchanges().iter().zip(&mut reports) {
        syntax::judge(interchange, report);
    }
    let mut desk = Desk::new(world, sandbox, context);
    let mut events = vec![event::received(&sandbox.id, sender, body)];
    let mut exchanged = Exchanged::default();
    let mut kept = Vec::new();
    for ((interchange, report), place) in body.interchanges().iter().zip(&reports).zip(0..) {
        let numbers = Numbers { seq: world.seq, place };
        let Some(Answer { text, is_taken, later }) = answer(&mut desk, interchange, report, sender.transport, numbers)
        else {
            let refusal = Refusal::Unreadable("the answer to it cannot be written".to_owned());
            events.truncate(1);
            return Outcome { answer: Err(refusal), changes: Vec::new(), events };
        };
        let response = responses::now(interchange, text, context);
        events.push(event::answered(&sandbox.id, sender, &response, is_taken));
        if is_taken {
            kept.push(response.clone());
        }
        kept.extend(later.into_iter().map(|(due, text)| responses::later(interchange, text, due, context)));
        exchanged.responses.push(response);
    }
    let rows = desk.rows.into_iter().chain(kept.iter().map(responses::row));
    let changes = rows.map(|(collection, key, row)| sandbox.put(collection, &key, &row, context.now)).collect();
    Outcome { answer: Ok(exchanged), changes, events }
}

/// From the place in the log, so that no two answers of a sandbox have the same control number.
#[derive(Clone, Copy)]
pub(super) struct Numbers {
    seq: i64,
    place: i64,
}

impl Numbers {
    pub(super) fn now(self) -> u32 {
        Self::within(self.seq + 2 + self.place, 0)
    }

    /// Of what is answered later, for which the log has no place yet.
    pub(super) fn later(self, which: usize) -> u32 {
        let which = i64::try_from(which).unwrap_or(0);
        Self::within(self.seq.wrapping_mul(1000) + self.place * 20 + which, HALF)
    }

    fn within(number: i64, from: i64) -> u32 {
        u32::try_from(from + number.rem_euclid(HALF)).unwrap_or(1)
    }
}

const HALF: i64 = 500_000_000;

/// For the events of a message that only reads.
pub(super) fn events_only<T>(answer: T, events: Vec<NewEvent>) -> Outcome<T> {
    Outcome { answer, changes: Vec::new(), events }
}
