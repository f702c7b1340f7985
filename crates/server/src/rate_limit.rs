//! How often one key may ask, and how often one address may be refused. Counted on each node by itself.

use std::net::IpAddr;
use std::num::NonZeroU32;

use app::Limits;
use governor::clock::{Clock, DefaultClock};
use governor::state::keyed::HashMapStateStore;
use governor::{Quota, RateLimiter};

use crate::envelope::ApiError;

type Keyed<K> = RateLimiter<K, HashMapStateStore<K>, DefaultClock>;

pub(crate) struct Rates {
    keys: Keyed<String>,
    refusals: Keyed<IpAddr>,
    clock: DefaultClock,
}

impl Rates {
    pub(crate) fn new(limits: &Limits) -> Self {
        let clock = DefaultClock::default();
        let quota = |rate: u32, burst: u32| {
            let rate = NonZeroU32::new(rate).unwrap_or(NonZeroU32::MIN);
            Quota::per_second(rate).allow_burst(NonZeroU32::new(burst).unwrap_or(NonZeroU32::MIN))
        };
        Self {
            keys: RateLimiter::hashmap(quota(limits.requests_per_second, limits.request_burst)),
            refusals: RateLimiter::hashmap(quota(limits.refusals_per_second, limits.refusal_burst)),
            clock,
        }
    }

    pub(crate) fn check_key(&self, key: &str) -> Result<(), ApiError> {
        self.keys.check_key(&key.to_owned()).map_err(|until| limited(until.wait_time_from(self.clock.now())))
    }

    /// Counts a refused credential; an address that guesses is told to wait instead.
    pub(crate) fn note_refusal(&self, address: IpAddr) -> Result<(), ApiError> {
        if self.refusals.len() > 100_000 {
            self.refusals.retain_recent();
        }
        self.refusals.check_key(&address).map_err(|until| limited(until.wait_time_from(self.clock.now())))
    }
}

fn limited(wait: std::time::Duration) -> ApiError {
    ApiError::rate_limited(wait.as_secs().max(1))
}
