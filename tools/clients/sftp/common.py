"""What the Python scripts share: counted expectations, the credentials, bytes to send, and what lies there over HTTP."""

import hashlib
import json
import sys

import requests

passed = 0
credentials = json.loads(sys.argv[1])
host, port = credentials["sftp_host"], int(credentials["sftp_port"])
username, password = credentials["username"], credentials["password"]
MEBIBYTE = 1 << 20
# Whoever wants to see a large file go through says so: `… '{credentials}' 1024`.
LARGE = int(sys.argv[2]) if len(sys.argv) > 2 else 64


def expect(what, actual=True, expected=True):
    global passed
    assert actual == expected, f"{what}: expected {expected!r}, got {actual!r}"
    passed += 1


def write_large(path, mebibytes=LARGE):
    """A file that does not compress to nothing; answers its hash."""
    digest, block = hashlib.sha256(), b""
    with open(path, "wb") as file:
        for number in range(mebibytes):
            block = hashlib.shake_128(number.to_bytes(8, "big")).digest(MEBIBYTE)
            file.write(block)
            digest.update(block)
    return digest.hexdigest()


def digest_of(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def over_http(path):
    """The hash that the server has of a file, or none."""
    headers = {"Authorization": f"Bearer {credentials['key']}"}
    answer = requests.head(f"{credentials['files_url']}/{path}", headers=headers)
    return answer.headers["ETag"].strip('"') if answer.ok else None


def done(name):
    print(f"{name}: {passed} checks passed")
