#!/usr/bin/env python3
"""A small agent in plain Python: laboratory results for the bundled benchmark `lab-followup`.

    verial run lab-followup@3 --local --agent 'python3 examples/agent.py'

It needs nothing but the standard library. `verial run` starts it once for each task and tells it in VERIAL_… variables
where the task's sandbox is; everything else goes over HTTP, as with any other system.
"""

import json
import os
import urllib.request

ROOT = f"{os.environ['VERIAL_BASE_URL']}/v1/task-runs/{os.environ['VERIAL_TASK_RUN_ID']}/sandbox"
TASK = json.loads(os.environ["VERIAL_TASK_ITEM"])


def call(method, path, body=None):
    headers = {"Authorization": f"Bearer {os.environ['VERIAL_RUN_TOKEN']}", "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{ROOT}/{path}", data=data, headers=headers, method=method)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.loads(answer.read() or "null")


def search(query):
    return [entry["resource"] for entry in call("GET", f"fhir/{query}").get("entry", [])]


def field(message, segment, place, component=1):
    for line in message.replace("\n", "\r").split("\r"):
        if line.startswith(segment):
            fields = line.split("|")
            parts = fields[place].split("^") if place < len(fields) else [""]
            return parts[component - 1] if component <= len(parts) else ""
    return ""


def day(text):
    return f"{text[:4]}-{text[4:6]}-{text[6:8]}"


def is_critical(code, value):
    return {
        "2823-3": value >= 6.0 or value <= 2.8,
        "718-7": value < 7.0,
        "2345-7": value > 400 or value < 50,
        "6301-6": value > 5.0,
    }.get(code, False)


def create_task(kind, priority, **more):
    task = {"resourceType": "Task", "status": "requested", "intent": "order", "priority": priority, "code": {"text": kind}}
    call("POST", "fhir/Task", task | more)


def text_patient(patient, words):
    call("POST", "messages", {"channel": "sms", "patient_id": patient["id"], "body": words})


def file_result(message, patient):
    filler, unit = field(message, "OBR", 3), field(message, "OBX", 6)
    known = search(f"Observation?identifier={filler}")
    observation = known[0] if known else {"resourceType": "Observation"}
    observation |= {
        "identifier": [{"system": "https://lab.example.org/filler", "value": filler}],
        "status": "corrected" if field(message, "OBX", 11) == "C" else "final",
        "code": {"coding": [{"system": "http://loinc.org", "code": field(message, "OBX", 3)}]},
        "subject": {"reference": f"Patient/{patient['id']}"},
        "effectiveDateTime": day(field(message, "OBR", 7)),
        "valueQuantity": {"value": json.loads(field(message, "OBX", 5)), "unit": unit, "code": unit,
                          "system": "http://unitsofmeasure.org"},
    }
    if known:
        return call("PUT", f"fhir/Observation/{observation['id']}", observation)
    return call("POST", "fhir/Observation", observation)


def handle(message):
    found = search(f"Patient?identifier={field(message, 'PID', 3)}")
    patient = found[0] if found else None
    same = patient and patient["birthDate"] == day(field(message, "PID", 7)) \
        and patient["name"][0]["family"].lower() == field(message, "PID", 5).lower()
    if not same:
        create_task("patient-mismatch", "urgent", description=f"Result {field(message, 'OBR', 3)}: patient does not match the chart.")
        return
    filed = file_result(message, patient)
    if is_critical(field(message, "OBX", 3), float(field(message, "OBX", 5))):
        create_task("critical-result", "stat", **{"for": {"reference": f"Patient/{patient['id']}"},
                                                  "focus": {"reference": f"Observation/{filed['id']}"}})
        text_patient(patient, f"Please call the clinic today at {TASK['clinic_phone']}. "
                              "The care team needs to speak with you.")
    elif field(message, "OBX", 8) in ("H", "L", "HH", "LL"):
        text_patient(patient, "A new result is ready for you in the patient portal.")


for item in call("GET", "hl7/inbox")["data"]:
    handle(item["payload"])
