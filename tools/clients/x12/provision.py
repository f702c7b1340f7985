"""Authors a record of insured patients and a clearinghouse over it, starts a playground, and prints what a client needs."""

import json
import sys

import requests

MEMBERS = 40


def member(number):
    """Name, first name, birth date as X12 writes it, gender and member number of a patient."""
    gender = "F" if number % 2 else "M"
    return f"FAMILY{number:02}", f"ROBIN{number:02}", f"{1940 + number}03{number % 28 + 1:02}", gender, f"W{number:04}"


def resources():
    payer = {"resourceType": "Organization", "id": "plan", "name": "Harbour Plan", "identifier": [{"value": "60054"}]}
    yield payer
    npi = {"system": "http://hl7.org/fhir/sid/us-npi", "value": "1234567893"}
    yield {"resourceType": "Organization", "id": "clinic", "name": "Riverside Clinic", "identifier": [npi]}
    for number in range(MEMBERS):
        yield from chart(number)


def chart(number):
    last, first, birth, gender, card = member(number)
    patient, person = f"p{number:02}", {"reference": f"Patient/p{number:02}"}
    yield {
        "resourceType": "Patient",
        "id": patient,
        "name": [{"family": last.title(), "given": [first.title()]}],
        "birthDate": f"{birth[:4]}-{birth[4:6]}-{birth[6:]}",
        "gender": "female" if gender == "F" else "male",
        "managingOrganization": {"reference": "Organization/clinic"},
        "address": [{"line": [f"{number} Lake St"], "city": "Springfield", "state": "IL", "postalCode": "62701"}],
    }
    # Every fifth patient is a dependent of the one before, and every seventh plan has ended.
    subscriber = {"reference": f"Patient/p{number - 1:02}"} if number % 5 == 1 else person
    holder = member(number - 1)[4] if number % 5 == 1 else card
    yield {
        "resourceType": "Coverage",
        "id": f"c{number:02}",
        "status": "active",
        "subscriberId": holder,
        "subscriber": subscriber,
        "beneficiary": person,
        "payor": [{"reference": "Organization/plan"}],
        "period": {"start": "2020-01-01", "end": "2021-01-01" if number % 7 == 6 else "2099-12-31"},
        "type": {"coding": [{"code": ["HMO", "PPO", "POS"][number % 3]}]},
        "class": [{"type": {"coding": [{"code": "group"}]}, "value": f"G{number % 4}", "name": "Acme"}],
        "costToBeneficiary": [
            {"type": {"coding": [{"code": "gpvisit"}]}, "valueMoney": {"value": 20 + number, "currency": "USD"}},
            {"type": {"coding": [{"code": "copaypct"}]}, "valueQuantity": {"value": 20}},
            {"type": {"coding": [{"code": "deductible"}]}, "valueMoney": {"value": 1500.5, "currency": "USD"}},
        ],
    }
    claim = {"reference": f"Claim/k{number:02}"}
    yield {
        "resourceType": "Claim",
        "id": f"k{number:02}",
        "status": "active",
        "use": "claim",
        "type": {"coding": [{"code": "professional"}]},
        "identifier": [{"value": f"CLAIM{number:02}"}],
        "patient": person,
        "created": "2026-01-06",
        "billablePeriod": {"start": "2026-01-05", "end": f"2026-01-{5 + number % 3:02}"},
        "total": {"value": 100 + number, "currency": "USD"},
    }
    if number % 3:
        yield {
            "resourceType": "ClaimResponse",
            "id": f"r{number:02}",
            "status": "active",
            "use": "claim",
            "outcome": "complete",
            "identifier": [{"value": f"PAYER{number:02}"}],
            "request": claim,
            "patient": person,
            "created": "2026-01-10",
            "payment": {"amount": {"value": 80 if number % 3 == 1 else 0, "currency": "USD"}, "identifier": {"value": "CHK1"}},
        }


RULES = [
    {"match": {"member": "X0001"}, "status": "active", "benefits": [
        {"code": "B", "service_type": "98", "amount": "25.00", "in_network": True, "message": "COPAY AT THE DESK"},
        {"code": "A", "service_type": "30", "percent": "0.20", "period": "27", "coverage_level": "IND"}]},
    {"match": {"member": "X0002"}, "aaa": "75"},
    {"match": {"member": "X0003"}, "aaa": "79"},
    {"match": {"procedure": "99213"}, "status": "paid", "payment": {"percent": "0.80", "copay": "10.00"}},
    {"match": {"procedure": "99214"}, "status": "paid"},
    {"match": {"procedure": "99215"}, "status": "denied", "payment": {"reason": "197"}},
    {"match": {"procedure": "70551"}, "status": "approved"},
    {"match": {"procedure": "70552"}, "status": "need_more_info"},
]


def main(base_url, key):
    session = requests.Session()
    session.headers["Authorization"] = f"Bearer {key}"

    def call(method, path, **body):
        answer = session.request(method, base_url + path, **body)
        answer.raise_for_status()
        return answer.json()

    dataset = call("POST", "/datasets", json={"name": "Members", "type": "fhir"})["id"]
    lines = "".join(json.dumps(resource) + "\n" for resource in resources())
    call("PUT", f"/datasets/{dataset}/data", data=lines, headers={"Content-Type": "application/fhir+ndjson"})
    environment = call("POST", "/environments", json={"name": "Payer"})["id"]
    ehr = call("POST", "/simulators", json={"type": "Fhir", "name": "EHR"})["id"]
    call("POST", f"/simulators/{ehr}/datasets/{dataset}")
    house = {"type": "Clearinghouse", "name": "Clearinghouse", "config": {"rules": RULES}}
    house = call("POST", "/simulators", json=house)["id"]
    for simulator in (ehr, house):
        call("POST", f"/environments/{environment}/simulators/{simulator}")
    sandboxes = call("POST", "/playgrounds", json={"environment_id": environment})["sandboxes"]
    [credentials] = [sandbox["credentials"] for sandbox in sandboxes if sandbox["type"] == "Clearinghouse"]
    print(json.dumps(credentials | {"key": key}))


if __name__ == "__main__":
    main(*sys.argv[1:])
