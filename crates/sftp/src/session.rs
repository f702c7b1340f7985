//! One SFTP session, protocol version 3 (draft-ietf-secsh-filexfer-02): every request packet gets one response packet.

use std::time::Duration;

use app::sandboxes::files::{Condition, FileDrop, MoveRequest, Parents, Target, TreePath};
use bytes::{Buf, BufMut};
use russh::ChannelWriteHalf;
use russh::server::Msg;
use russh_sftp::protocol::{
    Attrs, Data, Extended, ExtendedReply, File, FileAttributes, Handle, Name, Packet, StatusCode, VERSION, Version,
};

use crate::attributes;
use crate::connection_limits::ConnectionSlot;
use crate::open_files::{Handles, MAX_HANDLES, MAX_READ_BYTES};
use crate::packets::{self, Incoming, MAX_PACKET_BYTES};
use crate::receive_buffer::BufferReader;
use crate::status::Status;

/// How often a session checks whether its sandbox still accepts traffic.
const OPEN_CHECK_INTERVAL: Duration = Duration::from_secs(2);

const POSIX_RENAME: &str = "posix-rename@openssh.com";
const FSYNC: &str = "fsync@openssh.com";
const LIMITS: &str = "limits@openssh.com";

/// The two ends of a channel: requests are read from one, responses are written to the other.
pub(crate) struct ChannelEnds {
    pub(crate) reader: BufferReader,
    pub(crate) writer: ChannelWriteHalf<Msg>,
}

/// Serves the session until the client, the sandbox or the server ends it. Uploads that were not closed are discarded.
pub(crate) async fn run(ends: ChannelEnds, files: FileDrop, slot: &ConnectionSlot) {
    let session = Session { files: files.clone(), handles: Handles::default() };
    tokio::select! {
        ended = session.serve(&ends) => {
            if let Err(error) = ended {
                tracing::debug!(%error, "an SFTP session ended with an error");
            }
        }
        () = ends.reader.channel_closed() => {}
        () = sandbox_closed(&files) => slot.close(),
        () = slot.wait_until_closed() => {}
    }
}

/// Resolves when the sandbox accepts no more traffic.
async fn sandbox_closed(files: &FileDrop) {
    loop {
        tokio::time::sleep(OPEN_CHECK_INTERVAL).await;
        if let Ok(false) = files.is_open().await {
            return;
        }
    }
}

struct Session {
    files: FileDrop,
    handles: Handles,
}

type Response = Result<Packet, Status>;

impl Session {
    async fn serve(mut self, ends: &ChannelEnds) -> std::io::Result<()> {
        while let Some(incoming) = packets::read(&ends.reader).await? {
            let response = match incoming {
                Incoming::Malformed(response) => response,
                Incoming::Packet(packet) => {
                    let id = packet.get_request_id();
                    self.respond(packet).await.unwrap_or_else(|status| packets::status(id, &status))
                }
            };
            packets::write(ends, response).await?;
        }
        Ok(())
    }

    async fn respond(&mut self, packet: Packet) -> Response {
        match packet {
            Packet::Init(_) => Ok(version()),
            Packet::Open(request) => {
                let handle = self.handles.open(&self.files, path(&request.filename)?, request.pflags).await?;
                Ok(Handle { id: request.id, handle }.into())
            }
            Packet::Read(request) => {
                let data = self.handles.read(&request.handle, request.offset, request.len).await?.into();
                Ok(Data { id: request.id, data }.into())
            }
            Packet::Write(request) => {
                self.handles.write(&request.handle, request.offset, request.data).await?;
                Ok(packets::ok(request.id))
            }
            Packet::Close(request) => {
                self.handles.close(&request.handle).await?;
                Ok(packets::ok(request.id))
            }
            Packet::Fstat(request) => {
                Ok(Attrs { id: request.id, attrs: self.handles.attributes(&request.handle)? }.into())
            }
            Packet::FSetStat(request) => self.set_handle_attributes(request.id, &request.handle, &request.attrs).await,
            Packet::Extended(request) => self.extended(&request).await,
            other => self.respond_by_path(other).await,
        }
    }

    /// Requests that name a path.
    async fn respond_by_path(&mut self, packet: Packet) -> Response {
        let files = &self.files;
        match packet {
            Packet::Stat(request) => self.stat(request.id, &request.path).await,
            Packet::Lstat(request) => self.stat(request.id, &request.path).await,
            Packet::SetStat(request) => self.set_attributes(request.id, &request.path, &request.attrs).await,
            Packet::OpenDir(request) => {
                let handle = self.handles.open_directory(files, &path(&request.path)?).await?;
                Ok(Handle { id: request.id, handle }.into())
            }
            Packet::ReadDir(request) => {
                Ok(Name { id: request.id, files: self.handles.next_entries(&request.handle)? }.into())
            }
            Packet::Remove(request) => {
                files.delete(&path(&request.filename)?, Condition::default()).await?;
                Ok(packets::ok(request.id))
            }
            Packet::MkDir(request) => {
                files.make_directory(&path(&request.path)?, Parents::Required).await?;
                Ok(packets::ok(request.id))
            }
            Packet::RmDir(request) => {
                files.remove_directory(&path(&request.path)?).await?;
                Ok(packets::ok(request.id))
            }
            Packet::RealPath(request) => {
                let real = path(&request.path)?.to_string();
                Ok(Name { id: request.id, files: vec![File::dummy(real)] }.into())
            }
            Packet::Rename(request) => self.rename(request.id, &request.oldpath, &request.newpath, false).await,
            // Links are not supported.
            _ => Err(Status::unsupported()),
        }
    }

    async fn stat(&self, id: u32, name: &str) -> Response {
        let entry = self.files.stat(&path(name)?).await?;
        Ok(Attrs { id, attrs: attributes::of(&entry) }.into())
    }

    async fn rename(&self, id: u32, from: &str, to: &str, replaces: bool) -> Response {
        let rename = MoveRequest { from: path(from)?, to: path(to)?, replaces, parents: Parents::Required };
        self.files.rename(rename).await?;
        Ok(packets::ok(id))
    }

    /// Sets the size. Owners, permissions and times are accepted and ignored.
    async fn set_attributes(&self, id: u32, name: &str, attributes: &FileAttributes) -> Response {
        let path = path(name)?;
        let Some(size) = attributes.size else {
            self.files.stat(&path).await?;
            return Ok(packets::ok(id));
        };
        let condition = Condition { if_match: Some("*".to_owned()), if_none_match: None };
        let target = Target { path, content_type: None, condition, parents: Parents::Required, announced: 0 };
        let mut upload = self.files.begin_upload(target).await?;
        upload.load_current().await?;
        upload.resize(size).await?;
        upload.finish().await?;
        Ok(packets::ok(id))
    }

    async fn set_handle_attributes(&mut self, id: u32, handle: &str, attributes: &FileAttributes) -> Response {
        if let Some(size) = attributes.size {
            self.handles.resize(handle, size).await?;
        } else if !self.handles.is_open(handle) {
            return Err(Status::invalid_handle());
        }
        Ok(packets::ok(id))
    }

    async fn extended(&mut self, request: &Extended) -> Response {
        let mut data = &request.data[..];
        match request.request.as_str() {
            POSIX_RENAME => {
                let (from, to) = (read_string(&mut data)?, read_string(&mut data)?);
                self.rename(request.id, &from, &to, true).await
            }
            // A closed file is durable; an open one does not exist yet.
            FSYNC => {
                let handle = read_string(&mut data)?;
                if self.handles.is_open(&handle) { Ok(packets::ok(request.id)) } else { Err(Status::invalid_handle()) }
            }
            LIMITS => Ok(ExtendedReply { id: request.id, data: limits() }.into()),
            _ => Err(Status::unsupported()),
        }
    }
}

fn version() -> Packet {
    let extensions = [POSIX_RENAME, FSYNC, LIMITS].map(|name| (name.to_owned(), "1".to_owned()));
    Version { version: VERSION, extensions: extensions.into_iter().collect() }.into()
}

/// The data of a `limits@openssh.com` reply: the maximum packet, read and write sizes, and the number of handles.
fn limits() -> Vec<u8> {
    let mut data = Vec::with_capacity(32);
    for limit in [u64::from(MAX_PACKET_BYTES), MAX_READ_BYTES as u64, MAX_READ_BYTES as u64, MAX_HANDLES as u64] {
        data.put_u64(limit);
    }
    data
}

fn path(name: &str) -> Result<TreePath, Status> {
    TreePath::resolve(name).ok_or_else(Status::invalid_path)
}

/// Reads a string from the data of an extended request.
fn read_string(data: &mut &[u8]) -> Result<String, Status> {
    let malformed = || Status::new(StatusCode::BadMessage, "the packet is malformed");
    let length = data.try_get_u32().map_err(|_| malformed())?;
    let bytes = data.split_off(..usize::try_from(length).unwrap_or(usize::MAX)).ok_or_else(malformed)?;
    str::from_utf8(bytes).map(ToOwned::to_owned).map_err(|_| Status::invalid_path())
}
