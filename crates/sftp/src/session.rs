//! One SFTP session, version 3 (draft-ietf-secsh-filexfer-02): a packet in, a packet out.

use std::time::Duration;

use app::sandboxes::files::{Condition, FileDrop, Move, Parents, Target, TreePath};
use bytes::{Buf, BufMut};
use russh::ChannelWriteHalf;
use russh::server::Msg;
use russh_sftp::protocol::{
    Attrs, Data, Extended, ExtendedReply, File, FileAttributes, Handle, Name, Packet, StatusCode, VERSION, Version,
};

use crate::crowd::Place;
use crate::fault::Status;
use crate::inbox::Inbox;
use crate::names;
use crate::open::{Handles, MOST_HANDLES, MOST_READ};
use crate::packets::{self, Incoming, LONGEST};

/// How often a session looks whether its sandbox still takes traffic.
const LOOK_EVERY: Duration = Duration::from_secs(2);

const POSIX_RENAME: &str = "posix-rename@openssh.com";
const FSYNC: &str = "fsync@openssh.com";
const LIMITS: &str = "limits@openssh.com";

/// The two ends of a channel: what comes, and where answers go.
pub(crate) struct Ends {
    pub(crate) inbox: Inbox,
    pub(crate) outlet: ChannelWriteHalf<Msg>,
}

/// Until the client, the sandbox or the server ends it. What was not closed is gone then.
pub(crate) async fn run(ends: Ends, files: FileDrop, place: &Place) {
    let session = Session { files: files.clone(), handles: Handles::default() };
    tokio::select! {
        ended = session.serve(&ends) => {
            if let Err(error) = ended {
                tracing::debug!(%error, "a session by SFTP broke off");
            }
        }
        () = ends.inbox.gone() => {}
        () = end_of_traffic(&files) => place.send_home(),
        () = place.ended() => {}
    }
}

async fn end_of_traffic(files: &FileDrop) {
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        if let Ok(false) = files.is_open().await {
            return;
        }
    }
}

struct Session {
    files: FileDrop,
    handles: Handles,
}

type Answer = Result<Packet, Status>;

impl Session {
    async fn serve(mut self, ends: &Ends) -> std::io::Result<()> {
        while let Some(incoming) = packets::read(&ends.inbox).await? {
            let answer = match incoming {
                Incoming::Unreadable(answer) => answer,
                Incoming::Packet(packet) => {
                    let id = packet.get_request_id();
                    self.answer(packet).await.unwrap_or_else(|status| packets::status(id, &status))
                }
            };
            packets::write(ends, answer).await?;
        }
        Ok(())
    }

    async fn answer(&mut self, packet: Packet) -> Answer {
        match packet {
            Packet::Init(_) => Ok(greeting()),
            Packet::Open(ask) => {
                let handle = self.handles.open(&self.files, path(&ask.filename)?, ask.pflags).await?;
                Ok(Handle { id: ask.id, handle }.into())
            }
            Packet::Read(ask) => {
                let data = self.handles.read(&ask.handle, ask.offset, ask.len).await?.into();
                Ok(Data { id: ask.id, data }.into())
            }
            Packet::Write(ask) => {
                self.handles.write(&ask.handle, ask.offset, ask.data).await?;
                Ok(packets::done(ask.id))
            }
            Packet::Close(ask) => {
                self.handles.close(&ask.handle).await?;
                Ok(packets::done(ask.id))
            }
            Packet::Fstat(ask) => Ok(Attrs { id: ask.id, attrs: self.handles.attributes(&ask.handle)? }.into()),
            Packet::FSetStat(ask) => self.set_open(ask.id, &ask.handle, &ask.attrs).await,
            Packet::Extended(ask) => self.extended(&ask).await,
            other => self.by_path(other).await,
        }
    }

    /// Requests that name a path.
    async fn by_path(&mut self, packet: Packet) -> Answer {
        let files = &self.files;
        match packet {
            Packet::Stat(ask) => self.stat(ask.id, &ask.path).await,
            Packet::Lstat(ask) => self.stat(ask.id, &ask.path).await,
            Packet::SetStat(ask) => self.set(ask.id, &ask.path, &ask.attrs).await,
            Packet::OpenDir(ask) => {
                let handle = self.handles.open_directory(files, &path(&ask.path)?).await?;
                Ok(Handle { id: ask.id, handle }.into())
            }
            Packet::ReadDir(ask) => Ok(Name { id: ask.id, files: self.handles.next_names(&ask.handle)? }.into()),
            Packet::Remove(ask) => {
                files.delete(&path(&ask.filename)?, Condition::default()).await?;
                Ok(packets::done(ask.id))
            }
            Packet::MkDir(ask) => {
                files.make_directory(&path(&ask.path)?, Parents::Needed).await?;
                Ok(packets::done(ask.id))
            }
            Packet::RmDir(ask) => {
                files.remove_directory(&path(&ask.path)?).await?;
                Ok(packets::done(ask.id))
            }
            Packet::RealPath(ask) => {
                let real = path(&ask.path)?.to_string();
                Ok(Name { id: ask.id, files: vec![File::dummy(real)] }.into())
            }
            Packet::Rename(ask) => self.rename(ask.id, &ask.oldpath, &ask.newpath, false).await,
            // There are no links here.
            _ => Err(Status::unsupported()),
        }
    }

    async fn stat(&self, id: u32, name: &str) -> Answer {
        let entry = self.files.stat(&path(name)?).await?;
        Ok(Attrs { id, attrs: names::of(&entry) }.into())
    }

    async fn rename(&self, id: u32, from: &str, to: &str, replaces: bool) -> Answer {
        let wanted = Move { from: path(from)?, to: path(to)?, replaces, parents: Parents::Needed };
        self.files.rename(wanted).await?;
        Ok(packets::done(id))
    }

    /// Owners, permissions and times are taken and forgotten; only a size means something here.
    async fn set(&self, id: u32, name: &str, attributes: &FileAttributes) -> Answer {
        let path = path(name)?;
        let Some(size) = attributes.size else {
            self.files.stat(&path).await?;
            return Ok(packets::done(id));
        };
        let condition = Condition { if_match: Some("*".to_owned()), if_none_match: None };
        let target = Target { path, content_type: None, condition, parents: Parents::Needed, announced: 0 };
        let mut upload = self.files.begin_upload(target).await?;
        upload.load_current().await?;
        upload.resize(size).await?;
        upload.finish().await?;
        Ok(packets::done(id))
    }

    async fn set_open(&mut self, id: u32, handle: &str, attributes: &FileAttributes) -> Answer {
        if let Some(size) = attributes.size {
            self.handles.resize(handle, size).await?;
        } else if !self.handles.is_open(handle) {
            return Err(Status::no_handle());
        }
        Ok(packets::done(id))
    }

    async fn extended(&mut self, ask: &Extended) -> Answer {
        let mut data = &ask.data[..];
        match ask.request.as_str() {
            POSIX_RENAME => {
                let (from, to) = (text(&mut data)?, text(&mut data)?);
                self.rename(ask.id, &from, &to, true).await
            }
            // What is closed is durable; what is not closed is not there.
            FSYNC => {
                let handle = text(&mut data)?;
                if self.handles.is_open(&handle) { Ok(packets::done(ask.id)) } else { Err(Status::no_handle()) }
            }
            LIMITS => Ok(ExtendedReply { id: ask.id, data: limits() }.into()),
            _ => Err(Status::unsupported()),
        }
    }
}

fn greeting() -> Packet {
    let extensions = [POSIX_RENAME, FSYNC, LIMITS].map(|name| (name.to_owned(), "1".to_owned()));
    Version { version: VERSION, extensions: extensions.into_iter().collect() }.into()
}

/// The longest packet, read and write, and the handles.
fn limits() -> Vec<u8> {
    let mut data = Vec::with_capacity(32);
    for limit in [u64::from(LONGEST), MOST_READ as u64, MOST_READ as u64, MOST_HANDLES as u64] {
        data.put_u64(limit);
    }
    data
}

fn path(name: &str) -> Result<TreePath, Status> {
    TreePath::resolve(name).ok_or_else(Status::no_path)
}

/// A string of an extension's own data.
fn text(data: &mut &[u8]) -> Result<String, Status> {
    let malformed = || Status::new(StatusCode::BadMessage, "the packet is malformed");
    let length = data.try_get_u32().map_err(|_| malformed())?;
    let bytes = data.split_off(..usize::try_from(length).unwrap_or(usize::MAX)).ok_or_else(malformed)?;
    str::from_utf8(bytes).map(ToOwned::to_owned).map_err(|_| Status::no_path())
}
