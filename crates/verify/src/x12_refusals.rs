//! Which transactions the receiver of an interchange refused, by the TA1 and 999 that answered it.

use std::collections::BTreeSet;

use model::event::{Event, EventType};
use x12::{Limits, Transaction};

use crate::evidence::{Case, x12_text};

/// Control numbers of what was refused: ISA13, with GS06 and with ST02.
#[derive(Debug, Default)]
pub(crate) struct Refusals {
    interchanges: BTreeSet<String>,
    groups: BTreeSet<(String, String)>,
    transactions: BTreeSet<(String, String, String)>,
}

impl Refusals {
    /// Answers stand in the log after their question and before the next one.
    pub(crate) fn of(question: &Event, case: &Case<'_>) -> Result<Self, String> {
        let mut refusals = Self::default();
        let after = case.evidence.events.iter().skip_while(|event| event.id != question.id).skip(1);
        let after = after.filter(|event| event.sandbox_id == question.sandbox_id);
        case.budget.spend(case.evidence.events.len())?;
        for event in after.take_while(|event| event.r#type != EventType::X12Request) {
            if event.r#type != EventType::X12Response {
                continue;
            }
            let Some(text) = x12_text(&event.payload) else { continue };
            case.budget.spend(text.len())?;
            let asked = event.payload.get("in_reply_to").and_then(serde_json::Value::as_str).unwrap_or_default();
            if let Ok(body) = x12::parse(text, &Limits::default()) {
                refusals.read(asked, &body);
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

    pub(crate) fn has(&self, transaction: &Transaction<'_, '_>) -> bool {
        let group = transaction.group();
        let interchange = group.interchange().header().text_at(13).to_owned();
        let number = group.header().text_at(6).to_owned();
        let set = transaction.header().text_at(2).to_owned();
        self.interchanges.contains(&interchange)
            || self.groups.contains(&(interchange.clone(), number.clone()))
            || self.transactions.contains(&(interchange, number, set))
    }
}

/// Accepted, or accepted with errors noted.
fn is_accepted(code: &str) -> bool {
    matches!(code, "A" | "E")
}
