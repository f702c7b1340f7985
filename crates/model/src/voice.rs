//! What an agent does on the telephone.

use serde::Deserialize;
use utoipa::ToSchema;

/// A call to the line.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewCall {
    /// The number that is dialled; the line's own without it.
    pub to: Option<String>,
}

/// What the agent does next in a call: one of `say`, `dtmf` and `silence`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewTurn {
    /// Up to 10 000 characters.
    pub say: Option<String>,
    /// Keys: up to 64 of `0` to `9`, `*`, `#`, and `w` for a pause, which counts for nothing.
    pub dtmf: Option<String>,
    /// `true`: the agent says nothing until the line loses patience.
    pub silence: Option<bool>,
    /// Whether the agent speaks into what the line says. A line that does not allow it does not hear.
    pub interrupts: Option<bool>,
}

/// Keys that the agent presses.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewKeys {
    /// Up to 64 of `0` to `9`, `*`, `#`, and `w` for a pause, which counts for nothing.
    pub digits: String,
    /// As in a turn.
    pub interrupts: Option<bool>,
}
