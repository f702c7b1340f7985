"""Starts a fax line over the API and prints its credentials as JSON, with the API's key, which opens them."""

import json
import sys

import requests


def main(base_url, key):
    session = requests.Session()
    session.headers["Authorization"] = f"Bearer {key}"

    def call(path, body):
        answer = session.post(base_url + path, json=body)
        answer.raise_for_status()
        return answer.json()

    config = {"outcomes": [{"number": "+15550100199", "status": "failed", "reason": "busy"}]}
    simulator = call("/simulators", {"type": "Fax", "name": "Fax line", "config": config})["id"]
    sandbox = call("/sandboxes", {"simulator_id": simulator})
    inbox_url = f"{base_url}/sandboxes/{sandbox['id']}/fax/inbox"
    print(json.dumps(sandbox["credentials"] | {"key": key, "inbox_url": inbox_url}))


if __name__ == "__main__":
    main(*sys.argv[1:])
