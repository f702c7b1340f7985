//! Runs expensive work on documents on blocking threads: a few at a time, with a limited queue.

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Semaphore;

use crate::AppError;

/// Limits how much work runs at the same time, and how much waits.
pub(crate) struct BlockingLimit {
    permits: Semaphore,
    waiting: AtomicUsize,
    max_waiting: usize,
}

impl BlockingLimit {
    pub(crate) fn new(at_once: usize, max_waiting: usize) -> Self {
        Self { permits: Semaphore::new(at_once), waiting: AtomicUsize::new(0), max_waiting }
    }

    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, AppError> {
        let _waiting = Waiting::enter(self)?;
        let _permit = self
            .permits
            .acquire()
            .await
            .map_err(|_| AppError::Internal("the limit of document work is closed".into()))?;
        let done = tokio::task::spawn_blocking(work).await;
        done.map_err(|_| AppError::Internal("reading a document panicked".into()))
    }
}

/// Work that waits or runs. Counted until it is dropped.
struct Waiting<'a>(&'a BlockingLimit);

impl<'a> Waiting<'a> {
    fn enter(limit: &'a BlockingLimit) -> Result<Self, AppError> {
        let entered = Self(limit);
        if limit.waiting.fetch_add(1, Ordering::Relaxed) >= limit.max_waiting {
            return Err(AppError::Busy("too many documents are being read; try again"));
        }
        Ok(entered)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[tokio::test]
    async fn work_beyond_the_queue_is_rejected() {
        let limit = std::sync::Arc::new(BlockingLimit::new(1, 2));
        let (release, held) = mpsc::channel::<()>();
        let (begun, began) = mpsc::channel();
        let holding = std::sync::Arc::clone(&limit);
        let first = tokio::spawn(async move {
            holding
                .run(move || {
                    let _ = begun.send(());
                    held.recv()
                })
                .await
        });
        tokio::task::spawn_blocking(move || began.recv()).await.unwrap().unwrap();
        let waiting = std::sync::Arc::clone(&limit);
        let second = tokio::spawn(async move { waiting.run(|| 2).await });
        while limit.waiting.load(Ordering::Relaxed) < 2 {
            tokio::task::yield_now().await;
        }
        assert!(matches!(limit.run(|| 3).await, Err(AppError::Busy(_))));
        release.send(()).unwrap();
        assert!(first.await.unwrap().is_ok());
        assert!(matches!(second.await.unwrap(), Ok(2)));
        assert!(matches!(limit.run(|| 3).await, Ok(3)));
    }
}
