// A person at the portal: goes by what a page says, not by how it is built. Every page that is looked at is judged.

import assert from "node:assert/strict";
import axe from "axe-core";

const WIDTHS = { phone: { width: 360, height: 740 }, desk: { width: 1440, height: 900 } };

export class Visitor {
  constructor(page, clinic, skin, pictures) {
    Object.assign(this, { page, clinic, skin, pictures, seen: new Set() });
    page.on("dialog", () => assert.fail("a page opened a dialog"));
  }

  async open(path = "") {
    return this.page.goto(this.clinic.credentials.portal_url + path);
  }

  async signIn(password = this.clinic.credentials.password) {
    await this.page.getByLabel("User name").fill(this.clinic.credentials.username);
    await this.page.getByLabel("Password").fill(password);
    await this.press("Sign in");
  }

  async press(name) {
    await this.page.getByRole("button", { name }).first().click();
    await this.page.waitForLoadState();
  }

  async follow(name) {
    await this.page.getByRole("link", { name }).first().click();
    await this.page.waitForLoadState();
  }

  async reads(words) {
    await this.page.getByText(words).first().waitFor({ timeout: 30_000 });
  }

  async title(words) {
    await this.page.getByRole("heading", { level: 1, name: words }).waitFor({ timeout: 30_000 });
  }

  // Judges the page once under this name: accessibility, and that nothing runs off a narrow screen.
  async look(name) {
    if (this.seen.has(name)) return;
    this.seen.add(name);
    for (const [device, size] of Object.entries(WIDTHS)) {
      await this.page.setViewportSize(size);
      const width = await this.page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(width <= size.width, `${this.skin} ${name} is ${width} px wide on a ${device}`);
      await this.page.evaluate(axe.source);
      const result = await this.page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
      const grave = result.violations.filter((one) => ["serious", "critical"].includes(one.impact));
      const words = grave.map((one) => `${one.id}: ${one.nodes.map((node) => node.html).join(" ")}`);
      assert.deepEqual(words, [], `${this.skin} ${name} on a ${device}`);
      if (this.pictures) await this.page.screenshot({ path: `${this.pictures}/${this.skin}-${name}-${device}.png`, fullPage: true });
    }
  }
}
