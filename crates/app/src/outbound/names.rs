//! Resolves names once, checks the addresses, and connects to exactly these addresses. A name cannot resolve to another
//! address between the check and the connection.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::allowed::Allowed;

#[derive(Clone, Debug)]
pub(crate) struct Names {
    pub(super) allowed: Arc<Allowed>,
    #[cfg(test)]
    pub(super) known: std::collections::HashMap<String, Vec<SocketAddr>>,
}

/// A name that resolves to an internal address that the operator has not allowed.
#[derive(Debug)]
pub(crate) struct InternalAddress(pub(crate) String);

impl fmt::Display for InternalAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, which resolves to an internal address", self.0)
    }
}

impl std::error::Error for InternalAddress {}

impl Names {
    /// The addresses of a host. Fails if one of them may not be called.
    pub(crate) async fn find(
        &self,
        host: &str,
        port: u16,
    ) -> Result<Vec<SocketAddr>, Box<dyn std::error::Error + Send + Sync>> {
        let found = self.look_up(host, port).await?;
        let is_literal = host.parse::<std::net::IpAddr>().is_ok();
        if !is_literal && found.iter().any(|address| !self.allowed.may_lead_to(host, address.ip())) {
            return Err(Box::new(InternalAddress(host.to_owned())));
        }
        Ok(found)
    }

    async fn look_up(&self, host: &str, port: u16) -> std::io::Result<Vec<SocketAddr>> {
        #[cfg(test)]
        if let Some(known) = self.known.get(host) {
            return Ok(known.clone());
        }
        Ok(tokio::net::lookup_host((host, port)).await?.collect())
    }
}

impl Resolve for Names {
    fn resolve(&self, name: Name) -> Resolving {
        let names = self.clone();
        Box::pin(async move {
            let found = names.find(name.as_str(), 0).await?;
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}
