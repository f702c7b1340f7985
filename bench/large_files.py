#!/usr/bin/env python3
"""Large files by SFTP: how far the server's memory rises while unmodified clients carry them there and back.

    cargo build --release && .test/venv/bin/python bench/large_files.py target/release/verial [MEBIBYTES [CLIENT ...]]

The clients are the scripts of tools/clients/sftp, which compare what comes back with what went there, each in a sandbox of its
own. Prints the resident memory of the server before each and the peak during it, of the server's process alone. Linux only.
"""

import pathlib
import re
import subprocess
import sys
import time

import serving

CLIENTS = pathlib.Path(__file__).resolve().parent.parent / "tools" / "clients" / "sftp"
BINARY = sys.argv[1]
MEBIBYTES = sys.argv[2] if len(sys.argv) > 2 else "1024"
WANTED = sys.argv[3:] or ["openssh", "paramiko", "asyncssh"]

server, url, key = serving.start(BINARY)


def mebibytes(name):
    status = pathlib.Path(f"/proc/{server.pid}/status").read_text()
    return int(re.search(rf"{name}:\s+(\d+) kB", status)[1]) / 1024


def forget_peak():
    pathlib.Path(f"/proc/{server.pid}/clear_refs").write_text("5")


print(f"{MEBIBYTES} MiB there and back{'':<10}before, MiB    peak, MiB    growth        s")
for name in WANTED:
    provisioned = subprocess.run([sys.executable, CLIENTS / "provision.py", url, key], capture_output=True, text=True, check=True)
    forget_peak()
    before, begun = mebibytes("VmRSS"), time.monotonic()
    client = [sys.executable, CLIENTS / f"with_{name}.py", provisioned.stdout.strip(), MEBIBYTES]
    subprocess.run(client, cwd=CLIENTS, check=True, stdout=subprocess.DEVNULL)
    peak, seconds = mebibytes("VmHWM"), time.monotonic() - begun
    print(f"  {name:<28}{before:>12.0f} {peak:>12.0f} {peak - before:>9.0f} {seconds:>8.0f}", flush=True)
