// Drives a real Chromium through the payer portal of a running server.
//
//   node walk.js URL ORGANIZATION_KEY [--only imaging,pharmacy,injection] [--pictures DIRECTORY]

import { parseArgs } from "node:util";
import { chromium } from "playwright-core";
import { imaging } from "./imaging.js";
import { injection } from "./injection.js";
import { pharmacy } from "./pharmacy.js";

const WALKS = {
  imaging: async (...arguments_) => { await imaging(...arguments_); return "walked"; },
  pharmacy: async (...arguments_) => { await pharmacy(...arguments_); return "walked"; },
  injection: async (...arguments_) => {
    const { payloads, pages } = await injection(...arguments_);
    return `${payloads} payloads, ${pages} pages, nothing runs`;
  },
};

const { positionals, values } = parseArgs({ allowPositionals: true, options: { only: { type: "string" }, pictures: { type: "string" } } });
const [url, key] = positionals;
// Its own sandbox does not work for root, nor in many containers; it opens nothing but the server under test.
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--disable-dev-shm-usage"] });
try {
  for (const name of values.only?.split(",") ?? Object.keys(WALKS)) {
    console.log(`${name}: ${await WALKS[name](browser, url, key, values.pictures)}`);
  }
} finally {
  await browser.close();
}
