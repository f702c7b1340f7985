//! Names are resolved once, what they lead to is looked at, and the connection goes to just these addresses: a name whose
//! answer changes between the look and the call leads nowhere else.

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

/// A name that leads into the operator's network without the operator's word.
#[derive(Debug)]
pub(crate) struct LeadsInside(pub(crate) String);

impl fmt::Display for LeadsInside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} leads to an address that may not be called", self.0)
    }
}

impl std::error::Error for LeadsInside {}

impl Names {
    /// The addresses of a name or of an address; one that may not be called refuses all of them.
    pub(crate) async fn find(
        &self,
        host: &str,
        port: u16,
    ) -> Result<Vec<SocketAddr>, Box<dyn std::error::Error + Send + Sync>> {
        let found = self.look_up(host, port).await?;
        let is_literal = host.parse::<std::net::IpAddr>().is_ok();
        if !is_literal && found.iter().any(|address| !self.allowed.may_lead_to(host, address.ip())) {
            return Err(Box::new(LeadsInside(host.to_owned())));
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
