//! Limits on connections: in total, per address before login, and per sandbox after it. Also limits password attempts, and
//! closes connections.

use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use app::Limits;
use model::SandboxId;
use tokio::sync::watch;

use crate::receive_buffer::UnreadBytes;

/// Connections from one address that have not logged in. Beyond it the oldest is closed, so that idle connections cannot
/// keep others out.
const MAX_PENDING_LOGINS: usize = 100;
/// Addresses whose failed logins are remembered.
const MAX_ADDRESSES: usize = 10_000;

pub(crate) struct ConnectionLimits {
    max_connections: usize,
    max_in_sandbox: usize,
    failed_logins_per_second: f64,
    failed_login_burst: f64,
    counts: Mutex<Counts>,
    /// Received bytes of all connections that no session has read yet.
    total_unread: Arc<AtomicUsize>,
    /// Becomes true when all connections must close.
    closing: watch::Sender<bool>,
}

#[derive(Default)]
struct Counts {
    total: usize,
    /// The number of the newest connection.
    last_number: u64,
    pending_logins: HashMap<IpAddr, VecDeque<PendingLogin>>,
    per_sandbox: HashMap<SandboxId, usize>,
    /// Password attempts that an address has left, and when they were last counted.
    attempts_left: HashMap<IpAddr, (f64, Instant)>,
}

/// A connection that has not logged in, with the switch that closes it.
struct PendingLogin {
    number: u64,
    close: watch::Sender<bool>,
}

/// One counted connection. Dropping it frees its slot.
pub(crate) struct ConnectionSlot {
    limits: Arc<ConnectionLimits>,
    address: IpAddr,
    number: u64,
    login: watch::Sender<Option<SandboxId>>,
    close: watch::Sender<bool>,
    closing: watch::Receiver<bool>,
}

impl ConnectionLimits {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            max_connections: limits.sftp_sessions,
            max_in_sandbox: limits.sftp_sandbox_sessions,
            failed_logins_per_second: limits.refusals_per_second.into(),
            failed_login_burst: limits.refusal_burst.into(),
            counts: Mutex::default(),
            total_unread: Arc::default(),
            closing: watch::Sender::new(false),
        }
    }

    /// A slot for a new connection, or `None` if there are too many.
    pub(crate) fn acquire(self: &Arc<Self>, address: IpAddr) -> Option<Arc<ConnectionSlot>> {
        let mut counts = self.lock();
        if counts.total >= self.max_connections {
            return None;
        }
        counts.total += 1;
        counts.last_number += 1;
        let number = counts.last_number;
        let (login, close, closing) = (watch::Sender::new(None), watch::Sender::new(false), self.closing.subscribe());
        let pending = counts.pending_logins.entry(address).or_default();
        pending.push_back(PendingLogin { number, close: close.clone() });
        if pending.len() > MAX_PENDING_LOGINS
            && let Some(oldest) = pending.pop_front()
        {
            oldest.close.send_replace(true);
        }
        Some(Arc::new(ConnectionSlot { limits: Arc::clone(self), address, number, login, close, closing }))
    }

    pub(crate) fn close_all(&self) {
        self.closing.send_replace(true);
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Counts {
    fn remove_pending_login(&mut self, address: IpAddr, number: u64) {
        if let Some(pending) = self.pending_logins.get_mut(&address) {
            pending.retain(|login| login.number != number);
            if pending.is_empty() {
                self.pending_logins.remove(&address);
            }
        }
    }
}

impl ConnectionSlot {
    /// A counter of the bytes that were received on this connection and not read yet.
    pub(crate) fn unread_bytes(&self) -> Arc<UnreadBytes> {
        Arc::new(UnreadBytes::new(Arc::clone(&self.limits.total_unread)))
    }

    /// Whether another password may be tried from this address.
    pub(crate) fn may_try_password(&self) -> bool {
        let (rate, burst) = (self.limits.failed_logins_per_second, self.limits.failed_login_burst);
        let mut counts = self.limits.lock();
        let now = Instant::now();
        match counts.attempts_left.get_mut(&self.address) {
            None => true,
            Some((left, counted_at)) => {
                *left = burst.min(*left + rate * now.duration_since(*counted_at).as_secs_f64());
                *counted_at = now;
                *left >= 1.0
            }
        }
    }

    pub(crate) fn record_failed_login(&self) {
        let mut counts = self.limits.lock();
        if counts.attempts_left.len() >= MAX_ADDRESSES {
            counts.attempts_left.clear();
        }
        let full = (self.limits.failed_login_burst, Instant::now());
        counts.attempts_left.entry(self.address).or_insert(full).0 -= 1.0;
    }

    /// Counts the connection as a session of the sandbox. False if the sandbox has too many.
    pub(crate) fn log_in(&self, sandbox: &SandboxId) -> bool {
        let mut counts = self.limits.lock();
        let count = counts.per_sandbox.entry(sandbox.clone()).or_default();
        if *count >= self.limits.max_in_sandbox || self.login.borrow().is_some() {
            return false;
        }
        *count += 1;
        counts.remove_pending_login(self.address, self.number);
        self.login.send_replace(Some(sandbox.clone()));
        true
    }

    /// Waits for the login, and closes the connection if it does not happen in time.
    pub(crate) async fn wait_for_login(&self, limit: Duration) {
        let mut login = self.login.subscribe();
        let logged_in = login.wait_for(Option::is_some);
        if tokio::time::timeout(limit, logged_in).await.is_err() {
            self.close();
        }
    }

    pub(crate) fn close(&self) {
        self.close.send_replace(true);
    }

    /// Resolves when the connection must close.
    pub(crate) fn closed(&self) -> impl Future<Output = ()> + Send + 'static {
        let (mut close, mut closing) = (self.close.subscribe(), self.closing.clone());
        async move {
            tokio::select! {
                _ = close.wait_for(|close| *close) => {}
                _ = closing.wait_for(|closing| *closing) => {}
            }
        }
    }

    pub(crate) async fn wait_until_closed(&self) {
        self.closed().await;
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        let mut counts = self.limits.lock();
        counts.total -= 1;
        match self.login.borrow().as_ref() {
            None => counts.remove_pending_login(self.address, self.number),
            Some(sandbox) => {
                if let Some(count) = counts.per_sandbox.get_mut(sandbox) {
                    *count -= 1;
                    if *count == 0 {
                        counts.per_sandbox.remove(sandbox);
                    }
                }
            }
        }
    }
}
