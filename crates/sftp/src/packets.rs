//! Packets on a channel: four bytes of length, then a type and what it takes (draft-ietf-secsh-filexfer-02 section 3).

use std::io;
use std::time::Duration;

use bytes::Bytes;
use russh_sftp::protocol::{Packet, StatusCode};

use crate::fault::Status;
use crate::inbox::Inbox;
use crate::session::Ends;

/// Longer packets end the session, as they do with OpenSSH.
pub(crate) const LONGEST: u32 = 256 * 1024;
/// A client that does not read its answers for so long is gone.
const PATIENCE: Duration = Duration::from_secs(120);

/// A packet, or the answer to one that cannot be read.
pub(crate) enum Incoming {
    Packet(Packet),
    Unreadable(Packet),
}

/// None at the end.
pub(crate) async fn read(inbox: &Inbox) -> io::Result<Option<Incoming>> {
    let mut length = [0; 4];
    if !inbox.fill(&mut length).await {
        return Ok(None);
    }
    let length = u32::from_be_bytes(length);
    if length == 0 || length > LONGEST {
        return Err(io::Error::new(io::ErrorKind::InvalidData, format!("a packet of {length} bytes")));
    }
    let mut bytes = vec![0; length as usize];
    if !inbox.fill(&mut bytes).await {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let id = bytes.get(1..5).and_then(|id| id.try_into().ok()).map_or(0, u32::from_be_bytes);
    let kind = bytes.first().copied().unwrap_or_default();
    Ok(Some(match Packet::try_from(&mut Bytes::from(bytes)) {
        Ok(packet) => Incoming::Packet(packet),
        Err(_) if !KNOWN.contains(&kind) => Incoming::Unreadable(status(id, &Status::unsupported())),
        Err(_) => Incoming::Unreadable(status(id, &Status::new(StatusCode::BadMessage, "the packet is malformed"))),
    }))
}

/// The types of requests.
const KNOWN: std::ops::RangeInclusive<u8> = 1..=20;

pub(crate) async fn write(ends: &Ends, packet: Packet) -> io::Result<()> {
    let bytes = Bytes::try_from(packet).map_err(|error| io::Error::other(error.to_string()))?;
    let _answering = ends.inbox.answering();
    let written = tokio::time::timeout(PATIENCE, ends.outlet.data_bytes(bytes)).await;
    written.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?.map_err(io::Error::other)
}

pub(crate) fn status(id: u32, status: &Status) -> Packet {
    Packet::status(id, status.code, &status.words, "en")
}

pub(crate) fn done(id: u32) -> Packet {
    Packet::status(id, StatusCode::Ok, "done", "en")
}
