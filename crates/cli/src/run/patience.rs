//! Asking again while nobody answers, and noticing when nobody answered an agent.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use client::{Client, ClientError};
use tokio::time::Instant;

const FIRST_PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
const BETWEEN_LOOKS: Duration = Duration::from_secs(1);
const LONGEST_LOOK: Duration = Duration::from_secs(10);

/// Asks until there is an answer, with growing pauses, for at most so long.
pub(crate) async fn insist<T, F>(patience: Duration, mut ask: impl FnMut() -> F) -> Result<T, ClientError>
where
    F: Future<Output = Result<T, ClientError>>,
{
    let until = Instant::now() + patience;
    let mut pause = FIRST_PAUSE;
    loop {
        match ask().await {
            Err(error) if error.is_infrastructure() && Instant::now() + pause < until => {
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
            other => return other,
        }
    }
}

/// Counts the looks at which the server did not answer that it is well.
#[derive(Clone, Default)]
pub(crate) struct Outages(Arc<AtomicU64>);

impl Outages {
    pub(crate) fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Looks until it is dropped.
    pub(crate) async fn watch(self, client: Client) {
        loop {
            if !client.is_well(LONGEST_LOOK).await {
                self.0.fetch_add(1, Ordering::Relaxed);
            }
            tokio::time::sleep(BETWEEN_LOOKS).await;
        }
    }
}
