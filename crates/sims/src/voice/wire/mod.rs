//! The messages of a call over a WebSocket: either the line's own protocol or ConversationRelay.

pub mod native;
pub mod relay;

use model::voice::NewTurn;

/// An action of the agent.
#[derive(Clone, Debug, PartialEq)]
pub enum ClientAction {
    Turn(NewTurn),
    Answer,
    HangUp,
    /// Nothing that changes the call.
    Nothing,
}
