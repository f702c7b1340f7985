//! Who is here: how many may be, from one address and in one sandbox, and how they are sent home.

use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use app::Limits;
use model::SandboxId;
use tokio::sync::watch;

use crate::inbox::Unread;

/// Connections from one address that have not logged in. Beyond it the oldest has to go, so that whoever only holds the
/// line keeps nobody out.
const MOST_STRANGERS: usize = 100;
/// Addresses whose wrong passwords are remembered.
const MOST_ADDRESSES: usize = 10_000;

pub(crate) struct Crowd {
    most: usize,
    most_in_sandbox: usize,
    refusals_per_second: f64,
    refusal_burst: f64,
    present: Mutex<Present>,
    /// What all of them have sent and nobody has read yet, in bytes.
    unread: Arc<AtomicUsize>,
    /// True when everybody has to go.
    closing: watch::Sender<bool>,
}

#[derive(Default)]
struct Present {
    all: usize,
    /// The number of the newest.
    newest: u64,
    strangers: HashMap<IpAddr, VecDeque<Stranger>>,
    in_sandboxes: HashMap<SandboxId, usize>,
    /// Wrong passwords that an address may still try, and when that was counted.
    patience: HashMap<IpAddr, (f64, Instant)>,
}

/// Somebody who has not logged in, and how to send them home.
struct Stranger {
    number: u64,
    end: watch::Sender<bool>,
}

/// One connection's place among them; given back when it is dropped.
pub(crate) struct Place {
    crowd: Arc<Crowd>,
    address: IpAddr,
    number: u64,
    login: watch::Sender<Option<SandboxId>>,
    end: watch::Sender<bool>,
    closing: watch::Receiver<bool>,
}

impl Crowd {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            most: limits.sftp_sessions,
            most_in_sandbox: limits.sftp_sandbox_sessions,
            refusals_per_second: limits.refusals_per_second.into(),
            refusal_burst: limits.refusal_burst.into(),
            present: Mutex::default(),
            unread: Arc::default(),
            closing: watch::Sender::new(false),
        }
    }

    /// A place, if there is one left.
    pub(crate) fn enter(self: &Arc<Self>, address: IpAddr) -> Option<Arc<Place>> {
        let mut present = self.lock();
        if present.all >= self.most {
            return None;
        }
        present.all += 1;
        present.newest += 1;
        let number = present.newest;
        let (login, end, closing) = (watch::Sender::new(None), watch::Sender::new(false), self.closing.subscribe());
        let strangers = present.strangers.entry(address).or_default();
        strangers.push_back(Stranger { number, end: end.clone() });
        if strangers.len() > MOST_STRANGERS
            && let Some(oldest) = strangers.pop_front()
        {
            oldest.end.send_replace(true);
        }
        Some(Arc::new(Place { crowd: Arc::clone(self), address, number, login, end, closing }))
    }

    pub(crate) fn send_home(&self) {
        self.closing.send_replace(true);
    }

    fn lock(&self) -> MutexGuard<'_, Present> {
        self.present.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Present {
    fn forget_stranger(&mut self, address: IpAddr, number: u64) {
        if let Some(strangers) = self.strangers.get_mut(&address) {
            strangers.retain(|stranger| stranger.number != number);
            if strangers.is_empty() {
                self.strangers.remove(&address);
            }
        }
    }
}

impl Place {
    /// The count of what the connection has sent and nobody has read yet.
    pub(crate) fn unread(&self) -> Arc<Unread> {
        Arc::new(Unread::new(Arc::clone(&self.crowd.unread)))
    }

    /// Whether another password may be tried from this address.
    pub(crate) fn may_try(&self) -> bool {
        let (rate, burst) = (self.crowd.refusals_per_second, self.crowd.refusal_burst);
        let mut present = self.crowd.lock();
        let now = Instant::now();
        match present.patience.get_mut(&self.address) {
            None => true,
            Some((left, then)) => {
                *left = burst.min(*left + rate * now.duration_since(*then).as_secs_f64());
                *then = now;
                *left >= 1.0
            }
        }
    }

    pub(crate) fn note_refusal(&self) {
        let mut present = self.crowd.lock();
        if present.patience.len() >= MOST_ADDRESSES {
            present.patience.clear();
        }
        let fresh = (self.crowd.refusal_burst, Instant::now());
        present.patience.entry(self.address).or_insert(fresh).0 -= 1.0;
    }

    /// From now on the connection counts in a sandbox; false when there are too many.
    pub(crate) fn log_in(&self, sandbox: &SandboxId) -> bool {
        let mut present = self.crowd.lock();
        let count = present.in_sandboxes.entry(sandbox.clone()).or_default();
        if *count >= self.crowd.most_in_sandbox || self.login.borrow().is_some() {
            return false;
        }
        *count += 1;
        present.forget_stranger(self.address, self.number);
        self.login.send_replace(Some(sandbox.clone()));
        true
    }

    /// Until someone has logged in; sends home who does not in time.
    pub(crate) async fn wait_for_login(&self, within: Duration) {
        let mut login = self.login.subscribe();
        let logged_in = login.wait_for(Option::is_some);
        if tokio::time::timeout(within, logged_in).await.is_err() {
            self.send_home();
        }
    }

    pub(crate) fn send_home(&self) {
        self.end.send_replace(true);
    }

    /// Resolves when the connection has to end.
    pub(crate) fn end(&self) -> impl Future<Output = ()> + Send + 'static {
        let (mut end, mut closing) = (self.end.subscribe(), self.closing.clone());
        async move {
            tokio::select! {
                _ = end.wait_for(|end| *end) => {}
                _ = closing.wait_for(|closing| *closing) => {}
            }
        }
    }

    pub(crate) async fn ended(&self) {
        self.end().await;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut present = self.crowd.lock();
        present.all -= 1;
        match self.login.borrow().as_ref() {
            None => present.forget_stranger(self.address, self.number),
            Some(sandbox) => {
                if let Some(count) = present.in_sandboxes.get_mut(sandbox) {
                    *count -= 1;
                    if *count == 0 {
                        present.in_sandboxes.remove(sandbox);
                    }
                }
            }
        }
    }
}
