//! The MLLP ports of this node: one TCP port for each HL7 sandbox, so that a sender needs only a host and a port.
//!
//! A port is opened when the credentials of its sandbox are first shown by this node, and closed when the sandbox ends. Any
//! node may receive the messages of a sandbox.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use app::{App, AppError};
use model::SandboxId;
use model::playground::{Sandbox, Status};
use model::run::StartedSandbox;
use model::simulator::SimulatorType;
use tokio::sync::watch;

use super::{ConnectionLimits, MllpListen, listener};
use crate::net;

pub(crate) struct MllpPorts {
    app: App,
    listen: MllpListen,
    limits: ConnectionLimits,
    open: Mutex<HashMap<SandboxId, OpenPort>>,
}

struct OpenPort {
    number: u16,
    /// Dropped to close the port and its connections.
    _keep_open: watch::Sender<()>,
}

impl MllpPorts {
    pub(crate) fn new(app: App, listen: MllpListen) -> Arc<Self> {
        let limits = ConnectionLimits::of_server(app.limits());
        let ports = Arc::new(Self { app, listen, limits, open: Mutex::default() });
        let closing = Arc::downgrade(&ports);
        ports.app.on_sandbox_end(move |sandbox| {
            if let Some(ports) = closing.upgrade() {
                ports.lock().remove(sandbox);
            }
        });
        ports
    }

    /// Opens the port of an active HL7 sandbox and adds it to the credentials.
    pub(crate) fn add_to(&self, sandbox: &mut Sandbox, base: &str) {
        if has_port(sandbox) {
            let port = self.open(&sandbox.id);
            self.add(&mut sandbox.credentials, port, base);
        }
    }

    /// Adds the port if it is open. For lists, which show many sandboxes.
    pub(crate) fn add_open_to(&self, sandbox: &mut Sandbox, base: &str) {
        if has_port(sandbox) {
            let port = self.lock().get(&sandbox.id).map(|port| port.number);
            self.add(&mut sandbox.credentials, port, base);
        }
    }

    /// The same as `add_to` for the sandboxes of a task that was started.
    pub(crate) fn add_to_started(&self, sandbox: &mut StartedSandbox, base: &str) {
        if sandbox.r#type == SimulatorType::Hl7 {
            let port = self.open(&sandbox.id);
            self.add(&mut sandbox.credentials, port, base);
        }
    }

    fn add(&self, credentials: &mut BTreeMap<String, String>, port: Option<u16>, base: &str) {
        if let Some(port) = port {
            credentials.insert("mllp_host".to_owned(), self.listen.client_host(base));
            credentials.insert("mllp_port".to_owned(), port.to_string());
        }
    }

    /// The number of the sandbox's port, which is opened if necessary. None if no port is left.
    fn open(&self, sandbox: &SandboxId) -> Option<u16> {
        let mut open = self.lock();
        if let Some(port) = open.get(sandbox) {
            return Some(port.number);
        }
        if open.len() >= self.listen.max_ports() {
            tracing::warn!(%sandbox, "no MLLP port is left; the sandbox can only be reached over HTTP");
            return None;
        }
        let socket = self.listen.candidates(sandbox).find_map(|address| net::listen(address).ok())?;
        let number = socket.local_addr().ok()?.port();
        let (keep_open, closed) = watch::channel(());
        tokio::spawn(listener::accept(self.app.clone(), socket, sandbox.clone(), closed, self.limits.clone()));
        open.insert(sandbox.clone(), OpenPort { number, _keep_open: keep_open });
        Some(number)
    }

    /// Called before the server stops.
    pub(crate) fn close_all(&self) {
        self.lock().clear();
    }

    /// Closes the ports of sandboxes that have ended on any node. Called every few seconds.
    pub(crate) async fn sweep(&self) -> Result<(), AppError> {
        let open: Vec<SandboxId> = self.lock().keys().cloned().collect();
        for ended in app::sandboxes::ended(&self.app, open).await? {
            self.lock().remove(&ended);
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SandboxId, OpenPort>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn has_port(sandbox: &Sandbox) -> bool {
    sandbox.r#type == SimulatorType::Hl7 && sandbox.status == Status::Active
}
