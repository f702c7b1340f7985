//! The addresses at which clients reach this server.

use crate::{App, SftpAddress};

#[derive(Clone, Debug)]
pub(crate) struct Addresses {
    /// The URL of the HTTP server: `https://verial.example`.
    pub(crate) base: String,
    sftp: Option<SftpAddress>,
}

impl App {
    /// For a caller that reaches the HTTP server at this URL.
    pub(crate) fn addresses(&self, base: &str) -> Addresses {
        Addresses { base: base.to_owned(), sftp: self.inner.sftp.clone() }
    }
}

impl Addresses {
    /// Host and port of the SFTP server, if there is one.
    pub(crate) fn sftp(&self) -> Option<(String, u16)> {
        let SftpAddress { host, port } = self.sftp.as_ref()?;
        Some((host.clone().unwrap_or_else(|| host_of(&self.base)), *port))
    }
}

/// `https://verial.example:8080/v` is at `verial.example`.
fn host_of(url: &str) -> String {
    let after_scheme = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = after_scheme.split('/').next().unwrap_or_default();
    let host = match authority.strip_prefix('[') {
        Some(rest) => rest.split(']').next(),
        None => authority.split(':').next(),
    };
    host.unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_of_an_address() {
        for (url, host) in
            [("http://127.0.0.1:8080", "127.0.0.1"), ("https://a.example/b", "a.example"), ("http://[::1]:80", "::1")]
        {
            assert_eq!(host_of(url), host);
        }
    }
}
