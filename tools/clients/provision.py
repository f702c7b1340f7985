"""Authors a small clinic over the API, starts a playground on it, and prints the credentials of its FHIR server as JSON."""

import json
import sys

import requests

PATIENTS = 72
OBSERVATIONS_EACH = 2


def resources():
    yield {"resourceType": "Organization", "id": "clinic", "name": "Harbour Clinic"}
    yield {"resourceType": "Practitioner", "id": "reyes", "name": [{"family": "Reyes", "given": ["Ana"]}]}
    for number in range(1, PATIENTS + 1):
        yield from chart(number)


def chart(number):
    patient = f"p{number:02}"
    subject = {"reference": f"Patient/{patient}"}
    yield {
        "resourceType": "Patient",
        "id": patient,
        "identifier": [{"system": "http://clinic.example/mrn", "value": f"MRN-{number:02}"}],
        "name": [{"family": f"Family{number:02}", "given": ["Robin"]}],
        "gender": "female" if number % 2 else "male",
        "birthDate": f"{1940 + number}-03-{number % 28 + 1:02}",
        "managingOrganization": {"reference": "Organization/clinic"},
    }
    yield {
        "resourceType": "Encounter",
        "id": f"e{number:02}",
        "status": "finished",
        "class": {"system": "http://terminology.hl7.org/CodeSystem/v3-ActCode", "code": "AMB"},
        "subject": subject,
        "participant": [{"individual": {"reference": "Practitioner/reyes"}}],
        "period": {"start": f"2026-02-{number % 28 + 1:02}T09:00:00Z", "end": f"2026-02-{number % 28 + 1:02}T09:30:00Z"},
    }
    for place, (code, value, unit) in enumerate([("8867-4", 60 + number, "/min"), ("29463-7", 50 + number, "kg")]):
        yield {
            "resourceType": "Observation",
            "id": f"o{number:02}-{place}",
            "status": "final",
            "code": {"coding": [{"system": "http://loinc.org", "code": code}]},
            "subject": subject,
            "encounter": {"reference": f"Encounter/e{number:02}"},
            "effectiveDateTime": f"2026-02-{number % 28 + 1:02}T09:10:00Z",
            "valueQuantity": {"value": value, "unit": unit, "system": "http://unitsofmeasure.org", "code": unit},
        }


def main(base_url, key):
    session = requests.Session()
    session.headers["Authorization"] = f"Bearer {key}"

    def call(method, path, **body):
        answer = session.request(method, base_url + path, **body)
        answer.raise_for_status()
        return answer.json()

    dataset = call("POST", "/datasets", json={"name": "Charts", "type": "fhir"})["id"]
    lines = "".join(json.dumps(resource) + "\n" for resource in resources())
    media = {"Content-Type": "application/fhir+ndjson"}
    call("PUT", f"/datasets/{dataset}/data", data=lines, headers=media)
    simulator = call("POST", "/simulators", json={"type": "Fhir", "name": "EHR"})["id"]
    call("POST", f"/simulators/{simulator}/datasets/{dataset}")
    environment = call("POST", "/environments", json={"name": "Clinic"})["id"]
    call("POST", f"/environments/{environment}/simulators/{simulator}")
    [sandbox] = call("POST", "/playgrounds", json={"environment_id": environment})["sandboxes"]
    print(json.dumps(sandbox["credentials"]))


if __name__ == "__main__":
    main(*sys.argv[1:])
