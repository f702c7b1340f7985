"""fhirpy, unmodified, against a FHIR sandbox. Argument: the sandbox's credentials, as provision.py prints them."""

import asyncio
import json
from collections import Counter

from expectations import credentials, expect, refusal, run, token
from fhirpy import AsyncFHIRClient, SyncFHIRClient
from fhirpy.base.exceptions import AuthorizationError, ForbiddenError, OperationOutcome, ResourceNotFound
from provision import PATIENTS

BASE_URL = credentials()["fhir_base_url"]
MRN = "http://clinic.example/mrn"


def client_with(scope=None, how="basic", kind=SyncFHIRClient, **settings):
    return kind(BASE_URL, authorization=f"Bearer {token(scope, how)['access_token']}", **settings)


client = client_with()


def issue(error):
    """The first issue of an error that keeps the answer as text."""
    return json.loads(str(error))["issue"][0]


def new_patient(mrn, by=client, **more):
    name = [{"family": "Okafor", "given": ["Ada"]}]
    return by.resource("Patient", identifier=[{"system": MRN, "value": mrn}], name=name, **more)


def create_read_update_delete():
    patient = new_patient("F-1", birthDate="1990-05-01").create()
    expect("the id that the server chose is read back", bool(patient.id))
    expect("version of a new resource", patient.meta.versionId, "1")
    patient["gender"] = "female"
    patient.update()
    expect("version after an update", patient.meta.versionId, "2")
    read = client.reference("Patient", patient.id).to_resource()
    expect("what was written is read", (read.gender, read.birthDate), ("female", "1990-05-01"))
    expect("an unchanged resource is refreshed to itself", patient.refresh().meta.versionId, "2")
    patient.delete()
    gone = refusal(ResourceNotFound, client.get, "Patient", patient.id)
    expect("a deleted resource is gone", issue(gone)["code"], "deleted")
    never = refusal(ResourceNotFound, client.get, "Patient", "nobody")
    expect("one that never was is not found", issue(never)["code"], "not-found")


def update_as_create():
    patient = new_patient("F-2", id="chosen-id").save()
    expect("the client's own id is kept", (patient.id, patient.meta.versionId), ("chosen-id", "1"))


def versions():
    patient = new_patient("F-3").create()
    patient["active"] = True
    patient.update()
    patient.delete()
    path = f"Patient/{patient.id}/_history"
    first = client.execute(f"{path}/1", method="get")
    expect("the first version is still there", (first.meta.versionId, "active" in first), ("1", False))
    history = client.execute(path, method="get")
    methods = [entry.request.method for entry in history.entry]
    expect("history, newest first", methods, ["DELETE", "PUT", "POST"])
    expect("how many versions", history.total, 3)
    error = refusal(ResourceNotFound, client.execute, f"{path}/3", method="get")
    expect("the version that deleted it is gone", issue(error)["code"], "deleted")


def search_and_paging():
    patients = client.resources("Patient").search(family__contains="family")
    expect("count", patients.count(), PATIENTS)
    found = patients.sort("birthdate").limit(10).fetch_all()
    expect("every patient on eight pages, once and in order", [p.id for p in found], ids(range(1, PATIENTS + 1)))
    expect("by identifier", patients.search(identifier=f"{MRN}|MRN-07").get().id, "p07")
    between = patients.search(birthdate__ge="1990-01-01", birthdate__lt="1995-01-01")
    expect("by date", {p.id for p in between}, set(ids(range(50, 55))))
    expect("descending", patients.sort("-birthdate").first().id, f"p{PATIENTS}")
    chained = client.resources("Observation").search(subject__Patient__identifier="MRN-09", code="8867-4")
    expect("through a reference", [found.id for found in chained], ["o09-0"])
    heavy = patients.has("Observation", "patient", code_value_quantity="29463-7$gt120").fetch_all()
    expect("by what points to it", sorted(found.id for found in heavy), ids([71, 72]))


def ids(numbers):
    return [f"p{number:02}" for number in numbers]


def paging_survives_writes():
    query = client.resources("Patient").search(family__contains="family").limit(20)
    seen = Counter()
    for number, patient in enumerate(query):
        seen[patient.id] += 1
        if number == 5:
            late = client.resource("Patient", id="a-late-one", name=[{"family": "Family00"}]).save()
            client.reference("Patient", "p70").delete()
    expect("those of the first page's time, each once", seen, Counter(ids(range(1, PATIENTS + 1))))
    late.delete()
    client.resource("Patient", **kept_patient("p70")).save()


def kept_patient(id):
    kept = dict(client.execute(f"Patient/{id}/_history/1", method="get"))
    return {name: value for name, value in kept.items() if name not in ("meta", "resourceType")}


def asynchronous_paging():
    async def fetch():
        found = client_with(kind=AsyncFHIRClient).resources("Encounter").limit(15)
        return [encounter.id async for encounter in found]

    found = asyncio.run(fetch())
    expect("every encounter once", (len(found), len(set(found))), (PATIENTS, PATIENTS))


def includes():
    search = client.resources("Observation").search(code="http://loinc.org|8867-4", patient="Patient/p03")
    bundle = search.include("Observation", "subject").include("Observation", "encounter").fetch_raw()
    modes = {f"{entry.resource.resourceType}/{entry.resource.id}": entry.search.mode for entry in bundle.entry}
    expect("matches and included", modes, {"Observation/o03-0": "match", "Patient/p03": "include", "Encounter/e03": "include"})
    patients = client.resources("Patient").search(_id="p03").revinclude("Observation", "subject").fetch_raw()
    expect("what points to the match", len(patients.entry), 3)


def transaction():
    patient = {"resourceType": "Patient", "name": [{"family": "Inbundle"}]}
    encounter = {
        "resourceType": "Encounter",
        "status": "planned",
        "class": {"code": "AMB"},
        "subject": {"reference": "urn:uuid:0d8f5f0c-6b62-4d0f-8e0c-9f9a3f0b1a11"},
    }
    entries = [
        {"request": {"method": "POST", "url": "Encounter"}, "resource": encounter},
        {
            "fullUrl": "urn:uuid:0d8f5f0c-6b62-4d0f-8e0c-9f9a3f0b1a11",
            "request": {"method": "POST", "url": "Patient"},
            "resource": patient,
        },
    ]
    bundle = {"resourceType": "Bundle", "type": "transaction", "entry": entries}
    answer = client.execute("", data=bundle)
    expect("type of the answer", answer.type, "transaction-response")
    expect("statuses in order", [entry.response.status[:3] for entry in answer.entry], ["201", "201"])
    made = client.resources("Encounter").search(patient__Patient__family="Inbundle").get()
    created = client.resources("Patient").search(family="Inbundle").get()
    expect("the urn became a reference", made.subject.reference, f"Patient/{created.id}")
    entries[1]["resource"] = {"resourceType": "Patient", "gender": "wrong"}
    refusal(OperationOutcome, client.execute, "", data=bundle)
    again = client.resources("Encounter").search(status="planned").count()
    expect("a refused transaction leaves nothing behind", again, 1)


def conditional():
    condition = {"If-None-Exist": f"identifier={MRN}|F-9"}
    careful = client_with(extra_headers=condition)
    first, second = (new_patient("F-9", by=careful).create() for _ in range(2))
    expect("created once", first.id, second.id)
    matching = client.resources("Patient").search(identifier=f"{MRN}|F-9")
    updated, created = matching.update(new_patient("F-9", gender="other"))
    expect("update by search", (updated.id, created, updated.meta.versionId), (first.id, False, "2"))
    matching.delete()
    expect("delete by search", matching.count(), 0)


def validation():
    expect("a sound resource", new_patient("F-10").is_valid())
    expect("a faulty one", new_patient("F-10", gender="unclear").is_valid(), False)
    error = refusal(OperationOutcome, new_patient("F-10", gender="unclear").create)
    [fault] = error.resource["issue"]
    expect("the fault and its place", (fault["code"], fault["expression"]), ("code-invalid", ["Patient.gender"]))
    # fhirpy merges fields as JSON, which is none of R4's three ways to patch.
    error = refusal(OperationOutcome, client.patch, "Patient", "p01", active=True)
    expect("a patch of no known kind", error.resource["issue"][0]["code"], "not-supported")
    strict = client_with(extra_headers={"Prefer": "handling=strict"})
    refusal(OperationOutcome, strict.resources("Patient").search(nonsense="1").fetch)
    expect("ignored when not strict", client.resources("Patient").search(nonsense="1").count() > 0)


def scopes():
    for how in ("basic", "body"):
        answer = token("system/Patient.rs", how)
        expect(f"granted by {how}", (answer["scope"], answer["token_type"].lower()), ("system/Patient.rs", "bearer"))
    reader = client_with("system/Patient.rs", "body")
    expect("may read patients", reader.get("Patient", "p01")["id"], "p01")
    error = refusal(ForbiddenError, reader.get, "Observation", "o01-0")
    expect("but nothing else", issue(error)["code"], "forbidden")
    refusal(ForbiddenError, new_patient("F-11", by=reader).create)
    refusal(ForbiddenError, reader.delete, "Patient", "p01")
    refusal(ForbiddenError, reader.resources("Observation").fetch)
    refusal(AuthorizationError, SyncFHIRClient(BASE_URL).get, "Patient", "p01")
    forged = SyncFHIRClient(BASE_URL, authorization=client.authorization[:-3] + "AAA")
    refusal(AuthorizationError, forged.get, "Patient", "p01")


def everything():
    chart = client.reference("Patient", "p04").execute("$everything", method="get")
    found = {f"{entry.resource.resourceType}/{entry.resource.id}" for entry in chart.entry}
    own = {"Patient/p04", "Encounter/e04", "Observation/o04-0", "Observation/o04-1"}
    expect("the whole chart", own <= found)
    expect("nobody else's", {name for name in found if name.startswith("Patient/")}, {"Patient/p04"})


run(
    "fhirpy",
    [
        create_read_update_delete,
        update_as_create,
        versions,
        search_and_paging,
        paging_survives_writes,
        asynchronous_paging,
        includes,
        transaction,
        conditional,
        validation,
        scopes,
        everything,
    ],
)
