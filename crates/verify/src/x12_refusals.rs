//! Which transactions the receiver of an interchange refused, by the TA1 and 999 that answered it.
//!
//! Both name what they refuse by control numbers, which the sender chooses. Where these do not tell one transaction from
//! another, it cannot be told which was refused: then none of the question counts as asked, nor as not asked.

use std::collections::{BTreeMap, BTreeSet};

use model::event::{Event, EventType};
use world::Seq;
use x12::{Limits, Transaction};

use sims::clearinghouse::effects::resources;

use crate::evidence::{Case, x12_text};

/// Control numbers of what was refused: ISA13, with GS06 and with ST02.
#[derive(Debug, Default)]
pub(crate) struct Refusals {
    interchanges: BTreeSet<String>,
    groups: BTreeSet<(String, String)>,
    transactions: BTreeSet<(String, String, String)>,
    /// Control numbers of the question that stand twice or are not such numbers.
    is_ambiguous: bool,
}

/// What became of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Taken,
    Refused,
    /// Something of the question was refused, and it cannot be told what.
    Unknown,
}

/// The resources of the effects of each question, by its place in the log, that the receiver refused. What was also sent in
/// a transaction that it took does not count.
pub(crate) fn refused_resources(case: &Case<'_>) -> Result<BTreeMap<Seq, BTreeSet<String>>, String> {
    let mut refused: BTreeMap<Seq, BTreeSet<String>> = BTreeMap::new();
    for question in case.evidence.events.iter().filter(|event| event.r#type == EventType::X12Request) {
        let Some(text) = x12_text(&question.payload) else { continue };
        case.budget.spend(text.len())?;
        let Ok(body) = x12::parse(text, &Limits::default()) else {
            refused.entry(question.seq).or_default().insert("unknown".to_owned());
            continue;
        };
        let refusals = Refusals::of(question, &body, case)?;
        let (mut taken, mut others) = (BTreeSet::new(), BTreeSet::new());
        for transaction in body.transactions() {
            let is_taken = refusals.fate(&transaction) == Fate::Taken;
            (if is_taken { &mut taken } else { &mut others }).extend(resources(&transaction));
        }
        refused.entry(question.seq).or_default().extend(others.difference(&taken).cloned());
    }
    Ok(refused)
}

impl Refusals {
    /// Answers stand in the log after their question and before the next one.
    pub(crate) fn of(question: &Event, asked: &x12::Body<'_>, case: &Case<'_>) -> Result<Self, String> {
        let mut refusals = Self { is_ambiguous: is_ambiguous(asked), ..Self::default() };
        let after = case.evidence.events.iter().skip_while(|event| event.id != question.id).skip(1);
        let after = after.filter(|event| event.sandbox_id == question.sandbox_id);
        case.budget.spend(case.evidence.events.len())?;
        for event in after.take_while(|event| event.r#type != EventType::X12Request) {
            if event.r#type != EventType::X12Response {
                continue;
            }
            let Some(text) = x12_text(&event.payload) else { continue };
            case.budget.spend(text.len())?;
            let number = event.payload.get("in_reply_to").and_then(serde_json::Value::as_str).unwrap_or_default();
            if let Ok(body) = x12::parse(text, &Limits::default()) {
                refusals.read(number, &body);
            }
        }
        Ok(refusals)
    }

    fn read(&mut self, asked: &str, body: &x12::Body<'_>) {
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
                        self.transactions.insert((asked.to_owned(), group.clone(), set.clone()));
                    }
                    "AK9" if segment.text_at(1) == "R" => {
                        self.groups.insert((asked.to_owned(), group.clone()));
                    }
                    _ => {}
                }
            }
        }
    }

    pub(crate) fn fate(&self, transaction: &Transaction<'_, '_>) -> Fate {
        let is_any = !self.interchanges.is_empty() || !self.groups.is_empty() || !self.transactions.is_empty();
        match self.is_ambiguous {
            true if is_any => Fate::Unknown,
            false if self.names(transaction) => Fate::Refused,
            _ => Fate::Taken,
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

/// Whether a control number of the question stands twice where it should be unique, or is not one.
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
