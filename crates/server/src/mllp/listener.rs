//! Accepts a limited number of connections on the port of a sandbox.

use std::sync::Arc;
use std::time::Duration;

use app::App;
use model::SandboxId;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, watch};

use super::ConnectionLimits;
use super::connection::Connection;

/// Pause after `accept` failed, for example because the process is out of file descriptors.
const ACCEPT_RETRY_PAUSE: Duration = Duration::from_millis(100);

/// Until the sender of `closed` is dropped.
pub(super) async fn accept(
    app: App,
    listener: TcpListener,
    sandbox: SandboxId,
    mut closed: watch::Receiver<()>,
    server_limits: ConnectionLimits,
) {
    let limits = ConnectionLimits::of_sandbox();
    loop {
        let accepted = tokio::select! {
            _ = closed.changed() => return,
            accepted = listener.accept() => accepted,
        };
        let Ok((stream, _)) = accepted else {
            tokio::time::sleep(ACCEPT_RETRY_PAUSE).await;
            continue;
        };
        // A connection over the limit is closed at once.
        if let (Ok(sandbox_permit), Ok(server_permit)) = (limits.try_connect(), server_limits.try_connect()) {
            let access = app::sandboxes::hl7::by_port(&app, &sandbox).await;
            let Ok(Some(access)) = access else { continue };
            let frames = [Arc::clone(&limits.long_frames), Arc::clone(&server_limits.long_frames)];
            let connection = Connection::new(app.clone(), access, stream, frames);
            tokio::spawn(run(connection, closed.clone(), (sandbox_permit, server_permit)));
        }
    }
}

/// Serves a connection until it ends or its port is closed.
async fn run(
    mut connection: Connection<TcpStream>,
    mut closed: watch::Receiver<()>,
    _permits: (OwnedSemaphorePermit, OwnedSemaphorePermit),
) {
    tokio::select! {
        _ = closed.changed() => {}
        () = connection.serve() => {}
    }
}
