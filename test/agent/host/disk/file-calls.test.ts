import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { promisify } from 'node:util';
import { systemCalls } from '#agent/host/disk/file-calls.ts';
import { openBelow } from '../../../support/agent/open-descriptors.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

it('the calls of the system leave nothing open, whether they go well or not', async (t) => {
  const root = temporaryDirectory(t);
  const path = join(root, 'file');
  await writeFile(path, 'before it\n');
  await systemCalls.writeOver(path, Buffer.from('after'));
  assert.equal(await readFile(path, 'utf8'), 'aftere it\n');
  await systemCalls.syncDirectory(root);
  await assert.rejects(systemCalls.writeOver(join(root, 'nothing'), Buffer.from('x')));
  await assert.rejects(systemCalls.writeOver(root, Buffer.from('x')));
  const file = await systemCalls.create(join(root, 'new'), 0o600);
  assert.deepEqual(openBelow(root), [join(root, 'new')]);
  await file.close();
  assert.deepEqual(openBelow(root), []);
});

/** As below a mount whose directory the host has deleted: it is there, and takes nothing any more. */
const BELOW_DELETED = `
import { mkdtempSync, openSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { systemCalls } from '#agent/host/disk/file-calls.ts';
const path = mkdtempSync(tmpdir() + '/file-calls-');
const descriptor = openSync(path);
rmdirSync(path);
await systemCalls.mkdir('/proc/self/fd/' + descriptor + '/new', 0o700).catch((error) => console.log(error.code));
`;

it('a directory below one that was deleted is refused at once: Node’s own way would take a thread forever', async () => {
  const args = ['--input-type=module', '--eval', BELOW_DELETED];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 20_000, killSignal: 'SIGKILL' });
  assert.equal(stdout, 'ENOENT\n');
});

it('a directory that is there already is fine, and what is in its way is not', async (t) => {
  const root = temporaryDirectory(t);
  await systemCalls.mkdir(root, 0o700);
  await writeFile(join(root, 'file'), '');
  await assert.rejects(systemCalls.mkdir(join(root, 'file'), 0o700), { code: 'EEXIST' });
});
