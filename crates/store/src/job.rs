//! The work of a transaction as a job for a database thread, and the way back of its result.

use std::panic::{AssertUnwindSafe, catch_unwind};

use tokio::sync::oneshot;

use crate::{Db, StoreError};

/// How a transaction is isolated from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Read,
    Write,
    Append,
}

/// What the thread does with the transaction after the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ran {
    Commit,
    Rollback,
}

pub(crate) trait Job: Send {
    fn run(&mut self, db: &mut Db<'_>) -> Ran;
    /// Whether the caller has stopped waiting.
    fn is_abandoned(&self) -> bool;
    /// Sends the result, or the error that rolled it back.
    fn answer(self: Box<Self>, failure: Option<StoreError>);
}

pub(crate) struct TypedJob<F, T, E> {
    work: F,
    result: Option<Result<T, E>>,
    reply: oneshot::Sender<Result<T, E>>,
}

impl<F, T, E> TypedJob<F, T, E>
where
    F: Fn(&mut Db<'_>) -> Result<T, E> + Send + 'static,
    T: Send + 'static,
    E: From<StoreError> + Send + 'static,
{
    /// The job and the receiver of its result.
    pub(crate) fn boxed(work: F) -> (Box<dyn Job>, oneshot::Receiver<Result<T, E>>) {
        let (reply, answer) = oneshot::channel();
        (Box::new(Self { work, result: None, reply }), answer)
    }
}

impl<F, T, E> Job for TypedJob<F, T, E>
where
    F: Fn(&mut Db<'_>) -> Result<T, E> + Send,
    T: Send,
    E: From<StoreError> + Send,
{
    fn run(&mut self, db: &mut Db<'_>) -> Ran {
        let result = catch_unwind(AssertUnwindSafe(|| (self.work)(db)));
        let mut result = result.unwrap_or_else(|_| Err(StoreError::Panicked.into()));
        if result.is_ok() && db.failed {
            result = Err(StoreError::Database("the work went on after one of its statements had failed".into()).into());
        }
        let ran = if result.is_ok() { Ran::Commit } else { Ran::Rollback };
        self.result = Some(result);
        ran
    }

    fn is_abandoned(&self) -> bool {
        self.reply.is_closed()
    }

    fn answer(self: Box<Self>, failure: Option<StoreError>) {
        let answer = match (failure, self.result) {
            (Some(failure), _) => Err(failure.into()),
            (None, Some(result)) => result,
            (None, None) => Err(StoreError::Closed.into()),
        };
        // The caller may have stopped waiting.
        let _ = self.reply.send(answer);
    }
}
