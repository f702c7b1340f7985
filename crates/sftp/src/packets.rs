//! Reads and writes packets: four bytes of length, a type, and its data (draft-ietf-secsh-filexfer-02 section 3).

use std::io;
use std::time::Duration;

use bytes::Bytes;
use russh_sftp::protocol::{Packet, StatusCode};

use crate::receive_buffer::BufferReader;
use crate::session::ChannelEnds;
use crate::status::Status;

/// Longer packets end the session, as in OpenSSH.
pub(crate) const MAX_PACKET_BYTES: u32 = 256 * 1024;
/// The session ends when the client does not read a response for this long.
const WRITE_TIMEOUT: Duration = Duration::from_secs(120);

/// A packet, or the error response to one that cannot be parsed.
pub(crate) enum Incoming {
    Packet(Packet),
    Malformed(Packet),
}

/// Reads the next packet; `None` at the end of the channel.
pub(crate) async fn read(reader: &BufferReader) -> io::Result<Option<Incoming>> {
    let mut length = [0; 4];
    if !reader.fill(&mut length).await {
        return Ok(None);
    }
    let length = u32::from_be_bytes(length);
    if length == 0 || length > MAX_PACKET_BYTES {
        return Err(io::Error::new(io::ErrorKind::InvalidData, format!("invalid packet length of {length} bytes")));
    }
    let mut bytes = vec![0; length as usize];
    if !reader.fill(&mut bytes).await {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let id = bytes.get(1..5).and_then(|id| id.try_into().ok()).map_or(0, u32::from_be_bytes);
    let packet_type = bytes.first().copied().unwrap_or_default();
    Ok(Some(match Packet::try_from(&mut Bytes::from(bytes)) {
        Ok(packet) => Incoming::Packet(packet),
        Err(_) if !REQUEST_TYPES.contains(&packet_type) => Incoming::Malformed(status(id, &Status::unsupported())),
        Err(_) => Incoming::Malformed(status(id, &Status::new(StatusCode::BadMessage, "the packet is malformed"))),
    }))
}

/// Packet types of requests.
const REQUEST_TYPES: std::ops::RangeInclusive<u8> = 1..=20;

pub(crate) async fn write(ends: &ChannelEnds, packet: Packet) -> io::Result<()> {
    let bytes = Bytes::try_from(packet).map_err(|error| io::Error::other(error.to_string()))?;
    let _guard = ends.reader.response_guard();
    let written = tokio::time::timeout(WRITE_TIMEOUT, ends.writer.data_bytes(bytes)).await;
    written.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?.map_err(io::Error::other)
}

pub(crate) fn status(id: u32, status: &Status) -> Packet {
    Packet::status(id, status.code, &status.message, "en")
}

pub(crate) fn ok(id: u32) -> Packet {
    Packet::status(id, StatusCode::Ok, "done", "en")
}
