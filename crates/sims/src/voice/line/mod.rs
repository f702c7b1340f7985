//! The line itself: a call stands at a node that listens; what the agent does leads it on to the next one.
//!
//! A pure machine. Time passes only in what it counts as skipped, so that nobody waits on hold.

mod collect;
mod confirm;
mod lookup;
mod menu;
mod representative;
mod voicemail;

use serde_json::Value;
use world::World;

use super::config::Ivr;
use super::node::{Node, Transfer};
use super::rows::State;
use super::speech;
pub(super) use representative::CLOSINGS;

/// What the agent does.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Heard {
    Speech(String),
    Keys(String),
    Silence,
}

/// Something that the line says.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Utterance {
    pub(super) text: String,
    /// How long it puts the agent on hold after it.
    pub(super) hold_seconds: Option<i64>,
    /// How much of the call had been skipped when it was said.
    pub(super) skipped_seconds: i64,
}

/// How the line ended the call.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ending {
    pub(super) status: &'static str,
    pub(super) transferred_to: Option<String>,
}

/// A call on its way through the graph.
pub(super) struct Line<'a> {
    world: &'a World,
    ivr: &'a Ivr,
    pub(super) state: State,
    pub(super) says: Vec<Utterance>,
    pub(super) ending: Option<Ending>,
    /// A message that was left, as far as it was recorded.
    pub(super) left: Option<String>,
    /// Whether the line stopped listening before the agent had said all.
    pub(super) was_cut_off: bool,
}

/// A graph is checked for circles when it is saved; a call must end even so.
const MOST_STEPS: usize = 1000;
const RETRIES: i64 = 2;
const TIMEOUT_SECONDS: i64 = 10;
const UNHEARD: &str = "I'm sorry, I did not hear anything.";
const NOT_UNDERSTOOD: &str = "I'm sorry, I did not understand that.";
const GOODBYE: &str = "I'm sorry that we could not help you. Goodbye.";

impl<'a> Line<'a> {
    pub(super) fn new(world: &'a World, ivr: &'a Ivr, state: State) -> Self {
        Self { world, ivr, state, says: Vec::new(), ending: None, left: None, was_cut_off: false }
    }

    /// The line answers the call.
    pub(super) fn answer(&mut self) {
        self.go_to(&self.ivr.start);
    }

    /// Whether the agent may speak into what the line says where the call stands.
    pub(super) fn allows_interruption(&self) -> bool {
        let own = match self.ivr.node(&self.state.node) {
            Some(Node::Menu(menu)) => menu.barge_in,
            Some(Node::Collect(collect)) => collect.barge_in,
            _ => Some(true),
        };
        own.or(self.ivr.barge_in).unwrap_or(true)
    }

    /// What the agent does, where the call stands.
    pub(super) fn hear(&mut self, heard: &Heard) {
        match self.ivr.node(&self.state.node) {
            Some(Node::Menu(menu)) => self.choose(&menu, heard),
            Some(Node::Collect(collect)) => self.collect(&collect, heard),
            Some(Node::Representative(representative)) => self.talk(&representative, heard),
            Some(Node::Voicemail(voicemail)) => self.record(&voicemail, heard),
            // Only nodes that listen are stood at.
            _ => self.end("failed", None),
        }
    }

    /// Walks on until a node listens or the call ends.
    fn go_to(&mut self, name: &str) {
        let mut name = name.to_owned();
        for _ in 0..MOST_STEPS {
            name = match self.ivr.node(&name) {
                Some(Node::Say(say)) => {
                    self.say(&say.prompt);
                    say.next
                }
                Some(Node::Hold(hold)) => {
                    self.say(&hold.prompt);
                    self.hold(hold.seconds);
                    hold.next
                }
                Some(Node::Lookup(lookup)) => {
                    self.state.record = lookup::find(self, &lookup);
                    if self.state.record.is_some() { lookup.found } else { lookup.not_found }
                }
                Some(Node::Transfer(transfer)) => match self.transfer(transfer) {
                    Some(next) => next,
                    None => return,
                },
                Some(Node::Hangup(hangup)) => {
                    hangup.prompt.iter().for_each(|prompt| self.say(prompt));
                    return self.end("completed", None);
                }
                Some(node) => return self.stand_at(&name, &node),
                None => return self.end("failed", None),
            };
        }
        self.end("failed", None);
    }

    fn stand_at(&mut self, name: &str, node: &Node) {
        node.prompts().into_iter().filter(|(place, _)| place == "prompt").for_each(|(_, prompt)| self.say(prompt));
        self.state.node = name.to_owned();
        self.state.tries = 0;
        self.state.keys.clear();
        self.state.confirming = None;
    }

    fn transfer(&mut self, transfer: Transfer) -> Option<String> {
        self.say(&transfer.prompt);
        if transfer.next.is_none() {
            self.end("transferred", transfer.number);
        }
        transfer.next
    }

    /// Where a node leads that may be the last one.
    fn go_on(&mut self, next: Option<&str>) {
        match next {
            Some(next) => self.go_to(next),
            None => self.end("completed", None),
        }
    }

    /// Asks again, as often as the node does; then the call goes another way.
    fn ask_again(&mut self, asked: &Asked<'_>, heard: &Heard) {
        let apology = if *heard == Heard::Silence {
            self.wait(asked.timeout_seconds);
            UNHEARD
        } else {
            NOT_UNDERSTOOD
        };
        self.state.tries += 1;
        self.state.keys.clear();
        self.state.confirming = None;
        let retries = asked.retries.or(self.ivr.retries).unwrap_or(RETRIES);
        if self.state.tries <= retries {
            let prompt = self.filled(asked.prompt);
            return self.utter(format!("{apology} {prompt}"));
        }
        match asked.otherwise {
            Some(otherwise) => self.go_to(otherwise),
            None => {
                self.utter(GOODBYE.to_owned());
                self.end("completed", None);
            }
        }
    }

    /// Silence until the line loses patience.
    fn wait(&mut self, seconds: Option<i64>) {
        let seconds = seconds.or(self.ivr.timeout_seconds).unwrap_or(TIMEOUT_SECONDS);
        self.state.skipped_seconds = self.state.skipped_seconds.saturating_add(seconds);
    }

    fn hold(&mut self, seconds: i64) {
        self.state.skipped_seconds = self.state.skipped_seconds.saturating_add(seconds);
        if let Some(last) = self.says.last_mut() {
            last.hold_seconds = Some(seconds);
        }
    }

    fn end(&mut self, status: &'static str, transferred_to: Option<String>) {
        self.ending = Some(Ending { status, transferred_to });
    }

    /// Says an authored text.
    fn say(&mut self, prompt: &str) {
        let text = self.filled(prompt);
        self.utter(text);
    }

    fn utter(&mut self, text: String) {
        self.says.push(Utterance { text, hold_seconds: None, skipped_seconds: self.state.skipped_seconds });
    }

    fn filled(&self, prompt: &str) -> String {
        let record = self.record_found();
        speech::fill(prompt, |root, path| match root {
            "field" => self.state.fields.get(path).cloned(),
            _ => record.as_ref().and_then(|record| speech::member(record, path)),
        })
    }

    /// The record as it is now.
    fn record_found(&self) -> Option<std::sync::Arc<Value>> {
        let found = self.state.record.as_ref()?;
        let sandbox = self.world.sandboxes.values().find(|sandbox| sandbox.id.to_string() == found.sandbox)?;
        sandbox.records.get(&found.collection, &found.key).live().map(|record| record.json())
    }
}

/// What a node that asks says of its patience.
struct Asked<'n> {
    prompt: &'n str,
    otherwise: Option<&'n str>,
    retries: Option<i64>,
    timeout_seconds: Option<i64>,
}
