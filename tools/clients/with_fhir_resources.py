"""fhir.resources' models read whatever a FHIR sandbox answers, and write what it gets. Argument: its credentials as JSON.

The models know every element and every type; R4B is their nearest to R4, and the same for the resources used here.
"""

from decimal import Decimal

import requests
from expectations import credentials, expect, run, token
from fhir.resources.R4B import get_fhir_model_class
from fhir.resources.R4B.bundle import Bundle
from fhir.resources.R4B.capabilitystatement import CapabilityStatement
from fhir.resources.R4B.observation import Observation
from fhir.resources.R4B.operationoutcome import OperationOutcome
from provision import OBSERVATIONS_EACH, PATIENTS

BASE_URL = credentials()["fhir_base_url"]
session = requests.Session()
session.headers["Authorization"] = f"Bearer {token()['access_token']}"
session.headers["Content-Type"] = "application/fhir+json"


def ask(method, path, model, status=200, body=None):
    url = path if path.startswith("http") else f"{BASE_URL}/{path}"
    answer = session.request(method, url, data=body)
    expect(f"status of {method} {path}", answer.status_code, status)
    return model.model_validate_json(answer.content)


def metadata():
    statement = ask("GET", "metadata", CapabilityStatement)
    expect("kind and version", (statement.kind, statement.fhirVersion), ("instance", "4.0.1"))
    expect("types", len(statement.rest[0].resource) > 140)


def searches():
    found, next_page = [], "Observation?_count=40&_include=Observation:patient"
    while next_page:
        page = ask("GET", next_page, Bundle)
        found += [entry.resource.id for entry in page.entry if entry.search.mode == "match"]
        next_page = next((link.url for link in page.link if link.relation == "next"), None)
    expected = PATIENTS * OBSERVATIONS_EACH
    expect("every observation once", (len(found), len(set(found))), (expected, expected))
    empty = ask("GET", "Patient?family=Nobody", Bundle)
    expect("nothing found", (empty.total, empty.entry), (0, None))
    for query in ("_summary=true", "_summary=count", "_elements=subject", "_total=none", "_revinclude=Observation:encounter"):
        ask("GET", f"Encounter?{query}&_count=3", Bundle)


def decimals():
    quantity = '{"value": 1.50, "unit": "mmol/L", "extension": [{"url": "http://clinic.example/x", "valueDecimal": 0.10}]}'
    body = '{"resourceType": "Observation", "status": "final", "code": {"text": "K"}, "valueQuantity": %s}' % quantity
    made = ask("POST", "Observation", Observation, 201, body)
    text = session.get(f"{BASE_URL}/Observation/{made.id}").text
    expect("digits as they were written", "1.50" in text and "0.10" in text)
    made.valueQuantity.value = Decimal("2.3")
    updated = ask("PUT", f"Observation/{made.id}", Observation, 200, made.model_dump_json())
    expect("what the model writes", (updated.valueQuantity.value, updated.meta.versionId), (Decimal("2.3"), "2"))


def histories():
    for path in ("Patient/p01/_history", "Observation/_history?_count=5", "_history?_count=5"):
        expect(f"type of {path}", ask("GET", path, Bundle).type, "history")


def bundles():
    entries = [
        {"request": {"method": "GET", "url": "Patient/p01"}},
        {"request": {"method": "GET", "url": "Patient?_count=1"}},
        {"request": {"method": "DELETE", "url": "Patient/nobody"}},
        {"request": {"method": "GET", "url": "Patient/nobody"}},
    ]
    batch = Bundle.model_validate({"resourceType": "Bundle", "type": "batch", "entry": entries})
    answer = ask("POST", "", Bundle, 200, batch.model_dump_json())
    expect("type", answer.type, "batch-response")
    expect("statuses", [entry.response.status[:3] for entry in answer.entry], ["200", "200", "204", "404"])
    expect("the outcome is in the entry", type(answer.entry[3].response.outcome).__name__, "OperationOutcome")


def refusals():
    for path, status in (("Patient/nobody", 404), ("Patient?birthdate=x", 400), ("Nonsense/1", 404)):
        ask("GET", path, OperationOutcome, status)
    ask("POST", "Patient", OperationOutcome, 400, "{")
    ask("POST", "Patient", OperationOutcome, 422, '{"resourceType": "Patient", "nonsense": 1}')


def operations():
    chart = ask("GET", "Patient/p02/$everything", Bundle)
    for entry in chart.entry:
        get_fhir_model_class(entry.resource.get_resource_type())
    expect("type", chart.type, "searchset")
    ask("POST", "Patient/$validate", OperationOutcome, 200, '{"resourceType": "Patient", "active": true}')


run("fhir.resources", [metadata, searches, decimals, histories, bundles, refusals, operations])
