#!/usr/bin/env python3
"""A crowd that does nothing (trust.md R11): how much slower others are served while a thousand clients hold connections open.

    cargo build --release && python3 bench/crowd.py target/release/verial [CLIENTS]

For HTTP, MLLP and SFTP: half of the crowd connects and says nothing more than a beginning, half asks and never reads. One
client goes on working over the same protocol (SFTP: over MLLP and HTTP, as its own port is what the crowd sits on). Prints
the median and the 99th percentile with and without the crowd, and their ratios, from one run; then when the crowd was gone.
Standard library only.
"""

import json
import os
import re
import resource
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

BINARY = sys.argv[1]
CLIENTS = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
ROUNDS = 2000
IDLE_SECONDS = 10
LIMITS = ["mllp_idle_seconds=%d" % IDLE_SECONDS] + [
    f"{name}=1000000" for name in ("requests_per_second", "request_burst", "refusals_per_second", "refusal_burst")
]

resource.setrlimit(resource.RLIMIT_NOFILE, (8192, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
work = tempfile.TemporaryDirectory()
command = [BINARY, "serve", "--listen", "127.0.0.1:0", "--data", os.path.join(work.name, "data"), "--log", "warn"]
server = subprocess.Popen(command + [word for limit in LIMITS for word in ("--limit", limit)], stdout=subprocess.PIPE, text=True)
key = url = None
while not (key and url):
    line = server.stdout.readline()
    key = key or (re.search(r"vk_\w+", line) or [None])[0]
    url = url or (re.search(r"http://[\d.:]+", line) or [None])[0]
host, port = url.removeprefix("http://").split(":")


def call(method, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(url + path, data=data, headers=headers, method=method)) as answer:
        return json.loads(answer.read())


def sandbox(kind):
    simulator = call("POST", "/simulators", {"type": kind, "name": kind})["id"]
    return call("POST", "/sandboxes", {"simulator_id": simulator})


def connect(address):
    stream = socket.create_connection(address, timeout=30)
    stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return stream


hl7, files = sandbox("Hl7")["credentials"], sandbox("Files")["credentials"]
HTTP, MLLP = (host, int(port)), (hl7["mllp_host"], int(hl7["mllp_port"]))
SFTP = (files["sftp_host"], int(files["sftp_port"]))
REQUEST = (f"GET /organization HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {key}\r\n\r\n").encode()


def message(number):
    text = (f"MSH|^~\\&|EHR|CLINIC|LAB|HOSP|20260401120000||ADT^A08|{number}|P|2.5.1\rEVN||20260401120000\r"
            "PID|1||77^^^MRN||Doe^Ann\rPV1|1|O\r")
    return b"\x0b" + text.encode() + b"\x1c\r"


class OverHttp:
    def __init__(self):
        self.stream = connect(HTTP)

    def once(self, _):
        self.stream.sendall(REQUEST)
        head = b""
        while b"\r\n\r\n" not in head:
            head += self.stream.recv(65536)
        head, body = head.split(b"\r\n\r\n", 1)
        length = int(re.search(rb"content-length: (\d+)", head, re.I)[1])
        while len(body) < length:
            body += self.stream.recv(65536)


class OverMllp:
    number = 0

    def __init__(self):
        self.stream = connect(MLLP)

    def once(self, _):
        OverMllp.number += 1
        self.stream.sendall(message(f"W{OverMllp.number}"))
        answer = b""
        while not answer.endswith(b"\x1c\r"):
            answer += self.stream.recv(65536)


def times(worker):
    taken = []
    for number in range(ROUNDS):
        begun = time.perf_counter()
        worker.once(number)
        taken.append((time.perf_counter() - begun) * 1000)
    taken.sort()
    return taken[len(taken) // 2], taken[int(len(taken) * 0.99)]


def crowd_of(address, beginning, whole):
    crowd = []
    for number in range(CLIENTS):
        stream = connect(address)
        try:
            stream.sendall(beginning if number % 2 else whole)
        except OSError:
            pass
        crowd.append(stream)
    return crowd


def gone(crowd, seconds):
    """How many were let go by the server within that time."""
    ended, until = set(), time.monotonic() + seconds
    while time.monotonic() < until and len(ended) < len(crowd):
        for stream in crowd:
            if stream.fileno() in ended:
                continue
            stream.setblocking(False)
            try:
                while data := stream.recv(1 << 20):
                    pass
                ended.add(stream.fileno())
            except BlockingIOError:
                pass
            except OSError:
                ended.add(stream.fileno())
        time.sleep(0.2)
    return len(ended)


print(f"{CLIENTS} clients, {ROUNDS} rounds{'':<18}alone: median, p99 ms     with the crowd      ratio: median, p99")
for name, address, beginning, whole, worker in [
    ("HTTP", HTTP, b"GET /organization HTTP/1.1\r\nHost: x\r\nX-Slow: ", REQUEST * 20, OverHttp),
    ("MLLP", MLLP, b"\x0bMSH|^~\\&|", b"".join(message(f"C{number}") for number in range(20)), OverMllp),
    ("SFTP, seen by HTTP", SFTP, b"SSH-2.0-", b"SSH-2.0-crowd\r\n", OverHttp),
]:
    mine = worker()
    times(mine)
    median, worst = times(mine)
    crowd = crowd_of(address, beginning, whole)
    mine = worker()
    crowded_median, crowded_worst = times(mine)
    print(f"{name:<42}{median:>8.2f} {worst:>8.2f} {crowded_median:>13.2f} {crowded_worst:>8.2f}"
          f" {crowded_median / median:>13.2f} {crowded_worst / worst:>8.2f}")
    print(f"  {gone(crowd, 75)} of {len(crowd)} let go by the server within 75 s")
    for stream in crowd:
        stream.close()
server.terminate()
