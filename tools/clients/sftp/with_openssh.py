"""OpenSSH's own `sftp` in batch mode, with the password from an askpass program."""

import os
import pathlib
import subprocess
import tempfile

from common import LARGE, MEBIBYTE, digest_of, done, expect, host, over_http, password, port, username, write_large

work = pathlib.Path(tempfile.mkdtemp())
askpass = work / "askpass"
askpass.write_text(f"#!/bin/sh\necho '{password}'\n")
askpass.chmod(0o700)
environment = os.environ | {"SSH_ASKPASS": str(askpass), "SSH_ASKPASS_REQUIRE": "force", "DISPLAY": ":0"}
OPTIONS = [
    "-oStrictHostKeyChecking=no",
    "-oUserKnownHostsFile=/dev/null",
    "-oPreferredAuthentications=password",
    "-oNumberOfPasswordPrompts=1",
    "-oLogLevel=ERROR",
]


def sftp(*commands, ends_well=True):
    batch = work / "batch"
    batch.write_text("".join(command + "\n" for command in commands))
    # -b turns password prompts off unless it is told otherwise.
    call = ["sftp", *OPTIONS, "-oBatchMode=no", f"-P{port}", f"-b{batch}", f"{username}@{host}"]
    ran = subprocess.run(call, cwd=work, env=environment, capture_output=True, text=True, timeout=600, stdin=subprocess.DEVNULL)
    assert (ran.returncode == 0) == ends_well, (commands, ran.returncode, ran.stdout, ran.stderr)
    return ran.stdout + ran.stderr


expect("the root", "/" in sftp("pwd").splitlines()[-1])
expect("directories", {"inbox", "outbox"} <= set(sftp("ls -1").split()))
sftp("get inbox/referral.txt here.txt")
expect("a dataset's file", (work / "here.txt").read_text(), "Referral for Ada Stone\n")

(work / "note.txt").write_text("hello")
sftp("mkdir outbox/returns", "put note.txt outbox/returns/a.txt", "rename outbox/returns/a.txt outbox/returns/b.txt")
expect("a listing", [line.split()[-1] for line in sftp("ls -l outbox/returns").splitlines() if line.startswith("-rw")], ["b.txt"])
expect("over HTTP", over_http("outbox/returns/b.txt"), digest_of(work / "note.txt"))
(work / "other.txt").write_text("other")
sftp("put other.txt outbox/returns/c.txt", "rename outbox/returns/c.txt outbox/returns/b.txt")
expect("a rename over a file", over_http("outbox/returns/b.txt"), digest_of(work / "other.txt"))

digest = write_large(work / "large")
sftp("put large outbox/large", "get outbox/large back")
expect(f"{LARGE} MiB there and back", digest_of(work / "back"), digest)
expect(f"{LARGE} MiB over HTTP", over_http("outbox/large"), digest)

# Half of it is there: the rest is added to it, and fetched to it.
size = LARGE * MEBIBYTE
with open(work / "large", "rb") as whole, open(work / "half", "wb") as half:
    half.write(whole.read(size // 2))
sftp("put half outbox/resumed", "reput large outbox/resumed")
expect("a resumed upload", over_http("outbox/resumed"), digest)
os.truncate(work / "back", size // 3)
sftp("reget outbox/large back")
expect("a resumed download", digest_of(work / "back"), digest)

sftp("rm outbox/returns/b.txt", "rmdir outbox/returns", "rm outbox/large", "rm outbox/resumed")
expect("all is gone", over_http("outbox/large"), None)
for commands in (["ln -s /etc/passwd x"], ["ln inbox/referral.txt x"], ["rmdir inbox"], ["put note.txt nowhere/x"], ["get /etc/passwd p"]):
    sftp(*commands, ends_well=False)
    expect(f"refused: {commands}")
expect("above the root is the root", "inbox" in sftp("cd ../../..", "ls -1"))

# No shell and no program.
for command in (["true"], []):
    call = ["ssh", *OPTIONS, "-oBatchMode=no", f"-p{port}", f"{username}@{host}", *command]
    ran = subprocess.run(call, env=environment, capture_output=True, timeout=60, stdin=subprocess.DEVNULL)
    expect("no shell", ran.returncode != 0)
done("OpenSSH sftp")
