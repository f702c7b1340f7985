//! The operator's list of servers that may be called: hosts, hosts with a port, and networks.

use std::net::IpAddr;

use super::inside::is_public;

/// The values of `--allow-host`: `cds.example.org`, `cds.example.org:8443`, `10.0.0.5:8080`, `10.1.0.0/16`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Allowed {
    /// In lower case, as they are written, without the brackets of IPv6.
    hosts: Vec<String>,
    networks: Vec<Network>,
}

/// Addresses that begin with the same bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Network {
    address: IpAddr,
    bits: u8,
}

impl Allowed {
    pub(crate) fn new(entries: &[String]) -> Self {
        let mut allowed = Self::default();
        for entry in entries {
            match Network::read(entry) {
                Some(network) => allowed.networks.push(network),
                None => allowed.hosts.push(plain(entry)),
            }
        }
        allowed
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.hosts.is_empty() && self.networks.is_empty()
    }

    /// Whether this host may be called at this port. The addresses of a name are checked when it is resolved.
    pub(crate) fn names(&self, host: &str, port: u16) -> bool {
        let host = plain(host);
        let with_port = format!("{host}:{port}");
        let is_named = self.hosts.iter().any(|known| *known == host || *known == with_port);
        is_named || host.parse().is_ok_and(|address| self.has_network_of(address))
    }

    /// Whether an allowed name may resolve to this address: a public one, or one that is allowed itself. Otherwise the owner
    /// of a name could direct requests into the operator's network.
    pub(crate) fn may_lead_to(&self, name: &str, address: IpAddr) -> bool {
        let address = address.to_canonical();
        let is_own_machine = plain(name) == "localhost" && address.is_loopback();
        let is_named = || self.hosts.iter().any(|known| known.parse() == Ok(address));
        is_own_machine || is_public(address) || is_named() || self.has_network_of(address)
    }

    fn has_network_of(&self, address: IpAddr) -> bool {
        self.networks.iter().any(|network| network.has(address.to_canonical()))
    }
}

impl Network {
    fn read(entry: &str) -> Option<Self> {
        let (address, bits) = entry.split_once('/')?;
        let (address, bits) = (address.parse::<IpAddr>().ok()?, bits.parse::<u8>().ok()?);
        (bits <= width(address)).then_some(Self { address, bits })
    }

    fn has(self, address: IpAddr) -> bool {
        let shift = |address: IpAddr| u32::from(width(address).saturating_sub(self.bits));
        let start = |address: IpAddr| number(address).checked_shr(shift(address)).unwrap_or(0);
        self.address.is_ipv4() == address.is_ipv4() && start(self.address) == start(address)
    }
}

fn width(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

fn number(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => u32::from(address).into(),
        IpAddr::V6(address) => address.into(),
    }
}

/// In lower case, without the brackets of IPv6 and without the dot that ends a whole DNS name.
fn plain(host: &str) -> String {
    let host = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(entries: &[&str]) -> Allowed {
        Allowed::new(&entries.iter().map(|entry| (*entry).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn a_name_leads_inside_only_where_the_operator_says_so() {
        let inside =
            ["127.0.0.1", "10.0.0.5", "169.254.169.254", "::1", "::ffff:10.0.0.5", "fd00::1", "64:ff9b::a00:5"];
        let list = allowed(&["cds.example.org", "localhost:8080"]);
        for address in inside {
            assert!(!list.may_lead_to("cds.example.org", address.parse().unwrap()), "{address}");
        }
        assert!(list.may_lead_to("cds.example.org", "93.184.216.34".parse().unwrap()));
        assert!(list.may_lead_to("localhost", "127.0.0.1".parse().unwrap()));
        assert!(!list.may_lead_to("localhost", "10.0.0.5".parse().unwrap()));
        for entry in ["10.0.0.5", "10.0.0.0/8", "0.0.0.0/0"] {
            let list = allowed(&["cds.example.org", entry]);
            assert!(list.may_lead_to("cds.example.org", "10.0.0.5".parse().unwrap()), "{entry}");
            assert!(list.may_lead_to("cds.example.org", "::ffff:10.0.0.5".parse().unwrap()), "{entry}");
            assert!(!list.may_lead_to("cds.example.org", "::1".parse().unwrap()), "{entry}");
        }
    }

    #[test]
    fn networks_name_the_addresses_in_them() {
        let list = allowed(&["10.1.0.0/16", "fd00::/8", "192.168.0.7/32"]);
        for (host, is_named) in [
            ("10.1.2.3", true),
            ("10.2.0.1", false),
            ("[fd12::1]", true),
            ("[fe80::1]", false),
            ("192.168.0.7", true),
            ("192.168.0.8", false),
            ("cds.example.org", false),
        ] {
            assert_eq!(list.names(host, 80), is_named, "{host}");
        }
        assert!(!allowed(&["10.0.0.0/33", "nonsense/8"]).names("10.0.0.1", 80));
    }
}
