//! The address of MLLP ports: `HOST:0` for free ports, `HOST:FIRST-LAST` for a range.

use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;

use model::{Id, SandboxId};

/// Where the server opens MLLP ports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MllpListen {
    host: IpAddr,
    /// None for any free port.
    range: Option<RangeInclusive<u16>>,
}

/// Maximum number of ports if there is no range. Each needs a file descriptor.
const MAX_FREE_PORTS: usize = 1000;

impl MllpListen {
    /// Free ports on the loopback interface.
    pub const LOOPBACK: Self = Self { host: IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), range: None };

    pub(super) fn max_ports(&self) -> usize {
        self.range.as_ref().map_or(MAX_FREE_PORTS, ExactSizeIterator::len)
    }

    /// The addresses to try, in order. In a range, the first port depends on the sandbox, so that it gets the same port
    /// after a restart unless another sandbox has taken it.
    pub(super) fn candidates(&self, sandbox: &SandboxId) -> impl Iterator<Item = SocketAddr> {
        let range = self.range.clone().unwrap_or(0..=0);
        let (first, count) = (u64::from(*range.start()), range.len() as u64);
        let start = hash(sandbox);
        let port = move |offset: u64| first + (start.wrapping_add(offset)) % count;
        let host = self.host;
        (0..count).filter_map(move |offset| Some(SocketAddr::new(host, u16::try_from(port(offset)).ok()?)))
    }

    /// The host that clients connect to: the listening address, or the host of the API if that is every address.
    pub(super) fn client_host(&self, base: &str) -> String {
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

/// FNV-1a, which is the same in every process.
fn hash(sandbox: &SandboxId) -> u64 {
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    sandbox.as_str().bytes().fold(0xcbf2_9ce4_8422_2325, mix)
}

impl std::str::FromStr for MllpListen {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let invalid =
            || "must be HOST:0 for free ports or HOST:FIRST-LAST for a range, as 127.0.0.1:2575-2674".to_owned();
        let (host, ports) = text.rsplit_once(':').ok_or_else(invalid)?;
        let host = host.trim_start_matches('[').trim_end_matches(']').parse().map_err(|_| invalid())?;
        let port = |text: &str| text.parse::<u16>().map_err(|_| invalid());
        let (first, last) = match ports.split_once('-') {
            Some((first, last)) => (port(first)?, port(last)?),
            None => (port(ports)?, port(ports)?),
        };
        match (first, last) {
            (0, 0) => Ok(Self { host, range: None }),
            (1.., _) if first <= last => Ok(Self { host, range: Some(first..=last) }),
            _ => Err(invalid()),
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
    fn addresses_are_parsed() {
        assert_eq!("127.0.0.1:0".parse(), Ok(MllpListen::LOOPBACK));
        let range: MllpListen = "[::1]:2575-2577".parse().unwrap();
        let mut ports: Vec<u16> = range.candidates(&sandbox(7)).map(|address| address.port()).collect();
        assert_eq!(ports, range.candidates(&sandbox(7)).map(|address| address.port()).collect::<Vec<_>>());
        ports.sort_unstable();
        assert_eq!(ports, [2575, 2576, 2577]);
        assert_eq!("0.0.0.0:2575".parse::<MllpListen>().unwrap().max_ports(), 1);
        assert_eq!("0.0.0.0:1-65535".parse::<MllpListen>().unwrap().candidates(&sandbox(1)).count(), 65_535);
        for invalid in
            ["", "2575", "localhost:0", "127.0.0.1", "127.0.0.1:9-1", "127.0.0.1:0-9", "127.0.0.1:70000", "::1:x"]
        {
            assert!(invalid.parse::<MllpListen>().is_err(), "{invalid}");
        }
    }

    #[test]
    fn the_client_host_is_reachable() {
        let everywhere: MllpListen = "0.0.0.0:0".parse().unwrap();
        assert_eq!(everywhere.client_host("https://verial.example:8443/x"), "verial.example");
        assert_eq!(everywhere.client_host("http://[::1]:8080"), "::1");
        assert_eq!(MllpListen::LOOPBACK.client_host("https://verial.example"), "127.0.0.1");
    }
}
