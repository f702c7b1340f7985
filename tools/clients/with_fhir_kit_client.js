// fhir-kit-client, unmodified, against a FHIR sandbox. Argument: the sandbox's credentials as JSON.

import assert from "node:assert/strict";
import { Client } from "fhir-kit-client";

const credentials = JSON.parse(process.argv[2]);
const PATIENTS = 72;
const MRN = "http://clinic.example/mrn";
let passed = 0;

function expect(what, actual, expected = true) {
  assert.deepEqual(actual, expected, what);
  passed += 1;
}

/** The OperationOutcome's first issue of a call that must be refused with this status. */
async function refusal(status, call) {
  const error = await call.then(
    (answer) => assert.fail(`expected ${status}, got ${JSON.stringify(answer)}`),
    (error) => error,
  );
  expect("status", error.response?.status, status);
  expect("resource type of the refusal", error.response.data.resourceType, "OperationOutcome");
  return error.response.data.issue[0];
}

/** The token endpoint's answer to client credentials in the header or in the body (RFC 6749, 2.3.1). */
async function token(tokenUrl, scope, how = "basic") {
  const form = new URLSearchParams({ grant_type: "client_credentials", scope });
  const headers = {};
  const { client_id, client_secret } = credentials;
  if (how === "basic") {
    headers.authorization = `Basic ${Buffer.from(`${client_id}:${client_secret}`).toString("base64")}`;
  } else {
    form.set("client_id", client_id);
    form.set("client_secret", client_secret);
  }
  const answer = await fetch(tokenUrl, { method: "POST", body: form, headers });
  expect("status of the token request", answer.status, 200);
  return answer.json();
}

async function connect(scope, how) {
  const client = new Client({ baseUrl: credentials.fhir_base_url });
  const { tokenUrl } = await client.smartAuthMetadata();
  expect("the token endpoint that the server tells", tokenUrl.href, credentials.token_url);
  const granted = await token(tokenUrl, scope, how);
  expect("granted scope", granted.scope, scope);
  client.bearerToken = granted.access_token;
  return client;
}

const newPatient = (mrn) => ({
  resourceType: "Patient",
  identifier: [{ system: MRN, value: mrn }],
  name: [{ family: "Marsh", given: ["Noor"] }],
});

const patient = (id) => ({ resourceType: "Patient", id });
const status = (answer) => Client.httpFor(answer).response.status;

async function createReadUpdateDelete(client) {
  const made = await client.create({ resourceType: "Patient", body: newPatient("K-1") });
  const headers = Client.httpFor(made).response.headers;
  expect("status of a create", status(made), 201);
  expect("its version", headers.get("etag"), 'W/"1"');
  expect("where it is", headers.get("location").endsWith(`/Patient/${made.id}/_history/1`));
  const body = { ...made, active: true };
  const updated = await client.update({ ...patient(made.id), body });
  expect("what was written is answered", [updated.active, updated.meta.versionId], [true, "2"]);
  const stale = client.update({ ...patient(made.id), body, options: { headers: { "If-Match": 'W/"1"' } } });
  await refusal(412, stale);
  expect("what was written is read", (await client.read(patient(made.id))).active);
  expect("status of a delete", status(await client.delete(patient(made.id))), 204);
  expect("a deleted resource is gone", (await refusal(410, client.read(patient(made.id)))).code, "deleted");
  expect("one that never was", (await refusal(404, client.read(patient("nobody")))).code, "not-found");
}

async function versions(client) {
  const { id } = await client.create({ resourceType: "Patient", body: newPatient("K-2") });
  await client.update({ ...patient(id), body: { ...newPatient("K-2"), id, active: false } });
  const first = await client.vread({ ...patient(id), version: "1" });
  expect("the first version", [first.meta.versionId, first.active], ["1", undefined]);
  const history = await client.history(patient(id));
  expect("history, newest first", history.entry.map((entry) => entry.resource.meta.versionId), ["2", "1"]);
  const ofType = await client.history({ resourceType: "Patient" });
  expect("history of the type", [ofType.type, ofType.entry[0].resource.id], ["history", id]);
}

async function jsonPatch(client) {
  const { id } = await client.create({ resourceType: "Patient", body: newPatient("K-3") });
  const change = [
    { op: "test", path: "/name/0/family", value: "Marsh" },
    { op: "add", path: "/name/0/given/-", value: "Lee" },
    { op: "add", path: "/birthDate", value: "2001-01-02" },
  ];
  const patched = await client.patch({ ...patient(id), jsonPatch: change });
  expect("patched", [patched.birthDate, patched.name[0].given], ["2001-01-02", ["Noor", "Lee"]]);
  const wrong = [{ op: "test", path: "/birthDate", value: "1901-01-01" }];
  await refusal(422, client.patch({ ...patient(id), jsonPatch: wrong }));
  const invalid = [{ op: "replace", path: "/birthDate", value: "soon" }];
  await refusal(422, client.patch({ ...patient(id), jsonPatch: invalid }));
  expect("version after one patch", (await client.read(patient(id))).meta.versionId, "2");
}

/** All pages of a search, by the client's own way to the next. */
async function pages(client, search) {
  const all = [];
  for (let bundle = await client.search(search); bundle; bundle = await client.nextPage({ bundle })) all.push(bundle);
  return all;
}

async function searchAndPaging(client) {
  const searchParams = { "family:contains": "family", _count: 10, _sort: "-birthdate" };
  const all = await pages(client, { resourceType: "Patient", searchParams });
  expect("pages", all.length, 8);
  const found = all.flatMap((bundle) => bundle.entry.map((entry) => entry.resource.id));
  const youngestFirst = Array.from({ length: PATIENTS }, (_, place) => `p${String(PATIENTS - place).padStart(2, "0")}`);
  expect("every patient once and in order", found, youngestFirst);
  const before = await client.prevPage({ bundle: all[2] });
  expect("and back", before.entry[0].resource.id, all[1].entry[0].resource.id);
  const byPost = { resourceType: "Patient", searchParams: { ...searchParams, _count: 30 }, options: { postSearch: true } };
  const posted = await pages(client, byPost);
  expect("the same by POST", posted.flatMap((bundle) => bundle.entry.map((entry) => entry.resource.id)), youngestFirst);
  const several = { gender: "female", birthdate: ["ge1980", "lt1990"] };
  const both = await client.search({ resourceType: "Patient", searchParams: several });
  expect("a repeated parameter must hold each time", both.total, 5);
}

async function includes(client) {
  const searchParams = { _id: "o08-1", _include: ["Observation:subject", "Observation:encounter"] };
  const bundle = await client.search({ resourceType: "Observation", searchParams });
  const modes = bundle.entry.map((entry) => `${entry.search.mode} ${entry.resource.resourceType}/${entry.resource.id}`);
  expect("matches and included", modes.sort(), ["include Encounter/e08", "include Patient/p08", "match Observation/o08-1"]);
  const [match] = bundle.entry.filter((entry) => entry.search.mode === "match");
  const subject = await client.resolve({ reference: match.resource.subject.reference, context: bundle });
  expect("a reference resolved within the Bundle", subject.id, "p08");
  const organization = await client.resolve({ reference: subject.managingOrganization.reference });
  expect("and one by asking the server", organization.name, "Harbour Clinic");
}

async function transaction(client) {
  const urn = "urn:uuid:7f0e5f2e-93a1-4c6f-a1f3-6b1d5c1d2e3f";
  const visit = { resourceType: "Encounter", status: "planned", class: { code: "AMB" }, subject: { reference: urn } };
  const entry = [
    { request: { method: "POST", url: "Encounter" }, resource: visit },
    { fullUrl: urn, request: { method: "POST", url: "Patient" }, resource: newPatient("K-4") },
    { request: { method: "GET", url: "Patient/p01" } },
  ];
  const body = { resourceType: "Bundle", type: "transaction", entry };
  const answer = await client.transaction({ body });
  expect("statuses", answer.entry.map((made) => made.response.status.slice(0, 3)), ["201", "201", "200"]);
  const visits = () => client.search({ resourceType: "Encounter", searchParams: { status: "planned", _include: "Encounter:subject" } });
  const found = await visits();
  const [made, subject] = found.entry.map((entry) => entry.resource);
  expect("the urn became a reference", made.subject.reference, `Patient/${subject.id}`);
  entry[1].resource = { resourceType: "Patient", gender: "unclear" };
  const issue = await refusal(422, client.transaction({ body }));
  expect("the entry and the place in it", issue.expression, ["Bundle.entry[1].resource.gender"]);
  expect("a refused transaction leaves nothing behind", (await visits()).total, 1);
  const batch = await client.batch({ body: { ...body, type: "batch" } });
  expect("a batch does what it can", batch.entry.map((made) => made.response.status.slice(0, 3)), ["201", "422", "200"]);
}

async function conditional(client) {
  const create = (mrn) =>
    client.create({
      resourceType: "Patient",
      body: newPatient(mrn),
      options: { headers: { "If-None-Exist": `identifier=${MRN}|${mrn}` } },
    });
  const [first, second] = [await create("K-5"), await create("K-5")];
  expect("created once", [status(first), status(second), second.id], [201, 200, first.id]);
  const searchParams = { identifier: `${MRN}|K-5` };
  const updated = await client.update({ resourceType: "Patient", searchParams, body: { ...newPatient("K-5"), active: true } });
  expect("update by search", [updated.id, updated.meta.versionId], [first.id, "2"]);
  await client.create({ resourceType: "Patient", body: newPatient("K-5") });
  await refusal(412, create("K-5"));
}

async function refusals(client) {
  const issue = await refusal(422, client.create({ resourceType: "Patient", body: { resourceType: "Patient", nonsense: 1 } }));
  expect("the fault and its place", [issue.code, issue.expression], ["structure", ["Patient.nonsense"]]);
  await refusal(400, client.create({ resourceType: "Patient", body: "{" }));
  await refusal(400, client.create({ resourceType: "Patient", body: { resourceType: "Observation" } }));
  await refusal(400, client.search({ resourceType: "Patient", searchParams: { birthdate: "soon" } }));
  await refusal(404, client.request("Patinet/p01"));
  const minimal = { headers: { Prefer: "return=minimal" } };
  const made = await client.create({ resourceType: "Patient", body: newPatient("K-6"), options: minimal });
  expect("no body when none is wanted", [status(made), made.resourceType], [201, undefined]);
}

async function operations(client) {
  const chart = await client.operation({ name: "everything", ...patient("p10"), method: "GET" });
  expect("the whole chart", chart.entry.length >= 4);
  const validated = await client.operation({ name: "$validate", resourceType: "Patient", input: newPatient("K-7") });
  expect("nothing is wrong with it", validated.issue.every((issue) => issue.severity === "information"));
}

async function scopes() {
  const reader = await connect("system/Patient.read", "body");
  expect("may read patients", (await reader.read(patient("p01"))).id, "p01");
  const issue = await refusal(403, reader.search({ resourceType: "Observation", searchParams: { patient: "p01" } }));
  expect("but nothing else", issue.code, "forbidden");
  await refusal(403, reader.create({ resourceType: "Patient", body: newPatient("K-8") }));
  await refusal(403, reader.patch({ ...patient("p01"), jsonPatch: [] }));
  const included = await reader.search({ resourceType: "Patient", searchParams: { _id: "p01", _revinclude: "Observation:subject" } });
  expect("nor by inclusion", included.entry.map((entry) => entry.resource.resourceType), ["Patient"]);
  const anyone = new Client({ baseUrl: credentials.fhir_base_url });
  expect("anyone may ask what the server can do", (await anyone.capabilityStatement()).fhirVersion, "4.0.1");
  expect("but no more", (await refusal(401, anyone.read(patient("p01")))).code, "login");
}

const client = await connect("system/*.cruds");
const stories = [createReadUpdateDelete, versions, jsonPatch, searchAndPaging, includes, transaction, conditional, refusals, operations, scopes];
for (const story of stories) {
  await story(client).catch((error) => {
    console.error(`fhir-kit-client: ${story.name} failed`);
    throw error;
  });
}
console.log(`fhir-kit-client: ${passed} checks passed`);
