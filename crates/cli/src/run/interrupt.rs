//! Handles Ctrl-C and SIGTERM: the first signal stops gracefully, the second one immediately.

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

#[derive(Clone)]
pub(crate) struct Interrupt {
    count: watch::Receiver<u8>,
}

impl Interrupt {
    /// Counts signals from now on, instead of ending the process.
    pub(crate) fn listen() -> anyhow::Result<Self> {
        let (sender, count) = watch::channel(0u8);
        let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        tokio::spawn(async move {
            while next_signal(&mut interrupt, &mut terminate).await {
                sender.send_modify(|count| *count = count.saturating_add(1));
                if *sender.borrow() == 1 {
                    // The progress bar is drawn again below the message.
                    let terminal = console::Term::stderr();
                    if terminal.is_term() {
                        let _ = terminal.clear_line();
                    }
                    crate::output::eprint("stopping: terminating agents (press again to kill them)");
                }
            }
        });
        Ok(Self { count })
    }

    pub(crate) fn is_stopped(&self) -> bool {
        *self.count.borrow() > 0
    }

    /// Resolves after the first signal.
    pub(crate) async fn stopped(&self) {
        self.reached(1).await;
    }

    /// Resolves after the second signal.
    pub(crate) async fn forced(&self) {
        self.reached(2).await;
    }

    async fn reached(&self, wanted: u8) {
        let mut count = self.count.clone();
        if count.wait_for(|count| *count >= wanted).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

async fn next_signal(interrupt: &mut Signal, terminate: &mut Signal) -> bool {
    tokio::select! {
        received = interrupt.recv() => received.is_some(),
        received = terminate.recv() => received.is_some(),
    }
}
