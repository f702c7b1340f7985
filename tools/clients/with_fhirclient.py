"""fhirclient (SMART on FHIR), unmodified, against a FHIR sandbox. Argument: the sandbox's credentials as JSON.

Its models are strict: whatever the server answers must be sound R4, or reading it fails.
"""

import json

from expectations import credentials, expect, refusal, run
from fhirclient.client import FHIRClient
from fhirclient.models.bundle import Bundle, BundleEntry, BundleEntryRequest
from fhirclient.models.encounter import Encounter
from fhirclient.models.fhirdate import FHIRDate
from fhirclient.models.humanname import HumanName
from fhirclient.models.identifier import Identifier
from fhirclient.models.observation import Observation
from fhirclient.models.operationoutcome import OperationOutcome
from fhirclient.models.patient import Patient
from fhirclient.server import FHIRNotFoundException, FHIRPermissionDeniedException, FHIRUnauthorizedException
from provision import PATIENTS
from requests import HTTPError

MRN = "http://clinic.example/mrn"


def connect(scope="system/*.cruds", **changed):
    """Finds the token endpoint in the CapabilityStatement and gets a token with HTTP Basic, all by itself."""
    known = credentials() | changed
    settings = {
        "app_id": known["client_id"],
        "app_secret": known["client_secret"],
        "api_base": known["fhir_base_url"],
        "scope": scope,
    }
    client = FHIRClient(settings=settings)
    client.wants_patient = False
    client.prepare()
    client.authorize()
    return client


def outcome(error, status):
    """The first issue of the OperationOutcome that the refusal must have brought."""
    expect("status", error.response.status_code, status)
    return OperationOutcome(error.response.json()).issue[0]


def new_patient(mrn):
    patient = Patient()
    patient.name = [HumanName({"family": "Lindqvist", "given": ["Sten"]})]
    patient.identifier = [Identifier({"system": MRN, "value": mrn})]
    return patient


client = connect()
server = client.server


def capability():
    statement = server.capabilityStatement
    expect("version of FHIR", statement.fhirVersion, "4.0.1")
    expect("the token was granted", client.ready)
    patient = next(resource for resource in statement.rest[0].resource if resource.type == "Patient")
    expect("birthdate can be searched by", "birthdate" in {known.name for known in patient.searchParam})


def create_read_update_delete():
    made = Patient(new_patient("C-1").create(server))
    expect("id and version", (bool(made.id), made.meta.versionId), (True, "1"))
    made.birthDate = FHIRDate("1987-11-30")
    expect("version after an update", Patient(made.update(server)).meta.versionId, "2")
    read = Patient.read(made.id, server)
    expect("what was written is read", (read.birthDate.isostring, read.name[0].family), ("1987-11-30", "Lindqvist"))
    read.delete()
    gone = refusal(HTTPError, Patient.read, made.id, server)
    expect("a deleted resource is gone", outcome(gone, 410).code, "deleted")
    never = refusal(FHIRNotFoundException, Patient.read, "nobody", server)
    expect("one that never was is not found", outcome(never, 404).code, "not-found")


def versions():
    made = Patient(new_patient("C-2").create(server))
    made.active = True
    made.update(server)
    path = f"Patient/{made.id}/_history"
    expect("the first version", Patient.read_from(f"{path}/1", server).active, None)
    history = Bundle.read_from(path, server)
    seen = [(entry.request.method, entry.resource.meta.versionId) for entry in history.entry]
    expect("history, newest first", (history.type, seen), ("history", [("PUT", "2"), ("POST", "1")]))


def search_and_paging():
    search = Patient.where({"family:contains": "family", "_count": "15", "_sort": "birthdate"})
    pages = list(search.perform_iter(server))
    expect("pages", len(pages), 5)
    found = [entry.resource.id for page in pages for entry in page.entry]
    expect("every patient once and in order", found, [f"p{number:02}" for number in range(1, PATIENTS + 1)])
    expect("the total on every page", {page.total for page in pages}, {PATIENTS})
    by_date = Observation.where({"patient": "p05", "date": {"$and": ["ge2026-02-06", "lt2026-02-07"]}})
    expect("by reference and date", sorted(found.id for found in by_date.perform_resources_iter(server)), ["o05-0", "o05-1"])
    either = Patient.where({"identifier": {"$or": [f"{MRN}|MRN-01", f"{MRN}|MRN-02"]}})
    expect("either", sorted(found.id for found in either.perform_resources_iter(server)), ["p01", "p02"])


def includes():
    search = Observation.where({"code": "8867-4", "_count": "20"}).include("subject")
    pages = list(search.perform_iter(server))
    expect("pages", len(pages), 4)
    matches = [entry.resource.id for page in pages for entry in page.entry if entry.search.mode == "match"]
    expect("every match once", (len(matches), len(set(matches))), (PATIENTS, PATIENTS))
    for page in pages:
        subjects = {e.resource.subject.reference for e in page.entry if e.search.mode == "match"}
        included = {f"Patient/{e.resource.id}" for e in page.entry if e.search.mode == "include"}
        expect("the patients of this page's observations", included, subjects)
    charts = Patient.where({"_id": "p06"}).include("subject", Encounter, reverse=True)
    names = {f"{found.resource_type}/{found.id}" for found in charts.perform_resources_iter(server)}
    expect("what points to the match", names, {"Patient/p06", "Encounter/e06"})


def entry(method, url, resource, full_url=None, **conditions):
    made = BundleEntry()
    made.request = BundleEntryRequest({"method": method, "url": url} | conditions)
    made.resource = resource
    made.fullUrl = full_url
    return made


def transaction():
    urn = "urn:uuid:5b1c1c0e-2ad1-4a35-9d55-0e7e4b1d9d10"
    visit = {"resourceType": "Encounter", "status": "planned", "class": {"code": "AMB"}, "subject": {"reference": urn}}
    bundle = Bundle({"resourceType": "Bundle", "type": "transaction"})
    patient = entry("POST", "Patient", new_patient("C-3"), urn, ifNoneExist=f"identifier={MRN}|C-3")
    bundle.entry = [entry("POST", "Encounter", Encounter(visit)), patient]
    first, second = (Bundle(bundle.create(server)) for _ in range(2))
    expect("first", [made.response.status[:3] for made in first.entry], ["201", "201"])
    expect("the patient is there already", [made.response.status[:3] for made in second.entry], ["201", "200"])
    created = [location(made) for made in first.entry]
    visits = Encounter.where({"status": "planned"}).perform_resources_iter(server)
    expect("both visits are of one patient", {visit.subject.reference for visit in visits}, {created[1]})
    bundle.entry[0].resource.subject.reference = "urn:uuid:00000000-0000-4000-8000-000000000000"
    error = refusal(HTTPError, bundle.create, server)
    expect("a dangling urn is refused", outcome(error, 400).severity, "error")


def location(made):
    """`Patient/1` of a response's location, which may be absolute and name the version."""
    return "/".join(made.response.location.split("/_history")[0].split("/")[-2:])


def refusals():
    body = {"resourceType": "Patient", "birthDate": "yesterday"}
    error = refusal(HTTPError, server.post_json, "Patient", body)
    expect("the place of the fault", outcome(error, 422).expression, ["Patient.birthDate"])
    error = refusal(HTTPError, server.put_json, "Patient/other", {"resourceType": "Patient", "id": "this"})
    expect("ids that differ", outcome(error, 400).severity, "error")
    error = refusal(FHIRNotFoundException, server.request_json, "Patinet/p01")
    expect("no such type", outcome(error, 404).severity, "error")
    error = refusal(HTTPError, server.request_json, "Patient?birthdate=nonsense")
    expect("a bad value", outcome(error, 400).severity, "error")


def scopes():
    narrow = connect("system/Patient.read system/Observation.s").server
    expect("may read patients", Patient.read("p01", narrow).id, "p01")
    found = list(Observation.where({"patient": "p01"}).perform_resources_iter(narrow))
    expect("may search observations", len(found), 2)
    for call in (
        lambda: Observation.read("o01-0", narrow),
        lambda: Encounter.read("e01", narrow),
        lambda: new_patient("C-4").create(narrow),
        lambda: Patient.read("p01", narrow).delete(),
    ):
        error = refusal(FHIRPermissionDeniedException, call)
        expect("the scope is named", "system/" in outcome(error, 403).diagnostics)
    error = refusal(FHIRUnauthorizedException, connect, client_secret="wrong")
    expect("a wrong secret", json.loads(error.response.text)["error"], "invalid_client")
    error = refusal(HTTPError, connect, "patient/*.read launch")
    expect("no scope of a system", json.loads(error.response.text)["error"], "invalid_scope")


run(
    "fhirclient",
    [capability, create_read_update_delete, versions, search_and_paging, includes, transaction, refusals, scopes],
)
