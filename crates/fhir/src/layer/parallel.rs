//! The same work on many things, by some threads.

use std::sync::atomic::{AtomicUsize, Ordering};

/// The results by number, whichever thread came to which; of several errors the one with the least number.
pub(super) fn each<T: Send, E: Send>(
    count: usize,
    threads: usize,
    work: impl Fn(usize) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let next = AtomicUsize::new(0);
    let worker = || {
        let numbers =
            std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed)).take_while(|number| *number < count);
        numbers.map(|number| (number, work(number))).collect::<Vec<_>>()
    };
    let mut results = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads.min(count)).map(|_| scope.spawn(worker)).collect();
        let mut results = worker();
        for other in others {
            results.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        results
    });
    results.sort_unstable_by_key(|(number, _)| *number);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_order_whatever_the_threads() {
        for threads in [0, 1, 2, 9] {
            assert_eq!(each(5, threads, |number| Ok::<_, ()>(number * 2)), Ok(vec![0, 2, 4, 6, 8]));
            assert_eq!(each(5, threads, |number| if number > 1 { Err(number) } else { Ok(()) }), Err(2));
            assert_eq!(each(0, threads, |_| Ok::<(), ()>(())), Ok(vec![]));
        }
    }
}
