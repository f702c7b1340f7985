// node-hl7-client, unmodified: sends over MLLP and reads the answers. Argument: the credentials, as provision.py prints them.

import { Client, Message } from "node-hl7-client";

const known = JSON.parse(process.argv[2]);
let passed = 0;

function expect(what, actual, expected) {
  if (actual !== expected) throw new Error(`${what}: expected ${expected}, got ${actual}`);
  passed += 1;
}

function text(id, last = "PV1|1|O") {
  const header = `MSH|^~\\&|NODE|CLINIC|LAB|HOSP|20260401120000||ADT^A08^ADT_A01|${id}|P|2.5.1`;
  return [header, "EVN||20260401120000", "PID|1||77^^^MRN||Doe^Ann", last].filter(Boolean).join("\r");
}

const waiting = [];
const answers = [];
const heard = (answer) => {
  const next = waiting.shift();
  if (next) next(answer);
  else answers.push(answer);
};
const nextAnswer = () => (answers.length ? Promise.resolve(answers.shift()) : new Promise((done) => waiting.push(done)));

const client = new Client({ host: known.mllp_host });
const connection = client.createConnection({ port: Number(known.mllp_port), waitAck: true }, (response) => {
  const message = response.getMessage();
  heard(`${message.get("MSA.1").toString()} ${message.get("MSA.2").toString()}`);
});

async function main() {
  await new Promise((done) => connection.on("connect", done));
  for (let number = 0; number < 20; number += 1) {
    await connection.sendMessage(new Message({ text: text(`N${number}`) }));
    expect("the answer to this message", await nextAnswer(), `AA N${number}`);
  }
  await connection.sendMessage(new Message({ text: text("N0") }));
  expect("a resend", await nextAnswer(), "AA N0");
  await connection.sendMessage(new Message({ text: text("NF", "") }));
  expect("a message without PV1", await nextAnswer(), "AE NF");
  await connection.close();
  console.log(`node-hl7-client: ${passed} expectations held`);
  process.exit(0);
}

setTimeout(() => {
  console.error("node-hl7-client: no answer in two minutes");
  process.exit(1);
}, 120_000);
main().catch((error) => {
  console.error(error);
  process.exit(1);
});
