import type { SandboxNodeOptions } from '../sandbox-node.ts';

const WORKER = { 'node-role.kubernetes.io/worker': '' };

/** The demo's nodes: three pools of the template have some. */
export const DEMO_NODES: readonly SandboxNodeOptions[] = [
  { name: 'control-1', labels: { 'node-role.kubernetes.io/control-plane': '' } },
  { name: 'worker-1', labels: WORKER },
  { name: 'worker-2', labels: WORKER },
  { name: 'worker-3', labels: WORKER },
  { name: 'gpu-1', labels: { ...WORKER, accelerator: 'nvidia' } },
  { name: 'gpu-2', labels: { ...WORKER, accelerator: 'nvidia' } },
].map((node) => ({ ...node, timing: { startMs: 400 } }));
