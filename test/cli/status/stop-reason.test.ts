import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { StatusView } from '#cli/status/render.ts';
import { allSettled } from '#cli/status/all-settled.ts';
import { stopReason } from '#cli/status/stop-reason.ts';
import { suspendedUntil } from '#reconciler/policy/suspension.ts';
import { NO_STATE, type SourceState } from '#reconciler/reporting/notes/source-state.ts';
import type { KubeletNodeStatus } from '#shared/contract/api/kubelet-node.ts';
import type { KubeletPoolStatus } from '#shared/contract/api/kubelet-pool.ts';
import { SUSPEND_ANNOTATION } from '#shared/contract/api/group.ts';
import { COMMIT_A, COMMIT_B, NOW } from '../../support/fleet.ts';

const NODES = 3;
const HALT = { config: 'a', sha256: 'abc', at: '2026-11-21T12:00:00Z', message: 'm' } as const;
const none = { nodes: NODES, updated: 0, updating: 0, pending: 0, failed: 0, noAgent: 0, drifted: 0 };

function view(source: Partial<SourceState>, ...pools: readonly KubeletPoolStatus[]): StatusView {
  return {
    source: { ...NO_STATE, commit: COMMIT_A, ...source },
    pools: pools.map((status, index) => ({
      metadata: { name: `p${index}` },
      status,
    })),
    nodes: [{ metadata: { name: 'n' }, spec: { pool: 'p0' }, status: { active: { name: 'a', sha256: 'abc' } } }],
  };
}

const halted = (action: 'halt' | 'revert', sha256 = 'abc', updating = 0): KubeletPoolStatus => ({
  phase: 'Halted',
  halt: { ...HALT, action, sha256 },
  counts: { ...none, updating },
});
const invalid = (phase: 'Settled' | 'Progressing'): KubeletPoolStatus => ({
  phase,
  conditions: [
    {
      type: 'ConfigValid',
      status: 'False',
      reason: 'Refused',
      message: '',
      lastTransitionTime: '2026-11-21T12:00:00Z',
    },
  ],
});

/** After its canaries, a person is asked. */
const paused: KubeletPoolStatus = {
  phase: 'Waiting',
  counts: none,
  rollout: {
    configName: 'a',
    sha256: 'abc',
    startedAt: '2026-11-21T11:00:00Z',
    waves: [{ name: 'canary', nodes: 1, state: 'done', pausedAt: '2026-11-21T12:00:00Z' }],
  },
};

function suspendedBy(annotations: Readonly<Record<string, string>>, status: KubeletPoolStatus): StatusView {
  const { pools, ...rest } = view({}, status);
  return { ...rest, pools: pools.map((pool) => ({ ...pool, metadata: { ...pool.metadata, annotations } })) };
}

describe('that nothing more happens by itself', () => {
  const unhealthy = { type: 'KubeletConfigHealthy', status: 'False', reason: 'NotHealthy', message: '' } as const;
  const unwell: readonly (readonly [string, KubeletNodeStatus])[] = [
    ['drifts, and is left as it is', { phase: 'Drifted' }],
    ['runs with none of its configs', { phase: 'Broken' }],
    ['has a kubelet that is down', { phase: 'Idle', conditions: [{ ...unhealthy, lastTransitionTime: '' }] }],
  ];
  for (const [what, status] of unwell) {
    it(`is so where a node ${what}, and its pool has settled by proof`, () => {
      const here: StatusView = { ...view({}, { phase: 'Settled' }), nodes: [{ metadata: { name: 'w' }, status }] };
      assert.match(stopReason(here, NOW) ?? '', /^w drifted, or the kubelet is not healthy there$/);
      assert.equal(allSettled(here), false);
      assert.equal(allSettled({ ...here, nodes: [] }), true);
      assert.equal(
        stopReason({ ...here, pools: [{ metadata: { name: 'p' }, status: { phase: 'Progressing' } }] }, NOW),
        null,
      );
    });
  }

  const by = (annotation: string) => ({ [SUSPEND_ANNOTATION]: annotation });
  const settled = { phase: 'Settled' } as const;
  const policy = JSON.stringify({ maxUnavailable: null, maxUnassign: '20%', suspend: true, windows: null });
  const waiting = { phase: 'Waiting', counts: none } as const;
  const atIt = { phase: 'Waiting', counts: { ...none, updating: 1 } } as const;
  const refusal = `commit ${COMMIT_B.slice(0, 12)} was refused`;
  const B8 = COMMIT_B.slice(0, 8);

  const rows: readonly (readonly [what: string, because: string | null, seen: StatusView, commit?: string])[] = [
    ['a rollout is under way', null, view({}, { phase: 'Progressing' })],
    ['a pool waits, for a window perhaps', null, view({}, halted('halt'), { phase: 'Waiting' })],
    ['a pool is suspended with nodes left to change', 'pool p0 is suspended', suspendedBy(by('incident'), waiting)],
    ['a suspension is over by itself', null, suspendedBy(by(suspendedUntil(NOW, 'incident')), waiting)],
    ['one is not over yet', 'pool p0 is suspended', suspendedBy(by(suspendedUntil(NOW + 1_000, 'incident')), waiting)],
    ['a suspended pool has a node in the middle of a change', null, suspendedBy(by(''), atIt)],
    ['a suspended pool still soaks', null, suspendedBy(by(''), { phase: 'Progressing' })],
    ['a suspended pool is settled', null, suspendedBy(by(''), settled)],
    [
      'the file of the cluster suspends all pools',
      'pool p0 is suspended',
      view({ policy }, { phase: 'Waiting' }, settled),
    ],
    ['a pool waits for an approval', 'pool p0 waits for an approval', view({}, paused, settled)],
    ['it waits while a node is in the middle of a change', null, view({}, { ...paused, counts: atIt.counts })],
    ['another pool moves meanwhile', null, view({}, paused, { phase: 'Progressing' })],
    ['it is suspended as well', 'pool p0 is suspended, pool p0 waits for an approval', suspendedBy(by(''), paused)],
    ['all is settled', null, view({}, settled, { phase: 'Empty' })],
    ['git cannot be read', null, view({ failure: 'no answer' }, settled)],
    ['pools are halted', 'pool p0 is halted, pool p1 is halted', view({}, halted('halt'), halted('halt'))],
    ['a trial goes on in a halted pool', null, view({}, halted('halt', 'abc', 1))],
    ['a node has yet to go back', null, view({}, halted('revert'))],
    ['everybody is back', 'pool p0 is halted', view({}, halted('revert', 'other'))],
    [
      'the config of a pool is refused',
      'the config of pool p0 is refused',
      view({ findings: 'x' }, invalid('Settled')),
    ],
    ['another one of its nodes moves', null, view({}, invalid('Progressing'))],
    ['the commit has findings', 'the commit has findings', view({ findings: 'clusters/a.yaml: x' }, settled)],
    ['it is only warned of', null, view({ findings: 'docs/CON: warning hostile-name: x' }, settled)],
    ['the commit is not there yet', null, view({}, halted('halt')), COMMIT_B],
    ['the commit is there', 'pool p0 is halted', view({}, halted('halt')), COMMIT_A.slice(0, 8)],
    ['the commit was refused', refusal, view({ refusedCommit: COMMIT_B }, { phase: 'Progressing' }), B8],
    ['another commit was refused', null, view({ refusedCommit: COMMIT_B }, settled), COMMIT_A],
    ['the newest commit was refused', refusal, view({ refusedCommit: COMMIT_B }, settled)],
  ];
  for (const [what, because, seen, commit = ''] of rows) {
    it(`is ${because === null ? 'not ' : ''}so where ${what}`, () =>
      assert.equal(stopReason(seen, NOW, commit), because));
  }
});
