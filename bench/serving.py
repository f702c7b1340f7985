"""A server of its own for a measurement, on a free port and on data that are gone afterwards."""

import atexit
import os
import re
import subprocess
import tempfile


def start(binary, limits=()):
    """The process, its address and an organization's key."""
    work = tempfile.TemporaryDirectory()
    command = [binary, "serve", "--listen", "127.0.0.1:0", "--data", os.path.join(work.name, "data"), "--log", "warn"]
    command += [word for limit in limits for word in ("--limit", limit)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    def stop():
        server.kill()
        server.wait()
        work.cleanup()

    atexit.register(stop)
    key = url = None
    while not (key and url):
        line = server.stdout.readline()
        key = key or (re.search(r"vk_\w+", line) or [None])[0]
        url = url or (re.search(r"http://[\d.:]+", line) or [None])[0]
    return server, url, key
