import assert from 'node:assert/strict';
import { loadRepo } from '#reconciler/policy/config-repo/load-repo.ts';
import type { ValidPool } from '#reconciler/policy/config-repo/loaded-repo.ts';

export const POOL = 'workers';

/** A pool as its files say it. @param spec of `pool.yaml`; what it leaves out is as shipped */
export function poolWith(maxPods: number, spec: Readonly<Record<string, unknown>> = {}): ValidPool {
  const nodeSelector = { matchLabels: { pool: POOL } };
  const files = {
    'pool.yaml': {
      apiVersion: 'kubelet-gitops.dev/v1alpha1',
      kind: 'KubeletPool',
      spec: { nodeSelector, layers: ['./kubelet.yaml'], ...spec },
    },
    'kubelet.yaml': { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration', maxPods },
  };
  const blobs = Object.entries(files).map(([name, value]) => {
    const path = `pools/${POOL}/${name}`;
    return [path, { path, oid: '', bytes: Buffer.from(JSON.stringify(value)) }] as const;
  });
  const [pool] = loadRepo(new Map(blobs), { cluster: 'demo' }).pools;
  assert.ok(pool?.status === 'valid', JSON.stringify(pool));
  return pool;
}
