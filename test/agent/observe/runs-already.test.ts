import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runsAlready } from '#agent/observe/runs-already.ts';

type Config = Readonly<Record<string, unknown>>;

/** What the files say; the command line; what runs; whether a restart would change nothing. */
const ROWS: readonly (readonly [string, Config, readonly string[], Config, boolean])[] = [
  ['a flag that is not what the files say', { readOnlyPort: 10_255 }, ['--read-only-port=0'], {}, true],
  ['the same without the flag', { readOnlyPort: 10_255 }, [], {}, false],
  ['a flag for a whole map', { evictionHard: { a: '1' } }, ['--eviction-hard=b<2'], { evictionHard: { b: '2' } }, true],
  [
    'a flag in a struct, beside another field',
    { logging: { verbosity: 2, format: 'json' } },
    ['--v=4'],
    { logging: { verbosity: 4, format: 'text' } },
    false,
  ],
  [
    'gates of a flag beside those of the files',
    { featureGates: { A: true, B: true } },
    ['--feature-gates=B=false,C=true'],
    { featureGates: { A: true, B: false, C: true } },
    true,
  ],
  [
    'a gate of the files that is not there, beside one of a flag',
    { featureGates: { A: true } },
    ['--feature-gates=C=true'],
    { featureGates: { C: true } },
    false,
  ],
  ['a gate that nobody set', { featureGates: { A: true } }, [], { featureGates: { A: true, C: true } }, false],
  ['a flag without a field', { maxPods: 5 }, ['--node-ip=10.0.0.1'], { maxPods: 6 }, false],
];

describe('a kubelet runs what its files say, by', () => {
  for (const [what, files, args, running, expected] of ROWS) {
    it(`${what}: ${expected}`, () => {
      assert.equal(runsAlready({ wanted: files, present: files, running }, args, 'v1.34.2'), expected);
    });
  }
});
