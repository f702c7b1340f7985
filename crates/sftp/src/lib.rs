//! SFTP server of file drops. Authenticates, reads packets, calls the verbs of `app`, and responds. It offers no shell, no
//! exec and no forwarding, and never touches the file system of the host.

mod attributes;
mod closable_stream;
mod connection;
mod connection_limits;
mod open_files;
mod packets;
mod receive_buffer;
mod session;
mod status;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use app::sandboxes::files::host_key;
use app::{App, AppError};
use russh::keys::PrivateKey;
use russh::keys::ssh_key::private::Ed25519Keypair;
use russh::server::Config;
use russh::{MethodKind, MethodSet, SshId};
use tokio::net::{TcpListener, TcpStream};

use closable_stream::ClosableStream;
use connection::Connection;
use connection_limits::ConnectionLimits;

/// Connections that have not logged in by then are closed.
const LOGIN_TIMEOUT: Duration = Duration::from_secs(30);
/// Connections that send nothing for this long are closed.
const IDLE_TIMEOUT: Duration = Duration::from_secs(600);
/// A rejected login is answered after this time, whatever the reason.
const REJECTION_DELAY: Duration = Duration::from_secs(1);
const MAX_AUTH_ATTEMPTS: usize = 4;

/// Serves until `shutdown` resolves, then closes all connections.
pub async fn serve(listener: TcpListener, app: App, shutdown: impl Future<Output = ()>) -> Result<(), AppError> {
    let config = Arc::new(ssh_config(host_key::seed(&app).await?));
    let limits = Arc::new(ConnectionLimits::new(app.limits()));
    tokio::pin!(shutdown);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut shutdown => break,
        };
        match accepted {
            Ok((stream, peer)) => spawn_connection(&app, &config, &limits, stream, peer),
            Err(error) => {
                tracing::warn!(%error, "an SFTP connection could not be accepted");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
    limits.close_all();
    Ok(())
}

/// The SSH configuration. The only authentication method is a password.
fn ssh_config(seed: [u8; 32]) -> Config {
    Config {
        server_id: SshId::Standard("SSH-2.0-Verial".into()),
        methods: MethodSet::from(&[MethodKind::Password][..]),
        auth_rejection_time: REJECTION_DELAY,
        auth_rejection_time_initial: Some(Duration::ZERO),
        keys: vec![PrivateKey::from(Ed25519Keypair::from_seed(&seed))],
        window_size: receive_buffer::WINDOW_BYTES,
        max_auth_attempts: MAX_AUTH_ATTEMPTS,
        inactivity_timeout: Some(IDLE_TIMEOUT),
        nodelay: true,
        ..Config::default()
    }
}

/// Serves a connection in its own task, so that its errors cannot affect others.
fn spawn_connection(
    app: &App,
    config: &Arc<Config>,
    limits: &Arc<ConnectionLimits>,
    stream: TcpStream,
    peer: SocketAddr,
) {
    let Some(slot) = limits.acquire(peer.ip()) else {
        tracing::debug!(%peer, "too many SFTP connections");
        return;
    };
    let (config, app) = (Arc::clone(config), app.clone());
    tokio::spawn(async move {
        let unread = slot.unread_bytes();
        let stream = ClosableStream::new(stream, Arc::clone(&unread), slot.closed());
        let connection = Connection::new(app, Arc::clone(&slot), unread);
        let started = tokio::time::timeout(LOGIN_TIMEOUT, russh::server::run_stream(config, stream, connection)).await;
        let Ok(Ok(mut session)) = started else { return };
        tokio::select! {
            ended = &mut session => log_end(peer, ended),
            () = slot.wait_for_login(LOGIN_TIMEOUT) => {
                tokio::select! {
                    ended = &mut session => log_end(peer, ended),
                    () = slot.wait_until_closed() => {}
                }
            }
        }
        slot.close();
    });
}

fn log_end(peer: SocketAddr, ended: Result<(), russh::Error>) {
    if let Err(error) = ended {
        tracing::debug!(%peer, %error, "an SFTP connection ended with an error");
    }
}
