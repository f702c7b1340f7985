//! Retries requests while the server does not respond, and counts outages while agents work.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Once};
use std::time::Duration;

use client::{Client, ClientError};
use tokio::time::Instant;

use crate::output::eprint_labeled;
use crate::output::style::Color;

const FIRST_PAUSE: Duration = Duration::from_millis(200);
const MAX_PAUSE: Duration = Duration::from_secs(5);
const HEALTH_INTERVAL: Duration = Duration::from_secs(1);
const HEALTH_TIMEOUT: Duration = Duration::from_secs(10);

/// Repeats a request with growing pauses while the server does not respond, for at most `patience`.
pub(crate) async fn retry<T, F>(patience: Duration, mut request: impl FnMut() -> F) -> Result<T, ClientError>
where
    F: Future<Output = Result<T, ClientError>>,
{
    let deadline = Instant::now() + patience;
    let mut pause = FIRST_PAUSE;
    loop {
        match request().await {
            Err(error) if error.is_infrastructure() && Instant::now() + pause < deadline => {
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(MAX_PAUSE);
            }
            other => return other,
        }
    }
}

/// Like [`retry`], and prints a notice once per process when the server does not respond.
pub(crate) async fn retry_with_notice<T, F>(
    patience: Duration,
    mut request: impl FnMut() -> F,
) -> Result<T, ClientError>
where
    F: Future<Output = Result<T, ClientError>>,
{
    static NOTICE: Once = Once::new();
    let request_with_notice = || {
        let pending = request();
        async {
            let result = pending.await;
            if let Some(error) = result.as_ref().err().filter(|error| error.is_infrastructure())
                && patience > FIRST_PAUSE
            {
                let message = format!("{error}; retrying for {} s (--patience)", patience.as_secs());
                NOTICE.call_once(|| eprint_labeled("waiting:", Color::Warning, &message));
            }
            result
        }
    };
    retry(patience, request_with_notice).await
}

/// Counts failed health checks of the server.
#[derive(Clone, Default)]
pub(crate) struct Outages(Arc<AtomicU64>);

impl Outages {
    pub(crate) fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Checks the server's health until dropped.
    pub(crate) async fn watch(self, client: Client) {
        loop {
            if !client.is_healthy(HEALTH_TIMEOUT).await {
                self.0.fetch_add(1, Ordering::Relaxed);
            }
            tokio::time::sleep(HEALTH_INTERVAL).await;
        }
    }
}
