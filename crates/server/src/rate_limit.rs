//! Rate limits: requests per credential, and failed authentications per address. Each node counts for itself.

use std::net::IpAddr;
use std::num::NonZeroU32;

use app::Limits;
use governor::clock::{Clock, DefaultClock};
use governor::state::keyed::HashMapStateStore;
use governor::{Quota, RateLimiter};

use crate::api_error::ApiError;

type Keyed<K> = RateLimiter<K, HashMapStateStore<K>, DefaultClock>;

pub(crate) struct RateLimits {
    keys: Keyed<String>,
    auth_failures: Keyed<IpAddr>,
    clock: DefaultClock,
}

impl RateLimits {
    pub(crate) fn new(limits: &Limits) -> Self {
        let clock = DefaultClock::default();
        let quota = |rate: u32, burst: u32| {
            let rate = NonZeroU32::new(rate).unwrap_or(NonZeroU32::MIN);
            Quota::per_second(rate).allow_burst(NonZeroU32::new(burst).unwrap_or(NonZeroU32::MIN))
        };
        Self {
            keys: RateLimiter::hashmap(quota(limits.requests_per_second, limits.request_burst)),
            auth_failures: RateLimiter::hashmap(quota(limits.refusals_per_second, limits.refusal_burst)),
            clock,
        }
    }

    pub(crate) fn check_key(&self, key: &str) -> Result<(), ApiError> {
        self.keys.check_key(&key.to_owned()).map_err(|until| rate_limited(until.wait_time_from(self.clock.now())))
    }

    /// Counts a failed authentication. An error if the address has had too many.
    pub(crate) fn record_auth_failure(&self, address: IpAddr) -> Result<(), ApiError> {
        if self.auth_failures.len() > 100_000 {
            self.auth_failures.retain_recent();
        }
        self.auth_failures.check_key(&address).map_err(|until| rate_limited(until.wait_time_from(self.clock.now())))
    }
}

fn rate_limited(wait: std::time::Duration) -> ApiError {
    ApiError::rate_limited(wait.as_secs().max(1))
}
