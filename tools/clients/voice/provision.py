"""Starts a phone line over the API and prints its credentials as JSON, with the API's key and the address of its calls."""

import json
import sys

import requests

NODES = {
    "menu": {
        "type": "menu",
        "prompt": "For eligibility press 1. To leave a message press 2.",
        "options": [{"dtmf": "1", "phrases": ["eligibility"], "next": "number"}, {"dtmf": "2", "next": "message"}],
        "otherwise": "bye",
    },
    "number": {
        "type": "collect",
        "prompt": "Please say or enter the member number.",
        "field": "member_id",
        "kind": "digits",
        "confirm": True,
        "next": "wait",
        "otherwise": "bye",
    },
    "wait": {"type": "hold", "prompt": "Please hold.", "seconds": 1200, "next": "dana"},
    "dana": {
        "type": "representative",
        "prompt": "This is Dana. How can I help?",
        "beats": [{"phrases": ["deductible"], "answer": "The deductible of {{field.member_id}} is five hundred dollars."}],
    },
    "message": {"type": "voicemail", "prompt": "Leave a message after the tone.", "max_seconds": 2, "next": "bye"},
    "bye": {"type": "hangup", "prompt": "Goodbye."},
}


def main(base_url, key):
    session = requests.Session()
    session.headers["Authorization"] = f"Bearer {key}"

    def call(path, body):
        answer = session.post(base_url + path, json=body)
        answer.raise_for_status()
        return answer.json()

    config = {"ivr": {"start": "menu", "nodes": NODES}}
    simulator = call("/simulators", {"type": "Voice", "name": "Line", "config": config})["id"]
    sandbox = call("/sandboxes", {"simulator_id": simulator})
    calls_url = f"{base_url}/sandboxes/{sandbox['id']}/voice/calls"
    print(json.dumps(sandbox["credentials"] | {"key": key, "calls_url": calls_url}))


if __name__ == "__main__":
    main(*sys.argv[1:])
