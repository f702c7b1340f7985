#!/usr/bin/env python3
"""Documents that are small to send and large to open (trust.md S6, S7): what each costs the server, and what it answers.

    cargo build --release && python3 bench/bombs.py target/release/verial

Each is sent to a fax line. Prints the status, processor time and the growth of the peak of resident memory, all of the
server's process alone; the limit to hold them against is 100 ms and 64 MB. Standard library only, Linux only.
"""

import json
import os
import re
import struct
import sys
import urllib.error
import urllib.request
import zlib

import serving

server, url, key = serving.start(sys.argv[1])


def call(path, data, kind):
    request = urllib.request.Request(url + path, data=data, headers={"Authorization": f"Bearer {key}", "Content-Type": kind})
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as refusal:
        return refusal.code, json.loads(refusal.read())


def make(path, **body):
    return call(path, json.dumps(body).encode(), "application/json")[1]


def fax(document):
    form = b"".join(
        b'--x\r\nContent-Disposition: form-data; name="%s"%s\r\n\r\n%s\r\n' % part
        for part in [(b"to_number", b"", b"+15555550100"), (b"document", b'; filename="a"', document)]
    )
    return call(f"/sandboxes/{sandbox}/fax/faxes", form + b"--x--\r\n", "multipart/form-data; boundary=x")


def tiff(width, height, pages=1, compression=1, data=bytes(128), bits=1):
    file = b"II*\0" + struct.pack("<I", 8)
    for page in range(pages):
        entries = [(256, width), (257, height), (258, bits), (259, compression), (262, 0), (273, 8 + pages * 126),
                   (277, 1), (278, height), (279, len(data))]
        following = 0 if page == pages - 1 else len(file) + 126
        file += struct.pack("<H", 9) + b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in entries)
        file += struct.pack("<I", following).ljust(16, b"\0")
    return file + data


def pdf(content, filters="", page="", more=b""):
    return (f"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
            f"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R{page}>>endobj\n"
            f"4 0 obj<<{filters}/Length {len(content)}>>stream\n").encode() + content + b"\nendstream endobj\n" + more + (
        b"trailer<</Root 1 0 R>>\n")


FLATE = "/Filter/FlateDecode"
zeros = zlib.compress(bytes(1 << 30 >> 4), 9)
picture = (b"5 0 obj<</Subtype/Image/Width %d/Height %d/BitsPerComponent 8/ColorSpace/DeviceGray/Filter/FlateDecode/Length %d>>"
           b"stream\n%s\nendstream endobj\n")
BOMBS = {
    "a page of text, for comparison": pdf(b"BT /F1 12 Tf (Hello) Tj ET"),
    "9 MiB of blanks": pdf(b" ") + b" " * (9 << 20),
    "a picture of 4 gigapixels": tiff(65535, 65535),
    "a picture without end": tiff(0xFFFFFFFF, 0xFFFFFFFF),
    "64 megapixels of nothing": tiff(8192, 8191),
    "39 megapixels, all there": tiff(6240, 6240, data=bytes(780 * 6240)),
    "39 megapixels of grey": tiff(6240, 6240, bits=8, compression=8, data=zlib.compress(bytes(6240 * 6240), 9)),
    "50 pages of 39 megapixels": tiff(6240, 6240, pages=50, bits=8, compression=8, data=zlib.compress(bytes(6240 * 6240), 9)),
    "pages in a circle": tiff(64, 16)[:118] + struct.pack("<I", 8) + tiff(64, 16)[122:],
    "five million brackets": pdf(b" ", page="/X " + "[" * (5 << 20)),
    "a million pages": pdf(b" ").replace(b"[3 0 R]", b"[" + b"3 0 R " * (1 << 20) + b"]"),
    "64 MiB of zeros as content": pdf(zeros, FLATE),
    "the same 100 times": pdf(zeros, FLATE).replace(b"/Contents 4 0 R", b"/Contents[" + b"4 0 R " * 100 + b"]"),
    "zeros packed twice": pdf(zlib.compress(zeros, 9), "/Filter[/FlateDecode/FlateDecode]"),
    "a million letters": pdf(zlib.compress(b"BT /F1 12 Tf " + b"(a) Tj " * 1_000_000 + b"ET", 9), FLATE),
    "a picture of 64 megapixels": pdf(b"q /P Do Q", page="/Resources<</XObject<</P 5 0 R>>>>",
                                      more=picture % (8192, 8192, len(zeros), zeros)),
    "a page that shows itself": pdf(b"/P Do /P Do", page="/Resources<</XObject<</P 5 0 R>>>>",
                                    more=b"5 0 obj<</Subtype/Form/Resources<</XObject<</P 5 0 R>>>>/Length 11>>stream\n"
                                         b"/P Do /P Do\nendstream endobj\n"),
    "half a million objects": pdf(b" ", more=b"".join(b"%d 0 obj null endobj\n" % number for number in range(9, 400_009))),
    "only the head": b"%PDF-1.7",
    "half of a TIFF": tiff(64, 16)[:60],
}


def peak():
    status = open(f"/proc/{server.pid}/status").read()
    return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) / 1024


def processor():
    fields = open(f"/proc/{server.pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")


simulator = make("/simulators", type="Fax", name="Fax")["id"]
sandbox = make("/sandboxes", simulator_id=simulator)["id"]
fax(BOMBS["a page of text, for comparison"])
print(f"{'':<34}{'KiB sent':>9} {'status':>7} {'CPU ms':>8} {'MiB more':>9}  why")
for name, document in BOMBS.items():
    with open(f"/proc/{server.pid}/clear_refs", "w") as refs:
        refs.write("5")
    memory, time = peak(), processor()
    status, answer = fax(document)
    why = (answer.get("error", {}).get("details", {}).get("document") or [""])[0]
    print(f"{name:<34}{len(document) >> 10:>9} {status:>7} {processor() - time:>8.0f} {peak() - memory:>9.1f}  {why[:60]}", flush=True)
