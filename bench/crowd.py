#!/usr/bin/env python3
"""A crowd that does nothing (trust.md R11): how much slower others are served while a thousand clients hold connections open.

    cargo build --release && python3 bench/crowd.py target/release/verial [CLIENTS [PROTOCOL ...]]

For HTTP, MLLP, SFTP and WebSocket: half of the crowd begins something and goes no further, half asks and never reads. One
client goes on working over the same protocol, in a sandbox of its own (over SFTP only where paramiko is installed, else over
HTTP). Prints the median and the 99th percentile with and without the crowd, and their ratios, from one run; then how many of
the crowd were let go.
"""

import base64
import json
import os
import re
import resource
import socket
import sys
import time
import urllib.request
from urllib.parse import urlsplit

import serving

try:
    import paramiko
except ImportError:
    paramiko = None

BINARY = sys.argv[1]
CLIENTS = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
PROTOCOLS = sys.argv[3:]
ROUNDS = 4000
IDLE_SECONDS = 30
LIMITS = [f"{name}={IDLE_SECONDS}" for name in ("http_idle_seconds", "mllp_idle_seconds", "voice_idle_seconds")] + [
    f"{name}=1000000" for name in ("requests_per_second", "request_burst", "refusals_per_second", "refusal_burst")
] + [f"sftp_sessions={CLIENTS + 100}", f"sftp_sandbox_sessions={CLIENTS + 100}"]

resource.setrlimit(resource.RLIMIT_NOFILE, (8192, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
_, url, key = serving.start(BINARY, LIMITS)
HTTP = (urlsplit(url).hostname, urlsplit(url).port)
BEARER = f"Host: verial\r\nAuthorization: Bearer {key}\r\n"
REQUEST = f"GET /organization HTTP/1.1\r\n{BEARER}\r\n".encode()
LINE = {"ivr": {"start": "dana", "nodes": {"dana": {
    "type": "representative", "prompt": "Yes?", "beats": [{"phrases": ["deductible"], "answer": "Five hundred dollars."}]}}}}


def call(method, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(url + path, data=data, headers=headers, method=method)) as answer:
        return json.loads(answer.read())


def credentials(kind, config=None):
    simulator = call("POST", "/simulators", {"type": kind, "name": kind, "config": config or {}})["id"]
    return call("POST", "/sandboxes", {"simulator_id": simulator})["credentials"]


def connect(address):
    stream = socket.create_connection(address, timeout=60)
    stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return stream


def more(stream):
    data = stream.recv(65536)
    if not data:
        raise ConnectionError("the server let go of the client that works")
    return data


class Http:
    @staticmethod
    def crowd():
        """Where it goes, what it begins with and does not end, what it asks and does not read."""
        return HTTP, b"GET /organization HTTP/1.1\r\nHost: x\r\nX-Slow: ", REQUEST * 20

    def __init__(self):
        self.stream = connect(HTTP)

    def once(self, _):
        self.stream.sendall(REQUEST)
        head = b""
        while b"\r\n\r\n" not in head:
            head += more(self.stream)
        head, body = head.split(b"\r\n\r\n", 1)
        while len(body) < int(re.search(rb"content-length: (\d+)", head, re.I)[1]):
            body += more(self.stream)


def message(number):
    text = (f"MSH|^~\\&|EHR|CLINIC|LAB|HOSP|20260401120000||ADT^A08|{number}|P|2.5.1\rEVN||20260401120000\r"
            "PID|1||77^^^MRN||Doe^Ann\rPV1|1|O\r")
    return b"\x0b" + text.encode() + b"\x1c\r"


class Mllp:
    sent = 0

    def __init__(self):
        at = credentials("Hl7")
        self.stream = connect((at["mllp_host"], int(at["mllp_port"])))

    @staticmethod
    def crowd():
        at = credentials("Hl7")
        messages = b"".join(message(f"C{number}") for number in range(20))
        return (at["mllp_host"], int(at["mllp_port"])), b"\x0bMSH|^~\\&|", messages

    def once(self, _):
        Mllp.sent += 1
        self.stream.sendall(message(f"W{Mllp.sent}"))
        answer = b""
        while not answer.endswith(b"\x1c\r"):
            answer += more(self.stream)


class Sftp:
    def __init__(self):
        at = credentials("Files")
        transport = paramiko.Transport((at["sftp_host"], int(at["sftp_port"])))
        transport.connect(username=at["username"], password=at["password"])
        self.session = paramiko.SFTPClient.from_transport(transport)

    @staticmethod
    def crowd():
        at = credentials("Files")
        return (at["sftp_host"], int(at["sftp_port"])), b"SSH-2.0-", b"SSH-2.0-crowd\r\n"

    def once(self, _):
        self.session.stat("/")


def frame(text):
    """A masked text frame; the mask is zeros."""
    data = text.encode()
    return bytes([0x81, 0x80 | len(data), 0, 0, 0, 0]) + data


class WebSocket:
    def __init__(self):
        self.path, self.stream = urlsplit(credentials("Voice", LINE)["ws_url"]).path, None

    @staticmethod
    def opening(path):
        nonce = base64.b64encode(os.urandom(16)).decode()
        return (f"GET {path} HTTP/1.1\r\n{BEARER}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                f"Sec-WebSocket-Key: {nonce}\r\n\r\n").encode()

    @classmethod
    def crowd(cls):
        opening = cls.opening(urlsplit(credentials("Voice", LINE)["ws_url"]).path)
        return HTTP, opening + b"\x81", opening + frame('{"say": "What is the deductible?"}') * 20

    def receive(self, messages):
        """Reads frames of the server, which are not masked."""
        while messages:
            while len(self.buffer) < 2:
                self.buffer += more(self.stream)
            length, head = self.buffer[1], 2
            if length == 126:
                while len(self.buffer) < 4:
                    self.buffer += more(self.stream)
                length, head = int.from_bytes(self.buffer[2:4], "big"), 4
            while len(self.buffer) < head + length:
                self.buffer += more(self.stream)
            self.buffer, messages = self.buffer[head + length:], messages - 1

    def ready(self, number):
        """Calls anew from time to time: nobody asks a thousand things in one call."""
        if number % 100 == 0:
            self.stream, self.buffer = connect(HTTP), b""
            self.stream.sendall(self.opening(self.path))
            while b"\r\n\r\n" not in self.buffer:
                self.buffer += more(self.stream)
            self.buffer = self.buffer.split(b"\r\n\r\n", 1)[1]
            self.receive(2)

    def once(self, _):
        self.stream.sendall(frame('{"say": "What is the deductible?"}'))
        self.receive(2)


def times(worker, rounds=ROUNDS):
    taken = []
    for number in range(rounds):
        getattr(worker, "ready", lambda _: None)(number)
        begun = time.perf_counter()
        worker.once(number)
        taken.append((time.perf_counter() - begun) * 1000)
    taken.sort()
    return taken[len(taken) // 2], taken[int(len(taken) * 0.99)]


def crowd_of(protocol):
    crowd, (address, beginning, unread) = [], protocol.crowd()
    for number in range(CLIENTS):
        stream = connect(address)
        stream.sendall(beginning if number % 2 else unread)
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
                while stream.recv(1 << 20):
                    pass
                ended.add(stream.fileno())
            except BlockingIOError:
                pass
            except OSError:
                ended.add(stream.fileno())
        time.sleep(0.2)
    return len(ended)


print(f"{CLIENTS} clients, {ROUNDS} rounds{'':<18}alone: median, p99 ms     with the crowd      ratio: median, p99")
for name, protocol in {"HTTP": Http, "MLLP": Mllp, "SFTP": Sftp, "WebSocket": WebSocket}.items():
    if PROTOCOLS and name not in PROTOCOLS:
        continue
    mine = Http() if protocol is Sftp and paramiko is None else protocol()
    times(mine)
    median, worst = times(mine)
    crowd, begun = crowd_of(protocol), time.monotonic()
    # What the crowd has asked is done first: it is the holding that is measured.
    times(mine, ROUNDS // 2)
    crowded_median, crowded_worst = times(mine)
    print(f"{name:<42}{median:>8.2f} {worst:>8.2f} {crowded_median:>13.2f} {crowded_worst:>8.2f}"
          f" {crowded_median / median:>13.2f} {crowded_worst / worst:>8.2f}", flush=True)
    left = max(5, 3 * IDLE_SECONDS - (time.monotonic() - begun))
    print(f"  {gone(crowd, left)} of {len(crowd)} let go within {time.monotonic() - begun:.0f} s", flush=True)
    for stream in crowd:
        stream.close()
