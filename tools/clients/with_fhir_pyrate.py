"""fhir-pyrate, unmodified, against a FHIR sandbox: searches as tables. Argument: the sandbox's credentials."""

import warnings

import pandas
import requests
from expectations import credentials, expect, refusal, run, token
from fhir_pyrate import Ahoy, Pirate
from provision import PATIENTS

BASE_URL = credentials()["fhir_base_url"]
warnings.filterwarnings("ignore", module="fhir_pyrate")


def pirate_with(scope="system/*.cruds", **settings):
    auth = Ahoy(auth_type="token", token=token(scope)["access_token"])
    return Pirate(base_url=BASE_URL, auth=auth, silence_fhirpath_warning=True, **settings)


pirate = pirate_with()


def totals():
    expect("total of a type", pirate.get_bundle_total("Patient"), PATIENTS)
    expect("total of a search", pirate.get_bundle_total("Patient", {"gender": "male"}), PATIENTS // 2)
    expect("entries of a page", pirate.get_bundle_total("Patient", {"_count": 7}, count_entries=True), 7)


def pages():
    bundles = list(pirate.steal_bundles("Patient", {"_count": 20, "_sort": "_id"}))
    sizes = [len(bundle.entry) for bundle in bundles]
    expect("sizes of the pages", sizes, [20, 20, 20, PATIENTS - 60])
    expect("the first patient", bundles[0].entry[0].resource.id, "p01")
    expect("pages that were asked for", len(list(pirate.steal_bundles("Patient", {"_count": 5, "_sort": "_id"}, num_pages=3))), 3)


def tables():
    paths = [("id", "id"), ("family", "name.family"), ("born", "birthDate")]
    frame = pirate.steal_bundles_to_dataframe("Patient", {"_count": 50, "_sort": "-birthdate"}, fhir_paths=paths)
    expect("rows of the table", len(frame), PATIENTS)
    expect("the youngest", (frame["id"].iloc[0], frame["family"].iloc[0]), ("p72", "Family72"))


def included():
    found = pirate.steal_bundles_to_dataframe(
        "Observation", {"code": "http://loinc.org|8867-4", "_include": "Observation:subject", "_count": 30}
    )
    expect("tables of the types that were found", sorted(found), ["Observation", "Patient"])
    expect("their rows", {name: len(frame) for name, frame in found.items()}, {"Observation": PATIENTS, "Patient": PATIENTS})


def time_spans():
    frame = pirate.sail_through_search_space_to_dataframe(
        "Encounter", "date", date_init="2026-02-01", date_end="2026-03-01", request_params={"_count": 10}
    )
    expect("encounters of a month", frame["id"].nunique(), PATIENTS)


def rows():
    cohort = pandas.DataFrame({"patient": ["p01", "p02"]})
    frame = pirate.trade_rows_for_dataframe(
        cohort,
        "Observation",
        df_constraints={"patient": "patient"},
        fhir_paths=["id", ("value", "valueQuantity.value")],
        with_ref=True,
    )
    expect("observations of the rows", sorted(frame["id"]), ["o01-0", "o01-1", "o02-0", "o02-1"])
    expect("with their rows", set(frame["patient"]), {"p01", "p02"})


def scopes():
    narrow = pirate_with("system/Patient.rs")
    expect("what the scope allows", narrow.get_bundle_total("Patient"), PATIENTS)
    answer = refusal(requests.HTTPError, narrow.session.get, f"{BASE_URL}/Observation").response
    expect("what it does not", (answer.status_code, answer.json()["issue"][0]["code"]), (403, "forbidden"))
    expect("without a token", requests.get(f"{BASE_URL}/Patient").status_code, 401)


run("fhir-pyrate", [totals, pages, tables, included, time_spans, rows, scopes])
