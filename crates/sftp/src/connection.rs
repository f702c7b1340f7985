//! One SSH connection: password authentication, then channels that only accept the `sftp` subsystem.

use std::collections::HashMap;
use std::sync::Arc;

use app::App;
use app::sandboxes::files::FileDrop;
use app::sandboxes::files::login::login;
use russh::server::{Auth, ChannelOpenHandle, Handler, Msg, PublicKeyOffer, Session};
use russh::{Channel, ChannelId, Disconnect, MethodKind, MethodSet, Pty};

use crate::connection_limits::ConnectionSlot;
use crate::receive_buffer::{self, BufferWriter, UnreadBytes};
use crate::session::{self, ChannelEnds};

/// Open channels of one connection.
pub(crate) const MAX_CHANNELS: usize = 8;

pub(crate) struct Connection {
    app: App,
    slot: Arc<ConnectionSlot>,
    files: Option<FileDrop>,
    /// Channels whose subsystem was not requested yet.
    waiting: HashMap<ChannelId, ChannelEnds>,
    /// Receive buffers by channel. That of a closed channel is kept until its session has ended.
    buffers: HashMap<ChannelId, BufferWriter>,
    unread: Arc<UnreadBytes>,
}

impl Connection {
    pub(crate) fn new(app: App, slot: Arc<ConnectionSlot>, unread: Arc<UnreadBytes>) -> Self {
        Self { app, slot, files: None, waiting: HashMap::new(), buffers: HashMap::new(), unread }
    }

    async fn log_in(&mut self, user: &str, password: &str) -> bool {
        if !self.slot.may_try_password() || self.files.is_some() {
            return false;
        }
        match login(&self.app, user, password).await {
            Ok(Some(files)) if self.slot.log_in(files.sandbox()) => {
                self.files = Some(files);
                true
            }
            Ok(Some(_)) => false,
            Ok(None) => {
                self.slot.record_failed_login();
                false
            }
            Err(error) => {
                tracing::error!(%error, "an SFTP login could not be checked");
                false
            }
        }
    }
}

/// Rejects the password. The client may try again, as often as the configuration allows.
fn reject_password() -> Auth {
    let methods = MethodSet::from(&[MethodKind::Password][..]);
    Auth::Reject { proceed_with_methods: Some(methods), partial_success: false }
}

/// Rejects a request for anything other than SFTP.
fn reject(session: &mut Session, channel: ChannelId) -> Result<(), russh::Error> {
    session.channel_failure(channel)
}

impl Handler for Connection {
    type Error = russh::Error;

    async fn auth_password(&mut self, user: &str, password: &str) -> Result<Auth, Self::Error> {
        Ok(if self.log_in(user, password).await { Auth::Accept } else { reject_password() })
    }

    async fn auth_publickey_offered(&mut self, _: &str, _: PublicKeyOffer<'_>) -> Result<Auth, Self::Error> {
        Ok(Auth::reject())
    }

    async fn channel_open_session(
        &mut self,
        channel: Channel<Msg>,
        reply: ChannelOpenHandle,
        _: &mut Session,
    ) -> Result<(), Self::Error> {
        self.buffers.retain(|_, buffer| buffer.has_reader());
        // Dropping the reply rejects the channel.
        if self.buffers.len() < MAX_CHANNELS && self.files.is_some() {
            let id = channel.id();
            // The library's own queue has no reader, so it stores nothing. All bytes arrive in `data`.
            let (_, writer) = channel.split();
            let (buffer, reader) = receive_buffer::channel_buffer(&self.unread);
            self.buffers.insert(id, buffer);
            self.waiting.insert(id, ChannelEnds { reader, writer });
            reply.accept().await;
        }
        Ok(())
    }

    async fn channel_close(&mut self, channel: ChannelId, _: &mut Session) -> Result<(), Self::Error> {
        self.waiting.remove(&channel);
        if let Some(buffer) = self.buffers.get(&channel) {
            buffer.close();
        }
        Ok(())
    }

    async fn channel_eof(&mut self, channel: ChannelId, _: &mut Session) -> Result<(), Self::Error> {
        if let Some(buffer) = self.buffers.get(&channel) {
            buffer.end();
        }
        Ok(())
    }

    async fn data(&mut self, channel: ChannelId, data: &[u8], session: &mut Session) -> Result<(), Self::Error> {
        let reason = match self.buffers.get(&channel) {
            // No session reads this channel yet.
            Some(_) if self.waiting.contains_key(&channel) => "request the sftp subsystem before sending data",
            Some(buffer) if !buffer.push(data) => "too many requests without reading the responses",
            _ => return Ok(()),
        };
        self.waiting.clear();
        self.buffers.clear();
        session.disconnect(Disconnect::ProtocolError, reason, "en")
    }

    async fn subsystem_request(&mut self, id: ChannelId, name: &str, session: &mut Session) -> Result<(), Self::Error> {
        let files = self.files.clone().filter(|_| name == "sftp");
        let (Some(files), Some(ends)) = (files, self.waiting.remove(&id)) else { return reject(session, id) };
        session.channel_success(id)?;
        let (slot, handle) = (Arc::clone(&self.slot), session.handle());
        tokio::spawn(async move {
            session::run(ends, files, &slot).await;
            let _ = handle.close(id).await;
        });
        Ok(())
    }

    async fn pty_request(
        &mut self,
        channel: ChannelId,
        _: &str,
        _: u32,
        _: u32,
        _: u32,
        _: u32,
        _: &[(Pty, u32)],
        session: &mut Session,
    ) -> Result<(), Self::Error> {
        reject(session, channel)
    }

    async fn x11_request(
        &mut self,
        channel: ChannelId,
        _: bool,
        _: &str,
        _: &str,
        _: u32,
        session: &mut Session,
    ) -> Result<(), Self::Error> {
        reject(session, channel)
    }

    async fn env_request(
        &mut self,
        channel: ChannelId,
        _: &str,
        _: &str,
        session: &mut Session,
    ) -> Result<(), Self::Error> {
        reject(session, channel)
    }

    async fn shell_request(&mut self, channel: ChannelId, session: &mut Session) -> Result<(), Self::Error> {
        reject(session, channel)
    }

    async fn exec_request(&mut self, channel: ChannelId, _: &[u8], session: &mut Session) -> Result<(), Self::Error> {
        reject(session, channel)
    }
}
