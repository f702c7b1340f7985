//! The state machine of an IVR: a call waits at a node that listens, and the agent's input moves it to the next node.
//!
//! There are no timers. Hold times and silence are simulated by `skipped_seconds`.

mod collect;
mod confirm;
mod lookup;
mod menu;
mod representative;
mod voicemail;

use serde_json::Value;
use world::World;

use super::config::Ivr;
use super::node::{IvrNode, Transfer};
use super::rows::CallState;
use super::speech;
pub(super) use representative::CLOSINGS;

/// The agent's input.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum AgentInput {
    Speech(String),
    Keys(String),
    Silence,
}

/// Something that the line says.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Utterance {
    pub(super) text: String,
    /// How long the agent is on hold afterwards.
    pub(super) hold_seconds: Option<i64>,
    /// The simulated waiting time of the call before it was said.
    pub(super) skipped_seconds: i64,
}

/// How the line ended the call.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ending {
    pub(super) status: &'static str,
    pub(super) transferred_to: Option<String>,
}

/// A call that is at a node of the graph.
pub(super) struct IvrSession<'a> {
    world: &'a World,
    ivr: &'a Ivr,
    pub(super) state: CallState,
    pub(super) utterances: Vec<Utterance>,
    pub(super) ending: Option<Ending>,
    /// The voicemail that the agent left, as far as it was recorded.
    pub(super) voicemail: Option<String>,
    /// Whether the recording ended before the agent finished.
    pub(super) was_cut_off: bool,
}

/// Limits the nodes without listening between two inputs. Valid graphs have no such cycles.
const MAX_STEPS: usize = 1000;
const DEFAULT_RETRIES: i64 = 2;
const DEFAULT_TIMEOUT_SECONDS: i64 = 10;
const NOT_HEARD: &str = "I'm sorry, I did not hear anything.";
const NOT_UNDERSTOOD: &str = "I'm sorry, I did not understand that.";
const GOODBYE: &str = "I'm sorry that we could not help you. Goodbye.";

impl<'a> IvrSession<'a> {
    pub(super) fn new(world: &'a World, ivr: &'a Ivr, state: CallState) -> Self {
        Self { world, ivr, state, utterances: Vec::new(), ending: None, voicemail: None, was_cut_off: false }
    }

    /// Answers the call.
    pub(super) fn answer(&mut self) {
        self.go_to(&self.ivr.start);
    }

    /// Whether the agent may interrupt the prompt of the current node.
    pub(super) fn allows_interruption(&self) -> bool {
        let own = match self.ivr.node(&self.state.node) {
            Some(IvrNode::Menu(menu)) => menu.barge_in,
            Some(IvrNode::Collect(collect)) => collect.barge_in,
            _ => Some(true),
        };
        own.or(self.ivr.barge_in).unwrap_or(true)
    }

    /// Handles the agent's input at the current node.
    pub(super) fn hear(&mut self, input: &AgentInput) {
        match self.ivr.node(&self.state.node) {
            Some(IvrNode::Menu(menu)) => self.choose(&menu, input),
            Some(IvrNode::Collect(collect)) => self.collect(&collect, input),
            Some(IvrNode::Representative(representative)) => self.talk(&representative, input),
            Some(IvrNode::Voicemail(voicemail)) => self.record(&voicemail, input),
            // A call only waits at nodes that listen.
            _ => self.end("failed", None),
        }
    }

    /// Continues from a node until a node listens or the call ends.
    fn go_to(&mut self, name: &str) {
        let mut name = name.to_owned();
        for _ in 0..MAX_STEPS {
            name = match self.ivr.node(&name) {
                Some(IvrNode::Say(say)) => {
                    self.say(&say.prompt);
                    say.next
                }
                Some(IvrNode::Hold(hold)) => {
                    self.say(&hold.prompt);
                    self.hold(hold.seconds);
                    hold.next
                }
                Some(IvrNode::Lookup(lookup)) => {
                    self.state.record = lookup::find(self, &lookup);
                    if self.state.record.is_some() { lookup.found } else { lookup.not_found }
                }
                Some(IvrNode::Transfer(transfer)) => match self.transfer(transfer) {
                    Some(next) => next,
                    None => return,
                },
                Some(IvrNode::Hangup(hangup)) => {
                    hangup.prompt.iter().for_each(|prompt| self.say(prompt));
                    return self.end("completed", None);
                }
                Some(node) => return self.wait_at(&name, &node),
                None => return self.end("failed", None),
            };
        }
        self.end("failed", None);
    }

    fn wait_at(&mut self, name: &str, node: &IvrNode) {
        node.prompts().into_iter().filter(|(field, _)| field == "prompt").for_each(|(_, prompt)| self.say(prompt));
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

    /// Continues with the next node, or ends the call if there is none.
    fn go_to_or_end(&mut self, next: Option<&str>) {
        match next {
            Some(next) => self.go_to(next),
            None => self.end("completed", None),
        }
    }

    /// Repeats the prompt until the retries are used up, and then continues with `otherwise`.
    fn ask_again(&mut self, retry_policy: &RetryPolicy<'_>, input: &AgentInput) {
        let apology = if *input == AgentInput::Silence {
            self.add_silence(retry_policy.timeout_seconds);
            NOT_HEARD
        } else {
            NOT_UNDERSTOOD
        };
        self.state.tries += 1;
        self.state.keys.clear();
        self.state.confirming = None;
        let retries = retry_policy.retries.or(self.ivr.retries).unwrap_or(DEFAULT_RETRIES);
        if self.state.tries <= retries {
            let prompt = self.fill(retry_policy.prompt);
            return self.utter(format!("{apology} {prompt}"));
        }
        match retry_policy.otherwise {
            Some(otherwise) => self.go_to(otherwise),
            None => {
                self.utter(GOODBYE.to_owned());
                self.end("completed", None);
            }
        }
    }

    /// Simulates silence until the timeout.
    fn add_silence(&mut self, seconds: Option<i64>) {
        let seconds = seconds.or(self.ivr.timeout_seconds).unwrap_or(DEFAULT_TIMEOUT_SECONDS);
        self.state.skipped_seconds = self.state.skipped_seconds.saturating_add(seconds);
    }

    fn hold(&mut self, seconds: i64) {
        self.state.skipped_seconds = self.state.skipped_seconds.saturating_add(seconds);
        if let Some(last) = self.utterances.last_mut() {
            last.hold_seconds = Some(seconds);
        }
    }

    fn end(&mut self, status: &'static str, transferred_to: Option<String>) {
        self.ending = Some(Ending { status, transferred_to });
    }

    /// Says an authored prompt with its templates filled in.
    fn say(&mut self, prompt: &str) {
        let text = self.fill(prompt);
        self.utter(text);
    }

    fn utter(&mut self, text: String) {
        self.utterances.push(Utterance { text, hold_seconds: None, skipped_seconds: self.state.skipped_seconds });
    }

    fn fill(&self, prompt: &str) -> String {
        let record = self.found_record();
        speech::fill(prompt, |root, path| match root {
            "field" => self.state.fields.get(path).cloned(),
            _ => record.as_ref().and_then(|record| speech::member(record, path)),
        })
    }

    /// The current version of the record of the last lookup.
    fn found_record(&self) -> Option<std::sync::Arc<Value>> {
        let reference = self.state.record.as_ref()?;
        let sandbox = self.world.sandboxes.values().find(|sandbox| sandbox.id.to_string() == reference.sandbox)?;
        sandbox.records.get(&reference.collection, &reference.key).live().map(|record| record.json())
    }
}

/// How a node repeats its prompt.
struct RetryPolicy<'n> {
    prompt: &'n str,
    otherwise: Option<&'n str>,
    retries: Option<i64>,
    timeout_seconds: Option<i64>,
}
