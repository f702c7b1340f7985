//! Asking again while nobody answers, and noticing when nobody answered an agent.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Once};
use std::time::Duration;

use client::{Client, ClientError};
use tokio::time::Instant;

use crate::output::style::Colour;
use crate::output::tell_labelled;

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

/// The same before anything else is shown: that nobody answers is said, once.
pub(crate) async fn insist_aloud<T, F>(patience: Duration, mut ask: impl FnMut() -> F) -> Result<T, ClientError>
where
    F: Future<Output = Result<T, ClientError>>,
{
    static TOLD: Once = Once::new();
    let asked = || {
        let asking = ask();
        async {
            let answer = asking.await;
            if let Some(error) = answer.as_ref().err().filter(|error| error.is_infrastructure())
                && patience > FIRST_PAUSE
            {
                let words = format!("{error}; asking again for {} s (--patience)", patience.as_secs());
                TOLD.call_once(|| tell_labelled("waiting:", Colour::Warning, &words));
            }
            answer
        }
    };
    insist(patience, asked).await
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
