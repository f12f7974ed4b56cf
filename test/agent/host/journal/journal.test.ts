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

/** A host in a temporary directory, without journal files yet. */
async function onHost(look: (root: string, directory: string) => Promise<void>): Promise<void> {
  const root = await mkdtemp(join(tmpdir(), 'journal-'));
  try {
    const directory = join(root, 'run/log/journal', MACHINE);
    await mkdir(directory, { recursive: true });
    await mkdir(join(root, 'etc'));
    await writeFile(join(root, 'etc/machine-id'), `${MACHINE}\n`);
    await look(root, directory);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

it('the journal leaves no file open, read to its end, left early or damaged', () =>
  onHost(async (root, directory) => {
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
  }));

/** What a block had before journald wrote its last list of entries. */
const BEFORE: Readonly<Record<string, (block: Buffer, from: number) => Buffer>> = {
  'has zeros there': (block, from) => Buffer.from(block).fill(0, from),
  'ended there': (block, from) => block.subarray(0, from),
};

for (const [what, before] of Object.entries(BEFORE)) {
  it(`the journal gives what journald writes while it is read, though a block that was read earlier ${what}`, () =>
    onHost(async (root, directory) => {
      const lines = Array.from({ length: 500 }, (_, at) => ({
        at,
        fields: { _SYSTEMD_UNIT: 'kubelet.service', MESSAGE: `at ${at}` },
      }));
      const journal = journalOf(lines, { isCompact: true });
      await writeFile(join(directory, 'system.journal'), journal);
      // The file's last object: a list with room for 256 entries.
      const lastList = journal.length - (24 + 4 * 256);
      const files = createHostFiles(root);
      let isOld = true;
      const open: typeof files.open = async (path) => {
        const file = await files.open(path);
        if (file === undefined) return undefined;
        const read: typeof file.read = async (offset, length) => {
          const block = await file.read(offset, length);
          if (!isOld || offset + block.length <= lastList) return block;
          isOld = false;
          return before(block, Math.max(0, lastList - offset));
        };
        return { ...file, read };
      };
      const read: number[] = [];
      for await (const { at } of unitLines({ ...files, open }, 'kubelet.service', ['MESSAGE'])) read.push(at);
      assert.ok(!isOld);
      assert.deepEqual(read, lines.map(({ at }) => at).toReversed());
    }));
}
