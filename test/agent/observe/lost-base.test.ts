import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { recoverLostBase } from '#agent/observe/lost-base.ts';
import type { SeenFiles } from '#agent/observe/managed-files.ts';
import type { RunningConfig } from '#agent/ports/kubelet-probe.ts';

const BASE = 'a'.repeat(64);
const EFFECTIVE = { maxPods: 100, featureGates: { A: true } };
const SEEN: SeenFiles = {
  files: { files: 'installed' },
  effective: EFFECTIVE,
  payload: { maxPods: 100 },
  base: { under: BASE, newer: { sha256: BASE, changes: true, lost: 'gone' } },
};
const RUN = {
  startedAsInstalled: true,
  startWasSeen: false,
  health: { health: 'ok' },
  kubeletVersion: 'v1.34.2',
} as const;
const shows = (config: Readonly<Record<string, unknown>>): RunningConfig => ({ seen: true, config });
const UNSEEN: RunningConfig = { seen: false, why: 'forbidden', reason: 'it may not be read' };

interface Row {
  readonly files?: Partial<SeenFiles>;
  readonly run?: Partial<Parameters<typeof recoverLostBase>[1]>;
  readonly running?: RunningConfig;
  readonly changes: boolean;
}

const ROWS: Readonly<Record<string, Row>> = {
  'the kubelet shows each value': { running: shows(EFFECTIVE), changes: false },
  'it shows another value': { running: shows({ ...EFFECTIVE, maxPods: 42 }), changes: true },
  'it shows a gate that the files do not name': {
    running: shows({ ...EFFECTIVE, featureGates: { A: true, B: true } }),
    changes: true,
  },
  'nobody sees it': { changes: true },
  'nobody sees it, and it came up well with these files': { run: { startWasSeen: true }, changes: false },
  'it came up with these files, and is not well': {
    run: { startWasSeen: true, health: { health: 'down', reason: 'nobody listens' } },
    changes: true,
  },
  'the files were put there after its start': {
    run: { startedAsInstalled: false },
    running: shows(EFFECTIVE),
    changes: true,
  },
  'other files are in place': {
    files: { files: { files: 'differ', path: '/kubelet' } },
    run: { startWasSeen: true },
    running: shows(EFFECTIVE),
    changes: true,
  },
  'the base is not lost, but another one': {
    files: { base: { under: BASE, newer: { sha256: BASE, changes: true } } },
    run: { startWasSeen: true },
    running: shows(EFFECTIVE),
    changes: true,
  },
};

describe('a base that is lost', () => {
  for (const [what, { files, run, running = UNSEEN, changes }] of Object.entries(ROWS)) {
    it(`${changes ? 'has to be tried' : 'is the one that is left'} where ${what}`, async () => {
      const base = await recoverLostBase({ ...SEEN, ...files }, { ...RUN, ...run }, () => Promise.resolve(running));
      assert.equal(base.newer?.changes, changes);
    });
  }

  it('is nothing that /configz is read for where none is lost', async () => {
    const base = { under: BASE, newer: null };
    const configz = () => Promise.reject(new Error('it was read'));
    assert.deepEqual(await recoverLostBase({ ...SEEN, base }, RUN, configz), base);
  });
});
