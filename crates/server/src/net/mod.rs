//! HTTP connections: accepting them, and closing those whose client stops reading or sending.

mod accept;
pub(crate) mod body_drain;
mod write_timeout;

pub(crate) use accept::serve;
