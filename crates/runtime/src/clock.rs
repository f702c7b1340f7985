//! The only place that reads the system time.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use model::Timestamp;

/// The system clock, or in tests a clock that is set by hand.
#[derive(Clone, Debug)]
pub struct Clock {
    fixed: Option<Arc<AtomicI64>>,
}

impl Clock {
    pub fn system() -> Self {
        Self { fixed: None }
    }

    pub fn fixed(now: Timestamp) -> Self {
        Self { fixed: Some(Arc::new(AtomicI64::new(now.milliseconds()))) }
    }

    #[expect(clippy::disallowed_methods, reason = "this is the clock")]
    pub fn now(&self) -> Timestamp {
        if let Some(fixed) = &self.fixed {
            return Timestamp(fixed.load(Ordering::SeqCst));
        }
        let since_epoch = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        Timestamp(i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX))
    }

    /// Moves a fixed clock forward. Does nothing with the system clock.
    pub fn advance(&self, milliseconds: i64) {
        if let Some(fixed) = &self.fixed {
            fixed.fetch_add(milliseconds, Ordering::SeqCst);
        }
    }
}
