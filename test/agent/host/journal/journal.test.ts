import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { createHostFiles } from '#agent/host/host-files.ts';
import { unitLines } from '#agent/host/journal/journal.ts';
import { openBelow } from '../../../support/agent/open-descriptors.ts';
import { journalOf } from './support/journal-writer.ts';

const MACHINE = '0123456789abcdef0123456789abcdef';

it('the journal leaves no file open, read to its end, left early or damaged', async () => {
  const root = await mkdtemp(join(tmpdir(), 'journal-'));
  try {
    const directory = join(root, 'run/log/journal', MACHINE);
    await mkdir(directory, { recursive: true });
    await mkdir(join(root, 'etc'));
    await writeFile(join(root, 'etc/machine-id'), `${MACHINE}\n`);
    const entry = (at: number) => ({ at, fields: { _SYSTEMD_UNIT: 'kubelet.service', MESSAGE: `at ${at}` } });
    await writeFile(join(directory, 'system.journal'), journalOf([entry(1), entry(2)], { isCompact: true }));
    const old = `system@${'0'.repeat(32)}-${'0'.repeat(16)}-${'0'.repeat(16)}.journal`;
    await writeFile(join(directory, old), 'damaged');
    const lines = () => unitLines(createHostFiles(root), 'kubelet.service', ['MESSAGE']);
    let read = 0;
    for await (const _ of lines()) read += 1;
    assert.equal(read, 2);
    for await (const _ of lines()) break;
    assert.deepEqual(openBelow(root), []);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
});
