//! What the two sides of a call tell each other over a WebSocket, in the line's own messages or in those of a relay that
//! others have defined.

pub mod native;
pub mod relay;

use model::voice::NewTurn;

/// What an agent does.
#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    Turn(NewTurn),
    Answer,
    HangUp,
    /// Nothing that changes the call yet.
    Nothing,
}
