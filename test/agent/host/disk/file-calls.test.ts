import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { systemCalls } from '#agent/host/disk/file-calls.ts';
import { openBelow } from '../../../support/agent/open-descriptors.ts';

it('the calls of the system leave nothing open, whether they go well or not', async () => {
  const root = await mkdtemp(join(tmpdir(), 'file-calls-'));
  const path = join(root, 'file');
  try {
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
  } finally {
    await rm(root, { recursive: true, force: true });
  }
});
