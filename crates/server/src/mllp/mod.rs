//! HL7 v2 over MLLP: accepts a limited number of connections on the ports of sandboxes.

mod connection;

use std::sync::Arc;
use std::time::Duration;

use app::App;
use app::mllp::OpenPort;
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};

use connection::Connection;

/// Maximum number of connections to one sandbox.
const MAX_CONNECTIONS_PER_SANDBOX: usize = 1000;
/// Long messages of all connections that are in memory at a time. Short ones are not limited.
const MAX_LONG_FRAMES: usize = 4;
/// Pause after `accept` failed, for example because the process is out of file descriptors.
const ACCEPT_RETRY_PAUSE: Duration = Duration::from_millis(100);

/// Semaphores that limit connections and long messages: one pair for the server, one for each sandbox.
#[derive(Clone)]
struct Limits {
    connections: Arc<Semaphore>,
    long_frames: Arc<Semaphore>,
}

/// Serves ports as sandboxes open them, until the channel closes.
pub(crate) async fn serve(app: App, mut opened: mpsc::UnboundedReceiver<OpenPort>) {
    let limits = Limits {
        connections: Arc::new(Semaphore::new(app.limits().mllp_connections as usize)),
        long_frames: Arc::new(Semaphore::new(MAX_LONG_FRAMES)),
    };
    while let Some(port) = opened.recv().await {
        tokio::spawn(listen(app.clone(), port, limits.clone()));
    }
}

async fn listen(app: App, port: OpenPort, limits: Limits) {
    let OpenPort { listener, sandbox, mut closed } = port;
    let sandbox_limits = Limits {
        connections: Arc::new(Semaphore::new(MAX_CONNECTIONS_PER_SANDBOX)),
        // One at a time per sandbox, so that one sandbox cannot block the others.
        long_frames: Arc::new(Semaphore::new(1)),
    };
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
        if let (Ok(sandbox_permit), Ok(server_permit)) =
            (try_acquire(&sandbox_limits.connections), try_acquire(&limits.connections))
        {
            let access = app::sandboxes::hl7::by_port(&app, &sandbox).await;
            let Ok(Some(access)) = access else { continue };
            let frames = [Arc::clone(&sandbox_limits.long_frames), Arc::clone(&limits.long_frames)];
            let connection = Connection::new(app.clone(), access, stream, frames);
            tokio::spawn(run(connection, closed.clone(), (sandbox_permit, server_permit)));
        }
    }
}

fn try_acquire(semaphore: &Arc<Semaphore>) -> Result<OwnedSemaphorePermit, tokio::sync::TryAcquireError> {
    Arc::clone(semaphore).try_acquire_owned()
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
