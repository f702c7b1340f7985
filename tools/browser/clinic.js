// Authors a clinic over the API and opens a playground with a payer portal.

const NPI = "http://hl7.org/fhir/sid/us-npi";

function people() {
  const patient = (id, given, family, birthDate) => ({
    resourceType: "Patient", id, birthDate, gender: "female",
    name: [{ use: "official", family, given: [given] }],
    identifier: [{ system: "urn:mrn", value: `MRN-${id}` }],
  });
  const coverage = (id, patient, number) => ({
    resourceType: "Coverage", id, status: "active", subscriberId: number, beneficiary: { reference: `Patient/${patient}` },
    payor: [{ display: "Acme Health" }], class: [{ type: { text: "plan" }, value: "gold", name: "Gold PPO" }],
  });
  return [
    patient("maria", "Maria", "Lopez", "1980-02-03"),
    patient("mark", "Mark", "López", "1975-11-30"),
    coverage("c1", "maria", "M100"),
    coverage("c2", "mark", "M200"),
    { resourceType: "Practitioner", id: "reyes", name: [{ family: "Reyes", given: ["Ana"] }],
      identifier: [{ system: NPI, value: "1234567893" }], qualification: [{ code: { text: "Neurology" } }] },
  ];
}

export class Clinic {
  static async open(url, key, config, more = []) {
    const clinic = new Clinic(url, key);
    const dataset = (await clinic.call("POST", "/datasets", { name: "People", type: "fhir" })).id;
    const lines = [...people(), ...more].map((resource) => JSON.stringify(resource) + "\n").join("");
    await clinic.send("PUT", `/datasets/${dataset}/data`, lines, "application/fhir+ndjson");
    const ehr = (await clinic.call("POST", "/simulators", { type: "Fhir", name: "EHR" })).id;
    const portal = (await clinic.call("POST", "/simulators", { type: "Payer", name: "Portal", config })).id;
    const environment = (await clinic.call("POST", "/environments", { name: "Clinic" })).id;
    await clinic.call("POST", `/simulators/${ehr}/datasets/${dataset}`);
    await clinic.call("POST", `/environments/${environment}/simulators/${ehr}`);
    await clinic.call("POST", `/environments/${environment}/simulators/${portal}`);
    const playground = await clinic.call("POST", "/playgrounds", { environment_id: environment });
    clinic.sandbox = playground.sandboxes.find((sandbox) => sandbox.type === "Payer");
    clinic.credentials = clinic.sandbox.credentials;
    return clinic;
  }

  constructor(url, key) {
    this.url = url;
    this.key = key;
  }

  // The rows of a kind, as the evidence shows them.
  async rows(kind) {
    const page = await this.call("GET", `/sandboxes/${this.sandbox.id}/state?resource=${kind}&limit=100`);
    return page.data.map((record) => record.value);
  }

  submit(body) {
    return this.call("POST", `/sandboxes/${this.sandbox.id}/portal/prior-auths`, body);
  }

  call(method, path, body) {
    return this.send(method, path, body === undefined ? undefined : JSON.stringify(body), "application/json");
  }

  async send(method, path, body, type) {
    const headers = { authorization: `Bearer ${this.key}` };
    if (body !== undefined) headers["content-type"] = type;
    const answer = await fetch(this.url + path, { method, headers, body });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return text === "" ? null : JSON.parse(text);
  }
}
