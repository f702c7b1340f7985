//! Candidates of `x12-response`: all transactions that were sent and received, with their responses.

use model::event::{Event, EventType};
use model::simulator::SimulatorType;
use serde_json::Value;
use x12::query::{Position, Query, Selector, View};
use x12::{Body, Limits};

use super::{Candidate, MOST_EXAMINED, newest};
use crate::checks::x12_response::{SEGMENT_COST, Transaction, X12Response};
use crate::compare::nfc;
use crate::evidence::{EvaluationContext, x12_text};
use crate::scoring::to_json;
use crate::x12_refusals::{TransactionStatus, X12Refusals};

pub(crate) fn of(check: &X12Response, context: &EvaluationContext<'_>) -> Result<Vec<Candidate>, String> {
    let types = match check.transaction.event_type() {
        EventType::X12Request => &[EventType::X12Request][..],
        _ => &[EventType::X12Request, EventType::X12Response],
    };
    let mut candidates = Vec::new();
    for event in newest(context.events(SimulatorType::Clearinghouse, types)?) {
        let Some(text) = x12_text(&event.payload) else { continue };
        context.budget.spend(text.len())?;
        match x12::parse(text, &Limits::default()) {
            Ok(body) => add(check, event, &body, context, &mut candidates)?,
            Err(_) => {
                let mut candidate = Candidate::new(event.id.to_string(), "an interchange that cannot be read");
                candidate.differs_because(
                    "transaction",
                    check.transaction.name(),
                    Value::Null,
                    "cannot be read as X12",
                );
                candidates.push(candidate);
            }
        }
        if candidates.len() >= MOST_EXAMINED {
            break;
        }
    }
    Ok(candidates)
}

/// Adds a candidate for each subject of an interchange.
fn add(
    check: &X12Response,
    event: &Event,
    body: &Body<'_>,
    context: &EvaluationContext<'_>,
    candidates: &mut Vec<Candidate>,
) -> Result<(), String> {
    let name = event.id.to_string();
    let is_request = event.r#type == EventType::X12Request;
    let refusals = if is_request { X12Refusals::of(event, body, context)? } else { X12Refusals::default() };
    let responses = if is_request { describe_responses(event, context)? } else { String::new() };
    for interchange in body.interchanges() {
        let view = View::of_interchange(interchange);
        let codes = values(&view, "TA1", 4);
        if !codes.is_empty() {
            let mut candidate = Candidate::new(name.as_str(), format!("TA1 with {}", codes.join(", ")));
            correlate(check, &view, "TA1", check.transaction == Transaction::InterchangeAcknowledgment, &mut candidate);
            candidates.push(candidate);
        }
    }
    for transaction in body.transactions() {
        let (set, version) = (transaction.set(), transaction.version());
        for view in View::by_subject(&transaction) {
            if candidates.len() >= MOST_EXAMINED {
                return Ok(());
            }
            context.budget.spend(view.len() * SEGMENT_COST * (4 + check.correlate_by.len()))?;
            let mut candidate = Candidate::new(name.as_str(), format!("{}{responses}", describe(set, &view)));
            correlate(check, &view, set, check.transaction.includes(set, version), &mut candidate);
            if refusals.status_of(&transaction) != TransactionStatus::Accepted {
                candidate.differs_because(
                    "transaction",
                    set,
                    set.into(),
                    "the transaction was refused, or has the same control numbers as one that was",
                );
            }
            candidates.push(candidate);
        }
    }
    Ok(())
}

fn correlate(check: &X12Response, view: &View<'_, '_>, set: &str, is_included: bool, candidate: &mut Candidate) {
    if !is_included {
        candidate.differs("transaction", check.transaction.name(), set.into());
    }
    for (key, wanted) in &check.correlate_by {
        let found = key.0.find(view);
        if !found.iter().any(|found| nfc(found) == nfc(wanted)) {
            let actual = to_json(found.into_iter().map(Value::from).collect());
            candidate.differs(format!("correlate_by.{}", key.0), wanted.as_str(), actual);
        }
    }
}

/// Describes a transaction: its set, its subject, and its rejection codes.
fn describe(set: &str, view: &View<'_, '_>) -> String {
    let subscriber = Query {
        within: None,
        segment: "NM1",
        selector: Some(Selector::Where { position: Position::element(1), value: "IL" }),
        position: Some(Position::element(9)),
    };
    let member = view.values(&subscriber).into_iter().next();
    let about = member.map_or_else(String::new, |member| format!(" about {member}"));
    let codes = |segment: &str, element: usize, label: &str| {
        let codes = values(view, segment, element);
        if codes.is_empty() { String::new() } else { format!(" {label} {}", codes.join(", ")) }
    };
    format!("{set}{about}{}{}", codes("AAA", 3, "with AAA"), codes("AK9", 1, "with AK9"))
}

/// The first values of an element.
fn values(view: &View<'_, '_>, segment: &str, element: usize) -> Vec<String> {
    const MOST_CODES: usize = 3;
    let query = Query { within: None, segment, selector: None, position: Some(Position::element(element)) };
    view.values(&query).into_iter().take(MOST_CODES).map(std::borrow::Cow::into_owned).collect()
}

/// Describes the responses to a request. They are in the log after the request and before the next one.
fn describe_responses(request: &Event, context: &EvaluationContext<'_>) -> Result<String, String> {
    context.budget.spend(context.evidence.events.len())?;
    let after = context.evidence.events.iter().skip_while(|event| event.id != request.id).skip(1);
    let after = after.filter(|event| event.sandbox_id == request.sandbox_id);
    let mut responses = Vec::new();
    for event in after.take_while(|event| event.r#type != EventType::X12Request) {
        let Some(text) = x12_text(&event.payload).filter(|_| event.r#type == EventType::X12Response) else { continue };
        context.budget.spend(SEGMENT_COST * text.len())?;
        let Ok(body) = x12::parse(text, &Limits::default()) else { continue };
        let interchanges = body.interchanges().iter().map(View::of_interchange);
        let refusals = interchanges.map(|view| values(&view, "TA1", 4)).filter(|codes| !codes.is_empty());
        responses.extend(refusals.map(|codes| format!("TA1 with {}", codes.join(", "))));
        responses.extend(body.transactions().map(|one| describe(one.set(), &View::of_transaction(&one))));
    }
    responses.truncate(3);
    Ok(if responses.is_empty() {
        " was sent".to_owned()
    } else {
        format!(" was sent and answered {}", responses.join("; "))
    })
}
