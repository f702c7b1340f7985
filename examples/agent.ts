// A small agent in TypeScript over plain HTTP: decision support for the bundled benchmark `cds-triage`.
//
//     verial run cds-triage@3 --local --agent 'npx tsx examples/agent.ts'
//
// It needs nothing but a runtime with `fetch`. (Node from 22.18 runs it as it is: `node examples/agent.ts`.)

const root = `${process.env.VERIAL_BASE_URL}/v1/task-runs/${process.env.VERIAL_TASK_RUN_ID}/sandbox`;

type Json = any;

async function call(method: string, path: string, body?: Json): Promise<Json> {
  const answer = await fetch(`${root}/${path}`, {
    method,
    headers: { authorization: `Bearer ${process.env.VERIAL_RUN_TOKEN}`, "content-type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

async function search(query: string): Promise<Json[]> {
  const bundle = await call("GET", `fhir/${query}`);
  return (bundle.entry ?? []).map((entry: Json) => entry.resource);
}

async function newest(patient: string, code: string): Promise<Json | undefined> {
  const query = `Observation?subject=Patient/${patient}&code=http://loinc.org%7C${code}&_sort=-date&_count=1`;
  return (await search(query))[0];
}

type Finding = { indicator: "warning" | "critical"; summary: string; evidence: Json };

async function finding(patient: string, drug: string): Promise<Finding | undefined> {
  if (/^metformin/i.test(drug)) {
    const rate = await newest(patient, "33914-3");
    const summary = "Metformin ordered: newest eGFR is below 30";
    return rate && rate.valueQuantity.value < 30 ? { indicator: "critical", summary, evidence: rate } : undefined;
  }
  if (/^lisinopril/i.test(drug)) {
    const potassium = await newest(patient, "2823-3");
    const summary = "Lisinopril ordered: newest potassium is 5.5 mmol/L or higher";
    return potassium && potassium.valueQuantity.value >= 5.5 ? { indicator: "warning", summary, evidence: potassium } : undefined;
  }
  if (/^ibuprofen/i.test(drug)) {
    const active = await search(`MedicationRequest?subject=Patient/${patient}&status=active`);
    const warfarin = active.find((one) => /warfarin/i.test(one.medicationCodeableConcept.text));
    return warfarin && { indicator: "critical", summary: "Ibuprofen ordered: patient takes warfarin", evidence: warfarin };
  }
  if (/cillin/i.test(drug)) {
    const allergies = await search(`AllergyIntolerance?patient=Patient/${patient}`);
    const penicillin = allergies.find((one) => /penicillin/i.test(one.code.text));
    const summary = "Penicillin ordered: patient is allergic to penicillin";
    return penicillin && { indicator: "critical", summary, evidence: penicillin };
  }
  return undefined;
}

async function main(): Promise<void> {
  const pending = await call("GET", "cds/hooks?status=pending");
  for (const invocation of pending.data) {
    const { patientId, draftOrders } = invocation.request.context;
    const cards: Json[] = [];
    for (const entry of draftOrders.entry) {
      const drug: string = entry.resource.medicationCodeableConcept.coding[0].display;
      const found = await finding(patientId, drug);
      if (!found) continue;
      cards.push({
        summary: found.summary,
        indicator: found.indicator,
        detail: `Review ${found.evidence.resourceType}/${found.evidence.id} before signing.`,
        source: { label: "Order triage" },
      });
    }
    await call("POST", `cds/invocations/${invocation.id}/response`, { cards });
  }
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
