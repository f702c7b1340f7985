//! Heavy work on documents: off the threads that serve others, a few at a time, and no endless queue before it.

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Semaphore;

use crate::AppError;

/// So many pieces of work at the same time, and so many that wait.
pub(crate) struct Slots {
    free: Semaphore,
    waiting: AtomicUsize,
    most_waiting: usize,
}

impl Slots {
    pub(crate) fn new(at_once: usize, most_waiting: usize) -> Self {
        Self { free: Semaphore::new(at_once), waiting: AtomicUsize::new(0), most_waiting }
    }

    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, AppError> {
        let _waiting = Waiting::enter(self)?;
        let _slot =
            self.free.acquire().await.map_err(|_| AppError::Internal("documents are not read any more".into()))?;
        let done = tokio::task::spawn_blocking(work).await;
        done.map_err(|_| AppError::Internal("reading a document panicked".into()))
    }
}

/// One that waits or works; a caller that goes away frees its place.
struct Waiting<'a>(&'a Slots);

impl<'a> Waiting<'a> {
    fn enter(slots: &'a Slots) -> Result<Self, AppError> {
        let entered = Self(slots);
        if slots.waiting.fetch_add(1, Ordering::Relaxed) >= slots.most_waiting {
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
    async fn what_cannot_wait_is_refused() {
        let slots = std::sync::Arc::new(Slots::new(1, 2));
        let (release, held) = mpsc::channel::<()>();
        let (begun, began) = mpsc::channel();
        let holding = std::sync::Arc::clone(&slots);
        let first = tokio::spawn(async move {
            holding
                .run(move || {
                    let _ = begun.send(());
                    held.recv()
                })
                .await
        });
        tokio::task::spawn_blocking(move || began.recv()).await.unwrap().unwrap();
        let waiting = std::sync::Arc::clone(&slots);
        let second = tokio::spawn(async move { waiting.run(|| 2).await });
        while slots.waiting.load(Ordering::Relaxed) < 2 {
            tokio::task::yield_now().await;
        }
        assert!(matches!(slots.run(|| 3).await, Err(AppError::Busy(_))));
        release.send(()).unwrap();
        assert!(first.await.unwrap().is_ok());
        assert!(matches!(second.await.unwrap(), Ok(2)));
        assert!(matches!(slots.run(|| 3).await, Ok(3)));
    }
}
