//! A TCP port for each HL7 sandbox, so that a stock MLLP sender needs nothing but a host and a port.
//!
//! Ports are this node's: one is opened when the sandbox's credentials are first told here, and closed when the sandbox
//! ends. What comes in on it goes to the same playground as everything else, so that any node may be the one.

mod listen;
mod push;

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use model::SandboxId;
use model::playground::{Sandbox, Status};
use model::run::StartedSandbox;
use model::simulator::SimulatorType;
use tokio::net::{TcpListener, TcpSocket};
use tokio::runtime::Handle;
use tokio::sync::{mpsc, watch};

pub use listen::MllpListen;
pub(crate) use push::MOST_AT_ONCE;

use crate::{App, AppError};

/// A port that was opened and waits for someone to serve it.
pub struct OpenPort {
    pub listener: TcpListener,
    pub sandbox: SandboxId,
    /// Ends, as its sender goes, when the port is to be closed.
    pub closed: watch::Receiver<()>,
}

/// The ports of this node.
pub(crate) struct Ports {
    listen: Option<MllpListen>,
    open: Mutex<HashMap<SandboxId, Port>>,
    /// Whoever serves the ports; none are opened before there is someone.
    server: OnceLock<(Handle, mpsc::UnboundedSender<OpenPort>)>,
}

struct Port {
    number: u16,
    /// Dropped to close it.
    _open: watch::Sender<()>,
}

/// Connections that the system keeps until they are accepted.
const BACKLOG: u32 = 1024;

impl Ports {
    pub(crate) fn new(listen: Option<MllpListen>) -> Self {
        Self { listen, open: Mutex::default(), server: OnceLock::new() }
    }

    /// The sandbox's port, opened if it has none. None when there is no MLLP here, or no port is left.
    fn open(&self, sandbox: &SandboxId) -> Option<u16> {
        let (listen, (handle, server)) = (self.listen.as_ref()?, self.server.get()?);
        let mut open = self.lock();
        if let Some(port) = open.get(sandbox) {
            return Some(port.number);
        }
        if open.len() >= listen.most() {
            tracing::warn!(%sandbox, "no port is left for MLLP; the sandbox is reached over HTTP only");
            return None;
        }
        let _inside = handle.enter();
        let listener = listen.candidates(sandbox).find_map(|address| bound(address).ok())?;
        let number = listener.local_addr().ok()?.port();
        let (keeper, closed) = watch::channel(());
        server.send(OpenPort { listener, sandbox: sandbox.clone(), closed }).ok()?;
        open.insert(sandbox.clone(), Port { number, _open: keeper });
        Some(number)
    }

    /// Ends the connections of a sandbox too.
    pub(crate) fn close(&self, sandbox: &SandboxId) {
        self.lock().remove(sandbox);
    }

    fn close_all(&self) {
        self.lock().clear();
    }

    fn number(&self, sandbox: &SandboxId) -> Option<u16> {
        self.lock().get(sandbox).map(|port| port.number)
    }

    fn open_ones(&self) -> Vec<SandboxId> {
        self.lock().keys().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SandboxId, Port>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn bound(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

impl App {
    /// The ports as they are opened, for whoever serves them. None if there is no MLLP here, or someone does already.
    pub fn opened_ports(&self) -> Option<mpsc::UnboundedReceiver<OpenPort>> {
        let ports = &self.inner.mllp;
        ports.listen.as_ref()?;
        let (sender, receiver) = mpsc::unbounded_channel();
        ports.server.set((Handle::current(), sender)).ok()?;
        Some(receiver)
    }

    /// Before the server stops.
    pub fn close_ports(&self) {
        self.inner.mllp.close_all();
    }

    /// Closes the ports of sandboxes that have ended, wherever that happened. Called now and then.
    pub async fn sweep_ports(&self) -> Result<(), AppError> {
        let open = self.inner.mllp.open_ones();
        if open.is_empty() {
            return Ok(());
        }
        let ended = self.store().read(move |db| {
            let mut ended = Vec::new();
            for id in &open {
                let found = store::sandboxes::find_any(db, id)?;
                if found.is_none_or(|sandbox| sandbox.torn_down_at.is_some()) {
                    ended.push(id.clone());
                }
            }
            Ok::<_, AppError>(ended)
        });
        ended.await?.iter().for_each(|id| self.inner.mllp.close(id));
        Ok(())
    }

    /// Adds host and port to what is told of a sandbox, and opens the port.
    pub(crate) fn tell_port(&self, sandbox: &mut Sandbox, base: &str) {
        if sandbox.r#type == SimulatorType::Hl7 && sandbox.status == Status::Active {
            let port = self.inner.mllp.open(&sandbox.id);
            self.add(&mut sandbox.credentials, port, base);
        }
    }

    /// The same without opening one: for lists, which tell of many.
    pub(crate) fn tell_open_port(&self, sandbox: &mut Sandbox, base: &str) {
        if sandbox.r#type == SimulatorType::Hl7 && sandbox.status == Status::Active {
            let port = self.inner.mllp.number(&sandbox.id);
            self.add(&mut sandbox.credentials, port, base);
        }
    }

    pub(crate) fn tell_started_port(&self, sandbox: &mut StartedSandbox, base: &str) {
        if sandbox.r#type == SimulatorType::Hl7 {
            let port = self.inner.mllp.open(&sandbox.id);
            self.add(&mut sandbox.credentials, port, base);
        }
    }

    fn add(&self, credentials: &mut std::collections::BTreeMap<String, String>, port: Option<u16>, base: &str) {
        if let (Some(port), Some(listen)) = (port, &self.inner.mllp.listen) {
            credentials.insert("mllp_host".to_owned(), listen.told_host(base));
            credentials.insert("mllp_port".to_owned(), port.to_string());
        }
    }
}
