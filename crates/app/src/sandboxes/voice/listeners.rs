//! Who listens to which call on this node, so that they hear what others do in it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::watch;

use crate::App;

/// By the call's id.
#[derive(Default)]
pub(crate) struct Listeners(Mutex<HashMap<String, Weak<watch::Sender<()>>>>);

/// Somebody who listens to a call until this is dropped.
pub struct Listener {
    changes: watch::Receiver<()>,
    /// What wakes the receiver is kept by those who wait for it.
    _sender: Arc<watch::Sender<()>>,
}

impl Listener {
    /// Something may have happened in the call since the last time.
    pub async fn changed(&mut self) {
        // The sender is held here: it cannot be gone.
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
