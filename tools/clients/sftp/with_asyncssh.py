"""asyncssh: many requests in flight, and 50 sessions at the same time."""

import asyncio
import pathlib
import tempfile

import asyncssh

from common import LARGE, digest_of, done, expect, host, over_http, password, port, username, write_large

work = pathlib.Path(tempfile.mkdtemp())


def connect():
    return asyncssh.connect(host, port, username=username, password=password, known_hosts=None, client_keys=None, agent_path=None)


async def one_session(number, content):
    async with connect() as connection, connection.start_sftp_client() as sftp:
        name = f"outbox/session-{number}"
        async with sftp.open(name, "wb") as file:
            await file.write(content)
        async with sftp.open(name, "rb") as file:
            expect("what a session reads", await file.read(), content)


async def main():
    async with connect() as connection, connection.start_sftp_client() as sftp:
        expect("directories", {"inbox", "outbox"} <= set(await sftp.listdir("/")))
        await sftp.makedirs("outbox/deep/er")
        (work / "note").write_bytes(b"hello")
        await sftp.put(str(work / "note"), "outbox/deep/er/note")
        await sftp.posix_rename("outbox/deep/er/note", "outbox/moved")
        expect("moved", await sftp.exists("outbox/moved"))
        await sftp.rename("outbox/deep", "outbox/other")
        expect("a directory was moved", await sftp.isdir("outbox/other/er"))
        digest = write_large(work / "large", LARGE // 4)
        await sftp.put(str(work / "large"), "outbox/large")
        expect("a large file over HTTP", over_http("outbox/large"), digest)
        await sftp.get("outbox/large", str(work / "back"))
        expect("a large file there and back", digest_of(work / "back"), digest)
        for name in ("outbox/large", "outbox/moved"):
            await sftp.remove(name)
        await sftp.rmtree("outbox/other")
        for attempt in (sftp.symlink("/etc/passwd", "x"), sftp.open("/etc/passwd"), sftp.stat("../../../root"), sftp.link("inbox/referral.txt", "x")):
            try:
                await attempt
                raise AssertionError("not refused")
            except asyncssh.SFTPError as error:
                expect(f"refused: {error}")
        for command in ("true", None):
            try:
                ran = await connection.run(command, timeout=30)
                raise AssertionError(f"a program ran: {ran}")
            except asyncssh.ChannelOpenError as error:
                expect(f"no program: {error}")
    await asyncio.gather(*(one_session(number, bytes([number]) * 200_000) for number in range(50)))


asyncio.run(main())
done("asyncssh")
