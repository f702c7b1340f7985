//! The streams that follow a call on this node, which are notified of its changes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::watch;

use crate::App;

/// By the call's id.
#[derive(Default)]
pub(crate) struct Listeners(Mutex<HashMap<String, Weak<watch::Sender<()>>>>);

/// Follows a call until it is dropped.
pub struct Listener {
    changes: watch::Receiver<()>,
    /// The receivers hold the sender.
    _sender: Arc<watch::Sender<()>>,
}

impl Listener {
    /// Waits until the call may have changed.
    pub async fn changed(&mut self) {
        // The sender is held here, so the channel cannot be closed.
        let _ = self.changes.changed().await;
    }
}

impl App {
    pub fn listen_to_call(&self, call: &str) -> Listener {
        self.inner.listeners.listen(call)
    }
}

impl Listeners {
    fn listen(&self, call: &str) -> Listener {
        let mut calls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if calls.len() >= 64 && calls.len().is_power_of_two() {
            calls.retain(|_, sender| sender.strong_count() > 0);
        }
        let sender = calls.get(call).and_then(Weak::upgrade).unwrap_or_else(|| Arc::new(watch::Sender::new(())));
        calls.insert(call.to_owned(), Arc::downgrade(&sender));
        Listener { changes: sender.subscribe(), _sender: sender }
    }

    pub(super) fn wake(&self, call: &str) {
        let mut calls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match calls.get(call).and_then(Weak::upgrade) {
            Some(sender) => {
                sender.send_replace(());
            }
            None => {
                calls.remove(call);
            }
        }
    }
}
