// The imaging portal from the first login to the last: more information, approval, denial, going back, sending twice.

import assert from "node:assert/strict";
import { Clinic } from "./clinic.js";
import { Visitor } from "./visitor.js";

const CONFIG = {
  portal: "radmd",
  determinations: [
    { match: { procedure_code: "70551", diagnosis: "G43.909" }, determination: { status: "denied", reason: "No trial of conservative treatment" } },
    { match: { procedure_code: "70551" }, determination: { status: "need_more_info", reason: "Send the notes of the last visit", then: { status: "approved" } } },
  ],
  faults: { renamed_labels: { diagnosis_code: "Dx code" }, unavailable_at: "print" },
};

export async function imaging(browser, url, key, pictures) {
  const clinic = await Clinic.open(url, key, CONFIG);
  const context = await browser.newContext();
  const visitor = new Visitor(await context.newPage(), clinic, "imaging", pictures);
  const { page } = visitor;
  await enter(visitor);
  await fill(visitor, "M54.5");
  await visitor.title("Review and submit");
  await visitor.look("review");
  // Twice at once: the browser drops the first answer, the server sees both.
  await page.getByRole("button", { name: "Submit request" }).dblclick();
  await visitor.title("PA-100001");
  await visitor.reads("The request is submitted.");
  await visitor.reads("More information needed");
  await visitor.look("request-open");
  assert.equal((await clinic.rows("prior_auth_requests")).length, 1, "sent twice is sent once");
  await page.goBack();
  await visitor.open(`/drafts/${(await clinic.rows("prior_auth_requests"))[0].request_id}/review`);
  await visitor.title("PA-100001");

  await visitor.press("Send to payer");
  await visitor.reads("Please check");
  await visitor.look("request-faults");
  await page.getByLabel("Clinical notes").fill("Six weeks of physical therapy.\nNo relief.");
  await page.getByLabel("Supporting documents").setInputFiles({ name: "visit.pdf", mimeType: "application/pdf", buffer: Buffer.from("%PDF-1.7\n") });
  await visitor.press("Send to payer");
  await visitor.reads("Approved");
  await visitor.look("request-approved");
  const [approved] = await clinic.rows("prior_auth_requests");
  assert.equal(approved.determination.status, "approved");
  assert.deepEqual(approved.documents.map((document) => document.name), ["note.txt", "visit.pdf"]);
  assert.equal(approved.answers.red_flags, "no");

  await visitor.follow("Print view");
  await visitor.title("Temporarily unavailable");
  await visitor.look("unavailable");
  await page.reload();
  await visitor.title("Prior authorization PA-100001");
  await visitor.look("print");

  await visitor.open("/requests");
  await fill(visitor, "G43.909");
  await visitor.press("Submit request");
  await visitor.reads("No trial of conservative treatment");
  await visitor.look("request-denied");
  await page.getByText("Withdraw this request").click();
  await visitor.press("Withdraw request");
  await visitor.reads("The request is withdrawn.");
  await visitor.open("/requests");
  await visitor.look("requests");
  await page.getByLabel("Decision").selectOption("approved");
  await visitor.press("Apply filters");
  assert.equal(await page.getByRole("row").count(), 2, "a head and one request");
  await visitor.press("Sign out");
  await visitor.reads("You are signed out.");
  await page.goBack();
  await visitor.open("/requests");
  await visitor.title("Sign in");
  await context.close();
}

async function enter(visitor) {
  await visitor.open();
  await visitor.title("Sign in");
  await visitor.look("login");
  await visitor.signIn("wrong");
  await visitor.reads("do not match");
  await visitor.look("login-refused");
  await visitor.signIn();
  await visitor.title("Requests");
  await visitor.look("requests-empty");
}

async function fill(visitor, diagnosis) {
  const { page } = visitor;
  await visitor.press("New request");
  await visitor.title("Patient");
  await page.getByLabel("Name").fill("lopez");
  await visitor.press("Search");
  await visitor.reads("2 found");
  await visitor.look("patient");
  await visitor.press("Select Maria Lopez");
  await visitor.title("Ordering provider");
  await page.getByLabel("Name", { exact: true }).fill("rey");
  await visitor.press("Search");
  await visitor.look("provider");
  await visitor.press("Select Ana Reyes");
  await visitor.title("Exam");
  await page.getByLabel("Procedure code").fill("7");
  await visitor.press("Continue");
  await visitor.reads("Must be a CPT or HCPCS code");
  await visitor.look("service-faults");
  await page.getByLabel("Procedure code").fill("70551");
  await page.getByLabel("Dx code").fill(diagnosis);
  await visitor.press("Continue");
  await visitor.title("Clinical questions");
  await page.getByRole("group", { name: "Are there red flags?" }).getByLabel("No").check();
  await visitor.look("clinical");
  await visitor.press("Continue");
  await visitor.title("Documents");
  await page.getByLabel("Supporting documents").setInputFiles({ name: "note.txt", mimeType: "text/plain", buffer: Buffer.from("hello") });
  await visitor.press("Attach");
  await visitor.reads("note.txt");
  await visitor.look("documents");
  await visitor.press("Continue");
}
