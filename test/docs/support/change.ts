import { readFileSync } from 'node:fs';

/** The file that the pull requests of the tests change. */
export const GPU = 'pools/gpu/kubelet.yaml';
export const gpu = readFileSync(`config-repo-template/${GPU}`, 'utf8');
/** First line of the plan's comment. */
export const MARKER = '<!-- kubelet-gitops plan: demo -->';
/** One node of that pool. */
export const INVENTORY = JSON.stringify({
  items: [
    {
      kind: 'Node',
      metadata: { name: 'gpu-1', labels: { accelerator: 'nvidia' } },
      status: {
        conditions: [{ type: 'Ready', status: 'True' }],
        nodeInfo: { kubeletVersion: 'v1.34.2' },
        capacity: { pods: '50' },
        allocatable: { pods: '50' },
      },
    },
  ],
});
