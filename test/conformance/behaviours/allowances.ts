import assert from 'node:assert/strict';
import { DEFAULT_TRIAL } from '#shared/contract/api/kubelet-node.ts';
import type { KubeletPool, KubeletPoolSpec } from '#shared/contract/api/kubelet-pool.ts';
import { TOLERABLE_CODES } from '#shared/contract/kubelet-config/tolerance.ts';
import { KUBELET_POOLS } from '#shared/kube/kube.ts';
import type { Behaviours } from '../suite.ts';
import { refusalOf } from '../support/bench.ts';

const POOLS = { resource: KUBELET_POOLS };

const SPEC: KubeletPoolSpec = {
  nodeSelector: {},
  priority: 0,
  layers: ['pools/workers/kubelet.yaml'],
  apply: 'overlay',
  drift: 'repair',
  rollout: { maxUnavailable: 1, soak: '0s', onFailure: { threshold: 1, action: 'halt' } },
  trial: DEFAULT_TRIAL,
};
const pool = (name: string, more: object): KubeletPool => ({
  apiVersion: 'kubelet-gitops.dev/v1alpha1',
  kind: 'KubeletPool',
  metadata: { name },
  spec: { ...SPEC, ...more },
});

/** What may be said in spite of a rule: codes that are only warnings, and fields that are denied by default. */
const ALLOWANCES = { tolerate: [...TOLERABLE_CODES].sort(), allowFields: ['staticPodPath', 'authentication.webhook'] };

const BEYOND: readonly (readonly [part: object, message: RegExp])[] = [
  [{ tolerate: 'unknown-field' }, /spec\.tolerate/],
  [{ tolerate: [''] }, /spec\.tolerate/],
  [{ tolerate: [1] }, /spec\.tolerate/],
  [{ tolerate: ['x'.repeat(65)] }, /spec\.tolerate/],
  [{ tolerate: Array.from({ length: 17 }, (_, index) => `code-${index}`) }, /spec\.tolerate/],
  [{ allowFields: [''] }, /spec\.allowFields/],
];

export const allowanceBehaviours: Behaviours = {
  async 'a pool and a node keep what is tolerated and allowed there, every code of it'({ kube, aNode, fresh }) {
    assert.deepEqual((await kube.create(POOLS, pool(fresh('pool'), ALLOWANCES))).spec, { ...SPEC, ...ALLOWANCES });
    assert.deepEqual((await aNode({ pool: 'a', ...ALLOWANCES })).spec, { pool: 'a', ...ALLOWANCES });
  },
  async 'a pool that tolerates nothing is taken as it is'({ kube, fresh }) {
    assert.deepEqual((await kube.create(POOLS, pool(fresh('pool'), {}))).spec, SPEC);
  },
  async 'allowances that are no lists of short words are refused, on both kinds'({ kube, aNode, fresh }) {
    for (const [part, message] of BEYOND) {
      const refusals = [
        await refusalOf(kube.create(POOLS, pool(fresh('pool'), part))),
        await refusalOf(aNode({ pool: 'a', ...part })),
      ];
      for (const refused of refusals) assert.match(refused.message, message, JSON.stringify(part).slice(0, 80));
    }
  },
};
