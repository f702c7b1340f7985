"""A CDS Hooks service made with HealthChain, unmodified: the EHR discovers it, calls it and tells it what became of its
cards. HealthChain's own models judge every request that the EHR sends."""

import socket
import threading
import time

import requests
import uvicorn
from expectations import credentials, expect, run
from fastapi import FastAPI, Request
from healthchain.gateway.cds import CDSHooksConfig, CDSHooksService
from healthchain.models.hooks import EncounterDischargeContext, OrderSelectContext, OrderSignContext, PatientViewContext
from healthchain.models.requests.cdsrequest import CDSRequest
from healthchain.models.responses.cdsdiscovery import CDSServiceInformation
from healthchain.models.responses.cdsfeedback import CDSFeedback
from healthchain.models.responses.cdsresponse import CDSResponse

KNOWN = credentials()
EHR = requests.Session()
EHR.headers["Authorization"] = f"Bearer {KNOWN['key']}"
CONTEXTS = {
    "patient-view": PatientViewContext,
    "order-select": OrderSelectContext,
    "order-sign": OrderSignContext,
    "encounter-discharge": EncounterDischargeContext,
}
received, feedback = [], []

SOURCE = {"label": "HealthChain", "url": "https://example.org/cds"}
CARD, SUGGESTION = "4e0a3a1e-3283-4575-ab82-028d55fe2719", "e56e1945-20b3-4393-8503-a1a20fd73152"
ORDER = {"resourceType": "ServiceRequest", "status": "draft", "intent": "order", "subject": {"reference": "Patient/p1"}}

service = CDSHooksService(CDSHooksConfig(discovery_path="/cds-services"))


@service.hook("patient-view", id="age")
def look(request: CDSRequest):
    """Reads the patient from the EHR's FHIR server, with the token that the EHR sent."""
    token = request.fhirAuthorization.access_token
    url = f"{str(request.fhirServer).rstrip('/')}/Patient/{request.context.patientId}"
    patient = requests.get(url, headers={"Authorization": f"Bearer {token}"}, timeout=30).json()
    return CDSResponse(cards=[{"summary": f"Born {patient['birthDate']}", "indicator": "info", "source": SOURCE}])


@service.hook("order-sign", id="interaction")
def sign(request: CDSRequest):
    order = {"type": "create", "description": "Check the INR", "resource": ORDER}
    stop = {"type": "delete", "description": "Stop warfarin", "resourceId": "MedicationRequest/m1"}
    card = {"uuid": CARD, "summary": "Warfarin and ibuprofen interact", "indicator": "critical", "source": SOURCE,
            "selectionBehavior": "at-most-one", "overrideReasons": [{"code": "known", "system": "http://example.org"}],
            "suggestions": [{"label": "Stop it", "uuid": SUGGESTION, "isRecommended": True, "actions": [order, stop]}]}
    return CDSResponse(cards=[card], systemActions=[order])


@service.hook("order-select", id="nothing")
def select(request: CDSRequest):
    return CDSResponse(cards=[])


@service.hook("encounter-discharge", id="discharge")
def discharge(request: CDSRequest):
    return CDSResponse(cards=[{"summary": "Follow up in a week", "indicator": "warning", "source": SOURCE}])


app = FastAPI()


@app.middleware("http")
async def remember(request: Request, call_next):
    if request.method == "POST" and not request.url.path.endswith("/feedback"):
        received.append(await request.json())
    return await call_next(request)


@app.post("/cds/cds-services/{service_id}/feedback")
async def hear(service_id: str, request: Request):
    feedback.append((service_id, await request.json()))
    return {}


app.include_router(service)


def started():
    """The base address of the service, when it answers."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
    threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True).start()
    base_url = f"http://127.0.0.1:{listener.getsockname()[1]}/cds"
    for _ in range(600):
        if server.started:
            return base_url
        time.sleep(0.1)
    raise AssertionError("the service did not start")


BASE_URL = started()


def fire(hook, context, status=201):
    answer = EHR.post(f"{KNOWN['hooks_url']}/{hook}", json={"context": context}, timeout=120)
    expect(f"the status of {hook}: {answer.text}", answer.status_code, status)
    return answer.json()


def orders():
    entry = {"resource": ORDER | {"id": "o1"}}
    return {"resourceType": "Bundle", "type": "collection", "entry": [entry]}


def services_are_discovered():
    CDSServiceInformation(**requests.get(f"{BASE_URL}/cds-services", timeout=60).json())
    made = EHR.post(KNOWN["services_url"], json={"base_url": BASE_URL}, timeout=120)
    expect(f"registered: {made.text}", made.status_code, 201)
    listed = EHR.get(KNOWN["services_url"], timeout=60).json()["data"]
    found = {row["definition"]["id"]: row["definition"]["hook"] for row in listed}
    expect("the services", found, {"age": "patient-view", "interaction": "order-sign", "nothing": "order-select", "discharge": "encounter-discharge"})


def hooks_are_answered_with_cards():
    user = {"userId": "Practitioner/d1", "patientId": "p1"}
    [viewed] = fire("patient-view", user)["invocations"]
    expect("the card", viewed["cards"][0]["summary"], "Born 1950-04-01")
    [selected] = fire("order-select", user | {"selections": ["ServiceRequest/o1"], "draftOrders": orders()})["invocations"]
    expect("no cards", (selected["status"], selected["cards"]), ("answered", []))
    [left] = fire("encounter-discharge", user | {"encounterId": "e1"})["invocations"]
    expect("the indicator", left["cards"][0]["indicator"], "warning")
    fire("encounter-discharge", user, status=400)
    fire("patient-view", user | {"patientId": "nobody"}, status=400)


def every_request_keeps_the_rules():
    expect("requests", len(received), 3)
    for raw in received:
        request = CDSRequest(**raw)
        CONTEXTS[request.hook](**raw["context"])
        expect("the hook's instance", len(request.hookInstance), 36)
        expect("the token's type", request.fhirAuthorization.token_type, "Bearer")
        expect("nothing else", set(raw) <= {"hook", "hookInstance", "context", "prefetch", "fhirServer", "fhirAuthorization"})
    expect("instances differ", len({raw["hookInstance"] for raw in received}), 3)


def suggestions_are_accepted_and_told():
    context = {"userId": "Practitioner/d1", "patientId": "p1", "draftOrders": orders()}
    [signed] = fire("order-sign", context)["invocations"]
    CDSResponse(cards=signed["cards"], systemActions=signed["system_actions"])
    url = f"{KNOWN['hooks_url'].removesuffix('hooks')}invocations/{signed['id']}/accept"
    accepted = EHR.post(url, json={"suggestion": SUGGESTION}, timeout=120).json()
    expect("what was done", sorted(one["type"] for one in accepted["applied"]), ["create", "delete"])
    expect("the service heard", accepted["delivery"]["status"], "sent")
    expect("the medication is gone", EHR.get(f"{KNOWN['fhir_base_url']}/MedicationRequest/m1").status_code, 410)
    expect("the order is there", EHR.get(f"{KNOWN['fhir_base_url']}/ServiceRequest").json()["total"], 1)
    override = {"card": CARD, "outcome": "overridden", "overrideReason": {"reason": {"code": "known", "system": "http://example.org"}, "userComment": "seen"}}
    kept = EHR.post(f"{KNOWN['hooks_url'].removesuffix('hooks')}feedback", json={"feedback": [override]}, timeout=120)
    expect(f"kept: {kept.text}", kept.status_code, 201)
    expect("who heard", [service_id for service_id, _ in feedback], ["interaction", "interaction"])
    for _, body in feedback:
        for entry in body["feedback"]:
            CDSFeedback(**entry)
            expect("the card", entry["card"], CARD)
    expect("what was accepted", feedback[0][1]["feedback"][0]["acceptedSuggestions"], [{"id": SUGGESTION}])


run("HealthChain", [services_are_discovered, hooks_are_answered_with_cards, every_request_keeps_the_rules, suggestions_are_accepted_and_told])
