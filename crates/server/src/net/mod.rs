//! Sockets: accepting HTTP connections, closing those whose client stops reading or sending, and listening on ports.

mod accept;
pub(crate) mod body_drain;
mod listen;
mod write_timeout;

pub(crate) use accept::serve;
pub(crate) use listen::listen;
