"""Authors some of everything over the API, which random data would not lead to, and prints the id of the key it used."""

import json
import sys
import urllib.request

BASE_URL, KEY = sys.argv[1:]


def call(method, path, body=None, media="application/json"):
    data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {KEY}", "Content-Type": media}
    request = urllib.request.Request(BASE_URL + path, data, headers, method=method)
    with urllib.request.urlopen(request) as answer:
        return json.loads(answer.read() or "null")


def author(number):
    patients = call("POST", "/datasets", {"name": "Patients", "type": "fhir"})["id"]
    call("PUT", f"/datasets/{patients}/data", b'{"resourceType":"Patient","id":"p1"}\n', "application/fhir+ndjson")
    referrals = call("POST", "/datasets", {"name": "Referrals", "type": "files"})["id"]
    call("PUT", f"/datasets/{referrals}/files/inbox/a.txt", b"hello", "text/plain")
    entity = {"name": "the patient", "ref": "Patient/p1", "data": {"mrn": "1"}}
    entity = call("POST", f"/datasets/{patients}/entities", entity)["id"]
    simulator = call("POST", "/simulators", {"type": "Fhir", "name": "EHR"})["id"]
    call("POST", f"/simulators/{simulator}/datasets/{patients}")
    environment = call("POST", "/environments", {"name": "Clinic"})["id"]
    call("POST", f"/environments/{environment}/simulators/{simulator}")
    benchmark = {"name": "Referral intake", "slug": f"referral-{number}", "environment_id": environment}
    benchmark = call("POST", "/benchmarks", benchmark)["id"]
    task = {"benchmark_id": benchmark, "name": "Accept", "task_item": {"instruction": "Process {{entity.name}}."}}
    task = call("POST", "/tasks", task)["id"]
    call("POST", f"/tasks/{task}/entities", {"entity_id": entity})
    assertion = {
        "assert": "fhir-resource-state",
        "resource_type": "ServiceRequest",
        "fields": [{"path": "status", "expected": "active"}],
    }
    call("POST", "/criteria", {"task_id": task, "label": "A request was made", "assertion": assertion, "weight": 2})
    call("POST", f"/benchmarks/{benchmark}/publish")
    solver = call("POST", "/solvers", {"alias": f"agent-{number}"})["id"]
    call("POST", f"/solvers/{solver}/api-keys", {"name": "first"})
    call("POST", "/api-keys", {"name": "second"})
    play(environment, simulator, patients)
    run(benchmark, solver)


def play(environment, simulator, patients):
    """Leaves a playground with events, state and a difference, and a sandbox of its own."""
    playground = call("POST", "/playgrounds", {"environment_id": environment})
    records = f"/sandboxes/{playground['sandboxes'][0]['id']}/fhir"
    call("GET", f"{records}/Patient/p1")
    call("PUT", f"{records}/Patient/p1", {"resourceType": "Patient", "id": "p1", "active": True})
    call("POST", f"{records}/Patient", {"resourceType": "Patient"})
    sandbox = call("POST", "/sandboxes", {"simulator_id": simulator, "dataset_id": patients})
    call("DELETE", f"/sandboxes/{sandbox['id']}/fhir/Patient/p1")


def run(benchmark, solver):
    """Leaves a completed run, and one with a started task."""
    for is_completed in (True, False):
        made = call("POST", "/benchmark-runs", {"benchmark_id": benchmark, "solver_id": solver, "agent": "sample"})
        task_run = made["task_runs"][0]["id"]
        call("POST", f"/task-runs/{task_run}/start")
        if is_completed:
            call("POST", f"/task-runs/{task_run}/complete")


print(call("GET", "/api-keys")["data"][0]["id"])
for number in range(4):
    author(number)
