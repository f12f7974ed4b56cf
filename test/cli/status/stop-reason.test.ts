import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { StatusView } from '#cli/status/render.ts';
import { stopReason } from '#cli/status/stop-reason.ts';
import { NO_STATE, type SourceState } from '#reconciler/reporting/notes/source-state.ts';
import type { KubeletPoolStatus } from '#shared/contract/api/kubelet-pool.ts';
import { SUSPEND_ANNOTATION } from '#shared/contract/api/group.ts';
import { COMMIT_A, COMMIT_B } from '../../support/fleet.ts';

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

function suspendedBy(annotations: Readonly<Record<string, string>>, status: KubeletPoolStatus): StatusView {
  const { pools, ...rest } = view({}, status);
  return { ...rest, pools: pools.map((pool) => ({ ...pool, metadata: { ...pool.metadata, annotations } })) };
}

describe('that nothing more happens by itself', () => {
  for (const [what, seen, commit, because] of [
    ['a rollout is under way', view({}, { phase: 'Progressing' }), '', null],
    ['a pool waits, for a window perhaps', view({}, halted('halt'), { phase: 'Waiting' }), '', null],
    [
      'a pool is suspended with nodes left to change',
      suspendedBy({ [SUSPEND_ANNOTATION]: 'incident' }, { phase: 'Waiting', counts: none }),
      '',
      'pool p0 is suspended',
    ],
    [
      'a suspended pool has a node in the middle of a change',
      suspendedBy({ [SUSPEND_ANNOTATION]: '' }, { phase: 'Waiting', counts: { ...none, updating: 1 } }),
      '',
      null,
    ],
    ['a suspended pool still soaks', suspendedBy({ [SUSPEND_ANNOTATION]: '' }, { phase: 'Progressing' }), '', null],
    ['a suspended pool is settled', suspendedBy({ [SUSPEND_ANNOTATION]: '' }, { phase: 'Settled' }), '', null],
    [
      'the file of the cluster suspends all pools',
      view(
        { policy: JSON.stringify({ maxUnavailable: null, maxUnassign: '20%', suspend: true, windows: null }) },
        { phase: 'Waiting' },
        { phase: 'Settled' },
      ),
      '',
      'pool p0 is suspended',
    ],
    ['all is settled', view({}, { phase: 'Settled' }, { phase: 'Empty' }), '', null],
    ['git cannot be read', view({ failure: 'no answer' }, { phase: 'Settled' }), '', null],
    ['pools are halted', view({}, halted('halt'), halted('halt')), '', 'pool p0 is halted, pool p1 is halted'],
    ['a trial goes on in a halted pool', view({}, halted('halt', 'abc', 1)), '', null],
    ['a node has yet to go back', view({}, halted('revert')), '', null],
    ['everybody is back', view({}, halted('revert', 'other')), '', 'pool p0 is halted'],
    [
      'the config of a pool is refused',
      view({ findings: 'x' }, invalid('Settled')),
      '',
      'the config of pool p0 is refused',
    ],
    ['another one of its nodes moves', view({}, invalid('Progressing')), '', null],
    [
      'the commit has findings',
      view({ findings: 'clusters/a.yaml: x' }, { phase: 'Settled' }),
      '',
      'the commit has findings',
    ],
    ['it is only warned of', view({ findings: 'docs/CON: warning hostile-name: x' }, { phase: 'Settled' }), '', null],
    ['the commit is not there yet', view({}, halted('halt')), COMMIT_B, null],
    ['the commit is there', view({}, halted('halt')), COMMIT_A.slice(0, 8), 'pool p0 is halted'],
    [
      'the commit was refused',
      view({ refusedCommit: COMMIT_B }, { phase: 'Progressing' }),
      COMMIT_B.slice(0, 8),
      `commit ${COMMIT_B.slice(0, 12)} was refused`,
    ],
    ['another commit was refused', view({ refusedCommit: COMMIT_B }, { phase: 'Settled' }), COMMIT_A, null],
    [
      'the newest commit was refused',
      view({ refusedCommit: COMMIT_B }, { phase: 'Settled' }),
      '',
      `commit ${COMMIT_B.slice(0, 12)} was refused`,
    ],
  ] as const) {
    it(`is ${because === null ? 'not ' : ''}so where ${what}`, () => {
      assert.equal(stopReason(seen, commit), because);
    });
  }
});
