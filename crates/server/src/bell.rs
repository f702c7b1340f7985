//! The clock of one connection. HTTP/1 waits for a head with every request, and hardly ever for as long as it is patient: a
//! timer of its own for each wait would be set and taken away each time. Here one stays set for an earlier wait, and is
//! set anew only when it goes off.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use hyper::rt::{Sleep, Timer};

/// None before the first wait.
type Set = Arc<Mutex<Option<Pin<Box<tokio::time::Sleep>>>>>;

#[derive(Clone, Default)]
pub(crate) struct Bell(Set);

impl Timer for Bell {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Sleep>> {
        self.sleep_until(Instant::now() + duration)
    }

    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn Sleep>> {
        Box::pin(Wait { deadline: deadline.into(), set: Arc::clone(&self.0) })
    }
}

/// One wait.
struct Wait {
    deadline: tokio::time::Instant,
    set: Set,
}

impl Sleep for Wait {}

impl Future for Wait {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let deadline = self.deadline;
        let mut set = self.set.lock().unwrap_or_else(PoisonError::into_inner);
        let timer = set.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(deadline)));
        if timer.deadline() > deadline {
            timer.as_mut().reset(deadline);
        }
        loop {
            ready!(timer.as_mut().poll(context));
            if timer.deadline() >= deadline {
                return Poll::Ready(());
            }
            timer.as_mut().reset(deadline);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::task::Waker;

    #[tokio::test]
    async fn a_wait_ends_in_its_own_time_whatever_the_timer_was_set_for() {
        let (bell, begun) = (Bell::default(), Instant::now());
        let until = |milliseconds: u64| bell.sleep_until(begun + Duration::from_millis(milliseconds));
        let is_pending =
            |wait: &mut Pin<Box<dyn Sleep>>| wait.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending();
        // Set, and given up because a head came.
        assert!(is_pending(&mut until(10_000_000)));
        until(20).await;
        assert!(begun.elapsed().as_millis() >= 20);
        assert!(is_pending(&mut until(10_000_000)));
        // The timer is set for an earlier wait.
        assert!(is_pending(&mut until(30_000)));
        until(60).await;
        assert!(begun.elapsed().as_millis() >= 60);
        until(80).await;
        assert!(begun.elapsed().as_millis() >= 80);
    }
}
