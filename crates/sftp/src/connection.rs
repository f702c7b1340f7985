//! One SSH connection: a password, then channels that carry SFTP and nothing else.

use std::collections::HashMap;
use std::sync::Arc;

use app::App;
use app::sandboxes::files::FileDrop;
use app::sandboxes::files::login::login;
use russh::server::{Auth, ChannelOpenHandle, Handler, Msg, PublicKeyOffer, Session};
use russh::{Channel, ChannelId, Disconnect, MethodKind, MethodSet, Pty};

use crate::crowd::Place;
use crate::inbox::{self, Inlet, Unread};
use crate::session::{self, Ends};

/// Channels of one connection that are open at once.
pub(crate) const MOST_CHANNELS: usize = 8;

pub(crate) struct Connection {
    app: App,
    place: Arc<Place>,
    files: Option<FileDrop>,
    /// Channels that do not carry anything yet.
    waiting: HashMap<ChannelId, Ends>,
    /// Where the bytes of channels go; of a closed one, until its session has ended too.
    inlets: HashMap<ChannelId, Inlet>,
    unread: Arc<Unread>,
}

impl Connection {
    pub(crate) fn new(app: App, place: Arc<Place>, unread: Arc<Unread>) -> Self {
        Self { app, place, files: None, waiting: HashMap::new(), inlets: HashMap::new(), unread }
    }

    async fn admit(&mut self, user: &str, password: &str) -> bool {
        if !self.place.may_try() || self.files.is_some() {
            return false;
        }
        match login(&self.app, user, password).await {
            Ok(Some(files)) if self.place.log_in(files.sandbox()) => {
                self.files = Some(files);
                true
            }
            Ok(Some(_)) => false,
            Ok(None) => {
                self.place.note_refusal();
                false
            }
            Err(error) => {
                tracing::error!(%error, "a login by SFTP could not be judged");
                false
            }
        }
    }
}

/// Whoever mistyped it may try again, as often as the configuration lets.
fn wrong_password() -> Auth {
    let again = MethodSet::from(&[MethodKind::Password][..]);
    Auth::Reject { proceed_with_methods: Some(again), partial_success: false }
}

/// What a request for anything but files is told.
fn refuse(session: &mut Session, channel: ChannelId) -> Result<(), russh::Error> {
    session.channel_failure(channel)
}

impl Handler for Connection {
    type Error = russh::Error;

    async fn auth_password(&mut self, user: &str, password: &str) -> Result<Auth, Self::Error> {
        Ok(if self.admit(user, password).await { Auth::Accept } else { wrong_password() })
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
        self.inlets.retain(|_, inlet| inlet.has_reader());
        // Dropping the reply refuses the channel.
        if self.inlets.len() < MOST_CHANNELS && self.files.is_some() {
            let id = channel.id();
            // The library's own queue has no reader, so it keeps nothing: `data` has it all.
            let (_, outlet) = channel.split();
            let (inlet, inbox) = inbox::pipe(&self.unread);
            self.inlets.insert(id, inlet);
            self.waiting.insert(id, Ends { inbox, outlet });
            reply.accept().await;
        }
        Ok(())
    }

    async fn channel_close(&mut self, channel: ChannelId, _: &mut Session) -> Result<(), Self::Error> {
        self.waiting.remove(&channel);
        if let Some(inlet) = self.inlets.get(&channel) {
            inlet.close();
        }
        Ok(())
    }

    async fn channel_eof(&mut self, channel: ChannelId, _: &mut Session) -> Result<(), Self::Error> {
        if let Some(inlet) = self.inlets.get(&channel) {
            inlet.end();
        }
        Ok(())
    }

    async fn data(&mut self, channel: ChannelId, data: &[u8], session: &mut Session) -> Result<(), Self::Error> {
        let words = match self.inlets.get(&channel) {
            // Nobody would read it.
            Some(_) if self.waiting.contains_key(&channel) => "ask for sftp first",
            Some(inlet) if !inlet.push(data) => "read the answers before you ask for more",
            _ => return Ok(()),
        };
        self.waiting.clear();
        self.inlets.clear();
        session.disconnect(Disconnect::ProtocolError, words, "en")
    }

    async fn subsystem_request(&mut self, id: ChannelId, name: &str, session: &mut Session) -> Result<(), Self::Error> {
        let files = self.files.clone().filter(|_| name == "sftp");
        let (Some(files), Some(ends)) = (files, self.waiting.remove(&id)) else { return refuse(session, id) };
        session.channel_success(id)?;
        let (place, handle) = (Arc::clone(&self.place), session.handle());
        tokio::spawn(async move {
            session::run(ends, files, &place).await;
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
        refuse(session, channel)
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
        refuse(session, channel)
    }

    async fn env_request(
        &mut self,
        channel: ChannelId,
        _: &str,
        _: &str,
        session: &mut Session,
    ) -> Result<(), Self::Error> {
        refuse(session, channel)
    }

    async fn shell_request(&mut self, channel: ChannelId, session: &mut Session) -> Result<(), Self::Error> {
        refuse(session, channel)
    }

    async fn exec_request(&mut self, channel: ChannelId, _: &[u8], session: &mut Session) -> Result<(), Self::Error> {
        refuse(session, channel)
    }
}
