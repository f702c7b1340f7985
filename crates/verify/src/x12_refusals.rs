//! Determines which transactions of an interchange the receiver refused, from the TA1 and 999 in response.
//!
//! Both identify what they refuse by control numbers, which the sender chooses. If the control numbers are not unique, it is
//! unknown which transaction was refused: then all transactions of the request are [`TransactionStatus::Unknown`].

use std::collections::{BTreeMap, BTreeSet};

use model::event::{Event, EventType};
use world::Seq;
use x12::{Limits, Transaction};

use sims::clearinghouse::effects::resources;

use crate::evidence::{EvaluationContext, x12_text};

/// Control numbers of refused interchanges (ISA13), groups (with GS06) and transactions (with ST02).
#[derive(Debug, Default)]
pub(crate) struct X12Refusals {
    interchanges: BTreeSet<String>,
    groups: BTreeSet<(String, String)>,
    transactions: BTreeSet<(String, String, String)>,
    /// Whether control numbers of the request are duplicate or malformed.
    is_ambiguous: bool,
}

/// Whether the receiver accepted a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TransactionStatus {
    Accepted,
    Refused,
    /// A part of the request was refused, but it is unknown which.
    Unknown,
}

/// The refused resources of each request, by its position in the log. A resource that was also sent in an accepted
/// transaction does not count as refused.
pub(crate) fn refused_resources(context: &EvaluationContext<'_>) -> Result<BTreeMap<Seq, BTreeSet<String>>, String> {
    let mut refused: BTreeMap<Seq, BTreeSet<String>> = BTreeMap::new();
    for request in context.evidence.events.iter().filter(|event| event.r#type == EventType::X12Request) {
        let Some(text) = x12_text(&request.payload) else { continue };
        context.budget.spend(text.len())?;
        let Ok(body) = x12::parse(text, &Limits::default()) else {
            refused.entry(request.seq).or_default().insert("unknown".to_owned());
            continue;
        };
        let refusals = X12Refusals::of(request, &body, context)?;
        let (mut accepted, mut others) = (BTreeSet::new(), BTreeSet::new());
        for transaction in body.transactions() {
            let is_accepted = refusals.status_of(&transaction) == TransactionStatus::Accepted;
            (if is_accepted { &mut accepted } else { &mut others }).extend(resources(&transaction));
        }
        refused.entry(request.seq).or_default().extend(others.difference(&accepted).cloned());
    }
    Ok(refused)
}

impl X12Refusals {
    /// Responses are in the log after their request and before the next one.
    pub(crate) fn of(request: &Event, body: &x12::Body<'_>, context: &EvaluationContext<'_>) -> Result<Self, String> {
        let mut refusals = Self { is_ambiguous: is_ambiguous(body), ..Self::default() };
        let after = context.evidence.events.iter().skip_while(|event| event.id != request.id).skip(1);
        let after = after.filter(|event| event.sandbox_id == request.sandbox_id);
        context.budget.spend(context.evidence.events.len())?;
        for event in after.take_while(|event| event.r#type != EventType::X12Request) {
            if event.r#type != EventType::X12Response {
                continue;
            }
            let Some(text) = x12_text(&event.payload) else { continue };
            context.budget.spend(text.len())?;
            let number = event.payload.get("in_reply_to").and_then(serde_json::Value::as_str).unwrap_or_default();
            if let Ok(body) = x12::parse(text, &Limits::default()) {
                refusals.read(number, &body);
            }
        }
        Ok(refusals)
    }

    fn read(&mut self, request_number: &str, body: &x12::Body<'_>) {
        for (_, segment) in body.interchanges().iter().flat_map(|interchange| interchange.outside_groups()) {
            if segment.name() == "TA1" && segment.text_at(4) == "R" {
                self.interchanges.insert(segment.text_at(1).to_owned());
            }
        }
        for transaction in body.transactions().filter(|one| one.set() == "999") {
            let (mut group, mut set) = (String::new(), String::new());
            for segment in transaction.segments() {
                match segment.name() {
                    "AK1" => group = segment.text_at(2).to_owned(),
                    "AK2" => set = segment.text_at(2).to_owned(),
                    "IK5" if !is_accepted(segment.text_at(1)) => {
                        self.transactions.insert((request_number.to_owned(), group.clone(), set.clone()));
                    }
                    "AK9" if segment.text_at(1) == "R" => {
                        self.groups.insert((request_number.to_owned(), group.clone()));
                    }
                    _ => {}
                }
            }
        }
    }

    pub(crate) fn status_of(&self, transaction: &Transaction<'_, '_>) -> TransactionStatus {
        let is_any = !self.interchanges.is_empty() || !self.groups.is_empty() || !self.transactions.is_empty();
        match self.is_ambiguous {
            true if is_any => TransactionStatus::Unknown,
            false if self.names(transaction) => TransactionStatus::Refused,
            _ => TransactionStatus::Accepted,
        }
    }

    fn names(&self, transaction: &Transaction<'_, '_>) -> bool {
        let group = transaction.group();
        let interchange = group.interchange().header().text_at(13).to_owned();
        let number = group.header().text_at(6).to_owned();
        let set = transaction.header().text_at(2).to_owned();
        self.interchanges.contains(&interchange)
            || self.groups.contains(&(interchange.clone(), number.clone()))
            || self.transactions.contains(&(interchange, number, set))
    }
}

/// Whether a control number of the request is duplicate or malformed.
fn is_ambiguous(body: &x12::Body<'_>) -> bool {
    let mut seen = BTreeSet::new();
    let is_number = |text: &str, most: usize| {
        !text.is_empty() && text.len() <= most && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    body.interchanges().iter().any(|interchange| {
        let number = interchange.header().text_at(13);
        let is_plain = number.len() == 9 && number.bytes().all(|byte| byte.is_ascii_digit());
        !is_plain || !seen.insert(vec![number])
    }) || body.interchanges().iter().flat_map(|interchange| interchange.groups()).any(|group| {
        let number = group.header().text_at(6);
        !is_number(number, 9) || !seen.insert(vec![group.interchange().header().text_at(13), number])
    }) || body.transactions().any(|transaction| {
        let (group, number) = (transaction.group(), transaction.header().text_at(2));
        let interchange = group.interchange().header().text_at(13);
        !is_number(number, 9) || !seen.insert(vec![interchange, group.header().text_at(6), number])
    })
}

/// Accepted, or accepted with errors noted.
fn is_accepted(code: &str) -> bool {
    matches!(code, "A" | "E")
}
