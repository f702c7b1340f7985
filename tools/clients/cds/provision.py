"""Starts an EHR with patients for CDS Hooks over the API and prints what a client needs as JSON."""

import json
import sys

import requests

PATIENTS = [
    {"resourceType": "Patient", "id": "p1", "active": True, "birthDate": "1950-04-01"},
    {"resourceType": "Patient", "id": "p2", "active": True, "birthDate": "2001-04-01"},
    {"resourceType": "Practitioner", "id": "d1", "active": True},
    {"resourceType": "Encounter", "id": "e1", "status": "in-progress", "class": {"code": "IMP"},
     "subject": {"reference": "Patient/p1"}},
    {"resourceType": "MedicationRequest", "id": "m1", "status": "active", "intent": "order",
     "medicationCodeableConcept": {"text": "Warfarin 5 mg"}, "subject": {"reference": "Patient/p1"}},
]


def main(base_url, key):
    session = requests.Session()
    session.headers["Authorization"] = f"Bearer {key}"

    def call(method, path, **body):
        answer = session.request(method, base_url + path, **body)
        answer.raise_for_status()
        return answer.json()

    dataset = call("POST", "/datasets", json={"name": "Patients", "type": "fhir"})["id"]
    lines = "".join(json.dumps(resource) + "\n" for resource in PATIENTS)
    call("PUT", f"/datasets/{dataset}/data", data=lines, headers={"Content-Type": "application/fhir+ndjson"})
    fhir = call("POST", "/simulators", json={"type": "Fhir", "name": "EHR"})["id"]
    call("POST", f"/simulators/{fhir}/datasets/{dataset}")
    config = {"fhir_authorization": {"scope": "system/*.rs"}, "timeout_seconds": 30}
    cds = call("POST", "/simulators", json={"type": "CdsHooks", "name": "CDS", "config": config})["id"]
    environment = call("POST", "/environments", json={"name": "Clinic"})["id"]
    for simulator in (fhir, cds):
        call("POST", f"/environments/{environment}/simulators/{simulator}")
    sandboxes = call("POST", "/playgrounds", json={"environment_id": environment})["sandboxes"]
    known = {sandbox["type"]: sandbox["credentials"] for sandbox in sandboxes}
    print(json.dumps(known["CdsHooks"] | {"fhir_base_url": known["Fhir"]["fhir_base_url"], "key": key}))


if __name__ == "__main__":
    main(*sys.argv[1:])
