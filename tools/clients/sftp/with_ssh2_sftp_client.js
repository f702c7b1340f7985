// ssh2-sftp-client from npm: streams, and uploads whose parts arrive in any order.

import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Client from 'ssh2-sftp-client';

const credentials = JSON.parse(process.argv[2]);
const mebibytes = Number(process.argv[3] ?? 16);
const work = mkdtempSync(join(tmpdir(), 'sftp-'));
let passed = 0;

function expect(what, actual, expected = true) {
  assert.deepEqual(actual, expected, what);
  passed += 1;
}

async function refused(what, promise) {
  await assert.rejects(promise, what);
  passed += 1;
}

const login = {
  host: credentials.sftp_host,
  port: Number(credentials.sftp_port),
  username: credentials.username,
  password: credentials.password,
};
const sftp = new Client();
await sftp.connect(login);
expect('the root', await sftp.cwd(), '/');
const names = (await sftp.list('/')).map((entry) => entry.name);
expect('directories', names.includes('inbox') && names.includes('outbox'));
expect('a dataset\'s file', (await sftp.get('inbox/referral.txt')).toString(), 'Referral for Ada Stone\n');
await sftp.mkdir('/outbox/n/deep', true);
await sftp.put(Buffer.from('hello'), '/outbox/n/deep/a.txt');
expect('what it is', await sftp.exists('/outbox/n/deep/a.txt'), '-');
await sftp.append(Buffer.from(' world'), '/outbox/n/deep/a.txt');
expect('appended', (await sftp.get('/outbox/n/deep/a.txt')).toString(), 'hello world');
await sftp.rename('/outbox/n/deep/a.txt', '/outbox/n/b.txt');
await refused('a rename over a file', sftp.put(Buffer.from('x'), '/outbox/n/c.txt').then(() => sftp.rename('/outbox/n/c.txt', '/outbox/n/b.txt')));
await sftp.posixRename('/outbox/n/c.txt', '/outbox/n/b.txt');
const large = randomBytes(mebibytes << 20);
writeFileSync(join(work, 'large'), large);
await sftp.fastPut(join(work, 'large'), '/outbox/n/large', { concurrency: 64 });
await sftp.fastGet('/outbox/n/large', join(work, 'back'), { concurrency: 64 });
const digest = (bytes) => createHash('sha256').update(bytes).digest('hex');
expect(`${mebibytes} MiB there and back`, digest(readFileSync(join(work, 'back'))), digest(large));
const [listed] = await sftp.list('/outbox/n', (entry) => entry.name === 'large');
expect('a line of a listing', [listed.type, listed.size, listed.rights.user], ['-', large.length, 'rw']);
await refused('outside', sftp.get('../../etc/passwd'));
await refused('no directory', sftp.put(Buffer.from('x'), '/nowhere/x'));
await sftp.rmdir('/outbox/n', true);
expect('all is gone', await sftp.exists('/outbox/n'), false);
await sftp.end();
await refused('a wrong password', new Client().connect({ ...login, password: 'wrong' }));
console.log(`ssh2-sftp-client: ${passed} checks passed`);
