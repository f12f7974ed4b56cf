import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Observation } from '#agent/decide/observation.ts';
import type { State } from '#agent/decide/state.ts';
import { nodeReportOf, statusOf } from '#agent/report/kubelet-node-status.ts';
import type { StatusFacts } from '#agent/report/status-facts.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import {
  A,
  AT,
  B,
  broken,
  DOWN,
  fallingBack,
  idle,
  INSTALLING,
  judging,
  onTrial,
  rejecting,
  RESTARTING,
  seen,
  wanting,
} from '../support/agent/states.ts';
import { describeOrSkip } from '../support/describe-or-skip.ts';
import { ARGO, ARGO_LUA, argoHealthOf } from './support/argo-lua.ts';
import { FLUX_CEL, fluxHealthOf } from './support/flux-cel.ts';
import { KSTATUS, type Kstatus, kstatusOf } from './support/kstatus.ts';

/** The KubeletNode as the API server has it after its agent reported. */
function reported(
  state: State,
  parts: Partial<Observation> = {},
  about: Partial<StatusFacts> = {},
  generation = 1,
): KubeletNode {
  const facts = {
    state,
    seen: seen(parts),
    actions: [],
    agentVersion: '1.2.3',
    fault: null,
    diskProblems: [],
    ...about,
  };
  return {
    apiVersion: 'kubelet-gitops.dev/v1alpha1',
    kind: 'KubeletNode',
    metadata: { name: 'worker-1', generation },
    status: statusOf(nodeReportOf(facts), {}),
  };
}

const NEW_BASE: Partial<Observation> = { base: { under: null, newer: { sha256: 'b'.repeat(64), changes: true } } };
const REFUSED_BASE = { sha256: 'b'.repeat(64), message: 'it failed', at: AT };
const UNSEEN: Partial<Observation> = {
  health: { health: 'off' },
  service: { state: 'unknown', run: null, automaticRestarts: null },
};
const CONTRADICTS: Partial<Observation> = {
  running: { running: 'contradicts', differences: ['maxPods=1 instead of 2'] },
};
const REFUSES = { reason: 'CheckpointFailed', message: 'the disk refuses' } as const;
const failing = (reason: string): State => ({
  ...idle(A),
  assigned: B,
  error: { reason, message: 'it was', at: AT, config: B.source.name },
});

describeOrSkip('kstatus of a KubeletNode', { skip: KSTATUS.skip }, () => {
  const rows: readonly (readonly [string, Kstatus, ...Parameters<typeof reported>])[] = [
    ['its kubelet runs what is assigned', 'Current', idle(A), wanting(A)],
    ['its kubelet runs its local config', 'Current', idle(null), wanting(null)],
    ['a payload is fetched', 'InProgress', idle(A), wanting(B), { actions: [{ do: 'stage', config: B }] }],
    ['nothing is done about an assignment yet', 'InProgress', idle(A), wanting(B)],
    ['a config is installed', 'InProgress', onTrial(INSTALLING), wanting(B)],
    ['its kubelet is restarted with it', 'InProgress', onTrial(RESTARTING), wanting(B)],
    ['a config is on trial', 'InProgress', onTrial(judging()), wanting(B)],
    ['a config on trial does not do well', 'InProgress', onTrial(judging()), { ...wanting(B), ...DOWN }],
    ['a config is taken back', 'InProgress', fallingBack(A, judging()), wanting(B)],
    ['a config was taken back', 'Failed', rejecting(A), wanting(B)],
    ['a config does not fit the machine', 'Failed', failing('PreflightFailed'), wanting(B)],
    ['the API server does not give a config out', 'InProgress', failing('DownloadFailed'), wanting(B)],
    ['its kubelet comes up with nothing', 'Failed', broken(), { ...wanting(B), ...DOWN }],
    ['its kubelet is down, and may come back', 'InProgress', idle(A), { ...wanting(A), ...DOWN }],
    ['its kubelet cannot be seen', 'InProgress', idle(A), { ...wanting(A), ...UNSEEN }],
    [
      'a managed file was changed, and is put back',
      'InProgress',
      idle(A),
      { ...wanting(A), files: { files: 'differ' } },
    ],
    [
      'a managed file was changed, and that is only reported',
      'Failed',
      idle({ ...A, drift: 'report' }),
      {
        ...wanting({ ...A, drift: 'report' }),
        files: { files: 'differ' },
      },
    ],
    [
      'its kubelet does not run what its files say, and waits for its turn',
      'InProgress',
      idle(A),
      { ...wanting(A), ...CONTRADICTS },
    ],
    ['its own config changed, and waits for its turn', 'InProgress', idle(A), { ...wanting(A), ...NEW_BASE }],
    [
      'its own config changed, and failed',
      'Failed',
      { ...idle(A), refusedBase: REFUSED_BASE },
      { ...wanting(A), ...NEW_BASE },
    ],
    ['its disk refuses an assignment', 'Failed', idle(A), wanting(B), { unsaved: REFUSES }],
    ['its disk is full', 'InProgress', idle(A), wanting(B), { unsaved: { ...REFUSES, mayPass: true } }],
    [
      'its agent lost its state, and waits for its turn',
      'InProgress',
      idle(null),
      { intent: { intent: 'config', config: B, isSpent: true } },
    ],
    ['its agent has not seen the newest assignment', 'InProgress', idle(A), wanting(A), {}, 2],
  ];
  for (const [state, expected, ...report] of rows) {
    const node = (): KubeletNode => reported(...report);
    it(`${expected} where ${state}`, () => {
      const object = node();
      assert.equal(kstatusOf(object), expected, JSON.stringify(object.status));
    });
    const health = ARGO[expected];
    if (health === undefined) continue;
    it(`${expected} by Flux’s expressions where ${state}`, { skip: FLUX_CEL.skip }, () =>
      assert.equal(fluxHealthOf(node()), expected),
    );
    it(`${health} for Argo CD where ${state}`, { skip: ARGO_LUA.skip }, () => {
      const object = node();
      assert.equal(argoHealthOf(object).status, health, JSON.stringify(object.status));
    });
  }
});
