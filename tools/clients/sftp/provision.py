"""Starts a file drop over the API and prints its credentials, with the address of its files over HTTP, as JSON."""

import json
import sys

import requests


def main(base_url, key):
    session = requests.Session()
    session.headers["Authorization"] = f"Bearer {key}"

    def call(method, path, **body):
        answer = session.request(method, base_url + path, **body)
        answer.raise_for_status()
        return answer.json()

    dataset = call("POST", "/datasets", json={"name": "Referrals", "type": "files"})["id"]
    call("PUT", f"/datasets/{dataset}/files/inbox/referral.txt", data=b"Referral for Ada Stone\n")
    simulator = call("POST", "/simulators", json={"type": "Sftp", "name": "Drop"})["id"]
    call("POST", f"/simulators/{simulator}/datasets/{dataset}")
    sandbox = call("POST", "/sandboxes", json={"simulator_id": simulator})
    print(json.dumps(sandbox["credentials"] | {"files_url": f"{base_url}/sandboxes/{sandbox['id']}/files", "key": key}))


if __name__ == "__main__":
    main(*sys.argv[1:])
