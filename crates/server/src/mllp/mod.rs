//! HL7 v2 over MLLP.

mod connection;
mod listen_address;
mod listener;
mod ports;

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, TryAcquireError};

pub use listen_address::MllpListen;
pub(crate) use ports::MllpPorts;

/// Maximum number of connections to one sandbox.
const MAX_CONNECTIONS_PER_SANDBOX: usize = 1000;
/// Long messages of all connections that are in memory at a time. Short ones are not limited.
const MAX_LONG_FRAMES: usize = 4;

/// Semaphores that limit connections and long messages: one pair for the server, one for each sandbox.
#[derive(Clone)]
struct ConnectionLimits {
    connections: Arc<Semaphore>,
    long_frames: Arc<Semaphore>,
}

impl ConnectionLimits {
    fn of_server(limits: &app::Limits) -> Self {
        Self {
            connections: Arc::new(Semaphore::new(limits.mllp_connections as usize)),
            long_frames: Arc::new(Semaphore::new(MAX_LONG_FRAMES)),
        }
    }

    /// With one long message at a time, so that one sandbox cannot block the others.
    fn of_sandbox() -> Self {
        Self {
            connections: Arc::new(Semaphore::new(MAX_CONNECTIONS_PER_SANDBOX)),
            long_frames: Arc::new(Semaphore::new(1)),
        }
    }

    fn try_connect(&self) -> Result<OwnedSemaphorePermit, TryAcquireError> {
        Arc::clone(&self.connections).try_acquire_owned()
    }
}
