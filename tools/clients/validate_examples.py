"""Asks a running server to `$validate` every resource of directories, such as the official R4 examples (npm package
`hl7.fhir.r4.examples` 4.0.1) and the examples of US Core 6.1.0, and prints every error. Run by hand:

    cargo run -p verial-cli -- serve --limit requests_per_second=1000000,request_burst=1000000
    python3 tools/clients/validate_examples.py http://127.0.0.1:8700 vk_… r4/package us-core/package/example

The resources go to the server as they are, with the profiles that they claim in `meta.profile`.
"""

import json
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

BASE_URL, KEY, *DIRECTORIES = sys.argv[1:]
THREADS = 4
# Larger requests are refused.
MOST_BYTES = 5 * 1024 * 1024

local = threading.local()


def call(method, path, body, media):
    if not hasattr(local, "connection"):
        local.connection = HTTPConnection(urlsplit(BASE_URL).netloc)
    local.connection.request(method, path, body, {"Authorization": f"Bearer {KEY}", "Content-Type": media})
    response = local.connection.getresponse()
    return response.status, response.read()


def api(path, body):
    status, text = call("POST", path, json.dumps(body), "application/json")
    assert status < 300, text
    return json.loads(text)


def errors(fhir, file):
    """The errors of a resource, or None if it is too large or not a resource."""
    text = file.read_bytes()
    resource_type = json.loads(text).get("resourceType")
    if resource_type is None or len(text) > MOST_BYTES:
        return None
    status, answer = call("POST", f"{fhir}/{resource_type}/$validate", text, "application/fhir+json")
    issues = json.loads(answer).get("issue", [])
    found = [issue for issue in issues if issue["severity"] in ("error", "fatal")]
    if status >= 300 and not found:
        found = [{"diagnostics": f"{status} {answer}"}]
    return [f"{(issue.get('expression') or [''])[0]}: {issue.get('diagnostics')}" for issue in found]


def main():
    simulator = api("/simulators", {"type": "Fhir", "name": "Validation"})["id"]
    sandbox = api("/sandboxes", {"simulator_id": simulator})
    fhir = urlsplit(sandbox["credentials"]["fhir_base_url"]).path
    for directory in DIRECTORIES:
        files = [file for file in sorted(Path(directory).glob("*.json")) if file.name not in ("package.json", ".index.json")]
        with ThreadPoolExecutor(THREADS) as pool:
            found = list(zip(files, pool.map(lambda file: errors(fhir, file), files)))
        asked = [(file, what) for file, what in found if what is not None]
        faulty = [(file, what) for file, what in asked if what]
        print(f"{directory}: {len(asked) - len(faulty)} of {len(asked)} without an error, {len(found) - len(asked)} not asked")
        for file, what in faulty:
            print(f"  {file.name}: {' | '.join(what)[:600]}")
        sys.stdout.flush()


main()
