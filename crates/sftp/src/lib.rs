//! The SFTP face: file drops over SSH. Authenticates, reads packets, calls the verbs of `app`, answers. There is no
//! shell, no program and no forwarding behind it, and no file of this machine.

mod connection;
mod crowd;
mod fault;
mod inbox;
mod line;
mod names;
mod open;
mod packets;
mod session;

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

use connection::Connection;
use crowd::Crowd;
use line::Line;

/// Whoever has not logged in by then is sent away.
const LOGIN_WITHIN: Duration = Duration::from_secs(30);
/// A session in which nothing comes for so long is over.
const IDLE: Duration = Duration::from_secs(600);
/// Wrong passwords are answered after this time, whatever is wrong with them.
const REJECTION: Duration = Duration::from_secs(1);
const MOST_ATTEMPTS: usize = 4;

/// Serves until `shutdown` resolves; sessions that are open then end.
pub async fn serve(listener: TcpListener, app: App, shutdown: impl Future<Output = ()>) -> Result<(), AppError> {
    let config = Arc::new(configured(host_key::seed(&app).await?));
    let crowd = Arc::new(Crowd::new(app.limits()));
    tokio::pin!(shutdown);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut shutdown => break,
        };
        match accepted {
            Ok((stream, peer)) => receive(&app, &config, &crowd, stream, peer),
            Err(error) => {
                tracing::warn!(%error, "a connection by SFTP could not be taken");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
    crowd.send_home();
    Ok(())
}

/// Only passwords.
fn configured(seed: [u8; 32]) -> Config {
    Config {
        server_id: SshId::Standard("SSH-2.0-Verial".into()),
        methods: MethodSet::from(&[MethodKind::Password][..]),
        auth_rejection_time: REJECTION,
        auth_rejection_time_initial: Some(Duration::ZERO),
        keys: vec![PrivateKey::from(Ed25519Keypair::from_seed(&seed))],
        window_size: inbox::WINDOW,
        max_auth_attempts: MOST_ATTEMPTS,
        inactivity_timeout: Some(IDLE),
        nodelay: true,
        ..Config::default()
    }
}

/// A connection in a task of its own: whatever goes wrong there, goes wrong there only.
fn receive(app: &App, config: &Arc<Config>, crowd: &Arc<Crowd>, stream: TcpStream, peer: SocketAddr) {
    let Some(place) = crowd.enter(peer.ip()) else {
        tracing::debug!(%peer, "too many connections by SFTP");
        return;
    };
    let (config, app) = (Arc::clone(config), app.clone());
    tokio::spawn(async move {
        let unread = place.unread();
        let line = Line::new(stream, Arc::clone(&unread), place.end());
        let connection = Connection::new(app, Arc::clone(&place), unread);
        let begun = tokio::time::timeout(LOGIN_WITHIN, russh::server::run_stream(config, line, connection)).await;
        let Ok(Ok(mut session)) = begun else { return };
        tokio::select! {
            ended = &mut session => tell(peer, ended),
            () = place.wait_for_login(LOGIN_WITHIN) => {
                tokio::select! {
                    ended = &mut session => tell(peer, ended),
                    () = place.ended() => {}
                }
            }
        }
        place.send_home();
    });
}

fn tell(peer: SocketAddr, ended: Result<(), russh::Error>) {
    if let Err(error) = ended {
        tracing::debug!(%peer, %error, "a connection by SFTP ended");
    }
}
