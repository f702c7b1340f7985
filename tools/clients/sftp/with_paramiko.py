"""paramiko: it asks for a whole file at once, which must not stop the session."""

import io
import pathlib
import tempfile

import paramiko

from common import LARGE, MEBIBYTE, digest_of, done, expect, host, over_http, password, port, username, write_large

work = pathlib.Path(tempfile.mkdtemp())


def connect(secret=password):
    client = paramiko.SSHClient()
    client.set_missing_host_key_policy(paramiko.AutoAddPolicy())
    client.connect(host, port, username, secret, look_for_keys=False, allow_agent=False)
    return client


def refused(call, *arguments):
    try:
        call(*arguments)
    except OSError as error:
        expect(f"refused: {error}")
        return
    raise AssertionError(f"{call} {arguments} was not refused")


try:
    connect("wrong")
    raise AssertionError("a wrong password was taken")
except paramiko.AuthenticationException:
    expect("a wrong password is refused")

client = connect()
sftp = client.open_sftp()
expect("the root", sftp.normalize("."), "/")
expect("directories", {"inbox", "outbox"} <= set(sftp.listdir("/")))
with sftp.open("inbox/referral.txt") as file:
    expect("a dataset's file", file.read(), b"Referral for Ada Stone\n")

sftp.mkdir("outbox/p")
sftp.putfo(io.BytesIO(b"one"), "outbox/p/a")
expect("its size", sftp.stat("outbox/p/a").st_size, 3)
with sftp.open("outbox/p/a", "a") as file:
    file.write(b"two")
with sftp.open("outbox/p/a", "r+") as file:
    file.seek(1)
    file.write(b"N")
with sftp.open("outbox/p/a") as file:
    expect("appended and overwritten", file.read(), b"oNetwo")
sftp.truncate("outbox/p/a", 2)
expect("truncated", sftp.stat("outbox/p/a").st_size, 2)
sftp.putfo(io.BytesIO(b"other"), "outbox/p/b")
refused(sftp.rename, "outbox/p/a", "outbox/p/b")
sftp.posix_rename("outbox/p/a", "outbox/p/b")
expect("what is left", sftp.listdir("outbox/p"), ["b"])
sftp.chmod("outbox/p/b", 0o600)
sftp.utime("outbox/p/b", (1, 1))
with sftp.open("outbox/p/unseen", "w") as file:
    file.write(b"x")
    file.flush()
    refused(sftp.stat, "outbox/p/unseen")
expect("seen when it is closed", sftp.stat("outbox/p/unseen").st_size, 1)
refused(sftp.open, "outbox/p/unseen", "wx")
for call, arguments in [
    (sftp.symlink, ("/etc/passwd", "x")),
    (sftp.readlink, ("inbox",)),
    (sftp.open, ("/etc/passwd",)),
    (sftp.open, ("../../../etc/passwd",)),
    (sftp.open, ("nowhere/x", "w")),
    (sftp.open, ("inbox", "w")),
    (sftp.rmdir, ("outbox/p",)),
    (sftp.rmdir, ("inbox",)),
    (sftp.mkdir, ("inbox",)),
    (sftp.remove, ("nothing",)),
    (sftp.listdir, ("nothing",)),
]:
    refused(call, *arguments)

digest = write_large(work / "large")
sftp.put(work / "large", "outbox/large")
expect(f"{LARGE} MiB over HTTP", over_http("outbox/large"), digest)
sftp.get("outbox/large", work / "back")
expect(f"{LARGE} MiB there and back", digest_of(work / "back"), digest)
with sftp.open("outbox/large") as file:
    file.seek(LARGE * MEBIBYTE - 7)
    expect("its end", len(file.read()), 7)
for name in ("outbox/large", "outbox/p/b", "outbox/p/unseen"):
    sftp.remove(name)
sftp.rmdir("outbox/p")
expect("all is gone", sftp.listdir("outbox"), [])

sessions = [connect().open_sftp() for _ in range(8)]
for number, session in enumerate(sessions):
    session.putfo(io.BytesIO(bytes([number]) * 100_000), f"outbox/s{number:02}")
for number, session in enumerate(reversed(sessions)):
    with session.open(f"outbox/s{number:02}") as file:
        expect("several sessions at once", file.read(), bytes([number]) * 100_000)
done("paramiko")
