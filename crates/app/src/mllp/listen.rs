//! Where MLLP ports may be opened: `HOST:0` takes free ones, `HOST:FIRST-LAST` those of a range.

use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;

use model::{Id, SandboxId};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MllpListen {
    host: IpAddr,
    /// None takes whatever the system has free.
    range: Option<RangeInclusive<u16>>,
}

/// Free ports that one server opens at most: each takes a file descriptor.
const MOST_FREE: usize = 1000;

impl MllpListen {
    /// Free ports of this machine, which only it can reach.
    pub const LOOPBACK: Self = Self { host: IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), range: None };

    pub(super) fn most(&self) -> usize {
        self.range.as_ref().map_or(MOST_FREE, ExactSizeIterator::len)
    }

    /// What to try, in order. In a range a sandbox begins at a place of its own, so that it has the same port again after
    /// a restart unless another has taken it.
    pub(super) fn candidates(&self, sandbox: &SandboxId) -> impl Iterator<Item = SocketAddr> {
        let range = self.range.clone().unwrap_or(0..=0);
        let (first, count) = (u64::from(*range.start()), range.len() as u64);
        let begin = place(sandbox);
        let port = move |offset: u64| first + (begin.wrapping_add(offset)) % count;
        let host = self.host;
        (0..count).filter_map(move |offset| Some(SocketAddr::new(host, u16::try_from(port(offset)).ok()?)))
    }

    /// The host that clients use: the address itself, or that of the API when every address is listened on.
    pub(super) fn told_host(&self, base: &str) -> String {
        if !self.host.is_unspecified() {
            return self.host.to_string();
        }
        let authority = base.split_once("://").map_or(base, |(_, rest)| rest).split('/').next().unwrap_or_default();
        match authority.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((address, _)) => address.to_owned(),
            None => authority.split(':').next().unwrap_or_default().to_owned(),
        }
    }
}

/// The same number for the same sandbox, everywhere (FNV-1a).
fn place(sandbox: &SandboxId) -> u64 {
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    sandbox.as_str().bytes().fold(0xcbf2_9ce4_8422_2325, mix)
}

impl std::str::FromStr for MllpListen {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let faulty =
            || "must be HOST:0 for free ports or HOST:FIRST-LAST for a range, as 127.0.0.1:2575-2674".to_owned();
        let (host, ports) = text.rsplit_once(':').ok_or_else(faulty)?;
        let host = host.trim_start_matches('[').trim_end_matches(']').parse().map_err(|_| faulty())?;
        let port = |text: &str| text.parse::<u16>().map_err(|_| faulty());
        let (first, last) = match ports.split_once('-') {
            Some((first, last)) => (port(first)?, port(last)?),
            None => (port(ports)?, port(ports)?),
        };
        match (first, last) {
            (0, 0) => Ok(Self { host, range: None }),
            (1.., _) if first <= last => Ok(Self { host, range: Some(first..=last) }),
            _ => Err(faulty()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sandbox(number: u128) -> SandboxId {
        SandboxId::from_ulid(model::Ulid(number))
    }

    #[test]
    fn addresses_are_read() {
        assert_eq!("127.0.0.1:0".parse(), Ok(MllpListen::LOOPBACK));
        let range: MllpListen = "[::1]:2575-2577".parse().unwrap();
        let mut ports: Vec<u16> = range.candidates(&sandbox(7)).map(|address| address.port()).collect();
        assert_eq!(ports, range.candidates(&sandbox(7)).map(|address| address.port()).collect::<Vec<_>>());
        ports.sort_unstable();
        assert_eq!(ports, [2575, 2576, 2577]);
        assert_eq!("0.0.0.0:2575".parse::<MllpListen>().unwrap().most(), 1);
        assert_eq!("0.0.0.0:1-65535".parse::<MllpListen>().unwrap().candidates(&sandbox(1)).count(), 65_535);
        for faulty in
            ["", "2575", "localhost:0", "127.0.0.1", "127.0.0.1:9-1", "127.0.0.1:0-9", "127.0.0.1:70000", "::1:x"]
        {
            assert!(faulty.parse::<MllpListen>().is_err(), "{faulty}");
        }
    }

    #[test]
    fn the_host_is_one_that_clients_can_use() {
        let everywhere: MllpListen = "0.0.0.0:0".parse().unwrap();
        assert_eq!(everywhere.told_host("https://verial.example:8443/x"), "verial.example");
        assert_eq!(everywhere.told_host("http://[::1]:8080"), "::1");
        assert_eq!(MllpListen::LOOPBACK.told_host("https://verial.example"), "127.0.0.1");
    }
}
