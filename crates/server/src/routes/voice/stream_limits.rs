//! Limits on open WebSockets: per node and per sandbox.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use app::Limits;
use model::SandboxId;

use crate::api_error::ApiError;

pub(crate) struct StreamLimits(Arc<Counts>);

struct Counts {
    open: Mutex<HashMap<SandboxId, usize>>,
    max_total: usize,
    max_per_sandbox: usize,
}

/// A counted WebSocket. Dropping it frees its slot.
pub(super) struct StreamSlot {
    counts: Arc<Counts>,
    sandbox: SandboxId,
}

/// Another call must end first.
const RETRY_AFTER_SECONDS: u64 = 5;

impl StreamLimits {
    pub(crate) fn new(limits: &Limits) -> Self {
        let (max_total, max_per_sandbox) = (limits.voice_streams, limits.voice_sandbox_streams);
        Self(Arc::new(Counts { open: Mutex::default(), max_total, max_per_sandbox }))
    }

    pub(super) fn acquire(&self, sandbox: &SandboxId) -> Result<StreamSlot, ApiError> {
        let mut open = self.0.open.lock().unwrap_or_else(PoisonError::into_inner);
        let in_sandbox = open.get(sandbox).copied().unwrap_or(0);
        if in_sandbox >= self.0.max_per_sandbox || open.values().sum::<usize>() >= self.0.max_total {
            return Err(ApiError::rate_limited(RETRY_AFTER_SECONDS));
        }
        open.insert(sandbox.clone(), in_sandbox + 1);
        Ok(StreamSlot { counts: Arc::clone(&self.0), sandbox: sandbox.clone() })
    }
}

impl Drop for StreamSlot {
    fn drop(&mut self) {
        let mut open = self.counts.open.lock().unwrap_or_else(PoisonError::into_inner);
        match open.get_mut(&self.sandbox) {
            Some(count) if *count > 1 => *count -= 1,
            _ => {
                open.remove(&self.sandbox);
            }
        }
    }
}
