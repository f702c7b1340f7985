//! An SFTP client for tests.

use std::sync::Arc;
use std::sync::Mutex;

use russh::client::{self, Handle};
use russh::keys::PublicKeyOrCertificate;
use russh_sftp::client::SftpSession;
use serde_json::Value;

pub use russh_sftp::client::error::Error as SftpError;
pub use russh_sftp::protocol::{OpenFlags, StatusCode};

pub struct SftpClient {
    pub files: SftpSession,
    /// The server's public key, in debug format.
    pub host_key: String,
    connection: Handle<AcceptAnyHostKey>,
}

/// Accepts every host key and records it.
struct AcceptAnyHostKey(Arc<Mutex<String>>);

impl client::Handler for AcceptAnyHostKey {
    type Error = russh::Error;

    async fn check_server_key(&mut self, key: &PublicKeyOrCertificate) -> Result<bool, Self::Error> {
        *self.0.lock().unwrap() = format!("{key:?}");
        Ok(true)
    }
}

impl SftpClient {
    /// Connects with a sandbox's credentials. `None` when they are rejected.
    pub async fn connect(credentials: &Value) -> Option<Self> {
        let text = |name: &str| credentials[name].as_str().unwrap_or_default().to_owned();
        let port: u16 = text("sftp_port").parse().expect("a port");
        let host_key = Arc::new(Mutex::default());
        let handler = AcceptAnyHostKey(Arc::clone(&host_key));
        let address = (text("sftp_host"), port);
        let mut connection = client::connect(Arc::default(), address, handler).await.ok()?;
        let login = connection.authenticate_password(text("username"), text("password")).await.ok()?;
        if !login.success() {
            return None;
        }
        let channel = connection.channel_open_session().await.expect("a channel");
        channel.request_subsystem(true, "sftp").await.expect("a subsystem");
        let files = SftpSession::new(channel.into_stream()).await.expect("a session");
        // A slow machine must not fail the test.
        files.set_timeout(120);
        let host_key = host_key.lock().unwrap().clone();
        Some(Self { files, host_key, connection })
    }

    /// Whether the server has closed the connection.
    pub fn is_closed(&self) -> bool {
        self.connection.is_closed()
    }
}
