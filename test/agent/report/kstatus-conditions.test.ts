import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { kstatusConditions, type NodeHealth } from '#agent/report/kstatus-conditions.ts';

const AT = '2026-01-01T00:00:00Z';
const HEALTHY = { type: 'KubeletConfigHealthy', status: 'True', reason: 'Healthy', message: 'it runs a' } as const;
const UNSEEN = { ...HEALTHY, status: 'Unknown', reason: 'NotSeen', message: 'the kubelet cannot be seen' } as const;
const DOWN = { ...HEALTHY, status: 'False', reason: 'NotHealthy', message: 'nobody listens' } as const;
const DRIFTED = { ...HEALTHY, status: 'False', reason: 'Drifted', message: 'the managed files differ' } as const;
const error = (reason: string) => ({ reason, message: `${reason} it was`, at: AT });

const told = (standing: Partial<NodeHealth>): string =>
  kstatusConditions({ phase: 'Idle', error: null, health: HEALTHY, repairs: false, ...standing })
    .map(({ status }) => status)
    .join(' ');

describe('Ready, Reconciling and Stalled of a node', () => {
  const rows: readonly (readonly [string, Partial<NodeHealth>, string])[] = [
    ['a kubelet that does well with what is assigned', {}, 'True False False'],
    ['one that cannot be seen', { health: UNSEEN }, 'Unknown False False'],
    ['one that is down at rest, and may come back by itself', { health: DOWN }, 'False False False'],
    ['a payload that is being fetched', { phase: 'Staging' }, 'False True False'],
    ['a trial', { phase: 'Trial' }, 'False True False'],
    ['a trial with an error of the one before', { phase: 'Trial', error: error('CrashLoop') }, 'False True False'],
    ['the way back', { phase: 'FallingBack' }, 'False True False'],
    ['a config that was taken back', { error: error('CrashLoop') }, 'False False True'],
    ['a config that does not fit the machine', { error: error('PreflightFailed') }, 'False False True'],
    ['an API server that does not answer', { error: error('DownloadFailed') }, 'False True False'],
    ['drift that is put back', { phase: 'Drifted', health: DRIFTED, repairs: true }, 'False True False'],
    ['drift that is left as it is', { phase: 'Drifted', health: DRIFTED }, 'False False True'],
    ['a kubelet that comes up with nothing', { phase: 'Broken', error: error('KubeletBroken') }, 'False False True'],
  ];
  for (const [what, standing, expected] of rows) {
    it(`of ${what}: ${expected}`, () => assert.equal(told(standing), expected));
  }

  it('say why, in the one of them that is asked', () => {
    const [ready, reconciling, stalled] = kstatusConditions({
      phase: 'Idle',
      error: error('CrashLoop'),
      health: HEALTHY,
      repairs: false,
    });
    assert.deepEqual([ready?.reason, ready?.message], ['CrashLoop', 'CrashLoop it was']);
    assert.deepEqual([stalled?.reason, stalled?.message], ['CrashLoop', 'CrashLoop it was']);
    assert.equal(reconciling?.message, '');
  });
});
