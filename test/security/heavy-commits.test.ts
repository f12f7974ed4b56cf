import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { manifestFlags, manifestMalloc, memoryLimitMiB } from '../support/manifest-flags.ts';
import { heavyCommits } from './support/heavy-commits.ts';
import type { HeavyReading } from './support/read-heavy-commits.ts';

const LONGEST_MS = 250;
/** Two slow cores that others use, too: the thread waits for its turn. */
const LONGEST_DELAY_MS = 1_000;
const MOST_SHARE = 0.45;
const MOST_MS = 30_000;
const MARGIN_MS = 5_000;
const READER = join(import.meta.dirname, 'support/read-heavy-commits.ts');

/** What is refused whole. All else is judged pool by pool. */
const TOO_LARGE: readonly string[] = [
  'the 220 files of 250 KB that ended every process',
  'one large layer in all pools',
];

describe('commits that take much to read, with the flags of the Deployment', () => {
  let readings: readonly HeavyReading[] = [];

  before(async () => {
    const env = { ...process.env, ...manifestMalloc('reconciler') };
    const found: HeavyReading[] = [];
    // A process for each: what one leaves behind is none of the next one's.
    for (const { what } of heavyCommits()) {
      const argv = [...manifestFlags('reconciler'), READER, what];
      const { stdout } = await promisify(execFile)(process.execPath, argv, { timeout: 120_000, env });
      found.push(JSON.parse(stdout) as HeavyReading);
    }
    readings = found;
  });

  const offenders = (is: (reading: HeavyReading) => boolean): void => assert.deepEqual(readings.filter(is), []);

  it(`are judged or refused within ${MOST_MS / 1000} s`, () => {
    offenders(({ totalMs }) => totalMs > MOST_MS + MARGIN_MS);
  });

  it('are refused where they go beyond the limits', () => {
    offenders(({ what, outcome }) => TOO_LARGE.includes(what) && outcome !== 'too-large');
    // On a machine that is busy enough, any of them takes too long.
    offenders(({ what, outcome, totalMs }) => !TOO_LARGE.includes(what) && outcome !== 'in force' && totalMs < MOST_MS);
  });

  it(`leave a turn to others at least every ${LONGEST_MS} ms of work`, () => {
    offenders(({ longestMs }) => longestMs > LONGEST_MS);
    offenders(({ delayMs }) => delayMs > LONGEST_DELAY_MS);
  });

  it(`keep within ${MOST_SHARE * 100} % of the memory that the Deployment has`, () => {
    offenders(({ peakMiB }) => peakMiB > MOST_SHARE * memoryLimitMiB('reconciler'));
  });
});
