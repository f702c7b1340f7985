// The pharmacy portal: a draft that is left and found again, a session that ends in the middle, a decision.

import assert from "node:assert/strict";
import { Clinic } from "./clinic.js";
import { Visitor } from "./visitor.js";

const CONFIG = {
  portal: "covermymeds",
  default_determination: { status: "approved" },
  formulary: [
    { drug: "Adalimumab", tier: "Specialty", prior_auth_required: true, step_therapy: "Methotrexate", alternatives: ["Methotrexate", "Sulfasalazine"] },
    { drug: "Methotrexate", tier: "1" },
  ],
  questions: [
    { id: "tried", text: "Was an alternative tried?", kind: "yes_no", required: true },
    { id: "severity", text: "How severe is it?", kind: "choice", choices: ["mild", "severe"] },
  ],
  faults: { session_expires_at: "documents", slow_page: { page: "formulary", milliseconds: 200 }, lock_after_failures: 2, lock_seconds: 600 },
};

export async function pharmacy(browser, url, key, pictures) {
  const clinic = await Clinic.open(url, key, CONFIG);
  const context = await browser.newContext();
  const visitor = new Visitor(await context.newPage(), clinic, "pharmacy", pictures);
  const { page } = visitor;
  await visitor.open();
  await visitor.look("login");
  await visitor.signIn();
  await visitor.follow("Formulary");
  await visitor.title("Formulary");
  await visitor.look("formulary");
  await visitor.follow("Drafts");
  await visitor.look("drafts-empty");
  await visitor.press("New request");
  await page.getByLabel("Member ID").fill("M200");
  await visitor.press("Search");
  await visitor.press("Select Mark López");
  await visitor.title("Prescriber");
  await page.getByLabel("Prescriber NPI").fill("1234567893");
  await visitor.press("Save draft and close");
  await visitor.reads("The draft is saved.");
  await visitor.look("drafts");
  await visitor.follow("Continue");
  await visitor.title("Medication");
  await page.getByLabel("Medication").fill("Adalimumab");
  await page.getByLabel("Diagnosis code").fill("M06.9");
  await visitor.look("service");
  await visitor.press("Continue");
  await visitor.press("Continue");
  await visitor.reads("Must be answered");
  await visitor.look("clinical-faults");
  await page.getByRole("group", { name: "Was an alternative tried?" }).getByLabel("Yes").check();
  await page.getByLabel("How severe is it?").selectOption("severe");
  await visitor.press("Continue");
  // The author's fault: the session ends here, once.
  await visitor.title("Sign in");
  await visitor.reads("Your session has expired");
  await visitor.look("expired");
  await visitor.signIn();
  await visitor.follow("Drafts");
  await visitor.follow("Continue");
  await visitor.title("Review and submit");
  await visitor.look("review");
  await visitor.press("Submit request");
  await visitor.reads("Approved");
  await visitor.look("request");
  const [row] = await clinic.rows("prior_auth_requests");
  assert.deepEqual([row.drug, row.patient_member_id, row.answers.tried, row.answers.severity], ["Adalimumab", "M200", "yes", "severe"]);
  assert.deepEqual(await clinic.rows("drafts"), []);
  await visitor.open("/nowhere");
  await visitor.title("Page not found");
  await visitor.look("missing");
  await visitor.press("Sign out");
  for (const password of ["wrong", "wrong again"]) await visitor.signIn(password);
  await visitor.signIn();
  await visitor.reads("This account is locked");
  await visitor.look("locked");
  await context.close();
}
