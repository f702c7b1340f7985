// Drives a real Chromium through the payer portal of a running server.
//
//   node walk.js URL ORGANIZATION_KEY [DIRECTORY FOR PICTURES]

import { chromium } from "playwright-core";
import { imaging } from "./imaging.js";
import { injection } from "./injection.js";
import { pharmacy } from "./pharmacy.js";

const [url, key, pictures] = process.argv.slice(2);
// Its own sandbox does not work for root, nor in many containers; it opens nothing but the server under test.
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--disable-dev-shm-usage"] });
try {
  await imaging(browser, url, key, pictures);
  console.log("imaging portal: walked");
  await pharmacy(browser, url, key, pictures);
  console.log("pharmacy portal: walked");
  const { payloads, pages } = await injection(browser, url, key);
  console.log(`injection: ${payloads} payloads, ${pages} pages, nothing runs`);
} finally {
  await browser.close();
}
