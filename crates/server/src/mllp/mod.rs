//! HL7 v2 over MLLP: accepts connections on the ports of sandboxes, so many and no more.

mod connection;

use std::sync::Arc;
use std::time::Duration;

use app::App;
use app::mllp::OpenPort;
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};

use connection::Connection;

/// Connections to one sandbox.
const MOST_PER_SANDBOX: usize = 1000;
/// Long messages that are held in memory at a time, by everyone together. Short ones need no leave.
const MOST_LONG_FRAMES: usize = 4;
/// After the system could not give a connection, for want of descriptors.
const PAUSE: Duration = Duration::from_millis(100);

/// What all connections share.
#[derive(Clone)]
struct Room {
    connections: Arc<Semaphore>,
    long_frames: Arc<Semaphore>,
}

/// Serves ports as they are opened, until there are no more.
pub(crate) async fn serve(app: App, mut opened: mpsc::UnboundedReceiver<OpenPort>) {
    let room = Room {
        connections: Arc::new(Semaphore::new(app.limits().mllp_connections as usize)),
        long_frames: Arc::new(Semaphore::new(MOST_LONG_FRAMES)),
    };
    while let Some(port) = opened.recv().await {
        tokio::spawn(listen(app.clone(), port, room.clone()));
    }
}

async fn listen(app: App, port: OpenPort, room: Room) {
    let OpenPort { listener, sandbox, mut closed } = port;
    let own = Room {
        connections: Arc::new(Semaphore::new(MOST_PER_SANDBOX)),
        // Of one sandbox only one at a time, so that it does not keep out the others.
        long_frames: Arc::new(Semaphore::new(1)),
    };
    loop {
        let accepted = tokio::select! {
            _ = closed.changed() => return,
            accepted = listener.accept() => accepted,
        };
        let Ok((stream, _)) = accepted else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        // One too many is closed at once: its sender learns that nobody will answer.
        if let (Ok(here), Ok(anywhere)) = (take(&own.connections), take(&room.connections)) {
            let found = app::sandboxes::hl7::by_port(&app, &sandbox).await;
            let Ok(Some(access)) = found else { continue };
            let frames = [Arc::clone(&own.long_frames), Arc::clone(&room.long_frames)];
            let connection = Connection::new(app.clone(), access, stream, frames);
            tokio::spawn(hold(connection, closed.clone(), (here, anywhere)));
        }
    }
}

fn take(room: &Arc<Semaphore>) -> Result<OwnedSemaphorePermit, tokio::sync::TryAcquireError> {
    Arc::clone(room).try_acquire_owned()
}

/// A connection ends by itself, or with its port.
async fn hold(
    mut connection: Connection<TcpStream>,
    mut closed: watch::Receiver<()>,
    _places: (OwnedSemaphorePermit, OwnedSemaphorePermit),
) {
    tokio::select! {
        _ = closed.changed() => {}
        () = connection.serve() => {}
    }
}
