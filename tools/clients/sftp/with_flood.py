"""paramiko's own SSH, without its SFTP: a client that sends much and reads nothing for a while, and one that does not
keep to its windows."""

import struct
import threading

import paramiko

from common import MEBIBYTE, done, expect, host, password, port, username

INIT, OPEN, READ, STAT, STATUS, HANDLE, DATA = 1, 3, 5, 17, 101, 102, 103
READS, STATS, BLOCK = 200, 4096, 32768


def session():
    transport = paramiko.Transport((host, port))
    transport.connect(username=username, password=password)
    channel = transport.open_session()
    channel.invoke_subsystem("sftp")
    channel.sendall(packet(INIT, 3))
    answer(channel)
    return transport, channel


def packet(kind, number, *parts):
    body = struct.pack(">BI", kind, number) + b"".join(parts)
    return struct.pack(">I", len(body)) + body


def text(words):
    return struct.pack(">I", len(words)) + words


def answer(channel):
    """The type, the number and the rest of the next one."""
    (length,) = struct.unpack(">I", exactly(channel, 4))
    body = exactly(channel, length)
    return body[0], struct.unpack(">I", body[1:5])[0], body[5:]


def exactly(channel, length):
    found = b""
    while len(found) < length:
        part = channel.recv(length - len(found))
        assert part, "the channel ended"
        found += part
    return found


def reads_of(channel):
    """So many that their answers do not fit into this client's window."""
    channel.sendall(packet(OPEN, 1, text(b"outbox/block"), struct.pack(">II", 1, 0)))
    kind, _, handle = answer(channel)
    expect("the file is open", kind, HANDLE)
    return [packet(READ, number, handle, struct.pack(">QI", 0, BLOCK)) for number in range(READS)]


def asks_much_before_it_reads():
    """Its answers do not fit into its window, and its requests not into the server's: all are answered, in order."""
    transport, channel = session()
    reads = reads_of(channel)
    stats = [packet(STAT, number, text(b"no/" + b"x" * 200 + b"/%d" % number + b"/." * 1000)) for number in range(READS, READS + STATS)]
    has_sent_much = threading.Event()

    def send():
        sent = 0
        for request in reads + stats:
            channel.sendall(request)
            sent += len(request)
            if sent > 2 * MEBIBYTE:
                has_sent_much.set()

    sender = threading.Thread(target=send, daemon=True)
    sender.start()
    assert has_sent_much.wait(120), "the server takes less than two windows"
    answers = [answer(channel)[:2] for _ in range(READS + STATS)]
    wanted = [(DATA if number < READS else STATUS, number) for number in range(READS + STATS)]
    expect("every request is answered, in order", answers == wanted)
    sender.join()
    transport.close()


def does_not_keep_to_its_window():
    transport, channel = session()
    channel.sendall(b"".join(reads_of(channel)))
    channel.out_window_size = 1 << 40
    request = packet(STAT, 1, text(b"x" * 200_000))
    sent = 0
    try:
        while sent < 512 * MEBIBYTE:
            channel.sendall(request)
            sent += len(request)
    except (OSError, EOFError, paramiko.SSHException):
        pass
    expect("it is sent away", sent < 512 * MEBIBYTE)
    transport.close()


transport, _ = session()
with paramiko.SFTPClient.from_transport(transport).open("outbox/block", "w") as file:
    file.write(bytes(BLOCK))
transport.close()
asks_much_before_it_reads()
does_not_keep_to_its_window()
transport, channel = session()
channel.sendall(packet(STAT, 9, text(b"inbox")))
expect("others are served", answer(channel)[:2], (105, 9))
transport.close()
done("flood")
