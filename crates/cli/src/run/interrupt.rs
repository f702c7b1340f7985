//! Ctrl-C and SIGTERM: the first one stops in order, the second one at once.

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

#[derive(Clone)]
pub(crate) struct Interrupt {
    count: watch::Receiver<u8>,
}

impl Interrupt {
    /// From now on signals are counted instead of ending the process.
    pub(crate) fn listen() -> anyhow::Result<Self> {
        let (sender, count) = watch::channel(0u8);
        let (mut keys, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        tokio::spawn(async move {
            while either(&mut keys, &mut terminate).await {
                sender.send_modify(|count| *count = count.saturating_add(1));
                if *sender.borrow() == 1 {
                    // A bar that is being drawn is drawn again below it.
                    let terminal = console::Term::stderr();
                    if terminal.is_term() {
                        let _ = terminal.clear_line();
                    }
                    crate::output::tell("stopping: agents are being ended (again to end them at once)");
                }
            }
        });
        Ok(Self { count })
    }

    pub(crate) fn is_stopped(&self) -> bool {
        *self.count.borrow() > 0
    }

    /// Ends when the first signal has come.
    pub(crate) async fn stopped(&self) {
        self.reached(1).await;
    }

    /// Ends when the second signal has come.
    pub(crate) async fn hurried(&self) {
        self.reached(2).await;
    }

    async fn reached(&self, wanted: u8) {
        let mut count = self.count.clone();
        if count.wait_for(|count| *count >= wanted).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

async fn either(keys: &mut Signal, terminate: &mut Signal) -> bool {
    tokio::select! {
        came = keys.recv() => came.is_some(),
        came = terminate.recv() => came.is_some(),
    }
}
