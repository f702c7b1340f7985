// fhirclient, the SMART client of npm, unmodified, against a FHIR sandbox. Argument: the sandbox's credentials as JSON.

import assert from "node:assert/strict";
import smart from "fhirclient";

const credentials = JSON.parse(process.argv[2]);
const PATIENTS = 72;
const MRN = "http://clinic.example/mrn";
let passed = 0;

function expect(what, actual, expected = true) {
  assert.deepEqual(actual, expected, what);
  passed += 1;
}

/** The error of a call that must be refused with this status. */
async function refusal(status, call) {
  const error = await call.then(
    (answer) => assert.fail(`expected ${status}, got ${JSON.stringify(answer)}`),
    (error) => error,
  );
  expect("status", error.statusCode ?? error.status, status);
  return error;
}

async function token(scope) {
  const { client_id, client_secret, token_url } = credentials;
  const authorization = `Basic ${Buffer.from(`${client_id}:${client_secret}`).toString("base64")}`;
  const body = new URLSearchParams({ grant_type: "client_credentials", scope });
  const answer = await fetch(token_url, { method: "POST", body, headers: { authorization } });
  expect("status of the token request", answer.status, 200);
  return answer.json();
}

/** As a server-side application uses it, after it was granted a token. */
async function connect(scope, patient) {
  const request = { url: "/", headers: { host: "app.example" }, session: {} };
  const storage = { get: async () => undefined, set: async (_, value) => value, unset: async () => true };
  const tokenResponse = { ...(await token(scope)), patient };
  return smart(request, {}, storage).client({ serverUrl: credentials.fhir_base_url, tokenResponse });
}

const newPatient = (mrn) => ({
  resourceType: "Patient",
  identifier: [{ system: MRN, value: mrn }],
  name: [{ family: "Adeyemi", given: ["Tomi"] }],
});

async function release(client) {
  expect("the version that the server states", await client.getFhirVersion(), "4.0.1");
  expect("its release", await client.getFhirRelease(), 4);
}

async function createReadUpdateDelete(client) {
  const made = await client.create(newPatient("S-1"));
  expect("version of a new resource", made.meta.versionId, "1");
  const updated = await client.update({ ...made, active: true });
  expect("what was written is answered", [updated.active, updated.meta.versionId], [true, "2"]);
  const patched = await client.patch(`Patient/${made.id}`, [{ op: "add", path: "/gender", value: "female" }]);
  expect("what a patch left", [patched.gender, patched.meta.versionId], ["female", "3"]);
  expect("what was written is read", (await client.request(`Patient/${made.id}`)).gender, "female");
  await client.delete(`Patient/${made.id}`);
  await refusal(410, client.request(`Patient/${made.id}`));
  await refusal(404, client.request("Patient/nobody"));
  await refusal(422, client.create({ ...newPatient("S-2"), nonsense: true }));
}

async function pages(client) {
  const all = await client.request("Patient?family=Family&_count=20&_sort=_id", { pageLimit: 0, flat: true });
  expect("patients of all pages", all.map(({ id }) => id).length, PATIENTS);
  expect("their order", [all[0].id, all.at(-1).id], ["p01", "p72"]);
  const some = await client.request("Patient?family=Family&_count=5", { pageLimit: 2, flat: true });
  expect("patients of two pages", some.length, 10);
}

async function references(client) {
  const resolved = await client.request("Encounter/e01", { resolveReferences: ["subject", "participant.0.individual"] });
  expect("a resolved subject", resolved.subject.name[0].family, "Family01");
  expect("a resolved participant", resolved.participant[0].individual.name[0].family, "Reyes");
  const graph = await client.request("Observation?code=8867-4&_count=3", {
    resolveReferences: ["subject"], graph: false, flat: true,
  });
  expect("references that are answered apart", Object.keys(graph.references).length, 3);
}

async function observations(client) {
  const found = await client.request("Observation?patient=p05", { flat: true });
  const pulse = client.byCodes(found, "code")("8867-4");
  expect("values by code", client.getPath(pulse[0], "valueQuantity.value"), 65);
  expect("those of the patient in context", (await client.patient.request("Observation")).total, 2);
  expect("the patient in context", (await client.patient.read()).id, "p05");
}

async function transaction(client) {
  const fullUrl = "urn:uuid:5f0f2f6e-6d0f-4a3b-9c43-94c6fd3a5a10";
  const bundle = {
    resourceType: "Bundle",
    type: "transaction",
    entry: [
      { fullUrl, resource: newPatient("S-3"), request: { method: "POST", url: "Patient" } },
      {
        resource: { resourceType: "Observation", status: "final", code: { text: "Mood" }, subject: { reference: fullUrl } },
        request: { method: "POST", url: "Observation" },
      },
    ],
  };
  const headers = { "content-type": "application/fhir+json" };
  const done = await client.request({ url: "", method: "POST", body: JSON.stringify(bundle), headers });
  expect("what a transaction answers", done.entry.map(({ response }) => response.status.slice(0, 3)), ["201", "201"]);
  const found = await client.request(`Observation?subject:Patient.identifier=${MRN}|S-3`);
  expect("what refers to the new patient", found.total, 1);
}

async function scopes() {
  const reader = await connect("system/Patient.rs");
  expect("what the scope allows", (await reader.request("Patient/p01")).id, "p01");
  await refusal(403, reader.request("Observation/o01-0"));
  await refusal(403, reader.create(newPatient("S-4")));
}

const client = await connect("system/*.cruds", "p05");
for (const story of [release, createReadUpdateDelete, pages, references, observations, transaction, scopes]) {
  try {
    await story(client);
  } catch (error) {
    console.error(`fhirclient (npm): ${story.name} failed`);
    throw error;
  }
}
console.log(`fhirclient (npm): ${passed} checks passed`);
