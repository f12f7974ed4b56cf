import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { manifestFlags } from '../support/manifest-flags.ts';
import { hostilePacks } from './support/hostile-packs.ts';
import type { PackReading } from './support/read-hostile-packs.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/** Of the thread's own work: others on the machine do not count. */
const MOST_MS = 5_000;
const LONGEST_MS = 250;
const MOST_MIB = 150;
const READER = join(import.meta.dirname, 'support/read-hostile-packs.ts');

type Read = PackReading & { readonly what: string; readonly expected: string };

describe('packs of a hostile git server, read with the flags of the Deployment', () => {
  const directory = temporaryDirectory();
  let packs: readonly Read[] = [];

  before(async () => {
    const told: { what: string; expected: string; argument: string }[] = [];
    for (const { what, outcome, bytes, tree } of hostilePacks()) {
      const file = join(directory, String(told.length));
      await writeFile(file, bytes);
      told.push({ what, expected: outcome, argument: tree === undefined ? file : `${file}:${tree}` });
    }
    const reader = [...manifestFlags('reconciler'), READER, ...told.map(({ argument }) => argument)];
    const { stdout } = await promisify(execFile)(process.execPath, reader, { timeout: 300_000 });
    const lines = stdout.trim().split('\n');
    assert.equal(lines.length, told.length);
    packs = told.map((one, index) => ({ ...one, ...(JSON.parse(lines[index] ?? '') as PackReading) }));
  });

  it('are refused, or read whole where they are only odd', () => {
    const outcomes = packs.map(({ what, outcome }) => ({ what, outcome }));
    assert.deepEqual(
      outcomes,
      packs.map(({ what, expected }) => ({ what, outcome: expected })),
    );
  });

  it(`take no more than ${MOST_MS / 1000} seconds of work`, () => {
    assert.deepEqual(
      packs.filter(({ totalMs }) => totalMs > MOST_MS),
      [],
    );
  });

  it(`leave a turn to others at least every ${LONGEST_MS} ms of work`, () => {
    assert.deepEqual(
      packs.filter(({ longestMs }) => longestMs > LONGEST_MS),
      [],
    );
  });

  it(`take no more than ${MOST_MIB} MiB on top of what the process has at rest`, () => {
    assert.deepEqual(
      packs.filter(({ moreMiB }) => moreMiB > MOST_MIB),
      [],
    );
  });
});
