"""Puts the official R4 examples to a running server, resource by resource and search by search. Run by hand: it needs
the npm package `hl7.fhir.r4.examples` 4.0.1, unpacked (188 MB), and takes a while.

    npm pack hl7.fhir.r4.examples@4.0.1 && tar xzf hl7.fhir.r4.examples-4.0.1.tgz
    cargo run --release -p verial-fhir --example itself -- --queries package > queries.ndjson
    cargo run --release -p verial-cli -- serve --limit requests_per_second=1000000,request_burst=1000000
    .test/venv/bin/python tools/clients/official_examples.py http://127.0.0.1:8700 vk_… package queries.ndjson

First every resource is written to an empty sandbox, and read back: it must be equal but for `meta.versionId` and
`meta.lastUpdated`, with every digit of its numbers. While it is the only one of its type there, it is searched by its
own values. Then all of them become one dataset, and the same searches are put to a sandbox on that: the first way goes
through what was written in a sandbox, the second through a dataset's index.

With a number as a last argument, only that many values of each parameter and form are asked for of one resource; a few
code systems with thousands of codes are most of the work.
"""

import json
import sys
import threading
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlencode, urlsplit

BASE_URL, KEY, PACKAGE, QUERIES = sys.argv[1:5]
MOST_VALUES = int(sys.argv[5]) if len(sys.argv) > 5 else None
# What `itself` takes for the server's own address.
EXAMPLE_BASE = "http://server.invalid/fhir"
THREADS = 8
# Larger resources are refused in a dataset, and longer ids everywhere.
MOST_BYTES = 10 * 1024 * 1024
LONGEST_ID = 64

local = threading.local()


def call(method, path, body=None, media="application/json"):
    """Status and body of the answer. A connection for each thread, without the weight of a client library."""
    if not hasattr(local, "connection"):
        local.connection = HTTPConnection(urlsplit(BASE_URL).netloc)
    local.connection.request(method, path, body, {"Authorization": f"Bearer {KEY}", "Content-Type": media})
    answer = local.connection.getresponse()
    return answer.status, answer.read()


def api(method, path, body=None, **named):
    status, answer = call(method, path, body if isinstance(body, bytes) else json.dumps(body or {}), **named)
    assert status < 300, f"{method} {path}: {answer}"
    return json.loads(answer)


def exact(text):
    """Numbers with their digits: 1.0 is not 1.00 here, but 1E5 is 1e+5."""

    def number(digits):
        return "number", digits.lower().replace("e+", "e")

    return json.loads(text, parse_float=number, parse_int=number)


def without_version(resource):
    meta = {name: value for name, value in resource.get("meta", {}).items() if name not in ("versionId", "lastUpdated")}
    rest = {name: value for name, value in resource.items() if name != "meta"}
    return rest | ({"meta": meta} if meta else {})


def read_queries():
    """By resource: the searches, each once."""
    by_resource = defaultdict(dict)
    per_name = Counter()
    with open(QUERIES) as lines:
        for line in lines:
            kind, id, name, value = json.loads(line)
            if name == "_lastUpdated":  # which is the server's to say
                continue
            # A form of a value, such as `system|code`, is as good as another of the same form.
            form = (kind, id, name, value.count("|"), value[:2] if value[:2] in ("ge", "le", "ap") else "")
            per_name[form] += 1
            if MOST_VALUES is None or per_name[form] <= MOST_VALUES:
                by_resource[kind, id][name, value] = None
    return by_resource


class Tally:
    def __init__(self, name):
        self.name, self.asked, self.misses = name, 0, []

    def note(self, is_right, words):
        self.asked += 1
        if not is_right:
            self.misses.append(words)

    def print(self):
        right = self.asked - len(self.misses)
        print(f"{self.name}: {right} of {self.asked} ({100 * right / max(self.asked, 1):.3f} %)")
        for miss in sorted(self.misses):
            print(f"  {miss[:300]}")
        sys.stdout.flush()


def new_sandbox(dataset=None):
    simulator = api("POST", "/simulators", {"type": "Fhir", "name": "Official examples"})["id"]
    sandbox = api("POST", "/sandboxes", {"simulator_id": simulator, "dataset_id": dataset})
    return urlsplit(sandbox["credentials"]["fhir_base_url"]).path


def search(fhir, key, queries, tally):
    kind, id = key
    for name, value in queries:
        # The resource's own id besides, so that the answer stays small; the other parameter still has to hold.
        query = urlencode({name: value.replace(EXAMPLE_BASE, BASE_URL + fhir), "_id": id, "_summary": "count"})
        status, answer = call("GET", f"{fhir}/{kind}?{query}")
        found = json.loads(answer).get("total") if status == 200 else answer
        tally.note(found == 1, f"{kind}/{id} {name}={value}: {found}")


def write_read_search(fhir, text, queries, tallies):
    written, equal, found = tallies
    resource = exact(text)
    key = resource["resourceType"], resource["id"]
    url = f"{fhir}/{key[0]}/{key[1]}"
    status, answer = call("PUT", url, text, "application/fhir+json")
    written.note(status == 201, f"{'/'.join(key)}: {status} {answer}")
    if status != 201:
        return
    _, read = call("GET", url)
    equal.note(without_version(exact(read)) == without_version(resource), f"{'/'.join(key)} differs")
    search(fhir, key, queries.get(key, ()), found)
    call("DELETE", url)


def one_by_one(files, queries):
    tallies = [Tally("written"), Tally("read back equal"), Tally("searches of what was written that find it")]

    # A sandbox each, because resources of the same type must not meet: its own sandbox keeps a thread's searches cheap.
    def work(part):
        fhir = new_sandbox()
        for file in part:
            write_read_search(fhir, file.read_bytes(), queries, tallies)

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(work, [files[start::THREADS] for start in range(THREADS)]))
    for tally in tallies:
        tally.print()


def all_together(files, queries):
    dataset = api("POST", "/datasets", {"name": "Official examples", "type": "fhir"})["id"]
    lines = {}
    for file in files:
        # As it is, but for the line ends, which are no part of a string: Python's own numbers would lose digits.
        line = file.read_bytes().replace(b"\r", b" ").replace(b"\n", b" ")
        resource = json.loads(line)
        if len(line) > MOST_BYTES or len(resource["id"]) > LONGEST_ID:
            print(f"not in the dataset, with {len(line)} bytes: {file.name}")
        else:
            lines[resource["resourceType"], resource["id"]] = line
    api("PUT", f"/datasets/{dataset}/data", b"\n".join(lines.values()), media="application/fhir+ndjson")
    fhir = new_sandbox(dataset)
    tally = Tally("searches of the dataset that find it")
    keys = [key for key in queries if key in lines]
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(lambda key: search(fhir, key, queries[key], tally), keys))
    tally.print()


def main():
    files = [file for file in sorted(Path(PACKAGE).glob("*.json")) if file.name != "package.json"]
    queries = read_queries()
    print(f"{len(files)} resources, {sum(map(len, queries.values()))} searches")
    all_together(files, queries)
    one_by_one(files, queries)


main()
