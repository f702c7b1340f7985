//! Request bodies of the voice sandbox.

use serde::Deserialize;
use utoipa::ToSchema;

/// A call to place.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewCall {
    /// The number to dial. Default: the number of the simulated line.
    pub to: Option<String>,
}

/// The agent's next turn in a call: one of `say`, `dtmf` and `silence`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewTurn {
    /// The words to say, up to 10 000 characters.
    pub say: Option<String>,
    /// Keys to press: up to 64 of `0` to `9`, `*`, `#`, and `w` for a pause, which has no effect.
    pub dtmf: Option<String>,
    /// `true`: the agent says nothing until the line times out.
    pub silence: Option<bool>,
    /// Whether the agent interrupts the line. A line that does not allow interruptions does not hear the turn.
    pub interrupts: Option<bool>,
}

/// Keys that the agent presses.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewKeys {
    /// Up to 64 of `0` to `9`, `*`, `#`, and `w` for a pause, which has no effect.
    pub digits: String,
    /// Whether the keys interrupt the line, as in a turn.
    pub interrupts: Option<bool>,
}
