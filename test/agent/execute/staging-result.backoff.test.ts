import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { guardFaultAfter } from '#agent/execute/guard-fault.ts';
import { stagingResultAfter } from '#agent/execute/staging-result.ts';
import type { ProcessMemory, TriedConfig } from '#agent/decide/process-memory.ts';
import type { StageResult } from '#agent/decide/observation.ts';
import type { Trial } from '#agent/decide/state.ts';
import { A, B, INSTALLING, onTrial } from '../../support/agent/states.ts';
import { systemError } from '../../support/agent/system-error.ts';

const UNAVAILABLE: StageResult = {
  outcome: 'unavailable',
  failure: { reason: 'DownloadFailed', message: 'no answer' },
};
const READY: StageResult = { outcome: 'ready', warnings: [] };

describe('a config that cannot be had', () => {
  /** Pauses in seconds before the next tries. */
  const pauses = (tries: number, random: number): readonly number[] => {
    let before: TriedConfig | null = null;
    return Array.from({ length: tries }, () => {
      before = stagingResultAfter(before, B, UNAVAILABLE, 1_000, random);
      return (before.retryAt - 1_000) / 1_000;
    });
  };

  it('is tried again after 2 seconds, then ever more seldom, and at last every 5 minutes', () => {
    assert.deepEqual(pauses(10, 0), [2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
  });

  it('is tried again after half of that at the soonest', () => {
    assert.deepEqual(pauses(9, 1), [1, 2, 4, 8, 16, 32, 64, 128, 150]);
  });

  it('does not make another one wait, and begins again once it was there', () => {
    const fourth: TriedConfig = { config: B, result: UNAVAILABLE, retryAt: 0, faults: 3 };
    assert.equal(stagingResultAfter(fourth, B, UNAVAILABLE, 0, 0).faults, 4);
    assert.equal(stagingResultAfter(fourth, A, UNAVAILABLE, 0, 0).faults, 1);
    assert.equal(stagingResultAfter(fourth, B, READY, 0, 0).faults, 0);
  });
});

describe('a guard that cannot be made ready', () => {
  const trial = onTrial(INSTALLING).doing as Trial;
  const pauses = (tries: number, error: unknown, random = 0): readonly number[] => {
    let fault: ProcessMemory['guardFault'] = null;
    return Array.from({ length: tries }, () => {
      fault = guardFaultAfter(fault, trial, error, 1_000, random);
      return (fault.retryAt - 1_000) / 1_000;
    });
  };
  const FULL = systemError('ENOSPC', 'open', '/var/lib/kubelet-gitops/guard/plan');

  it('is tried a dozen times in less than a minute', () => {
    const waited = pauses(11, new Error('no such directory'));
    assert.deepEqual(waited, [1, 2, 4, 5, 5, 5, 5, 5, 5, 5, 5]);
    assert.ok(waited.reduce((sum, each) => sum + each) < 60);
  });

  it('is tried again within a minute after there is room, however long the disk was full', () => {
    assert.deepEqual(pauses(9, FULL), [1, 2, 4, 8, 16, 32, 60, 60, 60]);
  });

  it('counts for its own trial only', () => {
    const fault = guardFaultAfter(null, { ...trial, since: '2025-01-01T00:00:00Z' }, FULL, 0, 0);
    assert.deepEqual([fault.tries, fault.isFull], [1, true]);
    assert.equal(guardFaultAfter({ ...fault, tries: 11 }, trial, FULL, 0, 0).tries, 1);
    assert.equal(
      guardFaultAfter({ ...fault, tries: 11 }, { ...trial, since: '2025-01-01T00:00:00Z' }, FULL, 0, 0).tries,
      12,
    );
  });
});
