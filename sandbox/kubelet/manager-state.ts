import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

type Config = Readonly<Record<string, unknown>>;

/** Files in the kubelet's root directory that remember under which policy the running pods were placed. */
const MANAGERS = [
  { file: 'cpu_manager_state', field: 'cpuManagerPolicy', none: 'none' },
  { file: 'memory_manager_state', field: 'memoryManagerPolicy', none: 'None' },
] as const;

/**
 * As the kubelet's CPU and memory managers do at their start: one that was started under another policy before, and left
 * its state behind, refuses to start.
 *
 * @param config with its defaults
 * @returns why the kubelet ends, or null; then the state files are there
 */
export async function checkManagerState(config: Config, rootDirectory: string): Promise<string | null> {
  for (const { file, field, none } of MANAGERS) {
    const path = join(rootDirectory, file);
    const policy = typeof config[field] === 'string' ? config[field] : none;
    const before = await readFile(path, 'utf8').then(policyIn, () => undefined);
    if (before === undefined) await writeFile(path, JSON.stringify({ policyName: policy }));
    else if (before !== policy) {
      return `could not restore state from checkpoint: configured policy "${policy}" differs from state checkpoint policy "${before}", please drain this node and delete the checkpoint file "${path}" before restarting Kubelet`;
    }
  }
  return null;
}

function policyIn(text: string): string {
  try {
    const state = JSON.parse(text) as { readonly policyName?: unknown };
    return typeof state.policyName === 'string' ? state.policyName : '';
  } catch {
    return '';
  }
}
