"""Starts an HL7 v2 interface over the API and prints its credentials as JSON, with the API's key to look behind them."""

import json
import sys

import requests

SEED = (
    "MSH|^~\\&|LAB|HOSP|EHR|CLINIC|20260401120000||ORU^R01^ORU_R01|LAB0001|P|2.5.1\r"
    "PID|1||77^^^MRN||Doe^Ann\rOBR|1|||2823-3^Potassium^LN\rOBX|1|NM|2823-3^Potassium^LN||6.1|mmol/L|3.5-5.1|HH|||F\r"
)


def main(base_url, key):
    session = requests.Session()
    session.headers["Authorization"] = f"Bearer {key}"

    def call(path, body):
        answer = session.post(base_url + path, json=body)
        answer.raise_for_status()
        return answer.json()

    config = {"inbox": [{"message": SEED}], "strict": True}
    simulator = call("/simulators", {"type": "Hl7", "name": "Interface", "config": config})["id"]
    sandbox = call("/sandboxes", {"simulator_id": simulator})
    events_url = f"{base_url}/sandboxes/{sandbox['id']}/events"
    print(json.dumps(sandbox["credentials"] | {"key": key, "events_url": events_url}))


if __name__ == "__main__":
    main(*sys.argv[1:])
