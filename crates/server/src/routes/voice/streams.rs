//! How many WebSockets may be open, on this node and for one sandbox.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use app::Limits;
use model::SandboxId;

use crate::envelope::ApiError;

pub(crate) struct Streams(Arc<Counts>);

struct Counts {
    open: Mutex<HashMap<SandboxId, usize>>,
    most: usize,
    most_per_sandbox: usize,
}

/// One of the places; free again when dropped.
pub(super) struct Place {
    counts: Arc<Counts>,
    sandbox: SandboxId,
}

/// Somebody must hang up first.
const RETRY_AFTER_SECONDS: u64 = 5;

impl Streams {
    pub(crate) fn new(limits: &Limits) -> Self {
        let (most, most_per_sandbox) = (limits.voice_streams, limits.voice_sandbox_streams);
        Self(Arc::new(Counts { open: Mutex::default(), most, most_per_sandbox }))
    }

    pub(super) fn take(&self, sandbox: &SandboxId) -> Result<Place, ApiError> {
        let mut open = self.0.open.lock().unwrap_or_else(PoisonError::into_inner);
        let here = open.get(sandbox).copied().unwrap_or(0);
        if here >= self.0.most_per_sandbox || open.values().sum::<usize>() >= self.0.most {
            return Err(ApiError::rate_limited(RETRY_AFTER_SECONDS));
        }
        open.insert(sandbox.clone(), here + 1);
        Ok(Place { counts: Arc::clone(&self.0), sandbox: sandbox.clone() })
    }
}

impl Drop for Place {
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
