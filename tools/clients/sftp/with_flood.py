"""paramiko's own SSH, without its SFTP: clients that send much and read nothing for a while or at all, that speak before they
are asked, and that open one channel after the other."""

import struct
import threading

import paramiko

from common import MEBIBYTE, done, expect, host, password, port, username

INIT, OPEN, READ, STAT, STATUS, HANDLE, DATA = 1, 3, 5, 17, 101, 102, 103
READS, STATS, BLOCK = 200, 4096, 32768


def connect():
    transport = paramiko.Transport((host, port))
    transport.connect(username=username, password=password)
    return transport


def begun(transport, **window):
    channel = transport.open_session(**window)
    channel.invoke_subsystem("sftp")
    channel.sendall(packet(INIT, 3))
    answer(channel)
    return channel


def session():
    transport = connect()
    return transport, begun(transport)


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


def opened(channel):
    channel.sendall(packet(OPEN, 1, text(b"outbox/block"), struct.pack(">II", 1, 0)))
    kind, _, handle = answer(channel)
    expect("the file is open", kind, HANDLE)
    return handle


def reads_of(channel):
    """So many that their answers do not fit into this client's window."""
    handle = opened(channel)
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


def sent_until_cut(channel, request):
    """How many bytes of it the server took before it sent the client away."""
    sent = 0
    try:
        while sent < 512 * MEBIBYTE:
            channel.sendall(request)
            sent += len(request)
    except (OSError, EOFError, paramiko.SSHException):
        pass
    return sent


def never_reads(keeps_to_its_window):
    transport, channel = session()
    channel.sendall(b"".join(reads_of(channel)))
    if not keeps_to_its_window:
        channel.out_window_size = 1 << 40
    sent = sent_until_cut(channel, packet(STAT, 1, text(b"x" * 200_000)))
    expect("it is sent away before the server holds much", sent < 64 * MEBIBYTE)
    transport.close()


def speaks_before_it_is_asked():
    transport = connect()
    channel = transport.open_session()
    sent = sent_until_cut(channel, bytes(BLOCK))
    expect("who did not ask for files is sent away", sent < 8 * MEBIBYTE)
    transport.close()


def opens_one_channel_after_the_other():
    """More than a connection may have at once. Some end as OpenSSH's do, some go while an answer waits for their window."""
    transport = connect()
    for number in range(40):
        small = number % 2 == 1
        channel = begun(transport, window_size=BLOCK if small else None)
        if small:
            handle = opened(channel)
            channel.sendall(packet(READ, 2, handle, struct.pack(">QI", 0, 4 * BLOCK)) * 3)
            channel.close()
        else:
            channel.shutdown_write()
            expect("the server closes what has ended", channel.recv(1), b"")
    expect("all were taken", True)
    transport.close()


transport, _ = session()
with paramiko.SFTPClient.from_transport(transport).open("outbox/block", "w") as file:
    file.write(bytes(4 * BLOCK))
transport.close()
asks_much_before_it_reads()
never_reads(keeps_to_its_window=True)
never_reads(keeps_to_its_window=False)
speaks_before_it_is_asked()
opens_one_channel_after_the_other()
transport, channel = session()
channel.sendall(packet(STAT, 9, text(b"inbox")))
expect("others are served", answer(channel)[:2], (105, 9))
transport.close()
done("flood")
